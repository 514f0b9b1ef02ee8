package proofs

import (
	"fmt"

	"signalbox/rule"
)

// minRepeats is how often admission asks each program at least.
const minRepeats = 2

// check returns the first reason why the predicate contradicts itself or lacks
// something. It compares nothing with the world outside.
func (p Predicate) check() error {
	if err := p.checkMembers(); err != nil {
		return err
	}
	if err := p.checkMapping(); err != nil {
		return err
	}
	return p.checkScope()
}

func (p Predicate) checkMembers() error {
	if len(p.Members) == 0 {
		return fmt.Errorf("the collection has no member")
	}
	used := make(map[rule.Digest]bool)
	for i, member := range p.Members {
		if i > 0 && p.Members[i-1].Rule == member.Rule {
			return fmt.Errorf("rule %q is a member twice", member.Rule)
		}
		if _, err := rule.ParseName(string(member.Rule)); err != nil {
			return err
		}
		if _, err := rule.ParseDigest(string(member.Revision)); err != nil {
			return fmt.Errorf("revision of %q: %w", member.Rule, err)
		}
		environment, ok := p.Environments[member.Environment]
		if !ok {
			return fmt.Errorf("environment %q of %q is not described", member.Environment, member.Rule)
		}
		if got := environment.Digest(); got != member.Environment {
			return fmt.Errorf("environment of %q is described as %s but named %s", member.Rule, got, member.Environment)
		}
		used[member.Environment] = true
	}
	if len(used) != len(p.Environments) {
		return fmt.Errorf("%d environments are described, %d are used", len(p.Environments), len(used))
	}
	return nil
}

// checkMapping wants every member to serve exactly one family, and nobody else
// to serve one.
func (p Predicate) checkMapping() error {
	serves := make(map[rule.Name]rule.Family)
	for family, names := range p.Mapping {
		if _, err := rule.ParseFamily(string(family)); err != nil {
			return err
		}
		if len(names) == 0 {
			return fmt.Errorf("family %q is mapped to no rule", family)
		}
		for _, name := range names {
			if _, taken := serves[name]; taken {
				return fmt.Errorf("rule %q is mapped twice", name)
			}
			serves[name] = family
		}
	}
	for _, member := range p.Members {
		if _, ok := serves[member.Rule]; !ok {
			return fmt.Errorf("rule %q serves no family", member.Rule)
		}
	}
	if len(serves) != len(p.Members) {
		return fmt.Errorf("the mapping names %d rules, the collection has %d", len(serves), len(p.Members))
	}
	return nil
}

func (p Predicate) checkScope() error {
	named := map[string]rule.Digest{"suite": p.Suite.Digest, "matrix": p.Matrix, "scope words": p.Policy.ScopeWords}
	for what, digest := range named {
		if _, err := rule.ParseDigest(string(digest)); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
	}
	switch {
	case p.Suite.Cases < 1:
		return fmt.Errorf("the suite has %d cases", p.Suite.Cases)
	case p.Policy.Repeats < minRepeats:
		return fmt.Errorf("%d repeats: want at least %d", p.Policy.Repeats, minRepeats)
	case !(p.Policy.Floor >= 0 && p.Policy.Floor <= 1):
		return fmt.Errorf("floor %v is not between 0 and 1", p.Policy.Floor)
	case p.FinishedAt.Before(p.StartedAt):
		return fmt.Errorf("finished at %s, before it started at %s", p.FinishedAt, p.StartedAt)
	case p.Tool == "":
		return fmt.Errorf("the tool's version is missing")
	}
	return p.checkUnheld()
}

// checkUnheld wants families that are served, each once, and none unless the
// policy takes them.
func (p Predicate) checkUnheld() error {
	for i, family := range p.Unheld {
		if !p.Policy.AllowUnheld {
			return fmt.Errorf("family %q has no hidden cases, and the policy asks for some", family)
		}
		if _, served := p.Mapping[family]; !served || i > 0 && p.Unheld[i-1] == family {
			return fmt.Errorf("unheld family %q isn't served, or is named twice", family)
		}
	}
	return nil
}
