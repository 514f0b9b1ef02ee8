package lang

import (
	"fmt"
	"strings"
)

// Test is what a predicate asks of a column.
type Test string

// The tests: the column is empty, has at least Count tokens or literals, starts
// or ends with one, or is of a shape.
const (
	IsEmpty  Test = "empty"
	Has      Test = "has"
	Starts   Test = "starts"
	Ends     Test = "ends"
	HasShape Test = "shape"
)

// Predicate tells two kinds of input apart. Literal is used where it isn't
// empty, else Class. Not turns it round.
type Predicate struct {
	Column  int
	Test    Test
	Class   Class
	Literal string
	Count   int
	Price   int
	Not     bool
}

// Holds says whether the predicate is true of the row.
func (p *Predicate) Holds(row Row) bool { return p.asks(row) != p.Not }

func (p *Predicate) asks(row Row) bool {
	if p.Column >= len(row) {
		return false
	}
	t := row[p.Column]
	switch p.Test {
	case IsEmpty:
		return t.S == ""
	case HasShape:
		return Shape(t.S) == p.Literal
	}
	found := p.find(t)
	switch {
	case len(found) == 0:
		return false
	case p.Test == Starts:
		return found[0].From == 0
	case p.Test == Ends:
		return found[len(found)-1].To == len(t.S)
	}
	return len(found) >= p.Count
}

func (p *Predicate) find(t *Text) []Span {
	if p.Literal != "" {
		return t.Literal(p.Literal)
	}
	return t.Tokens(p.Class)
}

// Star returns the predicate as a starlark expression over c.
func (p *Predicate) Star() string {
	if p.Not {
		return "not (" + p.question() + ")"
	}
	return p.question()
}

func (p *Predicate) question() string {
	column := fmt.Sprintf("c[%d]", p.Column)
	kind := p.Class.String()
	if p.Literal != "" {
		kind = "text(" + Quote(p.Literal) + ")"
	}
	switch p.Test {
	case IsEmpty:
		return column + ` == ""`
	case HasShape:
		return fmt.Sprintf("shape(%s) == %s", column, Quote(p.Literal))
	case Has:
		return fmt.Sprintf("count(%s, %s) >= %d", column, kind, p.Count)
	}
	return fmt.Sprintf("%s(%s, %s)", p.Test, column, kind)
}

// Shape returns s with each run of digits as 0, of upper-case letters as A, of
// lower-case letters as a, of other letters as l and of spaces as one space.
// Other characters stand for themselves.
func Shape(s string) string {
	var b strings.Builder
	last := rune(-1)
	for _, r := range s {
		k := Kind(r)
		if k != last || !strings.ContainsRune("0Aal ", k) {
			b.WriteRune(k)
		}
		last = k
	}
	return b.String()
}

// Kind returns the character that stands for r in a shape.
func Kind(r rune) rune {
	switch {
	case r >= '0' && r <= '9':
		return '0'
	case isUpper(r):
		return 'A'
	case isLower(r):
		return 'a'
	case isLetter(r):
		return 'l'
	}
	return r
}
