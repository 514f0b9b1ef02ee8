package containers

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"signalbox/rule"
)

func TestTriggerAnswers(t *testing.T) {
	e := fakeEngine(t)
	residents := e.Residents(4)
	defer residents.Close()
	program := programIn(t, e, "# trigger")
	for instruction, want := range map[string]rule.TriggerReply{
		"match 7": {Verdict: rule.Match, Args: `{"n":7}`},
		"abstain": {Verdict: rule.Abstain, Note: "why"},
		"ok":      {Verdict: rule.NoMatch},
		"fail":    {Failure: rule.FailureCrash, Detail: "division by zero"},
	} {
		if got := residents.Trigger(t.Context(), program, rule.Document{Instruction: instruction}); got != want {
			t.Errorf("%s: %+v, want %+v", instruction, got, want)
		}
	}
}

// started asks a program when it started, which names its process.
func started(t *testing.T, r *Residents, program rule.Program) rule.Value {
	t.Helper()
	reply := r.Trigger(t.Context(), program, rule.Document{Instruction: "pid"})
	if reply.Verdict != rule.Match {
		t.Fatalf("pid: %+v", reply)
	}
	return reply.Args
}

// TestResidentStays: a program serves many calls, its own failures included,
// and is replaced once it breaks a bound.
func TestResidentStays(t *testing.T) {
	e := fakeEngine(t)
	residents := e.Residents(4)
	defer residents.Close()
	program := programIn(t, e, "#")
	first := started(t, residents, program)
	residents.Trigger(t.Context(), program, rule.Document{Instruction: "fail"})
	if again := started(t, residents, program); again != first {
		t.Error("a failure that the program reported replaced it")
	}
	residents.Trigger(t.Context(), program, rule.Document{Instruction: "exit 3"})
	if again := started(t, residents, program); again == first {
		t.Error("a program that ended still answers")
	}
}

// TestTriggersPipelined: replies come in the order of the tasks, over several
// writes, and a task that kills the program takes no other with it.
func TestTriggersPipelined(t *testing.T) {
	e := fakeEngine(t)
	residents := e.Residents(1)
	defer residents.Close()
	program := programIn(t, e, "#")
	var tasks []rule.Document
	for i := range 300 {
		tasks = append(tasks, rule.Document{Instruction: fmt.Sprintf("match %d", i)})
	}
	// One that is larger than a whole write, and two that kill.
	tasks[100].Input = rule.Value(`"` + strings.Repeat("x", 2*maxPipelinedBytes) + `"`)
	tasks[150].Instruction = "exit 1"
	tasks[151].Instruction = "twice"
	replies := residents.Triggers(t.Context(), program, tasks)
	if len(replies) != len(tasks) {
		t.Fatalf("%d replies to %d tasks", len(replies), len(tasks))
	}
	for i, reply := range replies {
		switch {
		case i == 150 && reply.Failure == rule.FailureCrash, i == 151 && reply.Failure == rule.FailureSchema:
		case reply.Args != rule.Value(fmt.Sprintf(`{"n":%d}`, i)):
			t.Fatalf("reply %d = %+v", i, reply)
		}
	}
}

// TestTriggersLimitFailsItsWrite: it can't be told which task of a write
// used up a limit, so none of them counts.
func TestTriggersLimitFailsItsWrite(t *testing.T) {
	e := fakeEngine(t)
	residents := e.Residents(1)
	defer residents.Close()
	replies := residents.Triggers(t.Context(), programIn(t, e, "#"), tasksOf("ok", "fork 60", "ok"))
	for i, reply := range replies {
		if reply.Failure != rule.FailureProcesses {
			t.Errorf("reply %d = %+v", i, reply)
		}
	}
}

// TestTriggersRestartsAreBounded: a program that ends at every task isn't
// started for ever.
func TestTriggersRestartsAreBounded(t *testing.T) {
	e := fakeEngine(t)
	residents := e.Residents(1)
	defer residents.Close()
	tasks := slices.Repeat(tasksOf("exit 1"), 3*maxRestarts)
	replies := residents.Triggers(t.Context(), programIn(t, e, "#"), tasks)
	asked := 0
	for i, reply := range replies {
		if reply.Failure != rule.FailureCrash {
			t.Errorf("reply %d = %+v", i, reply)
		}
		if !strings.Contains(reply.Detail, "not asked") {
			asked++
		}
	}
	if asked != maxRestarts+1 {
		t.Errorf("%d tasks were asked, want %d", asked, maxRestarts+1)
	}
}

// TestLoadFailures: a source that its program refuses fails every call without
// a new container each time; one that hangs is under the load deadline.
func TestLoadFailures(t *testing.T) {
	e := fakeEngine(t)
	e.limits.LoadDeadline = 2 * time.Second
	residents := e.Residents(2)
	defer residents.Close()
	refused := programIn(t, e, "# refuse to load")
	for range 2 {
		reply := residents.Trigger(t.Context(), refused, rule.Document{Instruction: "ok"})
		if reply.Failure != rule.FailureCrash || !strings.Contains(reply.Detail, "trigger.star:1") {
			t.Errorf("refused source: %+v", reply)
		}
	}
	for _, reply := range residents.Triggers(t.Context(), refused, tasksOf("ok", "ok", "ok")) {
		if reply.Failure != rule.FailureCrash {
			t.Errorf("refused source: %+v", reply)
		}
	}
	if hung := residents.Trigger(t.Context(), programIn(t, e, "# hang while loading"), rule.Document{Instruction: "ok"}); hung.Failure != rule.FailureTimeout {
		t.Errorf("hanging source: %+v", hung)
	}
	if control := residents.Trigger(t.Context(), programIn(t, e, "#"), rule.Document{Instruction: "ok"}); say(control) != "no_match" {
		t.Errorf("control: %+v", control)
	}
}

func TestExecute(t *testing.T) {
	e := fakeEngine(t)
	residents := e.Residents(2)
	defer residents.Close()
	program := programIn(t, e, "#")
	for _, c := range []struct {
		tree rule.Tree
		want rule.Value
	}{{nil, "[0,false]"}, {rule.Tree{}, "[0,true]"}, {rule.TreeOf(map[string]string{"a": "", "b/c": "x"}), "[2,true]"}} {
		reply := residents.Execute(t.Context(), program, rule.Document{Instruction: "hello"}, "{}", c.tree)
		if reply.Outcome == nil || reply.Outcome.Output != c.want {
			t.Errorf("tree %v: %+v, want %s", c.tree, reply, c.want)
		}
	}
	for instruction, want := range map[string]rule.Failure{
		"text {}": rule.FailureSchema, "exit 1": rule.FailureCrash, "fail": rule.FailureCrash, "sleep 60000": rule.FailureTimeout,
	} {
		if reply := residents.Execute(t.Context(), program, rule.Document{Instruction: instruction}, "{}", rule.Tree{}); reply.Failure != want {
			t.Errorf("%s: %+v, want %s", instruction, reply, want)
		}
	}
}

// TestResidentsBound: never more containers than places, the least recently
// used goes first, and the one at work never does.
func TestResidentsBound(t *testing.T) {
	e := fakeEngine(t)
	const places, programs = 3, 8
	residents := e.Residents(places)
	defer residents.Close()
	var all []rule.Program
	for i := range programs {
		all = append(all, programIn(t, e, fmt.Sprintf("# %d", i)))
	}
	var wait sync.WaitGroup
	for _, program := range all {
		wait.Go(func() {
			for range 3 {
				if reply := residents.Trigger(t.Context(), program, rule.Document{Instruction: "match 1"}); say(reply) != "match" {
					t.Errorf("reply: %+v", reply)
				}
				if n := len(containersOf(t, e.labels[labelWorkspace])); n > places {
					t.Errorf("%d containers in %d places", n, places)
				}
			}
		})
	}
	wait.Wait()
	a, b, c := all[0], all[1], all[2]
	firstA, firstB := started(t, residents, a), started(t, residents, b)
	started(t, residents, c)
	if started(t, residents, a) != firstA {
		t.Error("a went though there was room")
	}
	started(t, residents, all[3]) // b has waited longest
	if started(t, residents, a) != firstA {
		t.Error("a went though b was idle for longer")
	}
	if started(t, residents, b) == firstB {
		t.Error("b stayed over the bound")
	}
}

// TestFiftyResidents starts and asks fifty programs at once.
func TestFiftyResidents(t *testing.T) {
	if testing.Short() {
		t.Skip("fifty containers")
	}
	e := fakeEngine(t)
	const n = 50
	residents := e.Residents(n)
	defer residents.Close()
	var programs []rule.Program
	for i := range n {
		programs = append(programs, programIn(t, e, fmt.Sprintf("# %d", i)))
	}
	var first, again [n]rule.Value
	inParallel(n, n, func(i int) { first[i] = started(t, residents, programs[i]) })
	inParallel(n, n, func(i int) { again[i] = started(t, residents, programs[i]) })
	if first != again {
		t.Error("some of fifty residents were replaced")
	}
	if left := len(containersOf(t, e.labels[labelWorkspace])); left != n {
		t.Errorf("%d containers, want %d", left, n)
	}
}

// TestCancel: a cancelled call returns at once, says that nothing is known of
// the program, and leaves no container of it.
func TestCancel(t *testing.T) {
	e := fakeEngine(t)
	residents := e.Residents(2)
	defer residents.Close()
	program := programIn(t, e, "#")
	first := started(t, residents, program)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	begin := time.Now()
	if reply := residents.Trigger(ctx, program, rule.Document{Instruction: "sleep 60000"}); reply.Failure != rule.FailureUnavailable || !strings.Contains(reply.Detail, "cancelled") {
		t.Errorf("cancelled: %+v", reply)
	}
	if took := time.Since(begin); took > e.limits.CallDeadline {
		t.Errorf("it took %v", took)
	}
	if left := containersOf(t, e.labels[labelWorkspace]); len(left) > 0 {
		t.Errorf("%d containers are left", len(left))
	}
	if again := started(t, residents, program); again == first {
		t.Error("the interrupted program was used again")
	}
	gone, stop := context.WithCancel(t.Context())
	stop()
	if reply := residents.Trigger(gone, program, rule.Document{Instruction: "ok"}); reply.Failure != rule.FailureUnavailable {
		t.Errorf("cancelled before: %+v", reply)
	}
}

// TestCancelWhileStarting cancels at many moments of a start.
func TestCancelWhileStarting(t *testing.T) {
	e := fakeEngine(t)
	env, err := e.Starlark(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for after := time.Duration(0); after < 200*time.Millisecond; after += 25 * time.Millisecond {
		ctx, cancel := context.WithTimeout(t.Context(), after)
		c, err := e.start(ctx, env, rule.RoleTrigger)
		cancel()
		if err == nil {
			c.Close()
		}
		if left := containersOf(t, e.labels[labelWorkspace]); len(left) > 0 {
			t.Errorf("cancelled after %v: %d containers are left", after, len(left))
		}
	}
}

func TestResidentsClosed(t *testing.T) {
	e := fakeEngine(t)
	residents := e.Residents(2)
	program := programIn(t, e, "#")
	started(t, residents, program)
	if err := residents.Close(); err != nil {
		t.Fatal(err)
	}
	if left := containersOf(t, e.labels[labelWorkspace]); len(left) > 0 {
		t.Errorf("%d containers are left", len(left))
	}
	if reply := residents.Trigger(t.Context(), program, rule.Document{Instruction: "ok"}); reply.Failure != rule.FailureUnavailable {
		t.Errorf("after Close: %+v", reply)
	}
}
