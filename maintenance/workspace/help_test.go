package workspace

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"signalbox/containers/kernel/star"
	"signalbox/editor"
	"signalbox/maintenance"
	"signalbox/rule"
	"signalbox/rule/frame"
)

// runner runs rules in this process, without containers.
type runner struct{}

func (runner) Triggers(_ context.Context, p rule.Program, tasks []rule.Document) []rule.TriggerReply {
	replies := make([]rule.TriggerReply, len(tasks))
	program, err := star.Load(rule.RoleTrigger, sourceOf(p), 5_000_000)
	for i, task := range tasks {
		var body []byte
		ended := err
		if ended == nil {
			body, ended = program.Trigger(task)
		}
		if ended == nil {
			replies[i], ended = rule.ParseTriggerReply(body)
		}
		if ended != nil {
			replies[i] = rule.TriggerReply{Failure: rule.FailureCrash, Detail: ended.Error()}
		}
	}
	return replies
}

func (runner) Execute(_ context.Context, p rule.Program, task rule.Document, args rule.Value, tree rule.Tree) rule.ExecutorReply {
	program, err := star.Load(rule.RoleExecutor, sourceOf(p), 5_000_000)
	var body []byte
	if err == nil {
		body, err = program.Execute(task, args, files(tree))
	}
	var reply rule.ExecutorReply
	if err == nil {
		reply, err = rule.ParseExecutorReply(body)
	}
	if err != nil {
		return rule.ExecutorReply{Failure: rule.FailureCrash, Detail: err.Error()}
	}
	return reply
}

func sourceOf(p rule.Program) map[string]string {
	source := map[string]string{}
	for path, data := range p.Source.Tree() {
		source[path] = string(data)
	}
	return source
}

type files rule.Tree

func (f files) Paths() []string                  { return rule.Tree(f).Paths() }
func (f files) Read(path string) ([]byte, error) { return f[path], nil }

// localEditor is the editor on a folder of this host.
type localEditor struct{ *editor.Editor }

func (e localEditor) Call(_ context.Context, call frame.Edit) ([]byte, error) {
	e.SetWritable(editor.Only(call.Writable...))
	return rule.Canonical(e.Run(call.Session, call.Args))
}

func openLocal(t *testing.T) func(context.Context, rule.Tree) (maintenance.DraftEditor, error) {
	return func(_ context.Context, tree rule.Tree) (maintenance.DraftEditor, error) {
		dir, err := os.MkdirTemp(t.TempDir(), "draft")
		if err != nil {
			return nil, err
		}
		for p, data := range tree {
			path := filepath.Join(dir, p)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, data, 0o644)); err != nil {
				return nil, err
			}
		}
		opened, err := editor.Open(dir, editor.Options{})
		return localEditor{opened}, err
	}
}
