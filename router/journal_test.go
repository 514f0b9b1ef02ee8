package router

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"signalbox/registry/ledger"
	"signalbox/registry/objects"
	"signalbox/rule"
)

// books returns a new ledger and store on disk.
func books(t *testing.T) (*ledger.Ledger, *objects.Store) {
	t.Helper()
	dir := t.TempDir()
	l, err := ledger.Create(t.Context(), filepath.Join(dir, "ledger.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	o, err := objects.Create(filepath.Join(dir, "objects"))
	if err != nil {
		t.Fatal(err)
	}
	return l, o
}

func TestJournalKeepsWhatExplainsARoute(t *testing.T) {
	l, o := books(t)
	journal := NewJournal(l, o)
	f := &fake{
		programs:  []rule.Program{program("a"), program("b")},
		triggers:  map[rule.Name]rule.TriggerReply{"a": match, "b": noMatch},
		executors: map[rule.Name]rule.ExecutorReply{"a": done},
	}
	request := Request{
		Task: rule.Task{Instruction: "do it", Input: `{"a":[1,"é"]}`},
		Tree: rule.TreeOf(map[string]string{"src/a.txt": "text\n"}),
	}
	answer, err := New(f, f, journal).Route(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	event, err := l.Event(t.Context(), answer.RouteID)
	if err != nil {
		t.Fatal(err)
	}
	if event.Reason != rule.ReasonMatched || event.Rule != "a" || event.Generation != 7 || event.Task != answer.Task {
		t.Errorf("event %+v", event)
	}
	task, err := StoredTask(o, event)
	if err != nil {
		t.Fatal(err)
	}
	if task.Instruction != "do it" || task.Input != request.Task.Input || task.Files["src/a.txt"] != "text\n" {
		t.Errorf("stored task %+v", task)
	}
	if task.Digest(nil) != answer.Task {
		t.Errorf("the stored task has digest %s, the route's is %s", task.Digest(nil), answer.Task)
	}
	var stored Stored
	if err := event.Detail.Decode(&stored); err != nil {
		t.Fatal(err)
	}
	if len(stored.Asked) != 2 || stored.Members != 2 {
		t.Errorf("asked %v of %d members", stored.Asked, stored.Members)
	}
	outcome, err := o.Get(stored.Outcome)
	if err != nil || string(outcome) != `{"output":"yes"}` {
		t.Errorf("outcome %s, %v", outcome, err)
	}
}

// TestJournalKeepsNoRejectedTask routes a task over a limit: its event is there,
// the task isn't.
func TestJournalKeepsNoRejectedTask(t *testing.T) {
	l, o := books(t)
	f := &fake{programs: []rule.Program{program("a")}}
	answer, err := New(f, f, NewJournal(l, o)).Route(t.Context(), Request{Task: rule.Task{Instruction: "x", Files: map[string]string{".env": "secret"}}})
	if err != nil {
		t.Fatal(err)
	}
	event, err := l.Event(t.Context(), answer.RouteID)
	if err != nil || event.Reason != rule.ReasonTaskRejected {
		t.Fatalf("event %+v, %v", event, err)
	}
	if err := o.Each(func(d rule.Digest) error { t.Errorf("object %s was kept", d); return nil }, func(string) {}); err != nil {
		t.Fatal(err)
	}
	if _, err := StoredTask(o, event); err == nil {
		t.Error("a task came back that was never stored")
	}
}

func TestJournalVoidsAnAnswer(t *testing.T) {
	l, o := books(t)
	f := &fake{
		programs:  []rule.Program{program("a")},
		moved:     true,
		triggers:  map[rule.Name]rule.TriggerReply{"a": match},
		executors: map[rule.Name]rule.ExecutorReply{"a": done},
	}
	answer, err := New(f, f, NewJournal(l, o)).Route(t.Context(), Request{Task: rule.Task{Instruction: "do it"}})
	if err != nil {
		t.Fatal(err)
	}
	event, err := l.Event(t.Context(), answer.RouteID)
	if err != nil || !event.Void || event.Decision != DecisionRule {
		t.Errorf("event %+v, %v: want the answer as it was, and void", event, err)
	}
	totals, err := l.RouteTotals(t.Context())
	if err != nil || len(totals) != 1 || totals[0].Reason != rule.ReasonRegistryChanged {
		t.Errorf("totals %+v, %v", totals, err)
	}
}

// TestJournalBatchesLateTimings fills one batch, and flushes a part of the next.
func TestJournalBatchesLateTimings(t *testing.T) {
	l, o := books(t)
	journal := NewJournal(l, o)
	f := &fake{programs: []rule.Program{program("a")}, triggers: map[rule.Name]rule.TriggerReply{"a": noMatch}}
	quiet := New(f, f, silent{journal})
	var routes []string
	for range lateBatch + 1 {
		answer, err := quiet.Route(t.Context(), Request{Task: rule.Task{Instruction: "do it"}})
		if err != nil {
			t.Fatal(err)
		}
		routes = append(routes, answer.RouteID)
	}
	for _, id := range routes {
		if err := journal.Late(t.Context(), id, 3*time.Millisecond); err != nil {
			t.Fatal(err)
		}
	}
	late := func(id string) time.Duration {
		event, err := l.Event(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		return event.Late
	}
	if late(routes[0]) != 3*time.Millisecond || late(routes[lateBatch]) != 0 {
		t.Errorf("late %v and %v before the flush", late(routes[0]), late(routes[lateBatch]))
	}
	if err := journal.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if late(routes[lateBatch]) != 3*time.Millisecond {
		t.Errorf("late %v after the flush", late(routes[lateBatch]))
	}
}

// silent is a journal that the router gives no late timings to.
type silent struct{ *Journal }

func (silent) Late(context.Context, string, time.Duration) error { return nil }
