package router

import (
	"context"
	"fmt"
	"sync"
	"time"

	"signalbox/registry/ledger"
	"signalbox/registry/objects"
	"signalbox/rule"
)

// Journal is the Recorder over the ledger. The task and the public copy are
// kept as objects, so that a route can be explained, replayed or called wrong
// later; the event holds the rest. It is safe for concurrent use.
type Journal struct {
	ledger  *ledger.Ledger
	objects *objects.Store

	mu   sync.Mutex
	late []ledger.Late
}

// lateBatch is how many late timings are written at once.
const lateBatch = 64

// NewJournal returns a Journal that writes to both.
func NewJournal(l *ledger.Ledger, o *objects.Store) *Journal {
	return &Journal{ledger: l, objects: o}
}

// Stored is the detail of a route's event: what Explain and a later word about
// the route need. Task is the object with the task without its files, Tree the
// object with the public copy.
type Stored struct {
	Task     rule.Digest `json:"task"`
	Tree     rule.Digest `json:"tree,omitzero"`
	Detail   string      `json:"detail,omitzero"`
	Outcome  rule.Digest `json:"outcome,omitzero"`
	Asked    []Verdict   `json:"asked"`
	Members  int         `json:"members"`
	Triggers float64     `json:"triggers_ms"`
	Executor float64     `json:"executor_ms,omitzero"`
}

// Record stores the task's objects and then the event.
func (j *Journal) Record(ctx context.Context, request Request, answer Answer) error {
	stored, err := j.store(request, answer)
	if err != nil {
		return err
	}
	detail, err := rule.ValueOf(stored)
	if err != nil {
		return fmt.Errorf("writing the event: %w", err)
	}
	return j.ledger.RecordEvent(ctx, ledger.Event{
		Time: time.Now(), RouteID: answer.RouteID, Task: answer.Task,
		Decision: answer.Decision, Reason: answer.Reason,
		Rule: answer.Rule, Family: answer.Family, Revision: answer.Revision,
		Generation: answer.Generation, Proof: answer.Proof,
		Elapsed: duration(answer.Timing.Whole), Detail: detail,
	})
}

// store keeps what the event names. A task that was rejected is not kept: it may
// be over any limit.
func (j *Journal) store(request Request, answer Answer) (Stored, error) {
	stored := Stored{
		Detail: answer.Detail, Asked: answer.Asked(), Members: len(answer.Verdicts),
		Triggers: answer.Timing.Triggers, Executor: answer.Timing.Executor,
	}
	if answer.Reason == rule.ReasonTaskRejected {
		return stored, nil
	}
	var err error
	if stored.Task, err = j.putJSON(request.Task.Document()); err != nil {
		return stored, err
	}
	if tree := request.tree(); tree != nil {
		if stored.Tree, err = j.objects.PutTree(tree); err != nil {
			return stored, err
		}
	}
	if answer.Outcome != nil {
		stored.Outcome, err = j.putJSON(answer.Outcome)
	}
	return stored, err
}

func (j *Journal) putJSON(v any) (rule.Digest, error) {
	data, err := rule.Canonical(v)
	if err != nil {
		return "", err
	}
	return j.objects.Put(data)
}

// Void marks a recorded answer as never given.
func (j *Journal) Void(ctx context.Context, answer Answer) error {
	return j.ledger.Void(ctx, answer.RouteID, time.Now(), answer.Detail)
}

// Late adds to a route the time that passed after its event was written. It is
// written in batches and by Flush.
func (j *Journal) Late(ctx context.Context, routeID string, took time.Duration) error {
	j.mu.Lock()
	j.late = append(j.late, ledger.Late{RouteID: routeID, Took: took})
	full := len(j.late) >= lateBatch
	j.mu.Unlock()
	if !full {
		return nil
	}
	return j.Flush(ctx)
}

// Flush writes the late timings that wait.
func (j *Journal) Flush(ctx context.Context) error {
	j.mu.Lock()
	batch := j.late
	j.late = nil
	j.mu.Unlock()
	if len(batch) == 0 {
		return nil
	}
	return j.ledger.AddLate(ctx, batch)
}

func duration(millis float64) time.Duration {
	return time.Duration(millis * float64(time.Millisecond))
}

// StoredTask returns the task of a recorded route, with the files of the public
// copy where it had one.
func StoredTask(o *objects.Store, event ledger.Event) (rule.Task, error) {
	var stored Stored
	if err := event.Detail.Decode(&stored); err != nil {
		return rule.Task{}, fmt.Errorf("reading the event of route %q: %w", event.RouteID, err)
	}
	data, err := o.Get(stored.Task)
	if err != nil {
		return rule.Task{}, fmt.Errorf("reading the task of route %q: %w", event.RouteID, err)
	}
	var document rule.Document
	if err := rule.Decode(data, &document); err != nil {
		return rule.Task{}, fmt.Errorf("reading the task of route %q: %w", event.RouteID, err)
	}
	task := rule.Task{Instruction: document.Instruction, Input: document.Input}
	if stored.Tree == "" {
		return task, nil
	}
	tree, err := o.GetTree(stored.Tree)
	if err != nil {
		return rule.Task{}, fmt.Errorf("reading the tree of route %q: %w", event.RouteID, err)
	}
	task.Files = make(map[string]string, len(tree))
	for p, content := range tree {
		task.Files[p] = string(content)
	}
	return task, nil
}
