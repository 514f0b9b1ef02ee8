package oracle

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"signalbox/rule"
)

func TestAPassingCollection(t *testing.T) {
	w := newWorld()
	report := w.check(t)
	if !report.Passed() {
		t.Fatalf("refused: %+v", report.Refusals)
	}
	want := struct{ positive, covered, uncovered, fallback, unserved int }{12, 12, 0, 1, 6}
	counts := report.Counts
	if counts.Positive != want.positive || counts.Covered != want.covered || counts.Uncovered != want.uncovered ||
		counts.MustFallBack != want.fallback || counts.Unserved != want.unserved {
		t.Errorf("counted %+v, want %+v", counts, want)
	}
	if counts.TriggerCalls != int(w.fake.triggers.Load()) || counts.ExecutorCalls != int(w.fake.executes.Load()) || counts.ExecutorCalls != 24 {
		t.Errorf("counted %d and %d calls, made %d and %d", counts.TriggerCalls, counts.ExecutorCalls, w.fake.triggers.Load(), w.fake.executes.Load())
	}
	if len(report.Families) != 2 || report.Families[0].Visible != (Coverage{3, 3}) || report.Families[0].Hidden != (Coverage{3, 3}) {
		t.Errorf("families: %+v", report.Families)
	}
	for _, row := range report.Rules {
		if row.Probes < 50 || row.Visible != 3 || row.Hidden != 3 {
			t.Errorf("row %+v", row)
		}
	}
}

// TestRefusals changes the world that passes in one way each.
func TestRefusals(t *testing.T) {
	flaky := func(first, later rule.TriggerReply, asked rule.Document) func(rule.Document) (rule.TriggerReply, bool) {
		seen := false
		return func(task rule.Document) (rule.TriggerReply, bool) {
			if task != asked {
				return rule.TriggerReply{}, false
			}
			if seen {
				return later, true
			}
			seen = true
			return first, true
		}
	}
	for _, test := range []struct {
		name   string
		change func(*world)
		want   []string
	}{
		{"wrong outcome", func(w *world) { w.at("up-cat").Outcome = *outputs("cat").Outcome }, []string{"wrong upper up-cat"}},
		{"outcome without output", func(w *world) {
			w.executes("upper", func(rule.Document, rule.Value, rule.Tree) rule.ExecutorReply { return rule.ExecutorReply{} })
			w.proposal.Policy.Floor = 0
		}, append(each6("executor_failure upper up-"), "covers_none upper")},
		{"stated args differ", func(w *world) { w.at("hi-bee").Args = `{"name":"wasp"}` }, []string{"wrong_args greet hi-bee"}},
		{"answers what must fall back", func(w *world) {
			c := w.at("up-ant")
			c.Fallback, c.Outcome = true, rule.Outcome{}
		}, []string{"answered_fallback upper up-ant"}},
		{"two rules of a family", func(w *world) {
			w.fake.rules["upper2"] = upper()
			w.proposal.Programs = append(w.proposal.Programs, program("upper2", "upper", rule.Guard{Equals: []string{upperAsk}}))
			w.proposal.Policy.Floor = 0
			w.says("upper", "up-ant", noMatch)
			w.says("upper2", "up-bee", noMatch)
		}, []string{"conflict upper up-cat", "conflict upper up-dog", "conflict upper up-eel", "conflict upper up-fox"}},
		{"executor fails", func(w *world) {
			old := w.fake.rules["greet"].execute
			w.executes("greet", func(task rule.Document, args rule.Value, tree rule.Tree) rule.ExecutorReply {
				if strings.HasSuffix(task.Instruction, "eel") {
					return rule.ExecutorReply{Failure: rule.FailureTimeout}
				}
				return old(task, args, tree)
			})
		}, []string{"executor_failure greet hi-eel"}},
		{"trigger fails on its own case", func(w *world) { w.says("greet", "hi-eel", crash) }, []string{"trigger_failure greet hi-eel"}},
		{"trigger fails on another's case", func(w *world) {
			w.at("fr-ant").Task.Instruction = "Convert to French"
			w.says("upper", "fr-ant", crash)
		}, []string{"trigger_failure upper fr-ant"}},
		{"trigger fails where its guard is false", func(w *world) { w.says("upper", "hi-eel", crash) }, []string{"guard_disagreement upper hi-eel"}},
		{"trigger matches where its guard is false", func(w *world) { w.says("upper", "fr-eel", match(`{}`)) }, []string{"guard_disagreement upper fr-eel"}},
		{"trigger abstains where its guard is false", func(w *world) { w.says("upper", "fr-eel", abstain) }, []string{"guard_disagreement upper fr-eel"}},
		{"matches another's case", func(w *world) {
			w.at("fr-ant").Task.Instruction = "Convert to French"
			w.says("upper", "fr-ant", match(`{}`))
		}, []string{"foreign_match upper fr-ant"}},
		{"abstains on another's case", func(w *world) {
			w.at("fr-ant").Task.Instruction = "Convert to French"
			w.says("upper", "fr-ant", abstain)
		}, []string{"foreign_abstain upper fr-ant"}},
		{"args that don't fit", func(w *world) {
			closed := false
			w.proposal.Programs[1].Manifest.ArgsSchema = rule.Schema{Type: "object", AdditionalProperties: &closed}
			w.proposal.Policy.Floor = 0
		}, append(each6("trigger_failure greet hi-"), "covers_none greet")},
		{"output that doesn't fit", func(w *world) {
			w.proposal.Programs[1].Manifest.ResultSchema = rule.Schema{Type: "number"}
			w.proposal.Policy.Floor = 0
		}, append(each6("executor_failure greet hi-"), "covers_none greet")},
		{"trigger repeats differ", func(w *world) {
			w.wrap("greet", flaky(match(`{"name":"ant"}`), match(`{"name":"aunt"}`), w.at("hi-ant").Task.Document()))
		}, []string{"nondeterministic greet hi-ant"}},
		{"trigger's second answer fails", func(w *world) {
			w.wrap("upper", flaky(noMatch, crash, w.at("hi-ant").Task.Document()))
		}, []string{"nondeterministic upper hi-ant"}},
		{"executor repeats differ", func(w *world) {
			n, old := 0, w.fake.rules["greet"].execute
			w.executes("greet", func(task rule.Document, args rule.Value, tree rule.Tree) rule.ExecutorReply {
				if n++; n == 2 {
					return outputs("Hi")
				}
				return old(task, args, tree)
			})
		}, []string{"nondeterministic greet hi-ant"}},
		{"floor on visible cases", func(w *world) { w.says("greet", "hi-ant", abstain); w.says("greet", "hi-bee", noMatch) },
			[]string{"floor visible"}},
		{"floor on hidden cases", func(w *world) { w.says("upper", "up-dog", abstain); w.says("upper", "up-eel", abstain) },
			[]string{"floor admission"}},
		{"a rule that knows the visible cases by heart", func(w *world) {
			w.wrap("upper", func(task rule.Document) (rule.TriggerReply, bool) {
				s, _ := text(task.Input)
				return noMatch, s == "dog" || s == "eel" || s == "fox"
			})
		}, []string{"floor admission"}},
		{"a rule without a case", func(w *world) {
			w.fake.rules["idle"] = fakeRule{trigger: func(rule.Document) rule.TriggerReply { return noMatch }}
			w.proposal.Programs = append(w.proposal.Programs, program("idle", "upper", rule.Guard{Equals: []string{"x"}}))
		}, []string{"covers_none idle"}},
		{"no hidden cases", func(w *world) {
			for _, word := range []string{"dog", "eel", "fox"} {
				w.at("up-" + word).Part = rule.VisiblePart
			}
		}, []string{"unheld"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld()
			test.change(w)
			report := w.check(t)
			got := found(report)
			slices.Sort(got)
			slices.Sort(test.want)
			if !slices.Equal(got, test.want) {
				t.Errorf("refused %q\nwant %q", got, test.want)
			}
			if report.Passed() {
				t.Error("passed all the same")
			}
		})
	}
}

// each6 returns the prefix with each of the world's six words.
func each6(prefix string) (lines []string) {
	for _, word := range []string{"ant", "bee", "cat", "dog", "eel", "fox"} {
		lines = append(lines, prefix+word)
	}
	return lines
}

// TestAllowed changes the world in ways that admission takes.
func TestAllowed(t *testing.T) {
	for name, change := range map[string]func(*world){
		"abstain on an own case":     func(w *world) { w.says("greet", "hi-ant", abstain) },
		"no_match on an own case":    func(w *world) { w.says("greet", "hi-ant", noMatch) },
		"own rule abstains on must":  func(w *world) { w.says("greet", "must", abstain) },
		"stated args are right":      func(w *world) { w.at("hi-bee").Args = `{"name":"bee"}` },
		"unheld where it is allowed": func(w *world) { unhold(w); w.proposal.Policy.AllowUnheld = true },
		"executor abstains": func(w *world) {
			old := w.fake.rules["greet"].execute
			w.executes("greet", func(task rule.Document, args rule.Value, tree rule.Tree) rule.ExecutorReply {
				if strings.HasSuffix(task.Instruction, "ant") {
					return rule.ExecutorReply{Abstained: true}
				}
				return old(task, args, tree)
			})
		},
		"executor abstains on must": func(w *world) {
			c := w.at("hi-ant")
			c.Fallback, c.Outcome = true, rule.Outcome{}
			old := w.fake.rules["greet"].execute
			w.executes("greet", func(task rule.Document, args rule.Value, tree rule.Tree) rule.ExecutorReply {
				if strings.HasSuffix(task.Instruction, "ant") {
					return rule.ExecutorReply{Abstained: true}
				}
				return old(task, args, tree)
			})
		},
		"no floor": func(w *world) {
			w.says("greet", "hi-ant", abstain)
			w.says("greet", "hi-bee", abstain)
			w.proposal.Policy.Floor = 0
		},
		"exactly the floor": func(w *world) {
			w.proposal.Policy.Floor = 2.0 / 3
			w.says("greet", "hi-ant", abstain)
			w.says("greet", "hi-dog", abstain)
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			change(w)
			if report := w.check(t); !report.Passed() {
				t.Errorf("refused: %+v", report.Refusals)
			}
		})
	}
}

func unhold(w *world) {
	for i := range w.proposal.Cases {
		if w.proposal.Cases[i].Family == "upper" {
			w.proposal.Cases[i].Part = rule.VisiblePart
		}
	}
}

// TestUnavailableIsNoVerdict has the engine fail for triggers and executors.
func TestUnavailableIsNoVerdict(t *testing.T) {
	for _, failure := range []rule.Failure{rule.FailureUnavailable, rule.FailureEnvironment} {
		w := newWorld()
		w.says("greet", "fr-ant", rule.TriggerReply{Failure: failure})
		report, err := Check(context.Background(), w.fake, w.proposal, nil)
		if !errors.Is(err, ErrUnavailable) || report != nil {
			t.Errorf("trigger %s: %v, %v", failure, report, err)
		}
		w = newWorld()
		w.executes("greet", func(rule.Document, rule.Value, rule.Tree) rule.ExecutorReply {
			return rule.ExecutorReply{Failure: failure}
		})
		report, err = Check(context.Background(), w.fake, w.proposal, nil)
		if !errors.Is(err, ErrUnavailable) || report != nil {
			t.Errorf("executor %s: %v, %v", failure, report, err)
		}
	}
}

func TestCheckEndsWithItsContext(t *testing.T) {
	w := newWorld()
	ctx, cancel := context.WithCancelCause(context.Background())
	w.wrap("greet", func(rule.Document) (rule.TriggerReply, bool) { cancel(errTest); return noMatch, false })
	report, err := Check(ctx, w.fake, w.proposal, nil)
	if report != nil || err == nil || errors.Is(err, ErrUnavailable) {
		t.Errorf("%v, %v: want the context's error", report, err)
	}
}

func TestProposalsThatMakeNoSense(t *testing.T) {
	for name, change := range map[string]func(*world){
		"sealed case":          func(w *world) { w.at("up-ant").Part = rule.SealedPart },
		"unassigned case":      func(w *world) { w.at("up-ant").Part = "" },
		"case twice":           func(w *world) { w.add(*w.at("up-ant")) },
		"case without outcome": func(w *world) { w.at("up-ant").Outcome = rule.Outcome{} },
		"no member":            func(w *world) { w.proposal.Programs = nil },
		"member twice":         func(w *world) { w.proposal.Programs = append(w.proposal.Programs, w.proposal.Programs[0]) },
		"mapped stranger":      func(w *world) { w.proposal.Mapping = rule.Mapping{"upper": {"upper", "else"}, "greet": {"greet"}} },
		"mapped twice":         func(w *world) { w.proposal.Mapping = rule.Mapping{"upper": {"upper", "greet"}, "greet": {"greet"}} },
		"not mapped":           func(w *world) { w.proposal.Mapping = rule.Mapping{"upper": {"upper"}} },
		"one repeat":           func(w *world) { w.proposal.Policy.Repeats = 1 },
		"floor of two":         func(w *world) { w.proposal.Policy.Floor = 2 },
		"no words":             func(w *world) { w.proposal.Policy.Words = nil },
		"empty word":           func(w *world) { w.proposal.Policy.Words = []ScopeWord{{Kind: "x"}} },
		"too many words":       func(w *world) { w.proposal.Policy.Words = make([]ScopeWord, maxWords+1) },
		"guard unusable":       func(w *world) { w.proposal.Programs[0].Manifest.Guard = rule.Guard{} },
	} {
		w := newWorld()
		change(w)
		if report, err := Check(context.Background(), w.fake, w.proposal, nil); err == nil || report != nil || errors.Is(err, ErrUnavailable) {
			t.Errorf("%s: %v, %v", name, report, err)
		}
	}
}

func TestProgress(t *testing.T) {
	w := newWorld()
	last, total := 0, 0
	_, err := Check(context.Background(), w.fake, w.proposal, func(done, of int) {
		if done < last || done > of || total > 0 && of > total {
			t.Errorf("told %d of %d after %d of %d", done, of, last, total)
		}
		last, total = done, of
	})
	if err != nil || last != total || int64(last) != w.fake.triggers.Load()+w.fake.executes.Load() {
		t.Errorf("ended at %d of %d, %v", last, total, err)
	}
}
