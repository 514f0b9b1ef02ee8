package registry

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"signalbox/proofs"
	"signalbox/rule"
)

// EnvironmentChecker compares an environment with what stands now. It returns
// nil, an error that is rule.ErrEnvironmentChanged, or any other where it
// couldn't tell.
type EnvironmentChecker interface {
	Check(ctx context.Context, environment rule.Environment) error
}

// Active is a collection that may answer: its programs in order of their names,
// the proof that says so, and the generation that it holds for.
type Active struct {
	Programs   []rule.Program
	Mapping    rule.Mapping
	Proof      rule.Digest
	Generation rule.Generation
	Unheld     []rule.Family
}

// Authorise verifies the active collection's proof with the host's public key
// and compares everything that it binds with this snapshot and with the
// environments as they stand. The error is a *StaleError where the collection may
// not answer, ErrDamaged where a file is not what it should be. It does all the
// work each time: callers keep the result for as long as Stat is the same.
func (s *Snapshot) Authorise(ctx context.Context, check EnvironmentChecker) (*Active, error) {
	active := s.state.Active
	if active == nil {
		return nil, &StaleError{Reason: rule.ReasonUnproven, What: "no collection is active"}
	}
	verified, err := s.registry.verify(s.state, active.Envelope)
	if err != nil {
		return nil, err
	}
	if err := s.state.bindsActive(verified); err != nil {
		return nil, err
	}
	programs, err := s.registry.bindsPrograms(ctx, s.state, verified.Predicate(), check)
	if err != nil {
		return nil, err
	}
	predicate := verified.Predicate()
	return &Active{
		Programs: programs, Mapping: predicate.Mapping, Proof: verified.ID(),
		Generation: s.state.Generation, Unheld: predicate.Unheld,
	}, nil
}

// verify loads a proof's envelope and verifies its signature. A proof that
// doesn't hold is unproven; a key or an object that can't be used is another
// error.
func (r *Registry) verify(state *State, envelope rule.Digest) (proofs.Verified, error) {
	public, err := r.public(state)
	if err != nil {
		return proofs.Verified{}, fmt.Errorf("verifying the active proof: %w", err)
	}
	data, err := r.objects.Get(envelope)
	if err != nil {
		return proofs.Verified{}, damaged(fmt.Errorf("loading the active proof: %w", err))
	}
	verified, err := proofs.Verify(data, public)
	if errors.Is(err, proofs.ErrBad) {
		return proofs.Verified{}, &StaleError{Reason: rule.ReasonUnproven, What: err.Error()}
	}
	return verified, err
}

// stale names a binding that differs.
func stale(what string, want, got any) error {
	return &StaleError{Reason: rule.ReasonProofStale, What: what, Want: fmt.Sprint(want), Got: fmt.Sprint(got)}
}

// bindsActive compares the proof with what the registry says is active.
func (s *State) bindsActive(verified proofs.Verified) error {
	predicate := verified.Predicate()
	active := s.Active
	switch {
	case verified.ID() != active.Proof:
		return stale("the proof's identity", verified.ID(), active.Proof)
	case predicate.Base.Generation+1 != active.Generation:
		return stale("the generation of activation", predicate.Base.Generation+1, active.Generation)
	case !slices.Equal(predicate.Members, active.Members):
		return stale("the collection", predicate.Collection, active.Members.Digest())
	case !sameMapping(predicate.Mapping, active.Mapping):
		return stale("the mapping of families to rules", predicate.Mapping, active.Mapping)
	}
	// What changed is named where it can be; the generation says that something did.
	if err := s.bindsScope(predicate); err != nil {
		return err
	}
	if predicate.Base.Generation+1 != s.Generation {
		return stale("the generation", predicate.Base.Generation+1, s.Generation)
	}
	return nil
}

// bindsScope compares the suite, the policy and the environments that the proof
// binds with the registry's.
func (s *State) bindsScope(predicate proofs.Predicate) error {
	policy := s.Policy
	// Whether families without hidden cases are taken is the word of whoever had
	// the proof signed. The proof binds it.
	policy.AllowUnheld = predicate.Policy.AllowUnheld
	switch {
	case predicate.Suite.Digest != s.Suite.Digest:
		return stale("the suite", predicate.Suite.Digest, s.Suite.Digest)
	case predicate.Suite.Cases != s.Suite.Cases:
		return stale("the suite's cases", predicate.Suite.Cases, s.Suite.Cases)
	case predicate.Policy != policy:
		return stale("the policy", policyText(predicate.Policy), policyText(policy))
	}
	for _, member := range predicate.Members {
		if err := s.bindsMember(predicate, member); err != nil {
			return err
		}
	}
	return nil
}

func policyText(p proofs.Policy) string {
	return fmt.Sprintf("floor %s, %d repeats, probes %v (%s)", strconv.FormatFloat(p.Floor, 'g', -1, 64), p.Repeats, p.Probes, p.ScopeWords.Short())
}

// bindsMember compares a member with the registry's revision and environment.
func (s *State) bindsMember(predicate proofs.Predicate, member rule.Member) error {
	revision, ok := s.Revision(member.Rule, member.Revision)
	if !ok {
		return stale(fmt.Sprintf("rule %q", member.Rule), member.Revision, "no such revision")
	}
	if revision.State == RevisionDisabled {
		return stale(fmt.Sprintf("rule %q, revision %s", member.Rule, member.Revision.Short()), "an active revision", "a disabled one")
	}
	if current := s.Current[revision.Environment]; current != member.Environment {
		return stale(fmt.Sprintf("environment %q", revision.Environment), member.Environment, current)
	}
	bound, kept := predicate.Environments[member.Environment], s.Environments[member.Environment]
	if bound.Kernel != kept.Kernel {
		return stale(fmt.Sprintf("the kernel of environment %q", kept.Name), bound.Kernel, kept.Kernel)
	}
	if bound.Digest() != kept.Digest() {
		return stale(fmt.Sprintf("environment %q", kept.Name), bound.Digest(), kept.Digest())
	}
	return nil
}

// sameMapping compares two mappings; the order of a family's rules means nothing.
func sameMapping(a, b rule.Mapping) bool {
	return maps.EqualFunc(a, b, func(x, y []rule.Name) bool {
		return slices.Equal(slices.Sorted(slices.Values(x)), slices.Sorted(slices.Values(y)))
	})
}

// bindsPrograms loads every member's source, hashed again, and has every
// environment checked once.
func (r *Registry) bindsPrograms(ctx context.Context, state *State, predicate proofs.Predicate, check EnvironmentChecker) ([]rule.Program, error) {
	programs := make([]rule.Program, 0, len(predicate.Members))
	checked := map[rule.Digest]bool{}
	for _, member := range predicate.Members {
		program, err := r.program(state, member)
		if err != nil {
			return nil, err
		}
		if err := bindsFamily(predicate.Mapping, program.Manifest); err != nil {
			return nil, err
		}
		programs = append(programs, program)
		if checked[member.Environment] {
			continue
		}
		if err := checkEnvironment(ctx, check, program.Environment); err != nil {
			return nil, err
		}
		checked[member.Environment] = true
	}
	return programs, nil
}

// bindsFamily wants a rule to be mapped to the family of its own manifest.
func bindsFamily(mapping rule.Mapping, manifest rule.Manifest) error {
	if !slices.Contains(mapping[manifest.Family], manifest.Name) {
		return stale(fmt.Sprintf("the family of rule %q", manifest.Name), mapping, manifest.Family)
	}
	return nil
}

func checkEnvironment(ctx context.Context, check EnvironmentChecker, environment rule.Environment) error {
	err := check.Check(ctx, environment)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, rule.ErrEnvironmentChanged):
		return &StaleError{Reason: rule.ReasonEnvironmentChanged, What: err.Error()}
	case ctx.Err() != nil:
		return fmt.Errorf("checking environment %q: %w", environment.Name, ctx.Err())
	}
	return &StaleError{Reason: rule.ReasonSandboxUnavailable, What: fmt.Sprintf("environment %q could not be checked: %v", environment.Name, err)}
}
