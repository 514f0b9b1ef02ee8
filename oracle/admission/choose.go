package admission

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"signalbox/registry"
	"signalbox/rule"
)

// Choice says which revisions to propose. Without it each rule's active revision
// is taken, or one that was proposed after that one was added. With names further
// revisions, as RULE or RULE@DIGEST (a prefix is enough); Without names rules to
// leave out. Only restricts the choice to active members and With.
type Choice struct {
	With    []string
	Without []string
	Only    bool
}

// Choose loads the chosen members' programs, in order of their names. Naming a
// rule or revision that isn't there is an error.
func Choose(s *registry.Snapshot, c Choice) ([]rule.Program, error) {
	chosen := standing(s.State(), c.Only)
	for _, name := range c.With {
		rule, revision, err := find(s.State(), name)
		if err != nil {
			return nil, err
		}
		chosen[rule] = revision
	}
	for _, name := range c.Without {
		if _, ok := chosen[rule.Name(name)]; !ok {
			return nil, fmt.Errorf("rule %q is not in the collection", name)
		}
		delete(chosen, rule.Name(name))
	}
	programs := make([]rule.Program, 0, len(chosen))
	for _, name := range slices.Sorted(maps.Keys(chosen)) {
		member, err := s.Member(name, chosen[name])
		if err != nil {
			return nil, err
		}
		program, err := s.Program(member)
		if err != nil {
			return nil, err
		}
		programs = append(programs, program)
	}
	return programs, nil
}

// standing returns each rule's latest revision that is active or proposed. A
// proposal from before the active revision was passed over when that one was
// activated, and stays so.
func standing(state *registry.State, activeOnly bool) map[rule.Name]rule.Digest {
	chosen := make(map[rule.Name]rule.Digest)
	for name, known := range state.Rules {
		for _, revision := range known.Revisions {
			switch {
			case revision.State == registry.RevisionActive:
				chosen[name] = revision.Digest
			case revision.State == registry.RevisionProposed && !activeOnly:
				chosen[name] = revision.Digest
			}
		}
	}
	return chosen
}

// Find returns the member that RULE or RULE@DIGEST names, in its environment as
// it is now. Without a digest it is the newest revision.
func Find(s *registry.Snapshot, name string) (rule.Member, error) {
	found, revision, err := find(s.State(), name)
	if err != nil {
		return rule.Member{}, err
	}
	return s.Member(found, revision)
}

// find reads RULE or RULE@DIGEST.
func find(state *registry.State, name string) (rule.Name, rule.Digest, error) {
	word, prefix, _ := strings.Cut(name, "@")
	known, ok := state.Rules[rule.Name(word)]
	if !ok {
		return "", "", fmt.Errorf("rule %q: %w", word, registry.ErrUnknown)
	}
	prefix = strings.TrimPrefix(prefix, "sha256:")
	for _, revision := range slices.Backward(known.Revisions) {
		if strings.HasPrefix(revision.Digest.Hex(), prefix) {
			return rule.Name(word), revision.Digest, nil
		}
	}
	return "", "", fmt.Errorf("rule %q has no revision %q: %w", word, prefix, registry.ErrUnknown)
}
