package oracle

import (
	"context"
	"errors"
	"testing"

	"signalbox/rule"
)

func (w *world) answer(t *testing.T, tasks ...rule.Task) []Given {
	t.Helper()
	given, err := Answer(context.Background(), w.fake, w.proposal.Programs, tasks, nil)
	if err != nil {
		t.Fatal(err)
	}
	return given
}

func TestAnswer(t *testing.T) {
	w := newWorld()
	w.fake.rules["loud"] = fakeRule{trigger: func(task rule.Document) rule.TriggerReply {
		switch task.Input {
		case `"two"`:
			return match(`{}`)
		case `"abstain"`:
			return abstain
		case `"crash"`:
			return crash
		}
		return noMatch
	}}
	w.proposal.Programs = append(w.proposal.Programs, program("loud", "french", rule.Guard{Equals: []string{upperAsk}}))
	old := w.fake.rules["upper"].execute
	w.executes("upper", func(task rule.Document, args rule.Value, tree rule.Tree) rule.ExecutorReply {
		switch task.Input {
		case `"dunno"`:
			return rule.ExecutorReply{Abstained: true}
		case `"slow"`:
			return rule.ExecutorReply{Failure: rule.FailureTimeout}
		}
		return old(task, args, tree)
	})
	for input, want := range map[rule.Value]rule.Reason{
		`"ok"`: rule.ReasonMatched, `"two"`: rule.ReasonConflict, `"abstain"`: rule.ReasonAbstained, `"crash"`: rule.ReasonTriggerFailed,
		`"dunno"`: rule.ReasonExecutorAbstained, `"slow"`: rule.ReasonExecutorTimeout, `12`: rule.ReasonNoMatch,
	} {
		got := w.answer(t, rule.Task{Instruction: "Else"}, rule.Task{Instruction: upperAsk, Input: input})
		if got[0].Reason != rule.ReasonNoMatch {
			t.Errorf("another task: %+v", got[0])
		}
		if got[1].Reason != want || (got[1].Outcome != nil) != (want == rule.ReasonMatched) {
			t.Errorf("%s: %+v, want %s", input, got[1], want)
		}
	}
	if got := w.answer(t, rule.Task{Instruction: upperAsk, Input: `"ok"`}); got[0].Rule != "upper" || !got[0].Outcome.Equal(*outputs("OK").Outcome) {
		t.Errorf("gave %+v", got[0])
	}
}

// TestAnswerAsksByGuard: where the guard is false nothing is run.
func TestAnswerAsksByGuard(t *testing.T) {
	w := newWorld()
	w.wrap("upper", func(rule.Document) (rule.TriggerReply, bool) { return match(`{}`), true })
	if got := w.answer(t, rule.Task{Instruction: "Else"}); got[0].Reason != rule.ReasonNoMatch || w.fake.triggers.Load() != 0 {
		t.Errorf("%+v after %d calls", got, w.fake.triggers.Load())
	}
}

// TestAnswerAgreesWithCheck: the same cases come to the same, by both ways.
func TestAnswerAgreesWithCheck(t *testing.T) {
	w := newWorld()
	w.says("greet", "hi-ant", abstain)
	report := w.check(t)
	covered := 0
	for _, c := range w.proposal.Cases {
		if given := w.answer(t, c.Task)[0]; given.Reason == rule.ReasonMatched {
			if c.Fallback || !given.Outcome.Equal(c.Outcome) {
				t.Errorf("%s: %+v", c.ID, given)
			}
			covered++
		}
	}
	if covered != report.Counts.Covered || covered != 11 {
		t.Errorf("answered %d, the check covered %d", covered, report.Counts.Covered)
	}
}

func TestAnswerIsUnavailable(t *testing.T) {
	task := rule.Task{Instruction: upperAsk, Input: `"ok"`}
	w := newWorld()
	w.wrap("upper", func(rule.Document) (rule.TriggerReply, bool) {
		return rule.TriggerReply{Failure: rule.FailureEnvironment}, true
	})
	if given, err := Answer(context.Background(), w.fake, w.proposal.Programs, []rule.Task{task}, nil); !errors.Is(err, ErrUnavailable) || given != nil {
		t.Errorf("trigger: %v, %v", given, err)
	}
	w = newWorld()
	w.executes("upper", func(rule.Document, rule.Value, rule.Tree) rule.ExecutorReply {
		return rule.ExecutorReply{Failure: rule.FailureUnavailable}
	})
	if given, err := Answer(context.Background(), w.fake, w.proposal.Programs, []rule.Task{task}, nil); !errors.Is(err, ErrUnavailable) || given != nil {
		t.Errorf("executor: %v, %v", given, err)
	}
}
