package synth

import (
	"cmp"
	"slices"
	"strings"

	"signalbox/maintenance/author/lang"
)

// Limits of branching.
const (
	minSide     = 2
	minConstant = 3
	// A branch may have been made for its side's examples alone.
	minSideForetold = 2
	maxPredicates   = 400
	maxPartitions   = 60
)

// learn returns a leaf, or the cheapest branch both sides of which can be
// learned.
func (l *learner) learn(items []item, depth int) (*Tree, error) {
	leaf, err := l.leaf(items)
	if err == nil {
		return &Tree{Leaf: leaf}, nil
	}
	if depth == 0 || len(items) <= minSide || l.budget.left <= 0 {
		return nil, err
	}
	partitions := l.partitions(items)
	for _, below := range []int{0, depth - 1} {
		if below == 0 && depth == 1 || below > 0 || depth > 1 {
			for _, p := range partitions {
				if tree := l.split(items, p, below); tree != nil {
					return tree, nil
				}
			}
		}
		if depth == 1 {
			break
		}
	}
	return nil, err
}

// partition is a way to tell the items apart, with all predicates that do it.
type partition struct {
	key        string
	predicates []*lang.Predicate
}

func (l *learner) split(items []item, p partition, depth int) *Tree {
	if l.budget.left <= 0 {
		return nil
	}
	var yes, no []item
	for i, it := range items {
		if p.key[i] == '1' {
			yes = append(yes, it)
		} else {
			no = append(no, it)
		}
	}
	a := l.side(yes, depth)
	if a == nil && p.predicates[0].Test == lang.IsEmpty {
		a = emptyLeaf(yes)
	}
	if a == nil {
		return nil
	}
	b := l.side(no, depth)
	if b == nil || a.Leaf != nil && b.Leaf != nil && a.Leaf.fixed() && b.Leaf.fixed() {
		return nil
	}
	return &Tree{Predicates: p.predicates, Yes: a, No: b}
}

// side learns one side of a branch. A side may give one fixed output where
// there are enough examples of it.
func (l *learner) side(items []item, depth int) *Tree {
	if leaf := fixedLeaf(items); leaf != nil {
		return &Tree{Leaf: leaf}
	}
	tree, err := l.learn(items, depth)
	if err != nil || tree.Leaf != nil && tree.Leaf.Foretold < minSideForetold {
		return nil
	}
	return tree
}

func fixedLeaf(items []item) *Leaf {
	first := items[0].Target
	if len(items) < minConstant {
		return nil
	}
	leaf := &Leaf{Form: first.Form, Support: len(items), Foretold: len(items) - 1}
	for _, it := range items {
		if !it.Target.Equal(first) {
			return nil
		}
		leaf.Cases = append(leaf.Cases, it.ID)
	}
	for _, text := range first.Text {
		leaf.Elements = append(leaf.Elements, constantElement(text))
	}
	return leaf
}

// emptyLeaf returns the leaf of empty inputs. One example is enough where it
// gives nothing again: no other input goes there.
func emptyLeaf(items []item) *Tree {
	for _, it := range items {
		if !it.Target.Equal(items[0].Target) || len(it.Target.Text) > 1 || len(it.Target.Text) == 1 && it.Target.Text[0] != "" || len(it.row) > 1 {
			return nil
		}
	}
	leaf := &Leaf{Form: items[0].Target.Form, Support: len(items), Cases: []string{items[0].ID}}
	for _, text := range items[0].Target.Text {
		leaf.Elements = append(leaf.Elements, constantElement(text))
	}
	return &Tree{Leaf: leaf}
}

func constantElement(text string) Element {
	return Element{[]*Reading{{Parts: []Part{{Const: text}}}}, text == ""}
}

// fixed says whether the leaf looks at nothing.
func (l *Leaf) fixed() bool {
	for _, e := range l.Elements {
		if !e.Readings[0].constant() {
			return false
		}
	}
	return true
}

// partitions returns the ways to tell the items apart, cheapest first.
func (l *learner) partitions(items []item) []partition {
	byKey := map[string][]*lang.Predicate{}
	var keys []string
	for _, p := range predicates(items) {
		l.budget.spend(len(items))
		key, yes := outcomeKey(p, items)
		least := minSide
		if p.Test == lang.IsEmpty {
			least = 1 // there is only one empty text
		}
		if yes < least || yes > len(items)-minSide {
			continue
		}
		if byKey[key] == nil {
			keys = append(keys, key)
		}
		byKey[key] = append(byKey[key], p)
	}
	var list []partition
	for _, key := range keys {
		slices.SortStableFunc(byKey[key], func(a, b *lang.Predicate) int { return a.Price - b.Price })
		list = append(list, partition{key, byKey[key]})
	}
	slices.SortStableFunc(list, func(a, b partition) int {
		if c := a.predicates[0].Price - b.predicates[0].Price; c != 0 {
			return c
		}
		return cmp.Compare(a.key, b.key)
	})
	return list[:min(len(list), maxPartitions)]
}

func outcomeKey(p *lang.Predicate, items []item) (string, int) {
	var key strings.Builder
	yes := 0
	for _, it := range items {
		if p.Holds(it.row) {
			key.WriteByte('1')
			yes++
		} else {
			key.WriteByte('0')
		}
	}
	return key.String(), yes
}

// predicates returns the candidate predicates over the items' columns.
func predicates(items []item) (list []*lang.Predicate) {
	seen := map[lang.Predicate]bool{}
	for column := range items[0].row {
		add := func(p lang.Predicate) {
			p.Column = column
			if !seen[p] && len(list) < maxPredicates*(column+1) {
				list = append(list, &p)
			}
			seen[p] = true
		}
		add(lang.Predicate{Test: lang.IsEmpty, Price: 10})
		classPredicates(add)
		for _, it := range items {
			literalPredicates(it.row[column], add)
		}
	}
	return list
}

func classPredicates(add func(lang.Predicate)) {
	for class := lang.Class(0); class < lang.Classes; class++ {
		add(lang.Predicate{Test: lang.Has, Class: class, Count: 1, Price: 40})
		add(lang.Predicate{Test: lang.Starts, Class: class, Price: 50})
		add(lang.Predicate{Test: lang.Ends, Class: class, Price: 60})
		for count := 2; count <= 6; count++ {
			add(lang.Predicate{Test: lang.Has, Class: class, Count: count, Price: 70})
		}
	}
}

// literalPredicates asks for marks and words of one text. Words with digits
// would know examples by heart.
func literalPredicates(t *lang.Text, add func(lang.Predicate)) {
	for _, mark := range marks(t.S) {
		add(lang.Predicate{Test: lang.Has, Literal: mark, Count: 1, Price: 30})
		add(lang.Predicate{Test: lang.Has, Literal: mark, Count: 2, Price: 60})
		add(lang.Predicate{Test: lang.Starts, Literal: mark, Price: 50})
		add(lang.Predicate{Test: lang.Ends, Literal: mark, Price: 50})
	}
	for _, span := range t.Tokens(lang.Alnum) {
		word := t.S[span.From:span.To]
		if strings.ContainsAny(word, "0123456789") {
			continue
		}
		add(lang.Predicate{Test: lang.Has, Literal: word, Count: 1, Price: 60})
		if span.From == 0 {
			add(lang.Predicate{Test: lang.Starts, Literal: word, Price: 60})
		}
	}
	if shape := lang.Shape(t.S); !strings.Contains(shape, "0123456789") {
		add(lang.Predicate{Test: lang.HasShape, Literal: shape, Price: 80})
	}
}
