package oracle

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"signalbox/rule"
)

// untimed returns a copy of a report without its times.
func untimed(r *Report) Report {
	copied := *r
	copied.StartedAt, copied.FinishedAt = time.Time{}, time.Time{}
	return copied
}

// TestOrderDoesNotMatter shuffles members, cases and mapping of worlds with
// random faults in them.
func TestOrderDoesNotMatter(t *testing.T) {
	faults := []rule.TriggerReply{noMatch, abstain, crash, match(`{}`), match(`{"name":"x"}`)}
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld()
		w.proposal.Mapping = rule.Mapping{"upper": {"upper", "upper2"}, "greet": {"greet"}}
		w.fake.rules["upper2"] = upper()
		w.proposal.Programs = append(w.proposal.Programs, program("upper2", "upper", rule.Guard{Equals: []string{upperAsk}}))
		for range rapid.IntRange(0, 6).Draw(t, "faults") {
			name := rapid.SampledFrom([]rule.Name{"upper", "upper2", "greet"}).Draw(t, "rule")
			c := rapid.SampledFrom(w.proposal.Cases).Draw(t, "case")
			w.says(name, c.ID, rapid.SampledFrom(faults).Draw(t, "says"))
		}
		check := func() Report {
			report, err := Check(context.Background(), w.fake, w.proposal, nil)
			if err != nil {
				t.Fatal(err)
			}
			return untimed(report)
		}
		before := check()
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		cases, programs, names := w.proposal.Cases, w.proposal.Programs, w.proposal.Mapping["upper"]
		random.Shuffle(len(cases), func(i, j int) { cases[i], cases[j] = cases[j], cases[i] })
		random.Shuffle(len(programs), func(i, j int) { programs[i], programs[j] = programs[j], programs[i] })
		random.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		if after := check(); !reflect.DeepEqual(before, after) {
			t.Fatalf("in another order:\n%+v\nbefore:\n%+v", after, before)
		}
	})
}

// TestMatrixNamesTheFindings: any other answer gives another digest.
func TestMatrixNamesTheFindings(t *testing.T) {
	seen := map[rule.Digest]string{}
	for name, change := range map[string]func(*world){
		"nothing":         func(*world) {},
		"abstain":         func(w *world) { w.says("greet", "hi-ant", abstain) },
		"no match":        func(w *world) { w.says("greet", "hi-ant", noMatch) },
		"a foreign match": func(w *world) { w.says("upper", "hi-ant", match(`{}`)) },
		"a wrong outcome": func(w *world) { w.at("up-ant").Outcome = *outputs("no").Outcome },
		"a part":          func(w *world) { w.at("up-ant").Part = rule.AdmissionPart },
		"a probe": func(w *world) {
			w.wrap("upper", func(task rule.Document) (rule.TriggerReply, bool) {
				return abstain, task.Instruction == upperAsk && !task.Input.Present()
			})
		},
	} {
		w := newWorld()
		change(w)
		report := w.check(t)
		if other, ok := seen[report.Matrix]; ok {
			t.Errorf("%q and %q have one digest", name, other)
		}
		seen[report.Matrix] = name
	}
}

func TestReportIsJSON(t *testing.T) {
	w := newWorld()
	w.says("greet", "hi-ant", crash)
	report := w.check(t)
	data, err := rule.Canonical(report)
	if err != nil {
		t.Fatal(err)
	}
	var read Report
	if err := rule.Decode(data, &read); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(untimed(&read), untimed(report)) {
		t.Errorf("read %+v\nwrote %+v", read, report)
	}
}

func TestUncoveredCasesAreListed(t *testing.T) {
	w := newWorld()
	w.says("greet", "hi-ant", abstain)
	w.says("greet", "hi-fox", noMatch)
	report := w.check(t)
	want := []Uncovered{{"hi-ant", rule.VisiblePart, rule.ReasonAbstained}, {"hi-fox", rule.AdmissionPart, rule.ReasonNoMatch}}
	if got := report.Families[0].Uncovered; !slices.Equal(got, want) {
		t.Errorf("uncovered %+v", got)
	}
	if row := report.Rules[0]; row.Abstained != 1 || row.Visible != 2 || row.Hidden != 2 {
		t.Errorf("row %+v", row)
	}
}

// TestRefusalsAreBounded has a rule that is wrong on very many cases.
func TestRefusalsAreBounded(t *testing.T) {
	w := newWorld()
	for i := range 3 * maxListed {
		part := []rule.Part{rule.VisiblePart, rule.AdmissionPart}[i%2]
		w.add(rule.Case{ID: fmt.Sprintf("more-%d", i), Family: "upper", Part: part, Outcome: *outputs(strings.Repeat("?", maxShown)).Outcome,
			Task: rule.Task{Instruction: upperAsk, Input: shown(fmt.Sprint("word ", i))}})
	}
	report := w.check(t)
	wrong := map[rule.Part]int{}
	for _, r := range report.Refusals {
		if r.Kind == KindWrong {
			wrong[r.Part]++
			if r.Expected != "" || r.Got != "" {
				t.Errorf("a value of %d bytes is kept", len(r.Expected))
			}
		}
	}
	if wrong[rule.VisiblePart] != maxListed || wrong[rule.AdmissionPart] != maxListed {
		t.Errorf("listed %v", wrong)
	}
	if report.Omitted != maxListed || report.Rules[1].Refused[KindWrong] != 3*maxListed {
		t.Errorf("omitted %d, counted %v", report.Omitted, report.Rules[1].Refused)
	}
}

func TestArgsAreBounded(t *testing.T) {
	for limit, want := range map[int]int{6 * len(`{}`): 0, 3 * len(`{}`): 3} {
		w := newWorld()
		l, err := newPlan(w.proposal)
		if err != nil {
			t.Fatal(err)
		}
		a := &asker{plan: l, row: l.rules[1], programs: w.fake, progress: func(int) {}, limit: limit}
		a.prepare()
		if err := a.ask(context.Background()); err != nil {
			t.Fatal(err)
		}
		if got := a.row.finds.counts[KindArgsBytes]; got != want || len(a.row.args) != 6-want {
			t.Errorf("limit %d: refused on %d cases, kept the args of %d", limit, got, len(a.row.args))
		}
	}
}

// TestSharedDocument: two families have one task; each case is judged by its
// own outcome, and the rule of one isn't foreign to the other's.
func TestSharedDocument(t *testing.T) {
	w := newWorld()
	shared := *w.at("up-ant")
	shared.ID, shared.Family = "shared", "french"
	w.add(shared)
	if report := w.check(t); !report.Passed() || report.Families[1].Visible.Covered != 3 {
		t.Errorf("refused %q", found(report))
	}
	w.at("shared").Outcome = *outputs("le ant").Outcome
	if got := found(w.check(t)); !slices.Equal(got, []string{"wrong upper shared"}) {
		t.Errorf("refused %q", got)
	}
}

// TestTreesReachTheExecutor: the task's files go to it, and to no trigger.
func TestTreesReachTheExecutor(t *testing.T) {
	w := newWorld()
	for _, word := range []string{"ant", "dog"} {
		c := w.at("up-" + word)
		c.Task.Files = map[string]string{"a.txt": word}
		c.Outcome = rule.Outcome{Files: map[string]*string{"a.txt": nil}}
	}
	old := w.fake.rules["upper"].execute
	w.executes("upper", func(task rule.Document, args rule.Value, tree rule.Tree) rule.ExecutorReply {
		if tree == nil {
			return old(task, args, tree)
		}
		return rule.ExecutorReply{Outcome: &rule.Outcome{Files: map[string]*string{tree.Paths()[0]: nil}}}
	})
	if report := w.check(t); !report.Passed() {
		t.Errorf("refused %+v", report.Refusals)
	}
}
