package registry

import (
	"context"
	"fmt"
	"slices"

	"signalbox/rule"
)

// Wrong records that a rule answered a task wrongly, in one commit: the rule is
// disabled, and c becomes a case for good, either one that must fall back or one
// with the right outcome. It takes the place of a case of the same task that says
// otherwise, and it is visible. It isn't added where a case says the same
// already, or must fall back and another family has a case for the same
// instruction and input: that one stands in the way of the rule, and is made
// visible where it was sealed, since sealed cases stand in nobody's way.
func (r *Registry) Wrong(ctx context.Context, name rule.Name, c rule.Case, change Change) error {
	if err := checkLine(c); err != nil {
		return fmt.Errorf("recording a wrong answer: %w", err)
	}
	if c.CertifiedBy == "" {
		return fmt.Errorf("recording a wrong answer: case %q is certified by nobody", c.ID)
	}
	err := r.commit(ctx, change, fmt.Sprintf("wrong answer of rule %s, case %s", name, c.ID), func(state *State) error {
		disabled := state.disable(name, Change{Who: change.Who})
		if disabled != nil && disabled != errUnchanged {
			return disabled
		}
		book, err := r.openCasebook(state)
		if err != nil {
			return err
		}
		entered, err := book.enterWrong(newCandidate(0, c))
		if err != nil {
			return err
		}
		if !entered {
			return disabled
		}
		return r.saveCasebook(state, book)
	})
	if err != nil {
		return fmt.Errorf("recording a wrong answer of rule %q: %w", name, err)
	}
	return nil
}

// enterWrong adds the case, and says whether there was anything to add.
func (b *casebook) enterWrong(c candidate) (bool, error) {
	known := newIndex(len(b.cases))
	for _, old := range b.cases {
		known.add(newCandidate(0, old))
	}
	for _, at := range known.byTask[c.task] {
		if sameWord(c, known.all[at]) {
			return b.unseal(at), nil
		}
	}
	for _, at := range known.byDocument[c.document] {
		other := known.all[at]
		switch {
		case other.c.Family == c.c.Family || disagreement(c, other) == "":
		case c.c.Fallback:
			return b.unseal(at), nil
		default:
			return false, fmt.Errorf("%s of family %q has the same instruction and input: supersede it first", other.place(), other.c.Family)
		}
	}
	for _, at := range known.byID[c.c.ID] {
		if known.all[at].task != c.task {
			return false, fmt.Errorf("case id %q is taken by another task", c.c.ID)
		}
	}
	taken := []candidate{c}
	b.supersede(taken)
	c.c.Part = rule.VisiblePart
	b.cases = append(b.cases, c.c)
	return true, nil
}

// unseal makes a sealed case visible, and says whether it was sealed.
func (b *casebook) unseal(at int) bool {
	if b.cases[at].Part != rule.SealedPart {
		return false
	}
	b.cases[at].Part = rule.VisiblePart
	return true
}

// Reveal makes hidden admission cases visible for good. The suite and the
// generation stay the same; a sealed case can't be revealed. IDs that are visible
// already are fine, unknown ones are ErrUnknown and then nothing changes.
func (r *Registry) Reveal(ctx context.Context, ids []string, change Change) error {
	err := r.commit(ctx, change, fmt.Sprintf("reveal %d cases", len(ids)), func(state *State) error {
		list, err := r.parts(state)
		if err != nil {
			return err
		}
		hidden := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return list.Parts[id] == rule.VisiblePart })
		if len(hidden) == 0 {
			return errUnchanged
		}
		for _, id := range hidden {
			if list.Parts[id] != rule.AdmissionPart {
				return fmt.Errorf("case %q: %w", id, ErrUnknown)
			}
			list.Parts[id] = rule.VisiblePart
		}
		data, err := rule.Canonical(list)
		if err != nil {
			return err
		}
		state.Suite.Parts, err = r.objects.Put(data)
		return err
	})
	if err != nil {
		return fmt.Errorf("revealing cases: %w", err)
	}
	return nil
}
