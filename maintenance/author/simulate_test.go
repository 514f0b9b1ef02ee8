package author

import (
	"cmp"
	"fmt"
	"slices"
	"syscall"
	"time"

	"signalbox/maintenance/author/lang"
	"signalbox/maintenance/author/synth"
	"signalbox/rule"
)

// confidence is how sure the author wants to be before it answers.
type confidence struct {
	name     string
	settings synth.Settings
	caution  int
}

// confidences are from the boldest to the most careful. The second is what the
// author uses.
var confidences = []confidence{
	{"one reading", synth.Settings{Readings: 1, Slack: 1}, 0},
	{"default", synth.Settings{}, 0},
	{"more readings", synth.Settings{Readings: 20, Slack: 250}, 0},
	{"shapes bind", synth.Settings{}, 1},
}

// realFamily is one family of a real set: what is learned from, and what is
// held out.
type realFamily struct {
	name        string
	learn, held []briefCase
}

// outcome is what became of a family.
type outcome struct {
	err                error
	unheld             bool // no case was hidden: the product wants --allow-unheld
	submits            int
	right, wrong, fell int
	took               time.Duration
	dearest            int // the cost of the dearest reading that comes first
	foretold           int // by the leaf with the least
	wrongs             []string
	fallen             []string
}

// distinctInputs is how many different tasks there are.
func (f *realFamily) distinctInputs() int {
	inputs := map[rule.Value]bool{}
	for _, c := range append(slices.Clone(f.learn), f.held...) {
		inputs[c.Task.Input] = true
	}
	return len(inputs)
}

// without returns the family without the named inputs.
func (f *realFamily) without(bad map[rule.Value]bool) *realFamily {
	drop := func(list []briefCase) []briefCase {
		return slices.DeleteFunc(slices.Clone(list), func(c briefCase) bool { return bad[c.Task.Input] })
	}
	return &realFamily{f.name, drop(f.learn), drop(f.held)}
}

// parts splits like ingest does: few cases are all visible.
func (f *realFamily) parts() (visible, hidden []briefCase) {
	list := slices.Clone(f.learn)
	rank := func(c briefCase) rule.Digest { return rule.DigestOf([]byte("salt" + string(c.Task.Input))) }
	slices.SortFunc(list, func(a, b briefCase) int { return cmp.Compare(rank(a), rank(b)) })
	n := len(list)
	if n < 6 {
		return list, nil
	}
	quota := max(2, n/4)
	if n >= 12 {
		list = list[n/8:]
	}
	return list[quota:], list[:quota]
}

const simulatedSubmits = 3

// maintain learns, checks against the hidden cases and learns again from a
// revealed one, as the loop does; then it answers what was held out.
func (f *realFamily) maintain(sure confidence) (o outcome) {
	visible, hidden := f.parts()
	o.unheld = len(hidden) == 0
	start := used()
	for o.submits = 1; ; o.submits++ {
		s := material{Family: rule.Family(f.name), Cases: visible, Caution: sure.caution, Settings: sure.settings}.study()
		o.took = used() - start
		if o.err = s.err; o.err != nil {
			break
		}
		check, seen := answerAll(s, hidden), answerAll(s, visible)
		if check.wrong == 0 && check.right >= (len(hidden)+1)/2 && seen.wrong == 0 && seen.right*2 >= len(visible) {
			done := answerAll(s, f.held)
			done.unheld, done.submits, done.took = o.unheld, o.submits, o.took
			done.dearest, done.foretold = weigh(s)
			return done
		}
		if o.submits == simulatedSubmits || len(hidden) == 0 {
			o.err = fmt.Errorf("refused: hidden %d wrong, %d of %d right; %d of %d visible", check.wrong, check.right, len(hidden), seen.right, len(visible))
			break
		}
		visible, hidden = reveal(s, visible, hidden)
	}
	o.fell = len(f.held)
	return o
}

// weigh returns what the rule's readings cost at most, and how much its leaves
// foretold at least.
func weigh(s *study) (dearest, foretold int) {
	if s.rule.Table != nil {
		return 0, s.rule.Table.Foretold
	}
	foretold = 1 << 20
	s.rule.Tree.Leaves(func(l *synth.Leaf) {
		foretold = min(foretold, l.Foretold)
		for _, e := range l.Elements {
			dearest = max(dearest, e.Readings[0].Cost)
		}
	})
	return dearest, foretold
}

// reveal moves the first hidden case that isn't right to the visible ones.
func reveal(s *study, visible, hidden []briefCase) ([]briefCase, []briefCase) {
	for i, c := range hidden {
		if answerAll(s, []briefCase{c}).right == 0 {
			return append(slices.Clone(visible), c), append(slices.Clone(hidden[:i]), hidden[i+1:]...)
		}
	}
	return visible, hidden
}

// answerAll answers cases as the emitted rule does.
func answerAll(s *study, cases []briefCase) (o outcome) {
	for _, c := range cases {
		got, ok, note := answerOne(s, c.Task.Document())
		switch {
		case !ok:
			o.fell++
			o.fallen = append(o.fallen, fmt.Sprintf("%s → want %s: %s", c.Task.Input, c.Outcome.Output, note))
		case got == c.Outcome.Output:
			o.right++
		default:
			o.wrong++
			o.wrongs = append(o.wrongs, fmt.Sprintf("%s → %s, want %s", c.Task.Input, got, c.Outcome.Output))
		}
	}
	return o
}

func answerOne(s *study, task rule.Document) (rule.Value, bool, string) {
	if s.rule.Table != nil {
		return tableAnswer(s.rule, task)
	}
	columns, ok := columnsOf(s.rule, task)
	if !ok {
		return "", false, "another form"
	}
	if !s.rule.Guard.Accepts(columns) {
		return "", false, "guard"
	}
	target, ok, note := s.rule.Tree.Answer(lang.NewRow(columns))
	if !ok {
		return "", false, note
	}
	value, ok := s.rule.Outputs[target.Form].Join(target.Text)
	return value, ok, "no scalar"
}

// used returns the processor time of this process: the clock says little on a
// busy machine.
func used() time.Duration {
	var usage syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage) // never fails for the process itself
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
