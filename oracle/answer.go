package oracle

import (
	"context"
	"fmt"
	"slices"

	"signalbox/rule"
)

// Given is what a collection gives for one task: an outcome where Reason is
// rule.ReasonMatched, and a fallback otherwise. Rule is the winner, also where
// its executor then failed.
type Given struct {
	Reason  rule.Reason   `json:"reason"`
	Rule    rule.Name     `json:"rule,omitzero"`
	Args    rule.Value    `json:"args,omitzero"`
	Outcome *rule.Outcome `json:"outcome,omitzero"`
	Detail  string        `json:"detail,omitzero"`
}

// Answer runs a collection over tasks as the router would: guards first, each
// program once, the same decision. It returns one Given per task, in order, and
// ErrUnavailable where a program could not be run. It proves nothing, and asks
// nobody whether the collection is authorised. progress may be nil; it is told
// rules and tasks done.
func Answer(ctx context.Context, programs Programs, collection []rule.Program, tasks []rule.Task, progress func(done, total int)) ([]Given, error) {
	a := &answering{programs: programs, collection: collection, tasks: tasks}
	a.said = make([][]voice, len(collection))
	meter := &meter{tell: progress, total: len(collection) + len(tasks)}
	err := each(ctx, len(collection), func(ctx context.Context, i int) error {
		defer meter.add(1)
		return a.ask(ctx, i)
	})
	if err != nil {
		return nil, err
	}
	heard := a.byTask()
	given := make([]Given, len(tasks))
	err = each(ctx, len(tasks), func(ctx context.Context, i int) (err error) {
		defer meter.add(1)
		given[i], err = a.answer(ctx, i, heard[i])
		return err
	})
	if err != nil {
		return nil, err
	}
	return given, nil
}

// answering is one run of Answer. said holds each rule's replies that are more
// than no_match.
type answering struct {
	programs   Programs
	collection []rule.Program
	tasks      []rule.Task
	said       [][]voice
}

// voice is a rule's reply about a task, both by index.
type voice struct {
	task, rule int
	reply      rule.TriggerReply
}

// ask puts every task that its guard allows to one rule.
func (a *answering) ask(ctx context.Context, i int) error {
	program := a.collection[i]
	matcher, err := program.Manifest.Guard.Matcher()
	if err != nil {
		return fmt.Errorf("preparing rule %q: %w", program.Member.Rule, err)
	}
	var allowed []int
	for t, task := range a.tasks {
		if matcher.Allows(task.Document()) {
			allowed = append(allowed, t)
		}
	}
	for part := range slices.Chunk(allowed, chunk) {
		if err := a.askSome(ctx, i, part); err != nil {
			return err
		}
	}
	return nil
}

func (a *answering) askSome(ctx context.Context, i int, part []int) error {
	program := a.collection[i]
	documents := make([]rule.Document, 0, len(part))
	for _, t := range part {
		documents = append(documents, a.tasks[t].Document())
	}
	replies := a.programs.Triggers(ctx, program, documents)
	if err := ctx.Err(); err != nil {
		return err
	}
	if len(replies) != len(part) {
		return fmt.Errorf("%w: rule %q: %d replies to %d tasks", ErrUnavailable, program.Member.Rule, len(replies), len(part))
	}
	for k, t := range part {
		reply := program.Manifest.FitTrigger(replies[k])
		if unavailable(reply.Failure) {
			return fmt.Errorf("%w: rule %q: %s: %s", ErrUnavailable, program.Member.Rule, reply.Failure, reply.Detail)
		}
		if reply.Failure != "" || reply.Verdict != rule.NoMatch {
			a.said[i] = append(a.said[i], voice{t, i, reply})
		}
	}
	return nil
}

// byTask sorts what was said by task. Who said no_match is left out, which
// changes no decision.
func (a *answering) byTask() [][]voice {
	heard := make([][]voice, len(a.tasks))
	for _, voices := range a.said {
		for _, v := range voices {
			heard[v.task] = append(heard[v.task], v)
		}
	}
	return heard
}

// answer decides one task and runs the winner.
func (a *answering) answer(ctx context.Context, t int, voices []voice) (Given, error) {
	replies := make([]rule.TriggerReply, 0, len(voices))
	for _, v := range voices {
		replies = append(replies, v.reply)
	}
	decision := rule.Decide(replies)
	if decision.Reason != rule.ReasonMatched {
		return Given{Reason: decision.Reason, Detail: a.detail(voices)}, nil
	}
	winner := a.collection[voices[decision.Winner].rule]
	args := replies[decision.Winner].Args
	task := a.tasks[t]
	reply := winner.Manifest.FitExecutor(a.programs.Execute(ctx, winner, task.Document(), args, task.Tree()))
	if err := ctx.Err(); err != nil {
		return Given{}, err
	}
	if unavailable(reply.Failure) {
		return Given{}, fmt.Errorf("%w: rule %q: %s: %s", ErrUnavailable, winner.Member.Rule, reply.Failure, reply.Detail)
	}
	given := Given{Reason: rule.ExecutorReason(reply), Rule: winner.Member.Rule, Args: args, Detail: reply.Detail + reply.Note}
	if given.Reason == rule.ReasonMatched {
		given.Outcome, given.Detail = reply.Outcome, ""
	}
	return given, nil
}

// detail names who spoke, and what they said.
func (a *answering) detail(voices []voice) string {
	detail := ""
	for i, v := range voices {
		if i > 0 {
			detail += "; "
		}
		detail += string(a.collection[v.rule].Member.Rule) + ": " + said(v.reply)
	}
	return detail[:min(len(detail), maxDetail)]
}
