package synth

import (
	"fmt"
	"slices"
	"strings"

	"signalbox/maintenance/author/lang"
)

// Guard knows which inputs there is evidence for. Kinds are the kinds of
// characters that were seen in a column; Shapes, where it isn't nil, are the
// shapes that were seen, for trees with little evidence. Must holds of every
// example and of no case that must fall back.
type Guard struct {
	Kinds  []string
	Shapes [][]string
	Empty  []bool
	Must   []*lang.Predicate
}

// fewExamples is how many examples make the shapes of inputs binding.
const fewExamples = 4

// NewGuard returns the guard that the examples support. With caution above 0 the
// shapes bind, however many examples there are.
func NewGuard(examples []Example, caution int) Guard {
	width := len(examples[0].Columns)
	g := Guard{Kinds: make([]string, width), Empty: make([]bool, width)}
	shapes := make([][]string, width)
	for column := range width {
		var kinds []rune
		for _, e := range examples {
			for _, r := range e.Columns[column] {
				kinds = append(kinds, lang.Kind(r))
			}
			shapes[column] = append(shapes[column], lang.Shape(e.Columns[column]))
			g.Empty[column] = g.Empty[column] || e.Columns[column] == ""
		}
		slices.Sort(kinds)
		g.Kinds[column] = string(slices.Compact(kinds))
		slices.Sort(shapes[column])
		shapes[column] = slices.Compact(shapes[column])
	}
	if len(examples) <= fewExamples || caution > 0 {
		g.Shapes = shapes
	}
	return g
}

// Accepts says whether there is evidence for inputs like this one.
func (g Guard) Accepts(columns []string) bool {
	if len(columns) != len(g.Kinds) {
		return false
	}
	for i, column := range columns {
		if column == "" && !g.Empty[i] {
			return false
		}
		for _, r := range column {
			if !slices.Contains([]rune(g.Kinds[i]), lang.Kind(r)) {
				return false
			}
		}
		if g.Shapes != nil && !slices.Contains(g.Shapes[i], lang.Shape(column)) {
			return false
		}
	}
	row := lang.NewRow(columns)
	return !slices.ContainsFunc(g.Must, func(p *lang.Predicate) bool { return !p.Holds(row) })
}

// Pattern returns the pattern of the texts that column i may hold, fit for a
// raw starlark string.
func (g Guard) Pattern(i int) string {
	var set strings.Builder
	for _, r := range g.Kinds[i] {
		switch r {
		case '0':
			set.WriteString("0-9")
		case 'A':
			set.WriteString(`\p{Lu}`)
		case 'a':
			set.WriteString(`\p{Ll}`)
		case 'l':
			set.WriteString(`\p{Lt}\p{Lm}\p{Lo}`)
		default:
			set.WriteString(literalIn(r))
		}
	}
	switch {
	case set.Len() == 0:
		return ""
	case g.Empty[i]:
		return "[" + set.String() + "]*"
	}
	return "[" + set.String() + "]+"
}

// literalIn returns r as it stands in a set of characters.
func literalIn(r rune) string {
	if strings.ContainsRune(" ,.;:_/@%&$#!?=+*(){}<>|~'", r) {
		return string(r)
	}
	return fmt.Sprintf(`\x{%x}`, r)
}
