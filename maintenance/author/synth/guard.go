package synth

import (
	"slices"

	"signalbox/maintenance/author/lang"
)

// Guard knows which inputs there is evidence for. Kinds are the kinds of
// characters that were seen in a column; Shapes, where it isn't nil, are the
// shapes that were seen, for trees with little evidence.
type Guard struct {
	Kinds  []string
	Shapes [][]string
	Empty  []bool
}

// fewExamples is how many examples make the shapes of inputs binding.
const fewExamples = 4

// NewGuard returns the guard that the examples support.
func NewGuard(examples []Example) Guard {
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
	if len(examples) <= fewExamples {
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
	return true
}
