package oracle

import (
	"context"
	"fmt"

	"signalbox/rule"
)

// executor runs one rule's executor on the cases that the decision gave to it.
type executor struct {
	plan     *plan
	row      *row
	programs Programs
	progress func(int)
	calls    int
}

// run executes every case of the rule and fills in its result.
func (e *executor) run(ctx context.Context, cases []int, out []decided) error {
	for _, i := range cases {
		result, reason, err := e.runCase(ctx, i)
		if err != nil {
			return err
		}
		out[i].result, out[i].reason = result, reason
		e.progress(e.plan.policy.Repeats)
	}
	return nil
}

func (e *executor) runCase(ctx context.Context, i int) (result, rule.Reason, error) {
	c := e.plan.cases[i]
	args := e.row.args[e.plan.caseDoc[i]]
	if c.Args.Present() && c.Args != args && !c.Fallback {
		e.refuse(c, Refusal{Kind: KindArgs, Detail: "matches with other args than the case states", Expected: c.Args, Got: args})
		return resultRefused, rule.ReasonMatched, nil
	}
	var first rule.ExecutorReply
	for repeat := range e.plan.policy.Repeats {
		reply, err := e.execute(ctx, c.Task, args)
		if err != nil {
			return 0, "", err
		}
		if repeat == 0 {
			first = reply
		} else if !sameReply(first, reply) {
			e.refuse(c, Refusal{Kind: KindRepeats, Detail: "the executor's repeat gives another outcome", Expected: shownReply(first), Got: shownReply(reply)})
			return resultRefused, rule.ReasonExecutorFailed, nil
		}
	}
	reason := rule.ExecutorReason(first)
	return e.judge(c, reason, first), reason, nil
}

// execute runs the executor once, as the router would.
func (e *executor) execute(ctx context.Context, task rule.Task, args rule.Value) (rule.ExecutorReply, error) {
	e.calls++
	reply := e.row.program.Manifest.FitExecutor(e.programs.Execute(ctx, e.row.program, task.Document(), args, task.Tree()))
	if err := ctx.Err(); err != nil {
		return reply, err
	}
	if unavailable(reply.Failure) {
		return reply, fmt.Errorf("%w: rule %q: %s: %s", ErrUnavailable, e.row.report.Rule, reply.Failure, reply.Detail)
	}
	return reply, nil
}

// judge compares an executor's reply with what was certified.
func (e *executor) judge(c rule.Case, reason rule.Reason, reply rule.ExecutorReply) result {
	switch {
	case reason == rule.ReasonExecutorAbstained && c.Fallback:
		return resultFellBack
	case reason == rule.ReasonExecutorAbstained && len(e.plan.families[c.Family].rules) == 0:
		return resultUnserved
	case reason == rule.ReasonExecutorAbstained:
		return resultUncovered
	case reason != rule.ReasonMatched:
		e.refuse(c, Refusal{Kind: KindExecutor, Detail: string(reply.Failure) + ": " + reply.Detail})
	case c.Fallback:
		e.refuse(c, Refusal{Kind: KindAnswered, Detail: "answers a task that must fall back", Got: shownReply(reply)})
	case !reply.Outcome.Equal(c.Outcome):
		e.refuse(c, Refusal{Kind: KindWrong, Detail: "gives another outcome", Expected: shown(c.Outcome), Got: shownReply(reply)})
	default:
		e.right(c)
		return resultRight
	}
	return resultRefused
}

// right counts a case for the rule that answered it, where it is its family's.
func (e *executor) right(c rule.Case) {
	if c.Family != e.row.family {
		return
	}
	if c.Part == rule.VisiblePart {
		e.row.report.Visible++
		return
	}
	e.row.report.Hidden++
}

func (e *executor) refuse(c rule.Case, r Refusal) {
	r.Rule = e.row.report.Rule
	e.row.finds.onCase(c, r)
}

// sameReply says whether two replies mean the same. Notes are for people.
func sameReply(a, b rule.ExecutorReply) bool {
	if a.Failure != b.Failure || a.Abstained != b.Abstained || (a.Outcome == nil) != (b.Outcome == nil) {
		return false
	}
	return a.Outcome == nil || a.Outcome.Equal(*b.Outcome)
}

func shownReply(reply rule.ExecutorReply) rule.Value {
	if reply.Outcome != nil {
		return shown(*reply.Outcome)
	}
	return shown(reply)
}
