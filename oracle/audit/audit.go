// Package audit compares what a collection gives with what was certified: over
// sealed cases, or over later history. It is the one package beside the registry
// that sealed cases go to, and maintenance must not import it.
//
// It decides as the router does (oracle.Answer), asks each program once, and
// proves nothing. Counting the uses of sealed cases and acting on a wrong answer
// are the caller's work. A replay that routes by itself adds its answers to a
// Report and gets the same tables.
package audit

import (
	"context"
	"maps"
	"slices"

	"signalbox/oracle"
	"signalbox/rule"
)

// Tally counts cases: answered and right, answered and wrong, and fell back by
// reason. Due is how many of those that fell back had to.
type Tally struct {
	Cases    int                 `json:"cases"`
	Right    int                 `json:"right"`
	Wrong    int                 `json:"wrong"`
	FellBack map[rule.Reason]int `json:"fell_back"`
	Due      int                 `json:"due"`
}

// Wrong is one case that was answered otherwise than certified. Expected is
// absent where the case must fall back.
type Wrong struct {
	Case     string        `json:"case"`
	Family   rule.Family   `json:"family"`
	Rule     rule.Name     `json:"rule"`
	Task     rule.Task     `json:"task"`
	Expected *rule.Outcome `json:"expected,omitzero"`
	Given    *rule.Outcome `json:"given"`
}

// Report is a comparison, in all and per family. Every wrong case is listed.
type Report struct {
	Tally
	Families map[rule.Family]*Tally `json:"families"`
	Wrongs   []Wrong                `json:"wrongs"`
}

// NewReport returns a Report without cases.
func NewReport() *Report {
	return &Report{Tally: newTally(), Families: map[rule.Family]*Tally{}, Wrongs: []Wrong{}}
}

func newTally() Tally { return Tally{FellBack: map[rule.Reason]int{}} }

// Add compares what was given for a case with what was certified.
func (r *Report) Add(c rule.Case, given oracle.Given) {
	if r.Families[c.Family] == nil {
		tally := newTally()
		r.Families[c.Family] = &tally
	}
	answered := given.Reason == rule.ReasonMatched && given.Outcome != nil
	right := answered && !c.Fallback && given.Outcome.Equal(c.Outcome)
	for _, tally := range []*Tally{&r.Tally, r.Families[c.Family]} {
		tally.add(given.Reason, answered, right)
		if !answered && c.Fallback {
			tally.Due++
		}
	}
	if !answered || right {
		return
	}
	wrong := Wrong{Case: c.ID, Family: c.Family, Rule: given.Rule, Task: c.Task, Given: given.Outcome}
	if !c.Fallback {
		wrong.Expected = &c.Outcome
	}
	r.Wrongs = append(r.Wrongs, wrong)
}

func (t *Tally) add(reason rule.Reason, answered, right bool) {
	t.Cases++
	switch {
	case right:
		t.Right++
	case answered:
		t.Wrong++
	default:
		t.FellBack[reason]++
	}
}

// WrongRules returns the rules that gave a wrong answer, by name.
func (r *Report) WrongRules() []rule.Name {
	names := make(map[rule.Name]bool)
	for _, wrong := range r.Wrongs {
		names[wrong.Rule] = true
	}
	return slices.Sorted(maps.Keys(names))
}

// Run answers every case with the collection and compares. It returns
// oracle.ErrUnavailable where a program could not be run; there is no report
// then.
func Run(ctx context.Context, programs oracle.Programs, collection []rule.Program, cases []rule.Case, progress func(done, total int)) (*Report, error) {
	tasks := make([]rule.Task, 0, len(cases))
	for _, c := range cases {
		tasks = append(tasks, c.Task)
	}
	given, err := oracle.Answer(ctx, programs, collection, tasks, progress)
	if err != nil {
		return nil, err
	}
	report := NewReport()
	for i, c := range cases {
		report.Add(c, given[i])
	}
	return report, nil
}
