package containers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"time"

	"signalbox/rule"
	"signalbox/rule/frame"
)

// ended says how a program ended, or how it broke the protocol. The container
// is of no more use then.
type ended struct {
	failure rule.Failure
	detail  string
}

func (e *ended) Error() string { return string(e.failure) + ": " + e.detail }

// maxDetail bounds what a reply quotes of a program.
const maxDetail = 2_000

// failureOf returns what an error of this package means for a reply.
func failureOf(err error) (rule.Failure, string) {
	detail := clip(err.Error())
	if end, ok := errors.AsType[*ended](err); ok {
		return end.failure, clip(end.detail)
	}
	if errors.Is(err, ErrEnvironmentChanged) {
		return rule.FailureEnvironment, detail
	}
	return rule.FailureUnavailable, detail
}

func clip(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= maxDetail {
		return text
	}
	return strings.ToValidUTF8(text[:maxDetail], "") + "…"
}

// evidence is all that the host knows of how a program ended.
type evidence struct {
	deadline     bool // the host's clock ran out
	oomKills     int64
	oomKilled    bool // as the engine says it of PID 1
	refusedForks int64
	exited       bool
	exitCode     int
	err          error // what reading or writing gave
	stderr       string
}

// Exit codes that the engine reports for a signal, and the Go runtime's own.
const (
	exitSIGSYS   = 128 + 31
	exitGoThrown = 2
)

// ending classifies, the host's own facts first: exit codes and words can be
// forged by the program, a cgroup's counters can't.
func (e evidence) ending() *ended {
	switch {
	case e.deadline:
		return &ended{rule.FailureTimeout, "no answer within the deadline" + e.words()}
	case e.oomKilled || e.oomKills > 0:
		return &ended{rule.FailureMemory, "the memory limit was hit" + e.words()}
	case e.refusedForks > 0:
		return &ended{rule.FailureProcesses, fmt.Sprintf("the limit on processes was hit %d times", e.refusedForks) + e.words()}
	case e.exited && e.exitCode == exitSIGSYS:
		return &ended{rule.FailureSandbox, "a forbidden system call" + e.words()}
	case errors.Is(e.err, frame.ErrTooLarge) || errors.Is(e.err, errStderrFlood):
		return &ended{rule.FailureOutput, e.err.Error() + e.words()}
	case e.exited && e.exitCode == exitGoThrown:
		return &ended{thrown(e.stderr), "the program's runtime gave up" + e.words()}
	case e.exited:
		return &ended{rule.FailureCrash, fmt.Sprintf("the program ended with code %d", e.exitCode) + e.words()}
	case errors.Is(e.err, io.EOF):
		return &ended{rule.FailureCrash, "the program closed its output" + e.words()}
	}
	return &ended{rule.FailureSchema, e.err.Error() + e.words()}
}

// thrown names what the Go runtime inside died of, by its own words: a limit's
// cgroup is gone with PID 1, and RLIMIT_DATA has no counter. It only names a
// crash better; no decision rests on it.
func thrown(stderr string) rule.Failure {
	switch {
	case strings.Contains(stderr, "failed to create new OS thread"):
		return rule.FailureProcesses
	case strings.HasPrefix(stderr, "fatal error: out of memory"), strings.Contains(stderr, "runtime: out of memory"),
		strings.Contains(stderr, "cannot allocate memory"):
		return rule.FailureMemory
	}
	return rule.FailureCrash
}

func (e evidence) words() string {
	if e.stderr == "" {
		return ""
	}
	return fmt.Sprintf("; it wrote %q", e.stderr)
}

// diagnose turns an error of reading from or writing to the program into how
// it ended. A cancelled caller learns nothing of the program.
func (c *cell) diagnose(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return cancelled(ctx)
	}
	found := evidence{
		err: err, deadline: errors.Is(err, os.ErrDeadlineExceeded),
		// While PID 1 lives its group does too; later these read 0.
		oomKills: c.counters.oomKills(), refusedForks: c.counters.refusedForks(),
		stderr: strings.TrimSpace(string(c.stream.stderr)),
	}
	if !found.deadline && streamEnded(err) {
		if asked := c.askEngine(ctx, &found); asked != nil {
			return asked
		}
	}
	return found.ending()
}

// streamEnded says whether the error is one of a peer that has gone.
func streamEnded(err error) bool {
	return !errors.Is(err, frame.ErrTooLarge) && (errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || isConnectionError(err))
}

func isConnectionError(err error) bool {
	_, ok := errors.AsType[*net.OpError](err)
	return ok
}

// exitAllowance is how long after the end of its output a program may take to
// be reported dead.
const exitAllowance = 3 * time.Second

// askEngine waits until the engine has seen the program's end. Where the
// engine itself went away nothing is known of the program: ErrUnavailable.
func (c *cell) askEngine(ctx context.Context, found *evidence) error {
	for until := time.Now().Add(exitAllowance); time.Now().Before(until); time.Sleep(5 * time.Millisecond) {
		state, exists, err := c.engine.daemon.State(ctx, c.id)
		if err != nil {
			return err
		}
		if !exists {
			return fmt.Errorf("container %s was removed by somebody else: %w", short(c.id), ErrUnavailable)
		}
		if !state.Running {
			found.exited, found.exitCode, found.oomKilled = true, state.ExitCode, state.OOMKilled
			return nil
		}
	}
	return nil
}

// breach returns how the program broke a limit without ending, nil where it
// did not: what it said meanwhile is void.
func (c *cell) breach() error {
	found := evidence{oomKills: c.counters.oomKills(), refusedForks: c.counters.refusedForks()}
	if found.oomKills > 0 || found.refusedForks > 0 {
		return found.ending()
	}
	return nil
}
