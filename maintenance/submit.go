package maintenance

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"signalbox/oracle"
	"signalbox/rule"
)

// Bounds of what hidden cases may tell an author: so many are revealed by one
// submit and by one attempt, and in one attempt never more than half of those that
// the family still had when it began.
const (
	maxRevealedBySubmit  = 2
	maxRevealedByAttempt = 6
)

// submit runs the whole check over the newest suite. Where the draft passes it
// becomes a proposal and the attempt ends.
func (s *session) submit(ctx context.Context) (answer, error) {
	draft, err := s.program()
	if err != nil {
		return answer{}, err
	}
	view, err := s.deps.Workspace.View(ctx)
	if err != nil {
		return answer{}, err
	}
	if err := s.current(view); err != nil {
		return answer{}, err
	}
	if unchanged(view, draft) {
		return answer{}, bad("unchanged", "the draft has the same programs as the active rule: there is nothing to submit")
	}
	if err := s.spend(ctx); err != nil {
		return answer{}, err
	}
	s.view = view
	s.counts.Submits++
	checked, report, dropped, err := s.judge(ctx, draft)
	if err != nil {
		return answer{}, fmt.Errorf("checking the submission: %w", err)
	}
	if !report.Passed() {
		return s.refused(ctx, draft, report)
	}
	proposal := Proposal{
		Attempt: s.draft.Identity().Attempt, Draft: draft, Checked: checked, Report: report, Dropped: dropped,
	}
	return answer{}, s.propose(ctx, proposal)
}

// propose makes a draft that passed a proposal, and ends the attempt.
func (s *session) propose(ctx context.Context, p Proposal) (err error) {
	if s.proof, err = s.deps.Workspace.Propose(ctx, p); err != nil {
		return fmt.Errorf("saving the proposal: %w", err)
	}
	data := struct {
		Submitted bool                  `json:"submitted"`
		Coverage  []oracle.FamilyReport `json:"coverage"`
	}{true, familyOnly(p.Report, p.Draft.Manifest.Family)}
	reply := answer{OK: true, Code: "submitted", Message: "The draft passed and is a proposal now.", Data: data}
	if err := s.draft.Record("submitted", reply); err != nil {
		return err
	}
	return stop(StopSubmitted, "the draft passed the whole check")
}

// current stops an attempt whose draft no longer follows from the active rule.
func (s *session) current(view View) error {
	identity := s.draft.Identity()
	if now := revisionOf(view, identity.Rule); now != identity.Parent {
		return stop(StopStale, fmt.Sprintf("rule %q is at %q now, and the draft began from %q", identity.Rule, now.Short(), identity.Parent.Short()))
	}
	if slices.Contains(view.Locked, identity.Rule) {
		return stop(StopStale, fmt.Sprintf("rule %q was locked meanwhile", identity.Rule))
	}
	return nil
}

func revisionOf(view View, name rule.Name) rule.Digest {
	for _, p := range view.Active {
		if p.Member.Rule == name {
			return p.Member.Revision
		}
	}
	return ""
}

// unchanged says whether the draft differs from the active rule in its manifest's
// identity, README and tests at most.
func unchanged(view View, draft rule.Program) bool {
	for _, p := range view.Active {
		if p.Member.Rule != draft.Member.Rule {
			continue
		}
		a, b := p.Manifest, draft.Manifest
		a.Parent, b.Parent, a.SourceCases, b.SourceCases, a.Summary, b.Summary = "", "", nil, nil, "", ""
		before, _ := rule.DigestJSON(a)
		after, _ := rule.DigestJSON(b)
		return before == after && programsOf(p).Digest() == programsOf(draft).Digest()
	}
	return false
}

func programsOf(p rule.Program) rule.Tree {
	tree := rule.Tree{}
	for path, data := range p.Source.Tree() {
		if strings.HasSuffix(path, ".star") {
			tree[path] = data
		}
	}
	return tree
}

// judge checks the draft within the active collection. Active rules that fail by
// themselves are left out and the rest is checked again.
func (s *session) judge(ctx context.Context, draft rule.Program) (oracle.Proposal, *oracle.Report, []rule.Name, error) {
	first := whole(s.view, draft)
	p := first
	for {
		report, err := s.deps.check(ctx, p)
		if err != nil || report.Passed() {
			return p, report, dropped(first, p), err
		}
		next, ok := lighter(report, p, draft)
		if !ok {
			return p, report, dropped(first, p), nil
		}
		p = next
	}
}

// refusal is what an author hears of a submit that didn't pass.
type refusal struct {
	Failures []failure      `json:"failures"`
	Revealed []promptCase   `json:"revealed"`
	Hidden   map[string]int `json:"hidden_failures"`
	More     int            `json:"more,omitzero"`
}

// refused tells the author as much as it may know: findings on visible cases in
// full, those on hidden ones by their kind, and a few hidden cases that are
// visible from now on.
func (s *session) refused(ctx context.Context, draft rule.Program, report *oracle.Report) (answer, error) {
	data := refusal{Failures: []failure{}, Revealed: []promptCase{}, Hidden: map[string]int{}}
	revealed, err := s.reveal(ctx, report)
	if err != nil {
		return answer{}, err
	}
	for _, c := range revealed {
		data.Revealed = append(data.Revealed, newCase(c))
	}
	feedback := report.Feedback(draft.Member.Rule)
	for _, r := range feedback.Shown {
		data.Failures = append(data.Failures, failureOf(r))
	}
	for kind, n := range feedback.Hidden {
		data.Hidden[string(kind)] = n
	}
	data.More = max(0, len(data.Failures)-maxFailures)
	data.Failures = data.Failures[:min(len(data.Failures), maxFailures)]
	reply := answer{Code: "refused", Message: "The draft did not pass the whole check.", Data: data}
	text, err := rule.Canonical(data)
	if err != nil {
		return answer{}, err
	}
	return reply, s.draft.AddFeedback(clip(string(text), 8<<10))
}

// reveal makes a few of the family's failing hidden cases visible for good, by
// id, and records it before anyone is told.
func (s *session) reveal(ctx context.Context, report *oracle.Report) ([]rule.Case, error) {
	room := min(maxRevealedBySubmit, maxRevealedByAttempt-s.counts.Revealed, s.hidden/2-s.counts.Revealed)
	identity := s.draft.Identity()
	failing := map[string]bool{}
	for _, r := range report.Refusals {
		if r.Family == identity.Family && r.Part == rule.AdmissionPart && r.Case != "" {
			failing[r.Case] = true
		}
	}
	var chosen []rule.Case
	var ids []string
	for _, id := range slices.Sorted(maps.Keys(failing)) {
		at := slices.IndexFunc(s.view.Cases, func(c rule.Case) bool { return c.ID == id })
		if at < 0 || len(ids) >= room {
			continue
		}
		ids = append(ids, id)
		chosen = append(chosen, s.view.Cases[at])
	}
	if len(ids) == 0 {
		return nil, nil
	}
	if err := s.deps.Workspace.Reveal(ctx, identity.Attempt, ids); err != nil {
		return nil, fmt.Errorf("recording revealed cases: %w", err)
	}
	s.counts.Revealed += len(ids)
	for i := range report.Refusals {
		if slices.Contains(ids, report.Refusals[i].Case) {
			report.Refusals[i].Part = rule.VisiblePart
		}
	}
	s.view.Cases = slices.Clone(s.view.Cases)
	for i := range s.view.Cases {
		if slices.Contains(ids, s.view.Cases[i].ID) {
			s.view.Cases[i].Part = rule.VisiblePart
		}
	}
	return chosen, nil
}

func familyOnly(report *oracle.Report, family rule.Family) []oracle.FamilyReport {
	var out []oracle.FamilyReport
	for _, f := range report.Families {
		if f.Family == family {
			f.Uncovered = nil // it names hidden cases
			out = append(out, f)
		}
	}
	return out
}
