package draft

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"signalbox/editor"
	"signalbox/rule"
)

var identity = Identity{
	Attempt: "a0001", Family: "upper", Rule: "upper", Environment: "starlark", SourceCases: []string{"u1", "u2"},
}

func create(t *testing.T, home string) *Draft {
	t.Helper()
	d, err := Create(home, identity, rule.TreeOf(map[string]string{"manifest.json": "{}\n", "README.md": "# x\n"}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d
}

// write makes the file at p hold text, nil for no file, as an editor elsewhere
// would ask for it.
func write(d *Draft, p string, text []byte) error {
	before, had := d.Tree()[p]
	return d.Apply(editor.Change{
		Session: "test", Path: p, Before: before, After: text, Created: !had, Removed: text == nil, Mode: 0o644,
	})
}

func reopen(t *testing.T, home string) *Draft {
	t.Helper()
	d, err := Open(home, identity.Attempt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d
}

// TestDraft writes, undoes and finds everything again.
func TestDraft(t *testing.T) {
	home := t.TempDir()
	d := create(t, home)
	for _, text := range []string{"one\n", "two\n", ""} {
		if err := write(d, "trigger.star", []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := write(d, "tests/a.json", []byte("{}")); err != nil {
		t.Fatal(err)
	}
	if err := write(d, "README.md", nil); err != nil {
		t.Fatal(err)
	}
	d.Close()
	again := reopen(t, home)
	if got := again.Tree(); !reflect.DeepEqual(got, d.Tree()) || len(got) != 3 || again.Identity().Rule != "upper" {
		t.Fatalf("tree = %v", got)
	}
	for _, want := range []string{"README.md", "tests/a.json", "trigger.star", "trigger.star", "trigger.star"} {
		if p, err := again.Undo(); err != nil || p != want {
			t.Fatalf("undid %q, %v; want %q", p, err, want)
		}
	}
	if _, err := again.Undo(); !errors.Is(err, ErrNoHistory) {
		t.Errorf("error = %v, want %v", err, ErrNoHistory)
	}
	again.Close()
	if got := reopen(t, home).Tree(); len(got) != 2 || string(got["README.md"]) != "# x\n" {
		t.Errorf("tree = %v", got)
	}
}

// TestUndoForeignChange refuses to take back what another hand has changed.
func TestUndoForeignChange(t *testing.T) {
	home := t.TempDir()
	d := create(t, home)
	if err := write(d, "trigger.star", []byte("one")); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(home, "drafts", "a0001", "tree", "trigger.star")
	if err := os.WriteFile(path, []byte("by hand"), 0o600); err != nil {
		t.Fatal(err)
	}
	d.Close()
	again := reopen(t, home)
	if _, err := again.Undo(); !errors.Is(err, ErrChanged) {
		t.Errorf("error = %v, want %v", err, ErrChanged)
	}
	if data, err := os.ReadFile(path); err != nil || string(data) != "by hand" {
		t.Errorf("file = %q, %v", data, err)
	}
}

// TestCrash finishes an edit that only the journal has, drops a torn line, and
// refuses a line that is damaged.
func TestCrash(t *testing.T) {
	home := t.TempDir()
	d := create(t, home)
	for _, text := range []string{"one", "two"} {
		if err := write(d, "trigger.star", []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	d.Close()
	file := filepath.Join(home, "drafts", "a0001", "tree", "trigger.star")
	if err := os.WriteFile(file, []byte("one"), 0o600); err != nil { // as before the last edit
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(filepath.Dir(file), tempPrefix+"trigger.star"), []byte("tw"), 0o600); err != nil {
		t.Fatal(err)
	}
	again := reopen(t, home)
	if got := again.Tree(); string(got["trigger.star"]) != "two" || len(got) != 3 {
		t.Errorf("tree = %v", got)
	}
	again.Close()
	journal := filepath.Join(home, "drafts", "a0001", "journal.jsonl")
	whole, err := os.ReadFile(journal)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(journal, append(bytes.Clone(whole), `{"n":3,"ki`...), 0o600); err != nil {
		t.Fatal(err)
	}
	again = reopen(t, home)
	if got := len(again.Entries()); got != 2 {
		t.Errorf("%d entries after a torn line, want 2", got)
	}
	again.Close()
	if now, err := os.ReadFile(journal); err != nil || !bytes.Equal(now, whole) {
		t.Errorf("the torn line is still there: %q, %v", now, err)
	}
	for _, damaged := range [][]byte{
		bytes.Replace(whole, []byte(`"n":1`), []byte(`"n":4`), 1), append([]byte("x\n"), whole...), append(bytes.Clone(whole), "{}\n"...),
		bytes.Replace(whole, []byte(`"path":"trigger.star"`), []byte(`"path":"../../../x"`), 1),
	} {
		if err := os.WriteFile(journal, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(home, "a0001"); err == nil || !strings.Contains(err.Error(), "journal.jsonl line") {
			t.Errorf("error = %v for %q", err, damaged)
		}
	}
}

// TestFinish brings an edit of each kind that only the journal has to its end,
// with its mode, and leaves alone what a hand has changed meanwhile.
func TestFinish(t *testing.T) {
	for name, steps := range map[string]func(d *Draft) error{
		"edit":   func(d *Draft) error { return write(d, "README.md", []byte("# y\n")) },
		"create": func(d *Draft) error { return write(d, "tests/a.json", []byte("{}")) },
		"undo":   func(d *Draft) error { _, err := d.Undo(); return err },
	} {
		home := t.TempDir()
		d := create(t, home)
		if err := write(d, "p/q.star", []byte("x")); err != nil {
			t.Fatal(err)
		}
		tree := filepath.Join(d.dir, treeFolder)
		before := filepath.Join(home, "before")
		if err := os.CopyFS(before, os.DirFS(tree)); err != nil {
			t.Fatal(err)
		}
		if err := steps(d); err != nil {
			t.Fatal(err)
		}
		want := listing(t, tree)
		d.Close()
		if err := errors.Join(os.RemoveAll(tree), os.Rename(before, tree)); err != nil {
			t.Fatal(err)
		}
		if listing(t, tree) == want {
			t.Fatalf("%s changes nothing", name)
		}
		again := reopen(t, home)
		if got := listing(t, tree); got != want || again.Tree().Digest() != d.Tree().Digest() {
			t.Errorf("%s: after Open there is\n%s\nwant\n%s", name, got, want)
		}
		again.Close()
	}
}

// listing describes the files of a folder.
func listing(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		fmt.Fprintf(&all, "%s %q\n", strings.TrimPrefix(path, dir), data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

// TestOneHistory edits as a model's editor and as a program on this host do, and
// undoes both, byte and mode exact, in another process's draft.
func TestOneHistory(t *testing.T) {
	home := t.TempDir()
	d := create(t, home)
	readme := filepath.Join(d.dir, treeFolder, "README.md")
	original := "\ufeff# x\r\ny"
	if err := errors.Join(os.WriteFile(readme, []byte(original), 0o600), os.Chmod(readme, 0o751)); err != nil {
		t.Fatal(err)
	}
	d.Close()
	d = reopen(t, home)
	if err := write(d, "README.md", []byte("from elsewhere")); err != nil {
		t.Fatal(err)
	}
	own, err := d.Editor()
	if err != nil {
		t.Fatal(err)
	}
	for _, call := range []string{
		`{"command":"insert","path":"/draft/README.md","insert_line":0,"new_str":"here"}`,
		`{"command":"create","path":"/draft/p/new.star","file_text":"x"}`,
	} {
		if got := own.Run("someone", []byte(call)); !got.OK {
			t.Fatalf("%+v", got)
		}
	}
	if d.Tree()["p/new.star"] == nil || string(d.Tree()["README.md"]) != "here\nfrom elsewhere" {
		t.Errorf("tree = %v", d.Tree())
	}
	busy := reopen(t, home)
	if _, err := busy.Undo(); !errors.Is(err, ErrInUse) {
		t.Errorf("undoing a draft in use: %v", err)
	}
	if err := busy.Record("note", "x"); !errors.Is(err, ErrInUse) {
		t.Errorf("recording in a draft in use: %v", err)
	}
	if _, err := busy.Editor(); !errors.Is(err, ErrInUse) {
		t.Errorf("the editor of a draft in use: %v", err)
	}
	if err := Discard(home, "a0001"); !errors.Is(err, ErrInUse) {
		t.Errorf("discarding a draft in use: %v", err)
	}
	d.Close()
	busy.Close()
	later := reopen(t, home)
	for _, want := range []string{"p/new.star", "README.md", "README.md"} {
		if p, err := later.Undo(); err != nil || p != want {
			t.Fatalf("undid %q, %v; want %q", p, err, want)
		}
	}
	info, err := os.Stat(readme)
	if data, _ := os.ReadFile(readme); err != nil || string(data) != original || info.Mode() != 0o751 {
		t.Errorf("after all undos: %q, %v, %v", data, info.Mode(), err)
	}
	if _, err := os.Stat(filepath.Join(d.dir, treeFolder, "p")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder that an edit made is still there: %v", err)
	}
}

// TestNotWritten takes back a line that could not be written whole.
func TestNotWritten(t *testing.T) {
	home := t.TempDir()
	d := create(t, home)
	if err := write(d, "a.star", []byte("x")); err != nil {
		t.Fatal(err)
	}
	file := d.journal.file
	broken, err := os.Open(filepath.Join(d.dir, journalFile)) // can't be written to
	if err != nil {
		t.Fatal(err)
	}
	d.journal.file = broken
	if err := write(d, "a.star", []byte("y")); err == nil {
		t.Error("an edit that isn't in the journal is acknowledged")
	}
	d.journal.file = file
	broken.Close()
	if got := d.Tree()["a.star"]; string(got) != "x" {
		t.Errorf("the file holds %q", got)
	}
	if err := write(d, "a.star", []byte("z")); err != nil {
		t.Error(err)
	}
	d.Close()
	if got := reopen(t, home); string(got.Tree()["a.star"]) != "z" || len(got.Entries()) != 2 {
		t.Errorf("tree = %v, %d entries", got.Tree(), len(got.Entries()))
	}
}

// TestRefusals takes no path outside, nothing over a limit, and no second draft
// of one attempt.
func TestRefusals(t *testing.T) {
	home := t.TempDir()
	d := create(t, home)
	for _, p := range []string{"", "../x", "/x", "a/../b", "a\x00b", strings.Repeat("x", 600)} {
		if err := write(d, p, []byte("x")); err == nil {
			t.Errorf("wrote %q", p)
		}
	}
	if err := write(d, "big.star", make([]byte, rule.MaxSourceBytes)); err == nil {
		t.Error("wrote a file that takes the draft over its limit")
	}
	for i := range rule.MaxSourceFiles - 2 {
		if err := write(d, "h"+strings.Repeat("x", i)+".star", nil2()); err != nil {
			t.Fatal(err)
		}
	}
	if err := write(d, "one-more.star", nil2()); err == nil || !strings.Contains(err.Error(), "64") {
		t.Errorf("error = %v for one file too many", err)
	}
	if _, err := Create(home, identity, nil); !errors.Is(err, fs.ErrExist) {
		t.Errorf("error = %v for a second draft", err)
	}
	if _, err := Open(home, "a0009"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error = %v for no draft", err)
	}
	for _, attempt := range []string{"", "..", "a/b", "A1", "-x"} {
		if _, err := Open(home, attempt); err == nil || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("attempt %q: error = %v", attempt, err)
		}
	}
	link := filepath.Join(home, "drafts", "a0001", "tree", "link.star")
	if err := os.Symlink("/etc/passwd", link); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(home, "a0001"); err == nil || !strings.Contains(err.Error(), "regular") {
		t.Errorf("error = %v for a link in the tree", err)
	}
}

func nil2() []byte { return []byte("x") }

// TestFixed names what was changed of a manifest.
func TestFixed(t *testing.T) {
	manifest := rule.Manifest{Name: "upper", Family: "upper", Environment: "starlark", SourceCases: []string{"u1", "u2"}}
	if err := identity.Fixed(manifest); err != nil {
		t.Error(err)
	}
	for word, change := range map[string]func(*rule.Manifest){
		"name": func(m *rule.Manifest) { m.Name = "x" }, "family": func(m *rule.Manifest) { m.Family = "x" },
		"environment": func(m *rule.Manifest) { m.Environment = "x" }, "parent": func(m *rule.Manifest) { m.Parent = "x" },
		"source_cases": func(m *rule.Manifest) { m.SourceCases = []string{"u1"} },
	} {
		changed := manifest
		change(&changed)
		if err := identity.Fixed(changed); err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("%s: error = %v", word, err)
		}
	}
}

// TestFeedback keeps the newest and survives.
func TestFeedback(t *testing.T) {
	home := t.TempDir()
	d := create(t, home)
	for i := range maxFeedback + 3 {
		if err := d.AddFeedback(strings.Repeat("x", i)); err != nil {
			t.Fatal(err)
		}
	}
	got, err := reopen(t, home).Feedback()
	if err != nil || len(got) != maxFeedback || got[0] != "xxx" {
		t.Errorf("%d pieces of feedback, the first %q, %v", len(got), got[0], err)
	}
}

// TestListDiscard shows drafts, leaves out half-made ones, and removes them.
func TestListDiscard(t *testing.T) {
	home := t.TempDir()
	if all, err := List(home); err != nil || len(all) != 0 {
		t.Errorf("List = %v, %v without a folder", all, err)
	}
	create(t, home).Close()
	if err := os.Mkdir(filepath.Join(home, "drafts", "a0002"), 0o700); err != nil {
		t.Fatal(err)
	}
	if all, err := List(home); err != nil || len(all) != 1 || all[0].Attempt != "a0001" {
		t.Errorf("List = %v, %v", all, err)
	}
	if err := Discard(home, "a0001"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(home, "drafts", "a0001")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder is still there: %v", err)
	}
}

// TestHistory holds for any edits and undos: what is on disk is what the edits
// that stand lead to, and undoing all of them leads to the beginning.
func TestHistory(t *testing.T) {
	outer := t
	rapid.Check(t, func(t *rapid.T) {
		home, err := os.MkdirTemp(outer.TempDir(), "home")
		if err != nil {
			t.Fatal(err)
		}
		d, err := Create(home, identity, rule.TreeOf(map[string]string{"manifest.json": "{}"}))
		if err != nil {
			t.Fatal(err)
		}
		first := d.Tree().Digest()
		past := []rule.Digest{first}
		for range rapid.IntRange(0, 12).Draw(t, "steps") {
			if len(past) > 1 && rapid.IntRange(0, 2).Draw(t, "undo") == 0 {
				if _, err := d.Undo(); err != nil {
					t.Fatal(err)
				}
				past = past[:len(past)-1]
			} else {
				p := rapid.SampledFrom([]string{"a.star", "b.star", "tests/c.json"}).Draw(t, "path")
				text := rapid.StringMatching(`[a-c]{0,3}`).Draw(t, "text")
				if now, there := d.Tree()[p]; there && string(now) == text {
					continue // no edit
				}
				if err := write(d, p, []byte(text)); err != nil {
					t.Fatal(err)
				}
				past = append(past, d.Tree().Digest())
			}
			if d.Tree().Digest() != past[len(past)-1] {
				t.Fatal("the tree isn't what the standing edits lead to")
			}
		}
		d.Close()
		again, err := Open(home, identity.Attempt)
		if err != nil {
			t.Fatal(err)
		}
		defer again.Close()
		if again.Tree().Digest() != past[len(past)-1] {
			t.Fatal("the tree on disk differs")
		}
		for range len(past) - 1 {
			if _, err := again.Undo(); err != nil {
				t.Fatal(err)
			}
		}
		if again.Tree().Digest() != first {
			t.Fatal("undoing everything didn't lead back")
		}
	})
}

// FuzzJournal opens journals of any bytes: they may be refused, and what is
// read can be appended to.
func FuzzJournal(f *testing.F) {
	f.Add([]byte("{\"data\":{\"after\":\"x\",\"before\":null,\"path\":\"a.star\"},\"kind\":\"edit\",\"n\":1}\n"))
	f.Add([]byte("{\"data\":null,\"kind\":\"turn\",\"n\":1}\n{\"n\""))
	f.Add([]byte("\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "journal.jsonl")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		j, err := openJournal(path)
		if err != nil {
			return
		}
		defer j.close()
		n := len(j.entries)
		if err := j.append("more", "x"); err != nil {
			t.Fatal(err)
		}
		again, err := openJournal(path)
		if err != nil || len(again.entries) != n+1 {
			t.Fatalf("after an append: %v", err)
		}
		again.close()
	})
}
