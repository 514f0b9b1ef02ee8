// Package workspace is what maintenance works in: the registry's cases and
// active rules, the oracle as the judge of drafts, and the place where a draft
// that passed becomes a proposal with a proof. It holds no loop and no model.
package workspace

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"signalbox/maintenance"
	"signalbox/oracle"
	"signalbox/oracle/admission"
	"signalbox/registry"
	"signalbox/rule"
)

// Desk is the Workspace and the Judge of maintenance over one registry. Who is
// named as the author of every change that an attempt makes.
type Desk struct {
	Registry *registry.Registry
	Office   *admission.Office
	Who      string
}

// View returns the registry as it stands. Rules are written for the starlark
// environment.
func (d *Desk) View(ctx context.Context) (maintenance.View, error) {
	snapshot, err := d.Registry.Snapshot(ctx)
	if err != nil {
		return maintenance.View{}, err
	}
	state := snapshot.State()
	view := maintenance.View{Mapping: rule.Mapping{}}
	if view.Cases, err = snapshot.Cases(ctx); err != nil {
		return maintenance.View{}, err
	}
	if state.Active != nil {
		view.Mapping = state.Active.Mapping
		if view.Active, err = programs(snapshot, state.Active.Members); err != nil {
			return maintenance.View{}, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(state.Rules)) {
		if state.Rules[name].Locked {
			view.Locked = append(view.Locked, name)
		}
	}
	environment, ok := state.Environments[state.Current[rule.StarlarkEnvironment]]
	if !ok {
		return maintenance.View{}, fmt.Errorf("environment %q: %w", rule.StarlarkEnvironment, registry.ErrUnknown)
	}
	view.Environment = environment
	return view, nil
}

// programs loads those members that the registry still has as active.
func programs(s *registry.Snapshot, members rule.Collection) ([]rule.Program, error) {
	var loaded []rule.Program
	for _, member := range members {
		revision, ok := s.State().Revision(member.Rule, member.Revision)
		if !ok || revision.State != registry.RevisionActive {
			continue
		}
		program, err := s.Program(member)
		if err != nil {
			return nil, err
		}
		loaded = append(loaded, program)
	}
	return loaded, nil
}

// Reveal makes admission cases visible for good.
func (d *Desk) Reveal(ctx context.Context, attempt string, cases []string) error {
	return d.Registry.Reveal(ctx, cases, d.change("shown to attempt "+attempt))
}

func (d *Desk) change(why string) registry.Change {
	return registry.Change{Who: d.Who, Why: why, Maintenance: true}
}

// evidence is what a judged candidate keeps for its proof.
type evidence struct {
	proposal oracle.Proposal
	report   *oracle.Report
}

// Check has the oracle run the candidate over its cases.
func (d *Desk) Check(ctx context.Context, c maintenance.Candidate) (maintenance.Report, error) {
	snapshot, err := d.Registry.Snapshot(ctx)
	if err != nil {
		return maintenance.Report{}, err
	}
	proposal, err := d.Office.Proposal(ctx, snapshot, c.Programs, c.Mapping)
	if err != nil {
		return maintenance.Report{}, err
	}
	report, err := d.Office.Check(ctx, proposal, nil)
	if err != nil {
		return maintenance.Report{}, err
	}
	return told(report, proposal), nil
}

// told turns the oracle's report into maintenance's words. A family without
// hidden cases is no fault of a draft: whether it may be activated is the
// maintainer's decision.
func told(report *oracle.Report, proposal oracle.Proposal) maintenance.Report {
	out := maintenance.Report{Passed: report.Passed(), Evidence: evidence{proposal, report}}
	for _, r := range report.Refusals {
		out.Findings = append(out.Findings, maintenance.Finding{
			Kind: string(r.Kind), Rule: r.Rule, Family: r.Family, Case: r.Case, Part: r.Part, Probe: r.Probe, Detail: r.Detail,
		})
	}
	for _, f := range report.Families {
		out.Families = append(out.Families, maintenance.Coverage{
			Family: f.Family, Cases: f.Visible.Positive + f.Hidden.Positive, Right: f.Visible.Covered + f.Hidden.Covered,
		})
	}
	return out
}

// Propose saves the draft as a revision, and the collection that it passed in
// as a proposal with a signed proof.
func (d *Desk) Propose(ctx context.Context, p maintenance.Proposal) (rule.Digest, error) {
	found, ok := p.Report.Evidence.(evidence)
	if !ok {
		return "", fmt.Errorf("proposing %q: the report is not the oracle's", p.Draft.Member.Rule)
	}
	proven, err := d.Office.Sign(found.report, found.proposal)
	if err != nil {
		return "", err
	}
	change := d.change("submitted by attempt " + p.Attempt)
	if _, err := d.Registry.AddRule(ctx, p.Draft.Source.Tree(), change); err != nil {
		return "", err
	}
	predicate := proven.Proof.Predicate()
	err = d.Registry.SaveProposal(ctx, registry.Proposal{
		Members: predicate.Members, Mapping: predicate.Mapping, Proof: proven.Envelope, Attempt: p.Attempt,
	}, change)
	return proven.Proof.ID(), err
}
