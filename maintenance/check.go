package maintenance

import (
	"context"
	"slices"

	"signalbox/oracle"
	"signalbox/rule"
)

// check runs the oracle.
func (d Deps) check(ctx context.Context, p oracle.Proposal) (*oracle.Report, error) {
	if d.Check != nil {
		return d.Check(ctx, p)
	}
	return oracle.Check(ctx, d.Programs, p, nil)
}

// program returns the draft as it stands as a program, or a *badCall that says
// what is wrong with it.
func (s *session) program() (rule.Program, error) {
	source, manifest, err := rule.ParseSource(s.draft.Tree())
	if err != nil {
		return rule.Program{}, bad("bad_draft", "%v", err)
	}
	if err := s.draft.Identity().Fixed(manifest); err != nil {
		return rule.Program{}, bad("identity_changed", "%s: %v", rule.ManifestFile, err)
	}
	member := rule.Member{Rule: manifest.Name, Revision: source.Digest(), Environment: s.environment.Digest()}
	return rule.Program{Member: member, Manifest: manifest, Source: source, Environment: s.environment}, nil
}

// visible returns the proposal of the draft alone over the visible cases of all
// families: what an author may know in full.
func (s *session) visible(draft rule.Program) oracle.Proposal {
	policy := s.view.Policy
	policy.AllowUnheld = true // there are no hidden cases in it by intention
	p := oracle.Proposal{
		Programs: []rule.Program{draft},
		Mapping:  rule.Mapping{draft.Manifest.Family: {draft.Member.Rule}},
		Policy:   policy,
	}
	for _, c := range s.view.Cases {
		if c.Part == rule.VisiblePart {
			p.Cases = append(p.Cases, c)
		}
	}
	return p
}

// whole returns the proposal of the active collection with the draft in it, over
// the whole suite.
func whole(view View, draft rule.Program) oracle.Proposal {
	p := oracle.Proposal{
		Programs: []rule.Program{draft}, Cases: view.Cases, Policy: view.Policy,
		Suite: view.Suite, Base: view.Base, Tool: view.Tool,
	}
	for _, program := range view.Active {
		if program.Member.Rule != draft.Member.Rule {
			p.Programs = append(p.Programs, program)
		}
	}
	p.Mapping = mappingOf(view.Mapping, p.Programs, draft)
	return p
}

// mappingOf keeps of a mapping what its members serve, and lets the draft serve
// its own family.
func mappingOf(old rule.Mapping, programs []rule.Program, draft rule.Program) rule.Mapping {
	members := map[rule.Name]bool{}
	for _, p := range programs {
		members[p.Member.Rule] = p.Member.Rule != draft.Member.Rule
	}
	mapping := rule.Mapping{draft.Manifest.Family: {draft.Member.Rule}}
	for family, names := range old {
		for _, name := range names {
			if members[name] {
				mapping[family] = append(mapping[family], name)
			}
		}
	}
	for _, names := range mapping {
		slices.Sort(names)
	}
	return mapping
}

// innocent returns the rules that a check refused for something that the draft
// has no part in: they fail today's suite with or without it.
func innocent(report *oracle.Report, draft rule.Name) map[rule.Name]bool {
	failing := map[rule.Name]bool{}
	for _, r := range report.Refusals {
		if r.Rule != "" && r.Rule != draft && !slices.Contains(r.Rivals, draft) {
			failing[r.Rule] = true
		}
	}
	return failing
}

// lighter returns the proposal without what fails in it by itself, and false
// where the draft is to blame or nothing would change.
func lighter(report *oracle.Report, p oracle.Proposal, draft rule.Program) (oracle.Proposal, bool) {
	if failing := innocent(report, draft.Member.Rule); len(failing) > 0 {
		return without(p, failing, draft), true
	}
	feedback := report.Feedback(draft.Member.Rule)
	if len(feedback.Shown) > 0 || len(feedback.Hidden) > 0 {
		return p, false
	}
	next := oracle.DropFailing(report, p) // families as a whole
	return next, len(next.Programs) < len(p.Programs) && slices.Contains(next.Members(), draft.Member)
}

// dropped returns the rules that a proposal has no more.
func dropped(before, after oracle.Proposal) []rule.Name {
	left := after.Members()
	var names []rule.Name
	for _, member := range before.Members() {
		if !slices.Contains(left, member) {
			names = append(names, member.Rule)
		}
	}
	return names
}

// without returns the proposal without the rules of a set.
func without(p oracle.Proposal, dropped map[rule.Name]bool, draft rule.Program) oracle.Proposal {
	p.Programs = slices.DeleteFunc(slices.Clone(p.Programs), func(program rule.Program) bool {
		return dropped[program.Member.Rule]
	})
	p.Mapping = mappingOf(p.Mapping, p.Programs, draft)
	return p
}

// answered says whether the active rules of a family answer all of its cases
// already.
func (d Deps) answered(ctx context.Context, view View, family rule.Family) (bool, error) {
	names := view.Mapping[family]
	if len(names) == 0 {
		return false, nil
	}
	p := oracle.Proposal{Mapping: rule.Mapping{family: names}, Policy: view.Policy}
	p.Policy.AllowUnheld = true
	for _, program := range view.Active {
		if slices.Contains(names, program.Member.Rule) {
			p.Programs = append(p.Programs, program)
		}
	}
	for _, c := range view.Cases {
		if c.Family == family {
			p.Cases = append(p.Cases, c)
		}
	}
	if len(p.Programs) != len(names) || len(p.Cases) == 0 {
		return false, nil
	}
	report, err := d.check(ctx, p)
	if err != nil || !report.Passed() {
		return false, err
	}
	for _, f := range report.Families {
		if f.Family == family {
			return f.Visible.Covered == f.Visible.Positive && f.Hidden.Covered == f.Hidden.Positive, nil
		}
	}
	return false, nil
}
