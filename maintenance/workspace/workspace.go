// Package workspace is what maintenance works in: the registry's cases and
// active rules, and the place where a draft that passed becomes a proposal with
// a proof. It holds no loop and no model.
package workspace

import (
	"context"
	"fmt"

	"signalbox/maintenance"
	"signalbox/oracle/admission"
	"signalbox/registry"
	"signalbox/rule"
)

// Desk is maintenance's Workspace over one registry. Who is named as the author
// of every change that an attempt makes. Office says whether a family without
// hidden cases may be proposed: activating is the maintainer's decision.
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
	today, err := d.Office.Proposal(ctx, snapshot, nil, nil)
	if err != nil {
		return maintenance.View{}, err
	}
	state := snapshot.State()
	view := maintenance.View{
		Cases: today.Cases, Policy: today.Policy, Suite: today.Suite, Base: today.Base, Tool: today.Tool,
		Mapping: rule.Mapping{}, Known: map[rule.Name]rule.Family{},
	}
	if state.Active != nil {
		view.Mapping = state.Active.Mapping
		if view.Active, err = programs(snapshot, state.Active.Members); err != nil {
			return maintenance.View{}, err
		}
	}
	for name, known := range state.Rules {
		view.Known[name] = known.Family
		if known.Locked {
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

// programs loads those members that the registry still has as active, each in
// its environment as it is now.
func programs(s *registry.Snapshot, members rule.Collection) ([]rule.Program, error) {
	var loaded []rule.Program
	for _, member := range members {
		revision, ok := s.State().Revision(member.Rule, member.Revision)
		if !ok || revision.State != registry.RevisionActive {
			continue
		}
		now, err := s.Member(member.Rule, member.Revision)
		if err != nil {
			return nil, err
		}
		program, err := s.Program(now)
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

// Propose saves the draft as a revision, and the collection that it passed in
// as a proposal with a signed proof.
func (d *Desk) Propose(ctx context.Context, p maintenance.Proposal) (rule.Digest, error) {
	proven, err := d.Office.Sign(p.Report, p.Checked)
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
