package registry

import (
	"fmt"

	"signalbox/rule"
)

// check returns the first reason why a state contradicts itself.
func (s *State) check() error {
	switch {
	case s.Schema != Schema:
		return fmt.Errorf("schema %d: want %d", s.Schema, Schema)
	case s.Serial.N == 0 || (s.Serial.N == 1) != (s.Serial.Prev == ""):
		return fmt.Errorf("serial %d with predecessor %q", s.Serial.N, s.Serial.Prev)
	case s.Generation == 0 || uint64(s.Generation) > s.Serial.N:
		return fmt.Errorf("generation %d at serial %d", s.Generation, s.Serial.N)
	case s.Host == "":
		return fmt.Errorf("the host key's fingerprint is missing")
	case (s.Suite.Digest == "") != (s.Suite.Cases == 0) || s.Suite.Cases < 0:
		return fmt.Errorf("suite %q of %d cases", s.Suite.Digest, s.Suite.Cases)
	case (s.Sealed.Digest == "") != (s.Sealed.Cases == 0) || s.Sealed.Cases < 0:
		return fmt.Errorf("sealed object %q of %d cases", s.Sealed.Digest, s.Sealed.Cases)
	}
	if err := s.checkEnvironments(); err != nil {
		return err
	}
	if err := s.checkRules(); err != nil {
		return err
	}
	return s.checkCollections()
}

func (s *State) checkEnvironments() error {
	for digest, environment := range s.Environments {
		if got := environment.Digest(); got != digest {
			return fmt.Errorf("environment %q is kept as %s and has digest %s", environment.Name, digest, got)
		}
	}
	for name, digest := range s.Current {
		if environment, ok := s.Environments[digest]; !ok || environment.Name != name {
			return fmt.Errorf("environment %q is %s, which is not described", name, digest)
		}
	}
	return nil
}

func (s *State) checkRules() error {
	for name, known := range s.Rules {
		if known.Family == "" || len(known.Revisions) == 0 {
			return fmt.Errorf("rule %q has no family or no revision", name)
		}
		seen := map[rule.Digest]bool{}
		for _, revision := range known.Revisions {
			if revision.Digest == "" || seen[revision.Digest] {
				return fmt.Errorf("rule %q has revision %q twice or without digest", name, revision.Digest)
			}
			seen[revision.Digest] = true
			switch revision.State {
			case RevisionProposed, RevisionActive, RevisionRetired, RevisionDisabled:
			default:
				return fmt.Errorf("rule %q: revision state %q", name, revision.State)
			}
		}
	}
	return nil
}

func (s *State) checkCollections() error {
	all := s.Past
	if s.Active != nil {
		all = append(all[:len(all):len(all)], *s.Active)
	}
	for _, a := range all {
		if a.Proof == "" || a.Envelope == "" || a.Generation > s.Generation {
			return fmt.Errorf("collection of generation %d has no proof, or comes from the future", a.Generation)
		}
		if err := s.checkMembers(a.Members); err != nil {
			return err
		}
	}
	for _, p := range s.Proposals {
		if p.Proof == "" || p.Envelope == "" {
			return fmt.Errorf("proposal of attempt %q has no proof", p.Attempt)
		}
		if err := s.checkMembers(p.Members); err != nil {
			return err
		}
	}
	return nil
}

func (s *State) checkMembers(members rule.Collection) error {
	if len(members) == 0 {
		return fmt.Errorf("a collection without members")
	}
	for _, member := range members {
		if _, ok := s.Revision(member.Rule, member.Revision); !ok {
			return fmt.Errorf("member %q has revision %s, which the registry doesn't know", member.Rule, member.Revision)
		}
		if _, ok := s.Environments[member.Environment]; !ok {
			return fmt.Errorf("member %q has environment %s, which is not described", member.Rule, member.Environment)
		}
	}
	return nil
}
