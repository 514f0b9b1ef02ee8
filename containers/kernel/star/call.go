package star

import (
	"errors"
	"fmt"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"

	"signalbox/rule"
)

const (
	// maxDetail bounds each of the two parts of a failure's detail, in bytes.
	maxDetail = 1_000
	// maxReply bounds an executor's reply, in bytes: an outcome at its limits,
	// unless it is full of control characters.
	maxReply = 24 << 20
)

// Error says how a program failed and where, for a maintainer.
type Error struct {
	Failure rule.Failure
	Detail  string
}

// Error returns failure and detail.
func (e *Error) Error() string { return string(e.Failure) + ": " + e.Detail }

// Trigger asks the program about a task and returns the body of its reply, as
// rule.ParseTriggerReply reads it.
func (p *Program) Trigger(task rule.Document) ([]byte, error) {
	argument, err := taskValue(task)
	if err != nil {
		return nil, schemaError(err)
	}
	given, err := p.call(starlark.Tuple{argument})
	if err != nil {
		return nil, err
	}
	a, ok := given.(*answer)
	if !ok || a.trigger.Verdict == "" {
		return nil, schemaError(fmt.Errorf("trigger returned %s: want match(…), no_match() or abstain()", describe(given)))
	}
	return rule.Canonical(a.trigger)
}

// Execute has the program do a task that its trigger understood as args, and
// returns the body of its reply, as rule.ParseExecutorReply reads it. files is
// what testbed shows; nil shows nothing.
func (p *Program) Execute(task rule.Document, args rule.Value, files Files) ([]byte, error) {
	argument, err := taskValue(task)
	if err != nil {
		return nil, schemaError(err)
	}
	understood, err := decodeJSON(string(args))
	if err != nil {
		return nil, schemaError(fmt.Errorf("args: %w", err))
	}
	p.files.show(files)
	defer p.files.show(nil)
	given, err := p.call(starlark.Tuple{argument, understood})
	if err != nil {
		return nil, err
	}
	a, ok := given.(*answer)
	if !ok || !a.executor.Abstained && a.executor.Outcome == nil {
		return nil, schemaError(fmt.Errorf("execute returned %s: want result(…) or abstain()", describe(given)))
	}
	if a.executor.Outcome != nil && encodedSize(*a.executor.Outcome) > maxReply {
		return nil, &Error{Failure: rule.FailureOutput, Detail: fmt.Sprintf("the reply is longer than %d bytes", maxReply)}
	}
	return rule.Canonical(a.executor)
}

// encodedSize says about how long an outcome is as JSON, without writing it:
// escapes can make a text six times as long.
func encodedSize(outcome rule.Outcome) int {
	size := len(outcome.Output)
	for p, text := range outcome.Files {
		size += len(p) + 10
		if text == nil {
			continue
		}
		size += len(*text)
		for i := range len(*text) {
			if c := (*text)[i]; c < ' ' {
				size += 5
			}
		}
	}
	return size
}

// call runs the entry function on a fresh thread.
func (p *Program) call(args starlark.Tuple) (starlark.Value, error) {
	thread := newThread(p.steps, nil)
	given, err := starlark.Call(thread, p.entry, args, nil)
	if err != nil {
		return nil, failure(thread, err)
	}
	return given, nil
}

func taskValue(task rule.Document) (starlark.Value, error) {
	members := starlark.StringDict{
		"instruction": starlark.String(task.Instruction),
		"input":       starlark.None,
		"has_input":   starlark.Bool(task.Input.Present()),
	}
	if task.Input.Present() {
		input, err := decodeJSON(string(task.Input))
		if err != nil {
			return nil, fmt.Errorf("input: %w", err)
		}
		members["input"] = input
	}
	return starlarkstruct.FromStringDict(starlark.String("task"), members), nil
}

// newThread returns a thread that prints nowhere and ends after steps.
func newThread(steps uint64, load func(*starlark.Thread, string) (starlark.StringDict, error)) *starlark.Thread {
	thread := &starlark.Thread{Name: "rule", Print: func(*starlark.Thread, string) {}, Load: load}
	thread.SetLocal(stepLimit, steps)
	thread.SetMaxExecutionSteps(steps)
	return thread
}

// stepLimit is the name under which a thread keeps its limit.
const stepLimit = "step limit"

// left returns how many steps a thread may still spend, at least one, since
// zero would mean no limit.
func left(thread *starlark.Thread) uint64 {
	limit := thread.Local(stepLimit).(uint64)
	return max(limit, thread.Steps+1) - thread.Steps
}

// failure says how a thread ended that returned err.
func failure(thread *starlark.Thread, err error) *Error {
	detail := clip(err.Error())
	if evaluation := (*starlark.EvalError)(nil); errors.As(err, &evaluation) {
		detail += "\n" + clip(evaluation.CallStack.String())
	}
	if limit := thread.Local(stepLimit).(uint64); thread.Steps >= limit {
		return &Error{Failure: rule.FailureTimeout, Detail: fmt.Sprintf("the step limit of %d was reached\n%s", limit, detail)}
	}
	return &Error{Failure: rule.FailureCrash, Detail: detail}
}

func schemaError(err error) *Error {
	return &Error{Failure: rule.FailureSchema, Detail: clip(err.Error())}
}

// clip makes text of a program fit to be sent: bounded and valid UTF-8.
func clip(text string) string {
	if len(text) > maxDetail {
		text = text[:maxDetail] + "…"
	}
	return strings.ToValidUTF8(text, "�")
}

// describe names a value without spelling it out.
func describe(v starlark.Value) string {
	if v == starlark.None {
		return "None"
	}
	if a, ok := v.(*answer); ok {
		return a.name + "(…)"
	}
	return "a " + v.Type()
}
