package synth

import (
	"errors"
	"slices"
	"strings"

	"signalbox/maintenance/author/lang"
)

// Settings bound a search. The zero value means the defaults.
type Settings struct {
	Readings int   // how many readings are kept
	Slack    int   // how much dearer than the best one an alternative may be
	Steps    int64 // the budget
}

// The defaults, chosen by measuring on public example sets.
const (
	defaultReadings = 10
	defaultSlack    = 150
	defaultSteps    = 45_000_000
	maxShown        = 40
	maxDepth        = 2
	maxAgain        = 5
	odd             = 400 // the cost of a piece that wants more examples foretold
	oddForetold     = 3
	unusual         = 250 // the same, for leaves of the fewest examples
	unusualSupport  = 3
	minSame         = 4 // examples of one and the same output
)

// ErrTooFew is returned where there are fewer than three examples: nothing
// could be foretold.
var ErrTooFew = errors.New("too few examples to foretell one: certify more")

// errNothing is why a leaf has no program.
var (
	errNothing    = errors.New("no program of the language gives all the outputs")
	errConstant   = errors.New("every output is the same: a rule that gives a constant needs explicit permission")
	errUnforetold = errors.New("every example was needed to choose the program, so none confirms it: certify more")
	errOdd        = errors.New("only an odd program gives the outputs, and too few examples confirm it: certify more")
	errBudget     = errors.New("the search used up its steps")
)

type learner struct {
	Settings
	budget *Budget
}

// Learn returns the tree that the examples support.
func Learn(examples []Example, settings Settings) (*Tree, error) {
	if settings.Readings == 0 {
		settings.Readings = defaultReadings
	}
	if settings.Slack == 0 {
		settings.Slack = defaultSlack
	}
	if settings.Steps == 0 {
		settings.Steps = defaultSteps
	}
	list := distinct(examples)
	if len(list) < 3 {
		return nil, ErrTooFew
	}
	l := &learner{settings, NewBudget(settings.Steps)}
	tree, err := l.learn(list, maxDepth)
	if err != nil && l.budget.left <= 0 {
		return nil, errBudget
	}
	return tree, err
}

// item is an example with its row made.
type item struct {
	Example
	row lang.Row
}

// distinct drops repeated inputs.
func distinct(examples []Example) (list []item) {
	seen := map[string]bool{}
	for _, e := range examples {
		key := strings.Join(e.Columns, "\x00")
		if !seen[key] {
			list = append(list, item{e, lang.NewRow(e.Columns)})
		}
		seen[key] = true
	}
	return list
}

// leaf learns one leaf for all items.
func (l *learner) leaf(items []item) (*Leaf, error) {
	first := items[0].Target
	leaf := &Leaf{Form: first.Form, Support: len(items), Foretold: len(items)}
	constant := true
	for _, it := range items {
		if it.Target.Form != first.Form {
			return nil, errNothing
		}
		constant = constant && it.Target.Equal(first)
		leaf.Cases = append(leaf.Cases, it.ID)
	}
	if constant && len(items) < minSame {
		return nil, errConstant
	}
	for i := range first.Text {
		element, foretold, err := l.element(items, i, constant)
		if err != nil {
			return nil, err
		}
		leaf.Elements = append(leaf.Elements, element)
		leaf.Foretold = min(leaf.Foretold, foretold)
	}
	if leaf.Foretold < 1 {
		return nil, errUnforetold
	}
	if leaf.odd() {
		return nil, errOdd
	}
	return leaf, nil
}

// odd says whether the leaf has foretold too little for what its dearest piece
// costs.
func (l *Leaf) odd() bool {
	return slices.ContainsFunc(l.Elements, func(e Element) bool {
		oddest := e.Readings[0].oddest()
		return oddest >= odd && l.Foretold < oddForetold || oddest >= unusual && l.Support <= unusualSupport
	})
}

func samplesOf(items []item, element int) []sample {
	samples := make([]sample, len(items))
	for i, it := range items {
		samples[i] = sample{it.row, it.Target.Text[element]}
	}
	return samples
}

// element learns one text. Where the outputs aren't all the same: first which program is right from as few examples
// as possible, then every reading that fits them all.
func (l *learner) element(items []item, i int, constant bool) (Element, int, error) {
	samples := samplesOf(items, i)
	if constant {
		return l.copied(samples)
	}
	if same(samples) {
		return l.fixed(samples), len(items), nil
	}
	needed, err := l.foretell(samples)
	if err != nil {
		return Element{}, 0, err
	}
	readings := l.all(samples, needed)
	if len(readings) == 0 {
		return Element{}, 0, errNothing
	}
	if readings[0].constant() {
		return Element{}, 0, errConstant
	}
	return elementOf(l.thin(l.near(readings), probes(samples)), samples), len(samples) - len(needed), nil
}

// fixed learns a text of a list that is the same in all samples: copied, where
// it has letters or digits and can be, and else a constant.
func (l *learner) fixed(samples []sample) Element {
	if strings.IndexFunc(samples[0].out, lang.IsLetterOrDigit) >= 0 {
		if element, _, err := l.copied(samples); err == nil {
			return element
		}
	}
	return constantElement(samples[0].out)
}

// copied learns a text that is the same in all samples, but only as something
// that is taken from them: a constant would answer whatever it's given.
func (l *learner) copied(samples []sample) (Element, int, error) {
	space := newSpace(spread(samples, maxShown), l.budget)
	space.dear = true
	readings := fitting(slices.DeleteFunc(space.search(l.Readings), (*Reading).constant), samples)
	if len(readings) == 0 {
		return Element{}, 0, errConstant
	}
	return elementOf(l.thin(l.near(readings), probes(samples)), samples), len(samples) - minSame + 1, nil
}

func elementOf(readings []*Reading, samples []sample) Element {
	return Element{readings, slices.ContainsFunc(samples, func(s sample) bool { return s.out == "" })}
}

func same(samples []sample) bool {
	for _, s := range samples {
		if s.out != samples[0].out {
			return false
		}
	}
	return true
}

// all returns the readings that fit all samples: those of a search over the
// needed ones and as many others as it can bear, and over any that it still got
// wrong.
func (l *learner) all(samples, needed []sample) []*Reading {
	shown := slices.Clone(needed)
	for _, s := range spread(samples, maxShown) {
		if len(shown) < maxShown && !contains(shown, s) {
			shown = append(shown, s)
		}
	}
	for range maxAgain {
		readings := newSpace(shown, l.budget).search(l.Readings)
		if list := fitting(readings, samples); len(list) > 0 || len(readings) == 0 {
			return list
		}
		wrong := slices.IndexFunc(samples, func(s sample) bool { return !fits(readings[0], s) })
		if wrong < 0 {
			return nil
		}
		shown = append(shown, samples[wrong])
	}
	return nil
}

// foretell shows the search two examples and then each one that it got wrong,
// until a reading is right on all. It returns those that it was shown.
func (l *learner) foretell(samples []sample) ([]sample, error) {
	shown := spread(samples, 2)
	for len(shown) <= min(len(samples), 12) {
		readings := newSpace(shown, l.budget).search(l.Readings)
		if len(readings) == 0 {
			return nil, errNothing
		}
		if len(fitting(readings, samples)) > 0 {
			if len(shown) == len(samples) {
				return nil, errUnforetold
			}
			return shown, nil
		}
		wrong := slices.IndexFunc(samples, func(s sample) bool { return !fits(readings[0], s) })
		if wrong < 0 || contains(shown, samples[wrong]) {
			return nil, errNothing
		}
		shown = append(shown, samples[wrong])
	}
	return nil, errUnforetold
}

func contains(shown []sample, s sample) bool {
	return slices.ContainsFunc(shown, func(x sample) bool { return &x.row[0] == &s.row[0] })
}

func fits(r *Reading, s sample) bool {
	text, ok := r.Eval(s.row)
	return ok && text == s.out
}

// fitting returns the readings that are right on all samples, without the
// alternatives that differ from the slot's first one on any of them.
func fitting(readings []*Reading, samples []sample) (list []*Reading) {
	for _, r := range readings {
		right := !slices.ContainsFunc(samples, func(s sample) bool { return !fits(r, s) })
		if !right {
			continue
		}
		kept := &Reading{Cost: r.Cost}
		for _, part := range r.Parts {
			kept.Parts = append(kept.Parts, part.agreeing(samples))
		}
		list = append(list, kept)
	}
	return list
}

func (p Part) agreeing(samples []sample) Part {
	if p.Exprs == nil {
		return p
	}
	kept := p.Exprs[:1:1]
	for _, e := range p.Exprs[1:] {
		agrees := !slices.ContainsFunc(samples, func(s sample) bool {
			want, _ := p.Exprs[0].Eval(s.row)
			got, ok := e.Eval(s.row)
			return !ok || got != want
		})
		if agrees {
			kept = append(kept, e)
		}
	}
	return Part{Exprs: kept}
}

// near drops what is much dearer than the best: readings, and expressions in
// their slots.
func (l *learner) near(readings []*Reading) (list []*Reading) {
	for _, r := range readings {
		if r.Cost > readings[0].Cost+l.Slack {
			break
		}
		for i, part := range r.Parts {
			if part.Exprs == nil {
				continue
			}
			limit := part.Exprs[0].Cost() + l.Slack
			end := slices.IndexFunc(part.Exprs, func(e lang.Expr) bool { return e.Cost() > limit })
			if end > 0 {
				r.Parts[i].Exprs = part.Exprs[:end]
			}
		}
		list = append(list, r)
	}
	return list
}

// spread returns n samples, first the first one, then those whose shape hasn't
// been seen, then the rest in order.
func spread(samples []sample, n int) (list []sample) {
	seen := map[string]bool{}
	var rest []sample
	for _, s := range samples {
		key := ""
		for _, t := range s.row {
			key += lang.Shape(t.S) + "\x00"
		}
		if seen[key] {
			rest = append(rest, s)
			continue
		}
		seen[key] = true
		list = append(list, s)
	}
	list = append(list, rest...)
	return list[:min(n, len(list))]
}
