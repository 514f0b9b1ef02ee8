package registry

import (
	"context"
	"fmt"
	"slices"

	"signalbox/proofs"
	"signalbox/rule"
)

// Proposal is a proven collection as maintenance hands it in. Proof is the
// envelope; Attempt names the attempt that made it, "" where a person did.
type Proposal struct {
	Attempt string
	Members rule.Collection
	Mapping rule.Mapping
	Proof   []byte
}

// SaveProposal keeps a proven collection until a maintainer activates it. The
// proof must verify and be about just these members and this mapping. Only the
// serial moves.
func (r *Registry) SaveProposal(ctx context.Context, p Proposal, change Change) error {
	err := r.commit(ctx, change, "proposal "+p.Attempt, func(state *State) error {
		verified, err := r.verifyProposal(state, p)
		if err != nil {
			return err
		}
		if change.Maintenance {
			if err := state.sparesLocked(p.Members); err != nil {
				return err
			}
		}
		envelope, err := r.objects.Put(verified.Envelope())
		if err != nil {
			return err
		}
		if slices.ContainsFunc(state.Proposals, func(q Proposed) bool { return q.Proof == verified.ID() && q.Attempt == p.Attempt }) {
			return errUnchanged
		}
		predicate := verified.Predicate()
		state.Proposals = keepLast(append(state.Proposals, Proposed{
			Attempt: p.Attempt, Members: predicate.Members, Mapping: predicate.Mapping, Proof: verified.ID(), Envelope: envelope,
			Base: predicate.Base.Generation, When: now(), By: change.Who,
		}), maxProposals)
		return nil
	})
	if err != nil {
		return fmt.Errorf("saving proposal: %w", err)
	}
	return nil
}

func (r *Registry) verifyProposal(state *State, p Proposal) (proofs.Verified, error) {
	public, err := r.public(state)
	if err != nil {
		return proofs.Verified{}, err
	}
	verified, err := proofs.Verify(p.Proof, public)
	if err != nil {
		return proofs.Verified{}, err
	}
	predicate := verified.Predicate()
	if !slices.Equal(predicate.Members, rule.NewCollection(p.Members...)) {
		return proofs.Verified{}, stale("the collection", predicate.Collection, p.Members.Digest())
	}
	if !sameMapping(predicate.Mapping, p.Mapping) {
		return proofs.Verified{}, stale("the mapping of families to rules", predicate.Mapping, p.Mapping)
	}
	return verified, nil
}

// sparesLocked refuses a collection in which a locked rule has another revision
// than the active one.
func (s *State) sparesLocked(members rule.Collection) error {
	for _, member := range members {
		if !s.Rules[member.Rule].Locked {
			continue
		}
		if s.Active == nil || !slices.Contains(s.Active.Members, member) {
			return fmt.Errorf("rule %q: %w", member.Rule, ErrRuleLocked)
		}
	}
	return nil
}

// Activate makes a proven collection the one that answers. Under the lock it
// checks everything that the proof binds once more: its signature by this host,
// every source hashed again from disk, every environment as it stands, suite,
// mapping, policy, and that the generation is the proof's base. It commits that
// base plus one and returns the new snapshot. The error is a *StaleError that
// names what differs, with both values; nothing has changed then.
func (r *Registry) Activate(ctx context.Context, verified proofs.Verified, check EnvironmentChecker, change Change) (*Snapshot, error) {
	if verified.ID() == "" {
		return nil, fmt.Errorf("activating: %w", &StaleError{Reason: rule.ReasonUnproven, What: "there is no proof"})
	}
	err := r.commit(ctx, change, "activate "+verified.ID().Short(), func(state *State) error {
		if err := r.mayActivate(ctx, state, verified, check, change); err != nil {
			return err
		}
		envelope, err := r.objects.Put(verified.Envelope())
		if err != nil {
			return err
		}
		state.activate(verified, envelope, change)
		return r.atStep("activating")
	})
	if err != nil {
		return nil, fmt.Errorf("activating: %w", err)
	}
	return r.Snapshot(ctx)
}

func (r *Registry) mayActivate(ctx context.Context, state *State, verified proofs.Verified, check EnvironmentChecker, change Change) error {
	public, err := r.public(state)
	if err != nil {
		return err
	}
	// The value says that some key verified it: it has to be this host's.
	if _, err := proofs.Verify(verified.Envelope(), public); err != nil {
		return err
	}
	predicate := verified.Predicate()
	if predicate.Base.Generation != state.Generation {
		return stale("the generation", predicate.Base.Generation, state.Generation)
	}
	if err := state.bindsScope(predicate); err != nil {
		return err
	}
	if change.Maintenance {
		if err := state.sparesLocked(predicate.Members); err != nil {
			return err
		}
	}
	if err := r.atStep("checking"); err != nil {
		return err
	}
	_, err = r.bindsPrograms(ctx, state, predicate, check)
	return err
}

// activate puts the collection in place of the active one, which becomes past.
func (s *State) activate(verified proofs.Verified, envelope rule.Digest, change Change) {
	predicate := verified.Predicate()
	at := now()
	if s.Active != nil {
		past := *s.Active
		past.Until = at
		s.Past = keepLast(append(s.Past, past), maxPast)
	}
	s.Generation = predicate.Base.Generation + 1
	s.Active = &Activation{
		Members: predicate.Members, Mapping: predicate.Mapping, Suite: predicate.Suite.Digest,
		Proof: verified.ID(), Envelope: envelope, Generation: s.Generation,
		Since: at, By: change.Who, Why: change.Why,
	}
	s.setRevisions(func(name rule.Name, revision Revision) RevisionState {
		active := slices.ContainsFunc(predicate.Members, func(m rule.Member) bool {
			return m.Rule == name && m.Revision == revision.Digest
		})
		switch {
		case active:
			return RevisionActive
		case revision.State == RevisionActive:
			return RevisionRetired
		}
		return revision.State
	})
	s.Proposals = slices.DeleteFunc(s.Proposals, func(p Proposed) bool { return s.allActive(p.Members) })
}

func (s *State) allActive(members rule.Collection) bool {
	for _, member := range members {
		if !slices.Contains(s.Active.Members, member) {
			return false
		}
	}
	return true
}

// Past returns the collection that was activated as a generation: the active one
// or one of the past that the registry still keeps, for rollback to validate and
// activate again. It returns ErrUnknown where there is none.
func (s *Snapshot) Past(generation rule.Generation) (Activation, error) {
	if active := s.state.Active; active != nil && active.Generation == generation {
		return *active, nil
	}
	for _, past := range s.state.Past {
		if past.Generation == generation {
			return past, nil
		}
	}
	return Activation{}, fmt.Errorf("collection of generation %d: %w", generation, ErrUnknown)
}
