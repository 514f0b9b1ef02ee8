package oracle

import (
	"fmt"
	"maps"
	"slices"

	"signalbox/proofs"
	"signalbox/rule"
)

// Proposal is a collection with the suite that it has to pass. A nil Mapping is
// the one of the manifests' families. Base, Suite and Tool only pass through
// into the proof.
type Proposal struct {
	Programs []rule.Program
	Mapping  rule.Mapping
	Cases    []rule.Case
	Policy   Policy
	Suite    rule.Digest
	Base     proofs.Base
	Tool     string
}

// Members returns the proposed collection.
func (p Proposal) Members() rule.Collection {
	members := make([]rule.Member, 0, len(p.Programs))
	for _, program := range p.Programs {
		members = append(members, program.Member)
	}
	return rule.NewCollection(members...)
}

// mapping returns the proposal's mapping, with each family's rules in order.
func (p Proposal) mapping() rule.Mapping {
	mapping := rule.Mapping{}
	if p.Mapping == nil {
		for _, program := range p.Programs {
			family := program.Manifest.Family
			mapping[family] = append(mapping[family], program.Member.Rule)
		}
	}
	for family, names := range p.Mapping {
		mapping[family] = slices.Clone(names)
	}
	for _, names := range mapping {
		slices.Sort(names)
	}
	return mapping
}

// check returns the first reason why the proposal can't be checked at all.
func (p Proposal) check() error {
	if err := p.Policy.check(); err != nil {
		return fmt.Errorf("policy: %w", err)
	}
	if len(p.Programs) == 0 {
		return fmt.Errorf("the collection has no member")
	}
	if err := p.checkCases(); err != nil {
		return err
	}
	return p.checkMapping()
}

func (p Proposal) checkCases() error {
	seen := make(map[string]bool, len(p.Cases))
	for _, c := range p.Cases {
		switch {
		case c.Part != rule.VisiblePart && c.Part != rule.AdmissionPart:
			return fmt.Errorf("case %q is %q: admission takes visible and admission cases only", c.ID, c.Part)
		case seen[c.ID]:
			return fmt.Errorf("case %q is there twice", c.ID)
		}
		if err := c.Check(); err != nil {
			return err
		}
		seen[c.ID] = true
	}
	return nil
}

// checkMapping wants each member to serve exactly one family, and no others.
func (p Proposal) checkMapping() error {
	serves := make(map[rule.Name]int)
	for _, program := range p.Programs {
		if _, twice := serves[program.Member.Rule]; twice {
			return fmt.Errorf("rule %q is a member twice", program.Member.Rule)
		}
		serves[program.Member.Rule] = 0
	}
	for family, names := range p.mapping() {
		for _, name := range names {
			if _, member := serves[name]; !member {
				return fmt.Errorf("family %q is mapped to rule %q, which is no member", family, name)
			}
			serves[name]++
		}
	}
	for _, name := range slices.Sorted(maps.Keys(serves)) {
		if serves[name] != 1 {
			return fmt.Errorf("rule %q serves %d families: want one", name, serves[name])
		}
	}
	return nil
}

// without returns the proposal without the given rules.
func (p Proposal) without(dropped map[rule.Name]bool) Proposal {
	mapping := p.mapping()
	for family, names := range mapping {
		mapping[family] = slices.DeleteFunc(names, func(name rule.Name) bool { return dropped[name] })
		if len(mapping[family]) == 0 {
			delete(mapping, family)
		}
	}
	p.Mapping = mapping
	p.Programs = slices.DeleteFunc(slices.Clone(p.Programs), func(program rule.Program) bool {
		return dropped[program.Member.Rule]
	})
	return p
}
