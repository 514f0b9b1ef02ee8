package synth

import (
	"container/heap"
	"encoding/binary"
	"strings"

	"signalbox/maintenance/author/lang"
)

// Reading is one way to read the examples: parts that are joined.
type Reading struct {
	Parts []Part
	Cost  int
}

// Part is a constant, or a slot whose expressions the examples can't tell
// apart, cheapest first.
type Part struct {
	Const string
	Exprs []lang.Expr
}

// Eval joins the first expression of each slot.
func (r *Reading) Eval(row lang.Row) (string, bool) {
	var b strings.Builder
	for _, part := range r.Parts {
		if part.Exprs == nil {
			b.WriteString(part.Const)
			continue
		}
		text, ok := part.Exprs[0].Eval(row)
		if !ok {
			return "", false
		}
		b.WriteString(text)
	}
	return b.String(), true
}

// oddest returns the cost of its dearest piece. Parts of dates aren't odd,
// however much a layout costs: a calendar confirms them.
func (r *Reading) oddest() int {
	oddest := 0
	for _, part := range r.Parts {
		if part.Exprs == nil {
			continue
		}
		if _, date := part.Exprs[0].(*lang.DateOf); !date {
			oddest = max(oddest, part.Exprs[0].Cost())
		}
	}
	return oddest
}

// constant says whether the reading looks at nothing.
func (r *Reading) constant() bool {
	for _, part := range r.Parts {
		if part.Exprs != nil {
			return false
		}
	}
	return true
}

// node is a way to write the first bytes of every output.
type node struct {
	at     []int32
	cost   int
	serial int
	depth  int
	parent *node
	part   Part
}

type queue []*node

func (q queue) Len() int { return len(q) }
func (q queue) Less(i, j int) bool {
	if q[i].cost != q[j].cost {
		return q[i].cost < q[j].cost
	}
	return q[i].serial < q[j].serial
}
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }

// Push adds a node.
func (q *queue) Push(x any) { *q = append(*q, x.(*node)) }

// Pop takes the last node.
func (q *queue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

// Limits of one search over offsets.
const (
	maxParts  = 14
	maxPops   = 6000
	maxQueue  = 60000
	partPrice = 25
)

// search returns the count cheapest readings of the samples.
func (s *space) search(count int) (readings []*Reading) {
	open := &queue{{at: make([]int32, len(s.samples))}}
	pops := map[string]int{}
	serial := 0
	push := func(n *node) {
		serial++
		n.serial = serial
		if open.Len() < maxQueue {
			heap.Push(open, n)
		}
	}
	for steps := 0; open.Len() > 0 && len(readings) < count && steps < maxPops && s.budget.spend(len(s.samples)); steps++ {
		n := heap.Pop(open).(*node)
		if s.done(n) {
			readings = append(readings, n.reading())
			continue
		}
		key := offsetKey(n.at)
		if pops[key]++; pops[key] <= count && n.depth < maxParts {
			s.expand(n, push)
		}
	}
	return readings
}

func (s *space) done(n *node) bool {
	for i, at := range n.at {
		if int(at) != len(s.samples[i].out) {
			return false
		}
	}
	return true
}

func offsetKey(at []int32) string {
	var key []byte
	for _, n := range at {
		key = binary.AppendUvarint(key, uint64(n))
	}
	return string(key)
}

func (n *node) reading() *Reading {
	r := &Reading{Cost: n.cost}
	for ; n.parent != nil; n = n.parent {
		r.Parts = append([]Part{n.part}, r.Parts...)
	}
	return r
}

// expand pushes every component and constant that continues all outputs.
func (s *space) expand(n *node, push func(*node)) {
	out := s.samples[0].out
	from := int(n.at[0])
	afterConst := n.parent != nil && n.part.Exprs == nil
	for to := from; to <= len(out); to++ {
		piece := out[from:to]
		for _, g := range s.byFirst[piece] {
			s.budget.spend(1)
			if at := s.advance(n.at, g.values, ""); at != nil {
				push(&node{at: at, cost: n.cost + g.cost() + partPrice, depth: n.depth + 1, parent: n, part: Part{Exprs: g.exprs}})
			}
		}
		if piece == "" || afterConst || s.dear && strings.IndexFunc(piece, lang.IsLetterOrDigit) >= 0 {
			continue
		}
		if at := s.advance(n.at, nil, piece); at != nil {
			push(&node{at: at, cost: n.cost + constPrice(piece) + partPrice, depth: n.depth + 1, parent: n, part: Part{Const: piece}})
		}
	}
}

// advance returns the offsets after the values (or one constant), or nil where
// an output doesn't go on like that.
func (s *space) advance(at []int32, values []string, constant string) []int32 {
	next := make([]int32, len(at))
	for i, from := range at {
		if values != nil {
			constant = values[i]
		}
		if !strings.HasPrefix(s.samples[i].out[from:], constant) {
			return nil
		}
		next[i] = from + int32(len(constant))
	}
	return next
}

// constPrice makes constants dear by their letters and digits.
func constPrice(constant string) int {
	price := 70
	for _, r := range constant {
		if lang.IsLetterOrDigit(r) {
			price += 90
		} else {
			price += 20
		}
	}
	return min(price, 600)
}
