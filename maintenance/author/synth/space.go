package synth

import (
	"slices"
	"strings"

	"signalbox/maintenance/author/lang"
)

// sample is one example of one text output.
type sample struct {
	row lang.Row
	out string
}

// group is a set of expressions that give the same values on every sample,
// cheapest first.
type group struct {
	values []string
	exprs  []lang.Expr
}

// maxAlternatives bounds a group. The cheapest are kept.
const maxAlternatives = 48

func (g *group) cost() int { return g.exprs[0].Cost() }

func (g *group) insert(e lang.Expr) {
	at, _ := slices.BinarySearchFunc(g.exprs, e.Cost()+1, func(x lang.Expr, cost int) int { return x.Cost() - cost })
	if at >= maxAlternatives {
		return
	}
	g.exprs = slices.Insert(g.exprs, at, e)
	if len(g.exprs) > maxAlternatives {
		g.exprs = g.exprs[:maxAlternatives]
	}
}

// space holds the components that occur in every output of its samples.
type space struct {
	samples []sample
	groups  map[string]*group
	byFirst map[string][]*group
	budget  *Budget
	dear    bool // whether letters and digits can't come from constants
}

// Budget counts the steps that a family's search may still take.
type Budget struct{ left int64 }

// NewBudget returns a budget of n steps. A step is about one comparison of a
// component with an output.
func NewBudget(n int64) *Budget { return &Budget{left: n} }

// spend takes n steps and says whether there were that many.
func (b *Budget) spend(n int) bool {
	b.left -= int64(n)
	return b.left > 0
}

func newSpace(samples []sample, budget *Budget) *space {
	s := &space{samples: samples, budget: budget, groups: map[string]*group{}, byFirst: map[string][]*group{}}
	for column := range samples[0].row {
		s.cuts(column)
		s.changes(column)
		s.numbers(column)
		s.dates(column)
	}
	return s
}

// add keeps e, whose values on the samples are given, where they're useful.
func (s *space) add(e lang.Expr, values []string) {
	key := strings.Join(values, "\x01")
	g := s.groups[key]
	if g == nil {
		g = &group{values: slices.Clone(values)}
		s.groups[key] = g
		s.byFirst[values[0]] = append(s.byFirst[values[0]], g)
	}
	g.insert(e)
}

// useful says whether the values are part of every output, and not all empty.
func (s *space) useful(values []string) bool {
	empty := true
	for i, value := range values {
		if !strings.Contains(s.samples[i].out, value) {
			return false
		}
		empty = empty && value == ""
	}
	return !empty
}

// try evaluates e on the samples in order and adds it where it's useful. It
// stops at the first sample that speaks against it.
func (s *space) try(e lang.Expr) {
	values := make([]string, len(s.samples))
	empty := true
	for i, sample := range s.samples {
		s.budget.spend(4)
		value, ok := e.Eval(sample.row)
		if !ok || !strings.Contains(sample.out, value) {
			return
		}
		values[i] = value
		empty = empty && value == ""
	}
	if !empty {
		s.add(e, values)
	}
}
