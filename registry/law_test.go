package registry

import (
	"context"
	"flag"
	"fmt"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"signalbox/rule"
)

// world drives a registry through random acts and knows what must hold after
// each of them.
type world struct {
	r          *Registry
	cases      int
	rules      int
	generation rule.Generation
	serial     uint64
}

// TestLaws makes random changes, reopening the home now and then. Serials count
// every commit, generations never fall, an authorised collection is one whose proof
// was made for the generation before, and fsck finds nothing.
func TestLaws(t *testing.T) {
	homes := t.TempDir()
	few(t, "15") // each run makes a home of its own
	runs := 0
	rapid.Check(t, func(t *rapid.T) {
		runs++
		r, err := Init(context.Background(), filepath.Join(homes, fmt.Sprint(runs)), InitOptions{Environments: []rule.Environment{starlark()}, Policy: policy})
		if err != nil {
			t.Fatal(err)
		}
		w := &world{r: r, generation: 1, serial: 1}
		defer func() { _ = w.r.Close() }()
		t.Repeat(map[string]func(*rapid.T){
			"ingest":   w.ingest,
			"add rule": w.addRule,
			"activate": w.activate,
			"disable":  w.disable,
			"reveal":   w.reveal,
			"reopen":   w.reopen,
			"":         w.check,
		})
		problems, err := w.r.Fsck(context.Background())
		if err != nil || len(problems) > 0 {
			t.Fatalf("fsck: %v, %v", problems, err)
		}
	})
}

// few sets how many runs rapid makes in this test.
func few(t *testing.T, runs string) {
	t.Helper()
	checks := flag.Lookup("rapid.checks")
	was := checks.Value.String()
	must(t, checks.Value.Set(runs))
	t.Cleanup(func() { must(t, checks.Value.Set(was)) })
}

func (w *world) snapshot(t *rapid.T) *Snapshot {
	s, err := w.r.Snapshot(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (w *world) ingest(t *rapid.T) {
	n := rapid.IntRange(1, 8).Draw(t, "lines")
	var lines []Line
	for range n {
		w.cases++
		c := rule.Case{ID: fmt.Sprint("c", w.cases), Family: "f", Task: rule.Task{Instruction: "do", Input: rule.Value(fmt.Sprint(w.cases))}, Outcome: rule.Outcome{Output: "1"}}
		lines = append(lines, Line{Number: len(lines) + 1, Case: c})
	}
	report, err := w.r.Ingest(context.Background(), lines, IngestOptions{CertifiedBy: "ann"}, ann)
	if err != nil || report.Total() != n {
		t.Fatalf("taken %v of %d: %v", report.Taken, n, err)
	}
}

func (w *world) addRule(t *rapid.T) {
	w.rules++
	if _, err := w.r.AddRule(context.Background(), source("squares", "f", fmt.Sprint(w.rules)), ann); err != nil {
		t.Fatal(err)
	}
}

// activate proves the latest revision for the generation as it is, or for one
// that has passed, which must be refused.
func (w *world) activate(t *rapid.T) {
	s := w.snapshot(t)
	known, ok := s.State().Rules["squares"]
	if !ok || s.State().Suite.Cases == 0 {
		return
	}
	latest := known.Revisions[len(known.Revisions)-1]
	member, err := s.Member("squares", latest.Digest)
	if err != nil {
		t.Fatal(err)
	}
	p := predicate(s, member)
	passed := s.Generation() > 1 && rapid.Bool().Draw(t, "passed")
	if passed {
		p.Base.Generation--
	}
	after, err := w.r.Activate(context.Background(), signFor(t, w.r, p), &engine{}, ann)
	if refused := passed || latest.State == RevisionDisabled; (err != nil) != refused {
		t.Fatalf("passed %v, revision %s: %v", passed, latest.State, err)
	}
	if err == nil && after.Generation() != s.Generation()+1 {
		t.Fatalf("generation %d after %d", after.Generation(), s.Generation())
	}
}

func (w *world) disable(t *rapid.T) {
	if _, ok := w.snapshot(t).State().Rules["squares"]; !ok {
		return
	}
	if err := w.r.Disable(context.Background(), "squares", ann); err != nil {
		t.Fatal(err)
	}
}

func (w *world) reveal(t *rapid.T) {
	s := w.snapshot(t)
	cases, err := s.Cases(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if len(cases) == 0 {
		return
	}
	id := cases[rapid.IntRange(0, len(cases)-1).Draw(t, "case")].ID
	if err := w.r.Reveal(context.Background(), []string{id}, ann); err != nil {
		t.Fatal(err)
	}
	if now := w.snapshot(t); now.Generation() != s.Generation() || now.State().Suite.Digest != s.State().Suite.Digest {
		t.Fatal("revealing a case moved the generation or the suite")
	}
}

func (w *world) reopen(t *rapid.T) {
	if err := w.r.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := Open(w.r.Dir(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	w.r = again
}

func (w *world) check(t *rapid.T) {
	s := w.snapshot(t)
	if s.Serial().N < w.serial || s.Serial().N > w.serial+1 {
		t.Fatalf("serial %d after %d: one act is at most one commit", s.Serial().N, w.serial)
	}
	if s.Generation() < w.generation || s.Generation() > w.generation+1 {
		t.Fatalf("generation %d after %d", s.Generation(), w.generation)
	}
	w.serial, w.generation = s.Serial().N, s.Generation()
	state := s.State()
	if state.Suite.Cases+state.Sealed.Cases != w.cases {
		t.Fatalf("%d cases in the suite and %d sealed, %d ingested", state.Suite.Cases, state.Sealed.Cases, w.cases)
	}
	_, err := s.Authorise(context.Background(), &engine{})
	fresh := state.Active != nil && state.Active.Generation == state.Generation
	if (err == nil) != fresh {
		t.Fatalf("active %+v at generation %d: %v", state.Active, state.Generation, err)
	}
}
