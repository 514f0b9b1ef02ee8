package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"signalbox/editor"
	"signalbox/rule"
	"signalbox/rule/frame"
)

// edit asks the editor and returns its result.
func (c *child) edit(call frame.Edit) editor.Result {
	c.t.Helper()
	kind, body := c.askJSON(frame.KindEdit, call)
	var result editor.Result
	if err := rule.Decode(body, &result); kind != frame.KindReply || err != nil {
		c.t.Fatalf("edit is answered by %s %s, %v", kind, body, err)
	}
	return result
}

var draft = map[string]string{"manifest.json": "{}\n", "trigger.star": "a = 1\nb = 2\n", "tests/one.json": "{}"}

func TestEdits(t *testing.T) {
	c := loaded(t, rule.RoleEditor, draft)
	open := []string{"*.star"}
	replace := frame.Edit{Session: "s", Writable: open,
		Args: []byte(`{"command":"str_replace","path":"/draft/trigger.star","old_str":"a = 1","new_str":"a = 3"}`)}
	got := c.edit(replace)
	if !got.OK || got.Change == nil || got.Change.Path != "trigger.star" || string(got.Change.After) != "a = 3\nb = 2\n" {
		t.Fatalf("replace: %+v", got)
	}
	text, err := os.ReadFile(filepath.Join(c.draft, "trigger.star"))
	if err != nil || string(text) != "a = 3\nb = 2\n" {
		t.Errorf("the file holds %q, %v", text, err)
	}
	got = c.edit(frame.Edit{Session: "s", Writable: open, Args: []byte(`{"command":"create","path":"/draft/execute.star","file_text":"x"}`)})
	if !got.OK || !got.Change.Created || string(got.Change.After) != "x" {
		t.Errorf("create: %+v", got)
	}
	got = c.edit(frame.Edit{Session: "s", Args: []byte(`{"command":"view","path":"/draft/execute.star"}`)})
	if !got.OK || got.Change != nil || !strings.Contains(got.Text, "x") {
		t.Errorf("view: %+v", got)
	}
	last, manifest := "", "/draft/trigger.star"
	got = c.edit(frame.Edit{Session: "s", Undo: &last})
	if !got.OK || !got.Change.Undo || !got.Change.Removed || got.Change.Path != "execute.star" {
		t.Errorf("undo of the creation: %+v", got)
	}
	got = c.edit(frame.Edit{Session: "s", Undo: &manifest})
	if !got.OK || string(got.Change.After) != draft["trigger.star"] {
		t.Errorf("undo of the replacement: %+v", got)
	}
	if got = c.edit(frame.Edit{Session: "s", Undo: &last}); got.OK || got.Code != "no_history" {
		t.Errorf("one undo too many: %+v", got)
	}
}

// TestEditsRefused sends what the editor says no to: all are replies, and nothing
// changes.
func TestEditsRefused(t *testing.T) {
	c := loaded(t, rule.RoleEditor, draft)
	for _, e := range []struct {
		args, code string
		writable   []string
	}{
		{`{"command":"create","path":"/draft/new.star","file_text":"x"}`, "not_open", nil},
		{`{"command":"create","path":"/draft/new.star","file_text":"x"}`, "not_open", []string{"trigger.star"}},
		{`{"command":"str_replace","path":"/draft/manifest.json","old_str":"{}","new_str":"[]"}`, "not_open", []string{"*.star"}},
		{`{"command":"create","path":"/etc/passwd","file_text":"x"}`, "outside", []string{"*"}},
		{`{"command":"view","path":"/draft/../etc/passwd"}`, "outside", nil},
		{`{"command":"view"`, "bad_json", nil},
		{"\xff", "not_utf8", nil},
		{``, "not_object", nil},
	} {
		got := c.edit(frame.Edit{Session: "s", Args: []byte(e.args), Writable: e.writable})
		if got.OK || got.Change != nil || got.Code != e.code {
			t.Errorf("%s: %+v, want %s", e.args, got, e.code)
		}
	}
	for p, want := range draft {
		if text, err := os.ReadFile(filepath.Join(c.draft, p)); err != nil || string(text) != want {
			t.Errorf("%s holds %q, %v", p, text, err)
		}
	}
	if failed := c.fails(frame.KindTrigger, task("i")); failed.Failure != rule.FailureSchema {
		t.Errorf("a trigger frame in an editor: %+v", failed)
	}
}

func TestDraftWithABadPath(t *testing.T) {
	c := startSelf(t)
	body, err := rule.Canonical(frame.Load{Role: rule.RoleEditor, Source: map[string]string{"../x": "x"}})
	if err != nil {
		t.Fatal(err)
	}
	if failed := c.fails(frame.KindLoad, body); !strings.Contains(failed.Detail, `"../x"`) {
		t.Errorf("got %+v", failed)
	}
}
