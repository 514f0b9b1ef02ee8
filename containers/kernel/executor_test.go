package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"signalbox/rule"
	"signalbox/rule/frame"
)

const lister = "return result(output=[[p, testbed.read(p, default=None)] for p in testbed.glob('**')])"

// execute asks one call and returns the reply's body.
func (c *child) execute(tree bool) string {
	c.t.Helper()
	kind, body := c.askJSON(frame.KindExecute, frame.Execute{Task: rule.Document{Instruction: "i"}, Args: "{}", Tree: tree})
	return string(kind) + " " + string(body)
}

func (c *child) tree(files frame.Tree) (frame.Kind, string) {
	c.t.Helper()
	data, err := json.Marshal(files) // quicker than canonical JSON
	if err != nil {
		c.t.Fatal(err)
	}
	kind, body := c.ask(frame.KindTree, data)
	return kind, string(body)
}

// entries returns what lies in the testbed's folder.
func (c *child) entries() []string {
	c.t.Helper()
	var found []string
	if err := filepath.WalkDir(c.testbed, func(p string, _ os.DirEntry, err error) error {
		if p != c.testbed {
			found = append(found, p)
		}
		return err
	}); err != nil {
		c.t.Fatal(err)
	}
	return found
}

func TestTreeOfOneCall(t *testing.T) {
	c := loaded(t, rule.RoleExecutor, executor(lister))
	if got := c.execute(false); got != `reply {"outcome":{"output":[]}}` {
		t.Errorf("without a tree: %s", got)
	}
	files := frame.Tree{"a.txt": []byte("A"), "deep/er/b.txt": []byte("é"), "deep/c.bin": {0xff}, "empty": nil}
	if kind, body := c.tree(files); kind != frame.KindReady || body != "" {
		t.Fatalf("tree: %s %s", kind, body)
	}
	if got := c.entries(); len(got) != 6 {
		t.Errorf("the folder holds %q", got)
	}
	want := `reply {"outcome":{"output":[["a.txt","A"],["deep/c.bin",null],["deep/er/b.txt","é"],["empty",""]]}}`
	if got := c.execute(true); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if got := c.entries(); len(got) > 0 {
		t.Errorf("after the call the folder holds %q", got)
	}
	if got := c.execute(true); !strings.Contains(got, "no tree came before it") {
		t.Errorf("a second call sees %s", got)
	}
	if got := c.execute(false); got != `reply {"outcome":{"output":[]}}` {
		t.Errorf("the next call sees %s", got)
	}
}

func TestTreeIsReplaced(t *testing.T) {
	c := loaded(t, rule.RoleExecutor, executor(lister))
	for _, files := range []frame.Tree{{"a/b": []byte("1")}, {"a": []byte("2")}, {}, {"c": []byte("3")}} {
		if kind, body := c.tree(files); kind != frame.KindReady {
			t.Fatalf("tree: %s %s", kind, body)
		}
	}
	if got := c.execute(true); got != `reply {"outcome":{"output":[["c","3"]]}}` {
		t.Errorf("got %s", got)
	}
}

func TestTreeNotAskedFor(t *testing.T) {
	c := loaded(t, rule.RoleExecutor, executor(lister))
	c.tree(frame.Tree{"secret": []byte("x")})
	if got := c.execute(false); got != `reply {"outcome":{"output":[]}}` {
		t.Errorf("a call without a tree sees %s", got)
	}
	if got := c.entries(); len(got) > 0 {
		t.Errorf("the folder still holds %q", got)
	}
}

func TestTreeRefuses(t *testing.T) {
	c := loaded(t, rule.RoleExecutor, executor(lister))
	outside := filepath.Join(filepath.Dir(c.testbed), "outside")
	for _, p := range []string{"../outside", "/etc/x", "a/../../outside", "a//b", ".git/config", "a/.env", "vendor/x", "node_modules/x/y", "a\x00b", "a\\b", "",
		strings.Repeat("a", 201), strings.Repeat("a/", 32) + "a", strings.Repeat("abcdefg/", 64) + "a"} {
		if kind, body := c.tree(frame.Tree{"fine": []byte("x"), p: []byte("x")}); kind != frame.KindFailure || !strings.Contains(body, "schema_failure") {
			t.Errorf("%.60q: %s %s", p, kind, body)
		}
		if got := c.execute(true); !strings.Contains(got, "no tree came before it") {
			t.Errorf("%.60q: the call sees %s", p, got)
		}
	}
	for name, files := range map[string]frame.Tree{
		"a file that is a folder": {"a": nil, "a/b": nil},
		"too large a file":        {"a": make([]byte, rule.MaxFileBytes+1)},
	} {
		if kind, _ := c.tree(files); kind != frame.KindFailure {
			t.Errorf("%s: %s", name, kind)
		}
	}
	if got := c.entries(); len(got) > 0 {
		t.Errorf("the folder holds %q", got)
	}
	if _, err := os.Lstat(outside); err == nil {
		t.Error("a file was written outside")
	}
	if kind, body := c.tree(frame.Tree{strings.Repeat("a/", 31) + "a": []byte("x")}); kind != frame.KindReady {
		t.Errorf("the deepest path: %s %s", kind, body)
	}
}

// TestResultOfFiles sends back files that are as large as they get.
func TestResultOfFiles(t *testing.T) {
	c := loaded(t, rule.RoleExecutor, executor("return result(files={p: testbed.read(p) for p in testbed.glob('**')})"))
	files := frame.Tree{}
	for _, name := range []string{"a", "b"} {
		files[name] = []byte(strings.Repeat(name, rule.MaxFileBytes))
	}
	if kind, body := c.tree(files); kind != frame.KindReady {
		t.Fatalf("tree: %s %.200s", kind, body)
	}
	got, ok := strings.CutPrefix(c.execute(true), "reply ")
	reply, err := rule.ParseExecutorReply([]byte(got))
	if !ok || err != nil || len(reply.Outcome.Files) != 2 || *reply.Outcome.Files["b"] != string(files["b"]) {
		t.Errorf("got %.200s, %v", got, err)
	}
}

func TestReplyTooLarge(t *testing.T) {
	c := loaded(t, rule.RoleExecutor, executor(`return result(files={n: "\x01" * 2500000 for n in ["a", "b"]})`))
	for range 2 { // the second shows that it is served again
		if got := c.execute(false); !strings.HasPrefix(got, "failure ") || !strings.Contains(got, "output_limit") {
			t.Errorf("got %.200s", got)
		}
	}
}
