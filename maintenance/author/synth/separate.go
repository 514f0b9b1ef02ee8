package synth

import (
	"slices"

	"signalbox/maintenance/author/lang"
)

// Separate adds predicates to the guard so that it accepts every example and
// none of the others. It is false where no single predicate tells one of the
// others from all the examples.
func (g *Guard) Separate(examples []Example, others [][]string) bool {
	items := distinct(examples)
	for _, other := range others {
		if !g.Accepts(other) {
			continue
		}
		p := separator(items, lang.NewRow(other))
		if p == nil {
			return false
		}
		g.Must = append(g.Must, p)
	}
	return true
}

// separator returns the cheapest predicate that is the same for all items and
// different for the row.
func separator(items []item, row lang.Row) *lang.Predicate {
	candidates := predicates(append([]item{{row: row}}, items...))
	slices.SortStableFunc(candidates, func(a, b *lang.Predicate) int { return a.Price - b.Price })
	for _, p := range candidates {
		want := p.Holds(items[0].row)
		if p.Holds(row) == want {
			continue
		}
		if !slices.ContainsFunc(items, func(it item) bool { return p.Holds(it.row) != want }) {
			p.Not = !want
			return p
		}
	}
	return nil
}
