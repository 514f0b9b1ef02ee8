package editor

import (
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"golang.org/x/sys/unix"
	"signalbox/rule"
)

// TestMirror edits a copy, carries each change to the tree as JSON, as a host
// does with what a container answers, and undoes from the journal in a new
// editor, as a later command does.
func TestMirror(t *testing.T) {
	copied, host := newBench(t, Options{}), newBench(t, Options{})
	var journal []Change
	keep := func(c Change) error { journal = append(journal, c); return nil }
	host.e = host.open(Options{Keep: keep})
	for _, b := range []*bench{copied, host} {
		b.put("a.txt", bom+"a\r\nb")
	}
	must(t, os.Chmod(host.at("a.txt"), 0o755))
	mirror := func(r Result) {
		t.Helper()
		data, err := rule.Canonical(r)
		must(t, err)
		var crossed Result
		must(t, json.Unmarshal(data, &crossed))
		if got := host.e.Apply(*crossed.Change); !got.OK {
			t.Fatalf("applying %s: %+v", data, got)
		}
		for _, p := range []string{"a.txt", "p/q/new.txt"} {
			mine, _ := os.ReadFile(copied.at(p))
			theirs, _ := os.ReadFile(host.at(p))
			if string(mine) != string(theirs) {
				t.Fatalf("%s: the copy holds %q, the tree %q", p, mine, theirs)
			}
		}
	}
	mirror(copied.ok("str_replace", aFile, "old_str", "a\nb", "new_str", "x\ny\n"))
	mirror(copied.ok("create", "/draft/p/q/new.txt", "file_text", "new"))
	mirror(copied.ok("insert", aFile, "insert_line", 1, "new_str", "z"))
	mirror(copied.undo(aFile))
	mirror(copied.undo("/draft/p/q/new.txt"))
	host.absent("p")
	mirror(copied.ok("create", "/draft/p/q/new.txt", "file_text", "again"))

	later := host.open(Options{})
	later.Load(journal)
	for _, want := range []string{"/draft/p/q/new.txt", aFile} {
		if got := later.Undo("s", ""); !got.OK || got.Path != want {
			t.Fatalf("undoing from the journal: %+v, want %s", got, want)
		}
	}
	if got := later.Undo("s", ""); got.Code != "no_history" {
		t.Fatalf("got %+v", got)
	}
	host.holds("a.txt", bom+"a\r\nb")
	host.absent("p")
	if info, err := os.Stat(host.at("a.txt")); err != nil || info.Mode() != 0o755 {
		t.Fatalf("mode %v, %v", info.Mode(), err)
	}
}

// TestApplyTrustsNothing hands over changes as a hostile container could.
func TestApplyTrustsNothing(t *testing.T) {
	b := newBench(t, Options{FileBytes: 100})
	b.put("a.txt", "a\n")
	must(t, os.Symlink(b.outside, b.at("link")))
	text := []byte("x")
	for _, c := range []struct {
		change Change
		code   string
	}{
		{Change{Path: "../outside/x.txt", Before: []byte(secret), After: text}, "bad_path"},
		{Change{Path: "/etc/hostname", Created: true, After: text}, "bad_path"},
		{Change{Path: ".", Created: true, After: text}, "bad_path"},
		{Change{Path: "", Created: true, After: text}, "bad_path"},
		{Change{Path: "link/x.txt", Before: []byte(secret), After: text}, "symlink"},
		{Change{Path: "link/x.txt", Before: []byte(secret), Removed: true}, "symlink"},
		{Change{Path: "a.txt", Created: true, After: text}, "exists"},
		{Change{Path: "a.txt", Before: []byte("b\n"), After: text}, "file_changed"},
		{Change{Path: "a.txt", Before: []byte("b\n"), Removed: true}, "file_changed"},
		{Change{Path: "a.txt", Before: []byte("a\n"), After: []byte("\xff")}, "not_utf8"},
		{Change{Path: "new.txt", Created: true, After: []byte("\x00")}, "nul"},
		{Change{Path: "new.txt", Created: true, After: []byte(strings.Repeat("x", 101))}, "file_too_large"},
		{Change{Path: "a.txt", Before: []byte("a\n"), Removed: true, Folders: []string{"../outside"}}, "bad_path"},
		{Change{Path: temporaryPrefix + "1-0", Created: true, After: text}, "bad_path"},
	} {
		before := b.state()
		b.refused(b.e.Apply(c.change), c.code)
		if b.state() != before {
			t.Fatalf("%+v changed something", c.change)
		}
	}
	if got := b.e.Apply(Change{Path: "new.txt", Created: true, After: text, Mode: 0o4777}); !got.OK || got.Change.Mode != 0o777 {
		t.Fatalf("got %+v", got)
	}
}

// TestKeepBeforeTheTree stores a change while the tree is still as it was, and
// where the change then fails, at whatever step, what was stored leads to the
// history that the editor has.
func TestKeepBeforeTheTree(t *testing.T) {
	for name, change := range changes {
		b := faultBench(t)
		var journal []Change
		journal = append(journal, b.e.history.changes...)
		before, kept := "", 0
		b.e.limits.Keep = func(c Change) error {
			if got, _ := os.ReadFile(b.at(c.Path)); kept == 0 && string(got) != string(c.Before) {
				t.Errorf("%s: %s holds %q while %q is kept", name, c.Path, got, c.After)
			}
			kept++
			journal = append(journal, c)
			return nil
		}
		for _, step := range []string{"rename", "compare", "sync folder"} {
			before, kept = b.state(), 0
			passed := failAt(b.e, step, 1, unix.EIO)
			switch {
			case name == "create" && step == "compare":
				continue // a new file takes no other's place
			case name == "create" && step == "sync folder":
				passed = failAt(b.e, step, 3, unix.EIO) // two are for the folders
			}
			got := change(b.e, t)
			b.e.tree.fault = nil
			if *passed == 0 || got.Code != "io_error" || kept != 2 || b.state() != before {
				t.Errorf("%s, %s: %+v, kept %d times, want the change and its undoing", name, step, got, kept)
			}
		}
		later := b.open(Options{})
		later.Load(journal)
		for _, p := range []string{"d/a.txt", "d/edited.txt", "made/made.txt", "p/q/new.txt"} {
			if got, want := later.history.of(p), b.e.history.of(p); !reflect.DeepEqual(got, want) {
				t.Errorf("%s: the journal leads to %+v, the editor has %+v", name, got, want)
			}
		}
	}
}

func (h *history) of(path string) (changes []Change) {
	for _, c := range h.changes {
		if c.Path == path {
			changes = append(changes, c)
		}
	}
	return changes
}

// TestLatest finds the latest change of any session that stands.
func TestLatest(t *testing.T) {
	b := newBench(t, Options{})
	b.put("a.txt", "0\n")
	if got, ok := b.e.Latest(); ok {
		t.Errorf("of no changes the latest is %+v", got)
	}
	for _, session := range []string{"1", "2", "1"} {
		if got := b.e.Run(session, args(t, "command", "insert", "path", aFile, "insert_line", 0, "new_str", session)); !got.OK {
			t.Fatalf("%+v", got)
		}
	}
	for _, want := range []string{"1", "2", "1"} {
		got, ok := b.e.Latest()
		if !ok || got.Session != want {
			t.Fatalf("the latest is %+v, %v, want one of session %s", got, ok, want)
		}
		if back := b.e.Revert(got); !back.OK {
			t.Fatalf("%+v", back)
		}
	}
	b.holds("a.txt", "0\n")
}

// TestKeep refuses what the caller can't store.
func TestKeep(t *testing.T) {
	refusal := errors.New("the disk is full")
	var stored []Change
	b := newBench(t, Options{Keep: func(c Change) error {
		if refusal == nil {
			stored = append(stored, c)
		}
		return refusal
	}})
	b.put("a.txt", "a\n")
	must(t, os.Chmod(b.at("a.txt"), 0o755))
	for _, call := range []Result{
		b.e.Run("s", args(t, "command", "str_replace", "path", aFile, "old_str", "a", "new_str", "b")),
		b.e.Run("s", args(t, "command", "create", "path", "/draft/p/new.txt", "file_text", "x")),
	} {
		b.refused(call, "not_kept")
	}
	b.holds("a.txt", "a\n")
	b.absent("p")
	if info, err := os.Stat(b.at("a.txt")); err != nil || info.Mode() != 0o755 {
		t.Fatalf("mode %v, %v", info.Mode(), err)
	}
	refusal = nil
	b.ok("create", "/draft/p/new.txt", "file_text", "x")
	refusal = errors.New("again")
	b.refused(b.e.Undo("s", "/draft/p/new.txt"), "not_kept")
	b.holds("p/new.txt", "x")
	refusal = nil
	b.undo("/draft/p/new.txt")
	if len(stored) != 2 || !stored[0].Created || !stored[1].Removed || !stored[1].Undo {
		t.Fatalf("stored %+v", stored)
	}
}

// TestUndoBytes forgets the oldest changes where all together are too large,
// and no others.
func TestUndoBytes(t *testing.T) {
	b := newBench(t, Options{UndoBytes: 3_000})
	for _, p := range []string{"a.txt", "b.txt"} {
		b.ok("create", "/draft/"+p, "file_text", strings.Repeat("x", 1_000))
	}
	b.ok("str_replace", "/draft/b.txt", "old_str", strings.Repeat("x", 1_000), "new_str", "y")
	b.contains(b.undoFails("no_history", aFile), "older edits are not kept")
	b.undo("/draft/b.txt")
	b.undo("/draft/b.txt")
	b.lacks(b.undoFails("no_history", "/draft/c.txt"), "older edits")
}

// TestWritable opens and closes files as the actions of the rule tool do.
func TestWritable(t *testing.T) {
	b := newBench(t, Options{})
	for _, p := range []string{"trigger.star", "execute.star", "helper.star", "tests/one.json", "README.md"} {
		b.put(p, "x\n")
	}
	for _, c := range []struct {
		patterns []string
		open     string
	}{
		{[]string{"*.star", "!execute.star"}, "helper.star trigger.star new.star"},
		{[]string{"*"}, "trigger.star execute.star helper.star new.star README.md"},
		{[]string{"tests/*.json"}, "tests/one.json tests/new.json"},
		{[]string{"["}, ""},
		{nil, ""},
	} {
		b.e.SetWritable(Only(c.patterns...))
		for _, p := range []string{"trigger.star", "execute.star", "helper.star", "new.star", "tests/one.json", "tests/new.json", "README.md", ".hidden.star"} {
			got := b.e.Run("s", args(t, "command", "insert", "path", "/draft/"+p, "insert_line", 0, "new_str", "y"))
			open := strings.Contains(" "+c.open+" ", " "+p+" ")
			if (got.Code == "not_open") == open || !open && !strings.Contains(got.Text, "/draft/"+p) {
				t.Errorf("%v: %s: %+v", c.patterns, p, got)
			}
		}
		b.ok("view", "/draft/README.md")
	}
	b.e.SetWritable(nil)
	b.ok("insert", "/draft/README.md", "insert_line", 0, "new_str", "y")
}

// TestClosed refuses calls after Close.
func TestClosed(t *testing.T) {
	b := newBench(t, Options{})
	b.put("a.txt", "a\n")
	e := b.open(Options{})
	must(t, e.Close())
	b.refused(e.Run("s", args(t, "command", "view", "path", aFile)), "io_error")
}

// TestOpenNoFolder names what can't be opened.
func TestOpenNoFolder(t *testing.T) {
	if _, err := Open("/nowhere/at/all", Options{}); err == nil || !strings.Contains(err.Error(), `"/nowhere/at/all"`) {
		t.Fatalf("got %v", err)
	}
}
