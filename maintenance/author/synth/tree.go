package synth

import (
	"fmt"
	"slices"
	"strings"

	"signalbox/maintenance/author/lang"
)

// Target is what an example gives: a skeleton, whose meaning is the caller's,
// and the texts in it.
type Target struct {
	Form string
	Text []string
}

// Equal says whether two targets are the same.
func (t Target) Equal(other Target) bool {
	return t.Form == other.Form && slices.Equal(t.Text, other.Text)
}

// Example is an input, its columns, with its certified output.
type Example struct {
	ID      string
	Columns []string
	Target  Target
}

// Tree is what was learned: a leaf, or a branch on predicates that all tell
// the examples apart in the same way.
type Tree struct {
	Predicates []*lang.Predicate
	Yes, No    *Tree
	Leaf       *Leaf
}

// Leaf is what one kind of input gives: a skeleton, and its texts with their
// readings.
// Support is how many examples it fits, Foretold how many of those it answered
// before they were shown to it.
type Leaf struct {
	Form     string
	Elements []Element
	Support  int
	Foretold int
	Cases    []string // the examples that chose it
}

// Element is one text of a leaf: the readings that must agree. Empty says that
// an example's text was empty: else none is given.
type Element struct {
	Readings []*Reading
	Empty    bool
}

// Answer returns what the tree gives for a row, or false and why it can't be
// known.
func (t *Tree) Answer(row lang.Row) (Target, bool, string) {
	if t.Leaf != nil {
		return t.Leaf.answer(row)
	}
	holds := t.Predicates[0].Holds(row)
	for _, p := range t.Predicates[1:] {
		if p.Holds(row) != holds {
			return Target{}, false, "the ways to tell the kinds of input apart disagree"
		}
	}
	if holds {
		return t.Yes.Answer(row)
	}
	return t.No.Answer(row)
}

func (l *Leaf) answer(row lang.Row) (Target, bool, string) {
	answer := Target{Form: l.Form, Text: make([]string, len(l.Elements))}
	for i, element := range l.Elements {
		text, ok, note := element.settle(row)
		if !ok {
			return Target{}, false, note
		}
		answer.Text[i] = text
	}
	return answer, true, ""
}

// settle returns the text on which all readings agree.
func (e Element) settle(row lang.Row) (string, bool, string) {
	var settled string
	for i, reading := range e.Readings {
		text, ok, note := reading.settle(row)
		if !ok {
			return "", false, note
		}
		if i > 0 && text != settled {
			return "", false, fmt.Sprintf("two readings: %q or %q", settled, text)
		}
		settled = text
	}
	if settled == "" && !e.Empty {
		return "", false, "nothing is left, and no example gives nothing"
	}
	return settled, true, ""
}

// settle joins the parts; each slot's expressions must agree where they apply,
// and the first one must apply.
func (r *Reading) settle(row lang.Row) (string, bool, string) {
	var b strings.Builder
	for _, part := range r.Parts {
		if part.Exprs == nil {
			b.WriteString(part.Const)
			continue
		}
		first, ok := part.Exprs[0].Eval(row)
		if !ok {
			return "", false, "a reading doesn't apply to this input"
		}
		for _, e := range part.Exprs[1:] {
			if text, ok := e.Eval(row); ok && text != first {
				return "", false, fmt.Sprintf("two readings of a part: %q or %q", first, text)
			}
		}
		b.WriteString(first)
	}
	return b.String(), true, ""
}

// Leaves calls visit for each leaf, yes before no.
func (t *Tree) Leaves(visit func(*Leaf)) {
	if t.Leaf != nil {
		visit(t.Leaf)
		return
	}
	t.Yes.Leaves(visit)
	t.No.Leaves(visit)
}
