package synth

import (
	"fmt"
	"slices"
	"strings"

	"signalbox/maintenance/author/lang"
)

// Guard knows which inputs there is evidence for. Kinds are the kinds of
// characters that were seen in a column, Always those that were in every text
// of it; Shapes, where it isn't nil, are the
// shapes that were seen, for trees with little evidence. Must holds of every
// example and of no case that must fall back.
type Guard struct {
	Kinds  []string
	Always []string
	Shapes [][]string
	Empty  []bool
	Must   []*lang.Predicate
}

// fewExamples is how many examples make the shapes of inputs binding, and
// fewRecords how many where the texts have tabs or lines: those hold fields, of
// which one more or less shifts the others.
const (
	fewExamples = 3
	fewRecords  = 5
)

func few(examples []Example) bool {
	records := slices.ContainsFunc(examples, func(e Example) bool {
		return slices.ContainsFunc(e.Columns, func(text string) bool { return strings.ContainsAny(text, "\t\n") })
	})
	return len(examples) <= fewExamples || records && len(examples) <= fewRecords
}

// required returns the kinds that every one of the texts has.
func required(texts []string) string {
	if len(texts) == 0 {
		return ""
	}
	var kinds []rune
	for _, r := range texts[0] {
		everywhere := !slices.ContainsFunc(texts, func(text string) bool {
			return !slices.ContainsFunc([]rune(text), func(x rune) bool { return lang.Kind(x) == lang.Kind(r) })
		})
		if everywhere {
			kinds = append(kinds, lang.Kind(r))
		}
	}
	slices.Sort(kinds)
	return string(slices.Compact(kinds))
}

func columnOf(examples []Example, column int) []string {
	texts := make([]string, len(examples))
	for i, e := range examples {
		texts[i] = e.Columns[column]
	}
	return texts
}

// NewGuard returns the guard that the examples support. With caution above 0 the
// shapes bind, however many examples there are.
func NewGuard(examples []Example, caution int) Guard {
	width := len(examples[0].Columns)
	g := Guard{Kinds: make([]string, width), Always: make([]string, width), Empty: make([]bool, width)}
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
		g.Always[column] = required(columnOf(examples, column))
		slices.Sort(shapes[column])
		shapes[column] = slices.Compact(shapes[column])
	}
	if few(examples) || caution > 0 {
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
		for _, kind := range g.Always[i] {
			if !slices.ContainsFunc([]rune(column), func(r rune) bool { return lang.Kind(r) == kind }) {
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
		set.WriteString(KindPattern(r))
	}
	switch {
	case set.Len() == 0:
		return ""
	case g.Empty[i]:
		return "[" + set.String() + "]*"
	}
	return "[" + set.String() + "]+"
}

// KindPattern returns what stands for a kind of characters in a set.
func KindPattern(kind rune) string {
	switch kind {
	case '0':
		return "0-9"
	case 'A':
		return `\p{Lu}`
	case 'a':
		return `\p{Ll}`
	case 'l':
		return `\p{Lt}\p{Lm}\p{Lo}`
	}
	if strings.ContainsRune(" ,.;:_/@%&$#!?=+*(){}<>|~'", kind) {
		return string(kind)
	}
	return fmt.Sprintf(`\x{%x}`, kind)
}
