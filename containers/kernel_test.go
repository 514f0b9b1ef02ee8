package containers

import (
	"strings"
	"testing"

	"signalbox/rule"
	"signalbox/rule/frame"
)

// The tests of this file run the real kernel program under the real profiles.

const manifestText = `{"schema":1,"name":"shout","family":"test","summary":"","environment":"starlark",
	"guard":{"pattern":"\\A(?:.*)\\z"},"args_schema":{"type":"object"},"result_schema":{}}`

func realProgram(t *testing.T, e *Engine, trigger, executor string) rule.Program {
	t.Helper()
	program := programIn(t, e, trigger)
	source, manifest, err := rule.ParseSource(rule.TreeOf(map[string]string{
		rule.ManifestFile: manifestText, rule.TriggerFile: trigger, rule.ExecutorFile: executor,
	}))
	if err != nil {
		t.Fatal(err)
	}
	program.Source, program.Manifest, program.Member.Revision = source, manifest, source.Digest()
	return program
}

const shoutTrigger = `
def trigger(task):
    m = re.full("shout (.+)", task.instruction)
    if m == None:
        return no_match("not shouting")
    return match({"text": m[1]})
`

const shoutExecutor = `
def execute(task, args):
    if not testbed.exists("list.txt"):
        return abstain("no list")
    lines = testbed.read("list.txt")
    return result(output = args["text"].upper(), files = {"list.txt": lines + args["text"] + "\n", "old.txt": None})
`

func TestKernelRunsARule(t *testing.T) {
	e := openEngine(t, build(t, "./kernel"))
	residents := e.Residents(2)
	defer residents.Close()
	program := realProgram(t, e, shoutTrigger, shoutExecutor)
	task := rule.Document{Instruction: "shout hello"}
	matched := residents.Trigger(t.Context(), program, task)
	if matched.Verdict != rule.Match || matched.Args != `{"text":"hello"}` {
		t.Fatalf("trigger: %+v", matched)
	}
	if other := residents.Trigger(t.Context(), program, rule.Document{Instruction: "whisper"}); other.Verdict != rule.NoMatch || other.Note == "" {
		t.Errorf("trigger: %+v", other)
	}
	tree := rule.TreeOf(map[string]string{"list.txt": "first\n", "deep/er/old.txt": "x"})
	for range 2 {
		done := residents.Execute(t.Context(), program, task, matched.Args, tree)
		if done.Outcome == nil || done.Outcome.Output != `"HELLO"` || *done.Outcome.Files["list.txt"] != "first\nhello\n" || done.Outcome.Files["old.txt"] != nil {
			t.Errorf("executor: %+v", done)
		}
	}
	if none := residents.Execute(t.Context(), program, task, matched.Args, rule.Tree{}); !none.Abstained {
		t.Errorf("executor without its file: %+v", none)
	}
}

// TestKernelFailures: what the program reports of itself is a failure of the
// call alone; what it can't stop itself is the host's to end.
func TestKernelFailures(t *testing.T) {
	e := openEngine(t, build(t, "./kernel"))
	residents := e.Residents(8)
	defer residents.Close()
	for name, c := range map[string]struct {
		body string
		want []rule.Failure
	}{
		"error":     {"return 1 // 0", []rule.Failure{rule.FailureCrash}},
		"no answer": {"return 1", []rule.Failure{rule.FailureSchema, rule.FailureCrash}},
		"steps":     {"for i in range(1000000000): pass\n    return no_match()", []rule.Failure{rule.FailureTimeout}},
		"one call":  {"return match({\"n\": max(range(1000000000000))})", []rule.Failure{rule.FailureTimeout}},
		"memory":    {"x = [\"a\" * 1000000000]\n    return no_match()", []rule.Failure{rule.FailureMemory, rule.FailureTimeout, rule.FailureCrash}},
	} {
		program := realProgram(t, e, "def trigger(task):\n    if task.instruction == \"fine\":\n        return no_match()\n    "+c.body+"\n", "#")
		for _, instruction := range []string{"fine", "break", "fine"} {
			reply := residents.Trigger(t.Context(), program, rule.Document{Instruction: instruction})
			if instruction == "fine" && say(reply) != "no_match" {
				t.Errorf("%s: control: %+v", name, reply)
			}
			held := false
			for _, want := range c.want {
				held = held || reply.Failure == want
			}
			if instruction == "break" && !held {
				t.Errorf("%s: %+v, want %v", name, reply, c.want)
			}
		}
	}
	syntax := residents.Trigger(t.Context(), realProgram(t, e, "def trigger(", "#"), rule.Document{Instruction: "x"})
	if syntax.Failure == "" || !strings.Contains(syntax.Detail, "trigger.star") {
		t.Errorf("syntax error: %+v", syntax)
	}
}

func TestKernelPosture(t *testing.T) {
	e := openEngine(t, build(t, "./kernel"))
	for _, role := range roles {
		c, seen := startOne(t, e, role)
		if difference := seen.differs(c.plan, c.id); difference != "" {
			t.Errorf("%s: %s", role, difference)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestKernelEditsADraft(t *testing.T) {
	e := openEngine(t, build(t, "./kernel"))
	draft, err := e.EditDraft(t.Context(), rule.TreeOf(map[string]string{"trigger.star": "old text\n", "README.md": "x\n"}))
	if err != nil {
		t.Fatal(err)
	}
	defer draft.Close()
	call := func(args string) string {
		t.Helper()
		reply, err := draft.Call(t.Context(), frame.Edit{Session: "s", Args: []byte(args), Writable: []string{"*.star"}})
		if err != nil {
			t.Fatal(err)
		}
		return string(reply)
	}
	for args, want := range map[string]string{
		`{"command":"view","path":"/draft/trigger.star"}`:                                 "old text",
		`{"command":"create","path":"/draft/execute.star","file_text":"new\n"}`:           `"ok":true`,
		`{"command":"str_replace","path":"/draft/README.md","old_str":"x","new_str":"y"}`: `"ok":false`,
		`{"command":"view","path":"/etc/passwd"}`:                                         `"ok":false`,
		`no JSON`: `"ok":false`,
	} {
		if got := call(args); !strings.Contains(got, want) {
			t.Errorf("%s gave %s, want %s", args, got, want)
		}
	}
	if got := call(`{"command":"str_replace","path":"/draft/trigger.star","old_str":"old","new_str":"new"}`); !strings.Contains(got, `"ok":true`) {
		t.Errorf("str_replace gave %s", got)
	}
	if got := call(`{"command":"view","path":"/draft/trigger.star"}`); !strings.Contains(got, "new text") {
		t.Errorf("after it: %s", got)
	}
}
