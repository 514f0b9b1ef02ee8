package registry

import (
	"context"
	"fmt"
	"slices"

	"signalbox/proofs"
	"signalbox/rule"
)

// AddRule takes a rule's source as a revision that is proposed, not active, and
// returns it as a member in its environment as it is now. A revision that is known
// and wasn't disabled is returned as it is. Maintenance can't add to a locked rule
// (ErrRuleLocked).
func (r *Registry) AddRule(ctx context.Context, tree rule.Tree, change Change) (rule.Member, error) {
	source, manifest, err := rule.ParseSource(tree)
	if err != nil {
		return rule.Member{}, fmt.Errorf("adding rule: %w", err)
	}
	if _, err := r.objects.PutTree(source.Tree()); err != nil {
		return rule.Member{}, fmt.Errorf("adding rule %q: %w", manifest.Name, err)
	}
	member := rule.Member{Rule: manifest.Name, Revision: source.Digest()}
	err = r.commit(ctx, change, fmt.Sprintf("add rule %s %s", manifest.Name, source.Digest().Short()), func(state *State) error {
		environment, ok := state.Current[manifest.Environment]
		if !ok {
			return fmt.Errorf("environment %q: %w", manifest.Environment, ErrUnknown)
		}
		member.Environment = environment
		return state.addRevision(manifest, member.Revision, change)
	})
	if err != nil {
		return rule.Member{}, fmt.Errorf("adding rule %q: %w", manifest.Name, err)
	}
	return member, nil
}

// addRevision adds a revision as proposed, or proposes a disabled one again.
func (s *State) addRevision(manifest rule.Manifest, digest rule.Digest, change Change) error {
	known, exists := s.Rules[manifest.Name]
	if exists && known.Family != manifest.Family {
		return fmt.Errorf("it belongs to family %q, the source says %q", known.Family, manifest.Family)
	}
	if change.Maintenance && known.Locked {
		return ErrRuleLocked
	}
	added := Revision{
		Digest: digest, Environment: manifest.Environment, State: RevisionProposed,
		Added: now(), By: change.Who, Why: change.Why,
	}
	i := slices.IndexFunc(known.Revisions, func(r Revision) bool { return r.Digest == digest })
	if i >= 0 && known.Revisions[i].State != RevisionDisabled {
		return errUnchanged
	}
	if i >= 0 {
		known.Revisions = slices.Delete(known.Revisions, i, i+1)
	}
	known.Family = manifest.Family
	known.Revisions = append(known.Revisions, added)
	if s.Rules == nil {
		s.Rules = map[rule.Name]Rule{}
	}
	s.Rules[manifest.Name] = known
	return nil
}

// Disable stops a rule: none of its revisions may answer from now on. Where one
// of them is active, the active collection's proof no longer holds.
func (r *Registry) Disable(ctx context.Context, name rule.Name, change Change) error {
	err := r.commit(ctx, change, fmt.Sprintf("disable rule %s", name), func(state *State) error {
		return state.disable(name, change)
	})
	if err != nil {
		return fmt.Errorf("disabling rule %q: %w", name, err)
	}
	return nil
}

func (s *State) disable(name rule.Name, change Change) error {
	known, ok := s.Rules[name]
	if !ok {
		return ErrUnknown
	}
	if change.Maintenance && known.Locked {
		return ErrRuleLocked
	}
	changed, wasActive := false, false
	for i := range known.Revisions {
		wasActive = wasActive || known.Revisions[i].State == RevisionActive
		changed = changed || known.Revisions[i].State != RevisionDisabled
		known.Revisions[i].State = RevisionDisabled
	}
	if !changed {
		return errUnchanged
	}
	if wasActive {
		s.Generation++
	}
	return nil
}

// Lock keeps maintenance from changing a rule.
func (r *Registry) Lock(ctx context.Context, name rule.Name, change Change) error {
	return r.setLocked(ctx, name, true, change)
}

// Unlock lets maintenance change a rule again.
func (r *Registry) Unlock(ctx context.Context, name rule.Name, change Change) error {
	return r.setLocked(ctx, name, false, change)
}

func (r *Registry) setLocked(ctx context.Context, name rule.Name, locked bool, change Change) error {
	what := map[bool]string{true: "lock", false: "unlock"}[locked]
	err := r.commit(ctx, change, fmt.Sprintf("%s rule %s", what, name), func(state *State) error {
		known, ok := state.Rules[name]
		switch {
		case !ok:
			return ErrUnknown
		case change.Maintenance:
			return ErrRuleLocked
		case known.Locked == locked:
			return errUnchanged
		}
		known.Locked = locked
		state.Rules[name] = known
		return nil
	})
	if err != nil {
		return fmt.Errorf("%sing rule %q: %w", what, name, err)
	}
	return nil
}

// SetEnvironment adds an environment, or describes the one of its name anew.
// Where an active member runs in it, the proof no longer holds.
func (r *Registry) SetEnvironment(ctx context.Context, environment rule.Environment, change Change) error {
	digest := environment.Digest()
	if environment.Name == "" || digest == "" {
		return fmt.Errorf("setting environment: it has no name or can't be written as JSON")
	}
	err := r.commit(ctx, change, fmt.Sprintf("environment %s %s", environment.Name, digest.Short()), func(state *State) error {
		was := state.Current[environment.Name]
		if was == digest {
			return errUnchanged
		}
		state.Current[environment.Name] = digest
		state.Environments[digest] = environment
		if state.Active != nil && slices.ContainsFunc(state.Active.Members, func(m rule.Member) bool { return m.Environment == was }) {
			state.Generation++
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("setting environment %q: %w", environment.Name, err)
	}
	return nil
}

// SetPolicy sets what admission asks for. Proofs made under another policy no
// longer hold.
func (r *Registry) SetPolicy(ctx context.Context, policy proofs.Policy, change Change) error {
	if !(policy.Floor >= 0 && policy.Floor <= 1) || policy.Repeats < 2 {
		return fmt.Errorf("setting policy: want a floor between 0 and 1 and at least 2 repeats, got %v and %d", policy.Floor, policy.Repeats)
	}
	err := r.commit(ctx, change, "policy", func(state *State) error {
		if state.Policy == policy {
			return errUnchanged
		}
		state.Policy = policy
		state.Generation++
		return nil
	})
	if err != nil {
		return fmt.Errorf("setting policy: %w", err)
	}
	return nil
}
