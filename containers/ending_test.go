package containers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"signalbox/rule"
	"signalbox/rule/frame"
)

// TestEndings breaks each bound beside a control that stays within it. After
// each breach the next call is answered, by a fresh program.
func TestEndings(t *testing.T) {
	patient, program := withDeadline(t, time.Minute)
	hasty, hastyProgram := withDeadline(t, time.Second)
	for _, c := range []struct {
		name, within, over string
		want               rule.Failure
		detail             string
	}{
		{"deadline without CPU", "sleep 10", "sleep 600000", rule.FailureTimeout, "deadline"},
		{"deadline with CPU", "sleep 10", "spin", rule.FailureTimeout, "deadline"},
		{"deadline within a frame", "sleep 10", "stall", rule.FailureTimeout, "deadline"},
		{"private memory", "allocate 40", "allocate 400", rule.FailureMemory, "gave up"},
		{"shared memory", "tmpfs 40", "tmpfs 400", rule.FailureMemory, "memory"},
		{"processes", "fork 5", "fork 60", rule.FailureProcesses, "processes"},
		{"threads", "threads 4", "threads 60", rule.FailureProcesses, "gave up"},
		{"forbidden system call", "denied", "forbidden", rule.FailureSandbox, "forbidden"},
		{"reply bytes", "flood 25165824", "flood 25165825", rule.FailureOutput, "limit 25165824"},
		{"header bytes", "ok", "line 100", rule.FailureOutput, "header"},
		{"standard error", "stderr 900", "stderr 1100", rule.FailureOutput, "standard error"},
		{"exit", "ok", "exit 0", rule.FailureCrash, "code 0"},
		{"forged engine code", "ok", "exit 125", rule.FailureCrash, "code 125"},
		{"forged kill code", "ok", "exit 137", rule.FailureCrash, "code 137"},
		{"half a frame", "ok", "half", rule.FailureCrash, "code 0"},
		{"two replies", "ok", "twice", rule.FailureSchema, "more than its answer"},
		{"another's reply", "ok", "stranger", rule.FailureSchema, "wasn't asked"},
		{"no JSON", "ok", "text no", rule.FailureSchema, "trigger reply"},
		{"two documents", "ok", `text {"verdict":"no_match"}{}`, rule.FailureSchema, "trigger reply"},
		{"duplicate name", "ok", `text {"verdict":"match","verdict":"no_match"}`, rule.FailureSchema, "trigger reply"},
		{"forged failure in a reply", "ok", `text {"verdict":"no_match","failure":"unavailable"}`, rule.FailureSchema, "trigger reply"},
		{"wrong kind", "ok", "kind hello", rule.FailureSchema, "hello"},
		{"unknown header name", "ok", `raw {"id":1,"kind":"reply","length":0,"x":1}`, rule.FailureSchema, "header"},
		{"host's own failure", "claim crash", "claim unavailable", rule.FailureSchema, "can't report"},
	} {
		t.Run(c.name, func(t *testing.T) {
			residents, program := patient, program
			if c.want == rule.FailureTimeout {
				residents, program = hasty, hastyProgram
			}
			within := residents.Trigger(t.Context(), program, rule.Document{Instruction: c.within})
			if within.Failure != "" && !strings.HasPrefix(c.within, "claim") {
				t.Errorf("control %q: %+v", c.within, within)
			}
			over := residents.Trigger(t.Context(), program, rule.Document{Instruction: c.over})
			if over.Failure != c.want || !strings.Contains(over.Detail, c.detail) {
				t.Errorf("%q gave %q (%s), want %q with %q", c.over, over.Failure, over.Detail, c.want, c.detail)
			}
			if over.Verdict != "" || over.Args != "" {
				t.Errorf("%q still said %q", c.over, over.Verdict)
			}
			if next := residents.Trigger(t.Context(), program, rule.Document{Instruction: "ok"}); say(next) != "no_match" {
				t.Errorf("after it: %+v", next)
			}
		})
	}
}

// withDeadline returns residents of an engine with another call deadline, so
// that on a busy host no limit is found late and no deadline early.
func withDeadline(t *testing.T, deadline time.Duration) (*Residents, rule.Program) {
	t.Helper()
	e := fakeEngine(t)
	e.limits.CallDeadline = deadline
	residents := e.Residents(1)
	t.Cleanup(func() { residents.Close() })
	return residents, programIn(t, e, "# trigger")
}

// TestLateOutput: what a program writes after its reply spoils its next call,
// not the reply, and no call after that.
func TestLateOutput(t *testing.T) {
	e := fakeEngine(t)
	residents := e.Residents(1)
	defer residents.Close()
	program := programIn(t, e, "# trigger")
	if first := residents.Trigger(t.Context(), program, rule.Document{Instruction: "later"}); say(first) != "no_match" {
		t.Fatalf("first reply: %+v", first)
	}
	time.Sleep(300 * time.Millisecond)
	for i, want := range []string{"schema_failure", "match"} {
		if got := residents.Trigger(t.Context(), program, rule.Document{Instruction: "match 1"}); say(got) != want {
			t.Errorf("call %d after it: %+v, want %s", i, got, want)
		}
	}
}

// TestEndingOrder: a fact of the host outranks whatever the program can forge.
func TestEndingOrder(t *testing.T) {
	everything := evidence{
		deadline: true, oomKills: 1, refusedForks: 1, exited: true, exitCode: exitSIGSYS,
		err: fmt.Errorf("long: %w", frame.ErrTooLarge), stderr: "signalbox verdict: match",
	}
	for _, step := range []struct {
		want rule.Failure
		drop func(*evidence)
	}{
		{rule.FailureTimeout, func(e *evidence) { e.deadline = false }},
		{rule.FailureMemory, func(e *evidence) { e.oomKills = 0 }},
		{rule.FailureProcesses, func(e *evidence) { e.refusedForks = 0 }},
		{rule.FailureSandbox, func(e *evidence) { e.exitCode = 1 }},
		{rule.FailureOutput, func(e *evidence) { e.err = io.EOF }},
		{rule.FailureCrash, func(e *evidence) { e.exited = false }},
		{rule.FailureCrash, func(e *evidence) { e.err = errors.New("odd frame") }},
		{rule.FailureSchema, func(e *evidence) {}},
	} {
		got := everything.ending()
		if got.failure != step.want || !strings.Contains(got.detail, "signalbox verdict") {
			t.Errorf("%+v ended as %q (%s), want %q and the program's words", everything, got.failure, got.detail, step.want)
		}
		step.drop(&everything)
	}
}

func TestFailureOf(t *testing.T) {
	for _, c := range []struct {
		err  error
		want rule.Failure
	}{
		{&ended{rule.FailureMemory, "x"}, rule.FailureMemory},
		{errors.Join(&ended{rule.FailureCrash, "x"}, fmt.Errorf("y: %w", ErrUnavailable)), rule.FailureCrash},
		{fmt.Errorf("y: %w", ErrEnvironmentChanged), rule.FailureEnvironment},
		{fmt.Errorf("y: %w", ErrUnavailable), rule.FailureUnavailable},
		{context.Canceled, rule.FailureUnavailable},
	} {
		if got, _ := failureOf(c.err); got != c.want {
			t.Errorf("%v is %q, want %q", c.err, got, c.want)
		}
	}
	if _, detail := failureOf(&ended{rule.FailureCrash, strings.Repeat("é", maxDetail)}); len(detail) > maxDetail+3 {
		t.Errorf("detail of %d bytes", len(detail))
	}
}
