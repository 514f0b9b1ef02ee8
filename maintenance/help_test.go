package maintenance

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"signalbox/containers/kernel/star"
	"signalbox/editor"
	"signalbox/maintenance/gateway"
	"signalbox/oracle"
	"signalbox/registry/ledger"
	"signalbox/rule"
	"signalbox/rule/frame"
)

// runner runs rules in this process: what the containers' kernel runs, without
// the container.
type runner struct{ broken bool }

func (r *runner) Triggers(_ context.Context, p rule.Program, tasks []rule.Document) []rule.TriggerReply {
	replies := make([]rule.TriggerReply, len(tasks))
	program, err := star.Load(rule.RoleTrigger, sourceOf(p), 1_000_000)
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
			replies[i] = rule.TriggerReply{Failure: failureIn(ended), Detail: ended.Error()}
		}
		if r.broken {
			replies[i] = rule.TriggerReply{Failure: rule.FailureUnavailable, Detail: "no engine"}
		}
	}
	return replies
}

func (r *runner) Execute(_ context.Context, p rule.Program, task rule.Document, args rule.Value, tree rule.Tree) rule.ExecutorReply {
	program, err := star.Load(rule.RoleExecutor, sourceOf(p), 1_000_000)
	var body []byte
	if err == nil {
		body, err = program.Execute(task, args, files(tree))
	}
	var reply rule.ExecutorReply
	if err == nil {
		reply, err = rule.ParseExecutorReply(body)
	}
	if err != nil {
		return rule.ExecutorReply{Failure: failureIn(err), Detail: err.Error()}
	}
	return reply
}

func failureIn(err error) rule.Failure {
	var failed *star.Error
	if errors.As(err, &failed) {
		return failed.Failure
	}
	return rule.FailureSchema
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

func openLocal(t *testing.T) func(context.Context, rule.Tree) (DraftEditor, error) {
	return func(_ context.Context, tree rule.Tree) (DraftEditor, error) {
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

func (e localEditor) Call(_ context.Context, call frame.Edit) ([]byte, error) {
	e.SetWritable(editor.Only(call.Writable...))
	return rule.Canonical(e.Run(call.Session, call.Args))
}

// desk is a workspace in memory.
type desk struct {
	view     View
	views    int
	change   func(n int, v *View) // called before the nth view is given
	revealed []string
	proposed []Proposal
}

func (d *desk) View(context.Context) (View, error) {
	d.views++
	if d.change != nil {
		d.change(d.views, &d.view)
	}
	view := d.view
	view.Cases = slices.Clone(d.view.Cases)
	return view, nil
}

func (d *desk) Reveal(_ context.Context, _ string, cases []string) error {
	d.revealed = append(d.revealed, cases...)
	for i := range d.view.Cases {
		if slices.Contains(cases, d.view.Cases[i].ID) {
			d.view.Cases[i].Part = rule.VisiblePart
		}
	}
	return nil
}

func (d *desk) Propose(_ context.Context, p Proposal) (rule.Digest, error) {
	d.proposed = append(d.proposed, p)
	return rule.DigestOf([]byte("proof of " + p.Attempt)), nil
}

// valueOf returns v as a Value.
func valueOf(t *testing.T, v any) rule.Value {
	t.Helper()
	value, err := rule.ValueOf(v)
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// upperCases returns the cases of two families: upper has visible and admission
// ones, lower is its neighbour.
func upperCases(t *testing.T) []rule.Case {
	var cases []rule.Case
	add := func(family rule.Family, part rule.Part, id, instruction, input, output string) {
		cases = append(cases, rule.Case{
			ID: id, Family: family, Part: part, CertifiedBy: "ann",
			Task:    rule.Task{Instruction: instruction, Input: valueOf(t, input)},
			Outcome: rule.Outcome{Output: valueOf(t, output)},
		})
	}
	for i, word := range []string{"ant", "bee", "cat", "dog", "eel", "fox", "gnu", "hen"} {
		part, id := rule.VisiblePart, fmt.Sprintf("u%02d", i)
		if i >= 4 {
			part, id = rule.AdmissionPart, fmt.Sprintf("hidden%02d", i)
		}
		add("upper", part, id, "Uppercase the text", word, strings.ToUpper(word))
		add("lower", rule.VisiblePart, fmt.Sprintf("l%02d", i), "Lowercase the text", strings.ToUpper(word), word)
	}
	cases = append(cases, rule.Case{
		ID: "u90", Family: "upper", Part: rule.VisiblePart, CertifiedBy: "ann", Fallback: true,
		Task: rule.Task{Instruction: "Uppercase the text", Input: "[1]"},
	})
	return cases
}

// bench is everything that an attempt needs, with a model that plays a script.
type bench struct {
	*testing.T
	deps   Deps
	desk   *desk
	ledger *ledger.Ledger
	runner *runner
	model  *model
}

func newBench(t *testing.T) *bench {
	t.Helper()
	home := t.TempDir()
	l, err := ledger.Create(t.Context(), filepath.Join(home, "ledger.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	b := &bench{T: t, ledger: l, runner: &runner{}, model: newModel(t)}
	b.desk = &desk{view: View{
		Cases: upperCases(t), Mapping: rule.Mapping{}, Known: map[rule.Name]rule.Family{}, Policy: oracle.DefaultPolicy(),
		Environment: rule.Environment{Name: rule.StarlarkEnvironment, Runtime: "starlark"},
	}}
	b.deps = Deps{Home: home, Workspace: b.desk, Programs: b.runner, Ledger: l, OpenEditor: openLocal(t)}
	budgets, err := l.Budgets(t.Context(), ledger.External)
	if err != nil {
		t.Fatal(err)
	}
	for _, budget := range budgets {
		b.allow(budget.Resource, 1<<40)
	}
	return b
}

func (b *bench) allow(resource ledger.Resource, limit int64) {
	b.Helper()
	if err := b.ledger.SetLimit(b.Context(), ledger.External, resource, limit, "tester", "a test"); err != nil {
		b.Fatal(err)
	}
}

func (b *bench) options() Options {
	return Options{Family: "upper", Endpoint: gateway.Endpoint{
		Model: "scripted", BaseURL: b.model.URL + "/v1", Key: "sk-secret", MaxCompletion: 500, Deadline: 10 * time.Second,
	}}
}

// maintain makes one attempt and fails the test where the host couldn't.
func (b *bench) maintain(o Options) Attempt {
	b.Helper()
	a, err := Maintain(b.Context(), b.deps, o)
	if err != nil {
		b.Fatal(err)
	}
	return a
}

// wants compares how an attempt stopped.
func (b *bench) wants(a Attempt, reason StopReason, why string) {
	b.Helper()
	if a.Stop != reason || !strings.Contains(a.Why, why) {
		b.Errorf("stopped by %s (%s), want %s (%s)", a.Stop, a.Why, reason, why)
	}
}

// model is a chat completions server that plays a script: one reply a turn. The
// last one is repeated. A reply is a whole body; "" answers with an error, and
// "hang up" not at all.
type model struct {
	*httptest.Server
	script  []string
	arrived atomic.Int64
	seen    []conversation
}

// conversation is what a model was told in one turn.
type conversation struct {
	Messages []struct {
		Role    string `json:"role"`
		Content string `json:"content"`
		Calls   []struct {
			ID string `json:"id"`
		} `json:"tool_calls"`
		CallID string `json:"tool_call_id"`
	} `json:"messages"`
}

func (c conversation) last() string { return c.Messages[len(c.Messages)-1].Content }

func newModel(t *testing.T) *model {
	m := &model{}
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := int(m.arrived.Add(1)) - 1
		data, _ := io.ReadAll(r.Body)
		var told conversation
		if err := json.Unmarshal(data, &told); err != nil {
			t.Errorf("reading request: %v", err)
		}
		m.seen = append(m.seen, told)
		w.Header().Set("Content-Type", "application/json")
		reply := m.script[min(n, len(m.script)-1)]
		if reply == "hang up" {
			panic(http.ErrAbortHandler)
		}
		if reply == "" {
			reply = fmt.Sprintf(`{"error":{"message":"script is empty at turn %d"}}`, n)
			w.WriteHeader(500)
		}
		if rest, failed := strings.CutPrefix(reply, "STATUS 400 "); failed {
			w.WriteHeader(400)
			reply = rest
		}
		_, _ = io.WriteString(w, strings.ReplaceAll(reply, "TOKENS", fmt.Sprint(len(data)/4)))
	}))
	t.Cleanup(m.Close)
	return m
}

// calls returns the body of a turn with some tool calls.
func calls(all ...[2]string) string {
	var wire []map[string]any
	for i, c := range all {
		wire = append(wire, map[string]any{
			"id": fmt.Sprintf("call_%d", i), "type": "function", "function": map[string]any{"name": c[0], "arguments": c[1]},
		})
	}
	return completion("tool_calls", map[string]any{"role": "assistant", "content": nil, "tool_calls": wire})
}

// says returns the body of a turn of words alone.
func says(text string) string {
	return completion("stop", map[string]any{"role": "assistant", "content": text})
}

func completion(finish string, message map[string]any) string {
	body, err := json.Marshal(map[string]any{
		"choices": []any{map[string]any{"index": 0, "finish_reason": finish, "message": message}},
		"usage":   jsontext.Value(`{"prompt_tokens":123456789,"completion_tokens":10}`),
	})
	if err != nil {
		panic(err)
	}
	return strings.ReplaceAll(string(body), "123456789", "TOKENS")
}

// does returns a turn that calls an action without data, or with it.
func does(action string, data ...string) string {
	return calls([2]string{"rule", fmt.Sprintf(`{"action":%q,"data":%s}`, action, append(data, "{}")[0])})
}

// edits returns a turn that calls the editor with the given arguments.
func edits(args map[string]any) string {
	text, err := json.Marshal(args, json.Deterministic(true))
	if err != nil {
		panic(err)
	}
	return calls([2]string{"str_replace_editor", string(text)})
}

func creates(path, text string) string {
	return edits(map[string]any{"command": "create", "path": path, "file_text": text})
}

func replaces(path, old, text string) string {
	return edits(map[string]any{"command": "str_replace", "path": path, "old_str": old, "new_str": text})
}

// The programs of the rule that the scripts write.
const (
	goodTrigger = "def trigger(task):\n    if task.instruction != \"Uppercase the text\" or type(task.input) != \"string\":\n        return no_match()\n    return match({})\n"
	goodExecute = "def execute(task, args):\n    return result(output=task.input.upper())\n"
)

// writes returns the turns in which an author writes both programs.
func writes(trigger, execute string) []string {
	return []string{
		does("create_rule"),
		does("edit_trigger"), creates("/draft/trigger.star", trigger),
		does("edit_executor"), creates("/draft/execute.star", execute),
	}
}
