package main

import (
	"errors"
	"fmt"

	"signalbox/containers/kernel/star"
	"signalbox/containers/kernel/tree"
	"signalbox/editor"
	"signalbox/rule"
	"signalbox/rule/frame"
)

// kernel is the state between frames. What it holds depends on the role that
// the load gave it.
type kernel struct {
	testbed, draft string // folders

	role    rule.Role // "" until something was loaded
	program *star.Program
	files   *tree.Tree // of an executor
	filled  bool       // files are those of the next call
	editor  *editor.Editor
}

// answer serves one request: it returns the kind and the body of its answer.
func (k *kernel) answer(kind frame.Kind, body []byte) (frame.Kind, []byte) {
	reply, err := k.serve(kind, body)
	switch {
	case err != nil:
		return frame.KindFailure, failed(err)
	case kind == frame.KindLoad || kind == frame.KindTree:
		return frame.KindReady, nil
	}
	return frame.KindReply, reply
}

func (k *kernel) serve(kind frame.Kind, body []byte) ([]byte, error) {
	switch {
	case kind == frame.KindLoad && k.role == "":
		return nil, k.load(body)
	case kind == frame.KindTrigger && k.role == rule.RoleTrigger:
		return k.trigger(body)
	case kind == frame.KindTree && k.role == rule.RoleExecutor:
		return nil, k.fill(body)
	case kind == frame.KindExecute && k.role == rule.RoleExecutor:
		return k.execute(body)
	case kind == frame.KindEdit && k.role == rule.RoleEditor:
		return k.edit(body)
	}
	return nil, refusal("a frame of kind %q has no place in role %q here", kind, k.role)
}

func (k *kernel) trigger(body []byte) ([]byte, error) {
	var task rule.Document
	if err := rule.Decode(body, &task); err != nil {
		return nil, refusal("reading trigger frame: %v", err)
	}
	return k.program.Trigger(task)
}

// fill makes the files of the next call. The body is let go before the files
// are decoded twice over.
func (k *kernel) fill(body []byte) error {
	k.filled = false
	var files frame.Tree
	if err := rule.Decode(body, &files); err != nil {
		return refusal("reading tree frame: %v", err)
	}
	if err := k.files.Fill(rule.Tree(files)); err != nil {
		return refusal("reading tree frame: %v", err)
	}
	k.filled = true
	return nil
}

// execute runs one call, after which its files are gone.
func (k *kernel) execute(body []byte) ([]byte, error) {
	var call frame.Execute
	if err := rule.Decode(body, &call); err != nil {
		return nil, refusal("reading execute frame: %v", err)
	}
	if call.Tree && !k.filled {
		return nil, refusal("reading execute frame: no tree came before it")
	}
	var files star.Files
	if call.Tree {
		files = k.files
	}
	reply, err := k.program.Execute(call.Task, call.Args, files)
	k.filled = false
	if clearing := k.files.Clear(); clearing != nil {
		end(clearing) // the next call must not see these files
	}
	return reply, err
}

// refusal is an answer to a frame that makes no sense; the program had no part
// in it.
func refusal(format string, arguments ...any) error {
	return &star.Error{Failure: rule.FailureSchema, Detail: fmt.Sprintf(format, arguments...)}
}

// failed returns the body of a failure frame.
func failed(err error) []byte {
	body := frame.Failed{Failure: rule.FailureCrash, Detail: err.Error()}
	if known := (*star.Error)(nil); errors.As(err, &known) {
		body = frame.Failed{Failure: known.Failure, Detail: known.Detail}
	}
	data, err := rule.Canonical(body)
	if err != nil {
		end(err)
	}
	return data
}
