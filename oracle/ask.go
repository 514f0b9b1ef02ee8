package oracle

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"

	"signalbox/rule"
)

// chunk is how many documents go to a trigger in one call; it bounds how many
// replies are in memory at a time.
const chunk = 256

// maxArgsBytes bounds the args that are kept of one rule.
const maxArgsBytes = 64 << 20

// How many of the other families' probes a trigger is asked about, in the mean.
const (
	foreignAllowed = 2000
	foreignDenied  = 250
)

// asker asks one rule's trigger about everything, several times.
type asker struct {
	plan     *plan
	row      *row
	programs Programs
	progress func(int)

	questions []question
	kept      int // bytes of args
	limit     int // on kept
}

// question is one document to ask about: a case's document or a probe.
type question struct {
	doc   int // index of the document, or -1
	probe int // index of the probe, or -1
}

// answered is what a repeat is compared with.
type answered struct {
	cell cell
	args [sha256.Size]byte
}

// ask asks the trigger about all documents and probes. Every second repeat goes
// backwards, so that a program whose answer depends on what it was asked before
// shows it.
func (a *asker) ask(ctx context.Context) error {
	first := make([]answered, len(a.questions))
	order := make([]int, len(a.questions))
	for i := range order {
		order[i] = i
	}
	for repeat := range a.plan.policy.Repeats {
		for part := range slices.Chunk(order, chunk) {
			if err := a.askSome(ctx, part, first, repeat); err != nil {
				return err
			}
		}
		slices.Reverse(order)
	}
	return nil
}

func (a *asker) askSome(ctx context.Context, part []int, first []answered, repeat int) error {
	tasks := make([]rule.Document, 0, len(part))
	for _, i := range part {
		tasks = append(tasks, a.task(a.questions[i]))
	}
	replies := a.programs.Triggers(ctx, a.row.program, tasks)
	if err := ctx.Err(); err != nil {
		return err
	}
	if len(replies) != len(tasks) {
		return fmt.Errorf("%w: rule %q: %d replies to %d tasks", ErrUnavailable, a.row.report.Rule, len(replies), len(tasks))
	}
	for k, i := range part {
		reply := a.row.program.Manifest.FitTrigger(replies[k])
		if unavailable(reply.Failure) {
			return fmt.Errorf("%w: rule %q: %s: %s", ErrUnavailable, a.row.report.Rule, reply.Failure, reply.Detail)
		}
		got := answered{cellOf(reply, a.row.matcher.Allows(tasks[k])), sha256.Sum256([]byte(reply.Args))}
		if repeat == 0 {
			first[i] = got
			a.take(a.questions[i], got.cell, reply)
		} else if got != first[i] && first[i].cell != cellDiffers {
			first[i].cell = cellDiffers
			a.differs(a.questions[i], reply)
		}
	}
	a.progress(len(part))
	return nil
}

func (a *asker) task(q question) rule.Document {
	if q.doc >= 0 {
		return a.plan.docs[q.doc]
	}
	return a.plan.probes[q.probe].Task
}

// prepare lists what to ask: all case documents, then the rule's own family's
// probes, then the sample of the others.
func (a *asker) prepare() {
	for doc := range a.plan.docs {
		a.questions = append(a.questions, question{doc, -1})
	}
	var allowed, denied []int
	for i, p := range a.plan.probes {
		switch {
		case p.family == a.row.family:
			a.questions = append(a.questions, question{-1, i})
		case a.row.matcher.Allows(p.Task):
			allowed = append(allowed, i)
		default:
			denied = append(denied, i)
		}
	}
	for _, i := range append(a.sample(allowed, foreignAllowed), a.sample(denied, foreignDenied)...) {
		a.questions = append(a.questions, question{-1, i})
	}
}

// sample returns about want of the probes, chosen by a hash of probe and rule,
// so that the same proposal is always sampled alike and rules differ.
func (a *asker) sample(probes []int, want int) []int {
	if len(probes) <= want {
		return probes
	}
	seed := hashOf(rule.Document{Instruction: string(a.row.program.Member.Revision)})
	limit := ^uint64(0) / uint64(len(probes)) * uint64(want)
	return slices.DeleteFunc(probes, func(i int) bool { return mix(a.plan.probes[i].hash^seed) > limit })
}

// mix spreads a hash over all its bits (the finaliser of splitmix64).
func mix(h uint64) uint64 {
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}
