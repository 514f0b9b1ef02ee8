package author

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"signalbox/containers/kernel/star"
	"signalbox/rule"
)

// loop is a small maintenance loop: it holds a draft, runs the tools, and checks
// a submitted rule over visible and hidden cases as the oracle does.
type loop struct {
	t          testing.TB
	handler    http.Handler
	family     string
	visible    []briefCase
	hidden     []briefCase
	neighbours []rule.Document
	reveals    int
	before     rule.Tree // what the draft holds already

	files    rule.Tree
	open     string
	messages []map[string]any
	bodies   [][]byte // every answer of the author, as bytes
	said     string
	passed   bool
	submits  int
}

const draftManifest = `{
  "schema": 1,
  "name": "drafted",
  "family": %q,
  "summary": "",
  "environment": "starlark",
  "guard": {},
  "args_schema": {},
  "result_schema": {}
}
`

const maxTurns = 60

// run drives the conversation until the author ends it.
func (l *loop) run() *loop {
	l.t.Helper()
	if l.handler == nil {
		l.handler = New()
	}
	l.files = rule.Tree{}
	maps.Copy(l.files, l.before)
	l.messages = []map[string]any{{"role": "system", "content": "Write a rule."}, {"role": "user", "content": l.brief()}}
	for range maxTurns {
		answer := l.ask()
		message := answer.Choices[0].Message
		if len(message.ToolCalls) == 0 {
			l.said = message.Content
			return l
		}
		l.messages = append(l.messages, map[string]any{"role": "assistant", "content": message.Content, "tool_calls": message.ToolCalls})
		for _, call := range message.ToolCalls {
			l.messages = append(l.messages, map[string]any{"role": "tool", "tool_call_id": call.ID, "content": l.tool(call.Function)})
		}
	}
	l.t.Fatalf("%s: no end after %d turns", l.family, maxTurns)
	return l
}

func (l *loop) brief() string {
	neighbours := l.neighbours
	if neighbours == nil {
		neighbours = []rule.Document{}
	}
	block, err := rule.Canonical(map[string]any{
		"protocol": 1, "family": l.family, "rule": "drafted", "manifest": map[string]any{}, "cases": l.visible,
		"neighbours": neighbours, "rules": []string{}, "feedback": []string{}, "left": map[string]int{"calls": 50, "validations": 10},
	})
	if err != nil {
		l.t.Fatal(err)
	}
	return "Please write the rule.\n\n```json\n" + string(block) + "\n```"
}

func (l *loop) ask() completion {
	l.t.Helper()
	body, err := json.Marshal(map[string]any{"model": "builtin", "messages": l.messages, "tools": []string{}})
	if err != nil {
		l.t.Fatal(err)
	}
	recorder := httptest.NewRecorder()
	l.handler.ServeHTTP(recorder, httptest.NewRequest(http.MethodPost, "/v1/chat/completions", bytes.NewReader(body)))
	if recorder.Code != http.StatusOK {
		l.t.Fatalf("status %d: %s", recorder.Code, recorder.Body)
	}
	l.bodies = append(l.bodies, recorder.Body.Bytes())
	var answer completion
	if err := rule.Decode(recorder.Body.Bytes(), &answer); err != nil {
		l.t.Fatal(err)
	}
	return answer
}

func (l *loop) tool(f function) string {
	if f.Name == editorTool {
		return l.edit(f.Arguments)
	}
	var args ruleArgs
	if f.Name != ruleTool || rule.Decode([]byte(f.Arguments), &args) != nil {
		l.t.Fatalf("call of %q with %s", f.Name, f.Arguments)
	}
	answer := map[string]any{"ok": true, "code": "ok", "message": "", "data": map[string]any{}}
	switch args.Action {
	case "create_rule":
		l.files[rule.ManifestFile] = fmt.Appendf(nil, draftManifest, l.family)
		answer["data"] = map[string]any{"manifest": string(l.files[rule.ManifestFile]), "files": l.files.Paths()}
	case "edit_contract", "edit_trigger", "edit_executor":
		l.open = args.Action
	case "submit_rule":
		l.submit(answer)
	default:
		l.t.Fatalf("action %q", args.Action)
	}
	text, err := rule.Canonical(answer)
	if err != nil {
		l.t.Fatal(err)
	}
	return string(text)
}

func (l *loop) edit(arguments string) string {
	var args editorArgs
	if err := rule.Decode([]byte(arguments), &args); err != nil {
		l.t.Fatal(err)
	}
	path := strings.TrimPrefix(args.Path, root)
	for _, p := range parts {
		if p.action == l.open && !p.holds(path) {
			l.t.Fatalf("%s doesn't open %s", l.open, path)
		}
	}
	old, exists := l.files[path]
	switch {
	case args.Command == "view" && exists:
		lines := strings.Split(strings.TrimSuffix(string(old), "\n"), "\n")
		text := fmt.Sprintf("Here's the content of %s with line numbers (which has a total of %d lines):\n", args.Path, len(lines))
		if !strings.HasSuffix(string(old), "\n") && len(old) > 0 {
			text += "NOTE: no newline at end of file.\n"
		}
		for i, line := range lines {
			text += fmt.Sprintf("%6d  %s\n", i+1, line)
		}
		return text
	case args.Command == "create" && !exists:
		l.files[path] = []byte(*args.FileText)
		return "New file created successfully at: " + args.Path
	case args.Command == "str_replace" && *args.OldStr != "" && strings.Count(string(old), *args.OldStr) == 1:
		l.files[path] = []byte(strings.Replace(string(old), *args.OldStr, *args.NewStr, 1))
		return "The file " + args.Path + " has been edited successfully."
	}
	l.t.Fatalf("%s of %s can't be done", args.Command, args.Path)
	return ""
}

// submit checks the draft: no wrong answer, half of the visible and of the
// hidden cases covered, nothing answered that must fall back.
func (l *loop) submit(answer map[string]any) {
	l.submits++
	p := load(l.t, l.files)
	right, wanted, bad := 0, 0, -1
	for i, c := range append(append([]briefCase{}, l.visible...), l.hidden...) {
		verdict := p.judge(c)
		if verdict == "wrong" {
			bad = i
			if i < len(l.visible) {
				l.t.Fatalf("%s: wrong on the visible case %s", l.family, c.ID)
			}
		}
		if verdict == "right" {
			right++
		}
		if !c.Fallback {
			wanted++
		}
	}
	for _, task := range l.neighbours {
		if verdict := p.trigger(task).Verdict; verdict != rule.NoMatch {
			l.t.Fatalf("%s: %s on the neighbour %q", l.family, verdict, task.Instruction)
		}
	}
	l.passed = bad < 0 && right*2 >= wanted
	if l.passed {
		answer["data"] = map[string]any{"submitted": true, "coverage": right}
		return
	}
	answer["ok"], answer["code"], answer["message"] = false, "refused", fmt.Sprintf("%d right", right)
	data := map[string]any{"failures": []any{}, "hidden_failures": map[string]int{"wrong": 1}, "revealed": []briefCase{}}
	if bad >= 0 && l.reveals > 0 {
		l.reveals--
		at := bad - len(l.visible)
		data["revealed"] = []briefCase{l.hidden[at]}
		l.visible = append(l.visible, l.hidden[at])
		l.hidden = append(append([]briefCase{}, l.hidden[:at]...), l.hidden[at+1:]...)
	}
	answer["data"] = data
}

// programs are a rule's two programs, loaded.
type programs struct {
	t        testing.TB
	manifest rule.Manifest
	asks     *star.Program
	does     *star.Program
	note     string // of the last abstention
}

func load(t testing.TB, files rule.Tree) *programs {
	t.Helper()
	_, manifest, err := rule.ParseSource(files)
	if err != nil {
		t.Fatal(err)
	}
	source := map[string]string{}
	for path, text := range files {
		source[path] = string(text)
	}
	const steps = 5_000_000
	asks, err := star.Load(rule.RoleTrigger, source, steps)
	if err != nil {
		t.Fatalf("trigger: %v\n%s", err, source[rule.TriggerFile])
	}
	does, err := star.Load(rule.RoleExecutor, source, steps)
	if err != nil {
		t.Fatalf("executor: %v\n%s", err, source[rule.ExecutorFile])
	}
	return &programs{t: t, manifest: manifest, asks: asks, does: does}
}

// trigger asks the program, and checks that it says no_match where the guard
// does, and that its args fit.
func (p *programs) trigger(task rule.Document) rule.TriggerReply {
	p.t.Helper()
	body, err := p.asks.Trigger(task)
	if err != nil {
		p.t.Fatalf("trigger on %v: %v", task, err)
	}
	reply, err := rule.ParseTriggerReply(body)
	if err != nil {
		p.t.Fatal(err)
	}
	if !p.manifest.Guard.Allows(task) && reply.Verdict != rule.NoMatch {
		p.t.Fatalf("the guard refuses %v, the trigger says %s", task, reply.Verdict)
	}
	if fitted := p.manifest.FitTrigger(reply); fitted.Failure != "" {
		p.t.Fatalf("trigger on %v: %s", task, fitted.Detail)
	}
	return reply
}

// answer runs both programs; it is false where one falls back.
func (p *programs) answer(task rule.Document) (rule.Outcome, bool) {
	p.t.Helper()
	return p.answerIn(task, nil)
}

// folder shows a tree to an executor.
type folder rule.Tree

func (f folder) Paths() []string { return rule.Tree(f).Paths() }

func (f folder) Read(path string) ([]byte, error) { return f[path], nil }

func (p *programs) answerIn(task rule.Document, files map[string]string) (rule.Outcome, bool) {
	p.t.Helper()
	asked := p.trigger(task)
	if asked.Verdict != rule.Match {
		return rule.Outcome{}, false
	}
	body, err := p.does.Execute(task, asked.Args, folder(rule.TreeOf(files)))
	if err != nil {
		p.t.Fatalf("executor on %v: %v", task, err)
	}
	reply, err := rule.ParseExecutorReply(body)
	if err != nil {
		p.t.Fatal(err)
	}
	if reply.Abstained {
		p.note = reply.Note
		return rule.Outcome{}, false
	}
	if fitted := p.manifest.FitExecutor(reply); fitted.Failure != "" {
		p.t.Fatalf("executor on %v: %s", task, fitted.Detail)
	}
	return *reply.Outcome, true
}

func (p *programs) judge(c briefCase) string {
	p.t.Helper()
	outcome, ok := p.answerIn(c.Task.Document(), c.Task.Files)
	switch {
	case !ok:
		return "fell back"
	case c.Fallback || !outcome.Equal(c.Outcome):
		return "wrong"
	}
	return "right"
}
