package editor

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
	"signalbox/rule"
	"signalbox/rule/frame"
)

// bench is an editor over a tree, with a folder beside it that must never be
// touched.
type bench struct {
	*testing.T
	mu            sync.Mutex
	root, outside string
	e             *recorded
	log           []event
}

// event is what a case did to its tree: it put a file there, or made a call.
type event struct {
	put, text string
	call      *frame.Edit
	result    Result
}

// recorded is an editor that writes down what it is asked and answers.
type recorded struct {
	*Editor
	b *bench
}

func (r *recorded) Run(session string, args []byte) Result {
	got := r.Editor.Run(session, args)
	r.b.wrote(event{call: &frame.Edit{Session: session, Args: args}, result: got})
	return got
}

func (r *recorded) Undo(session, path string) Result {
	got := r.Editor.Undo(session, path)
	r.b.wrote(event{call: &frame.Edit{Session: session, Undo: &path}, result: got})
	return got
}

func (b *bench) wrote(e event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.log = append(b.log, e)
}

const secret = "the outside secret\n"

func newBench(t *testing.T, o Options) *bench {
	t.Helper()
	return newBenchIn(t, fastDir(t), o)
}

// fastDir is a folder in memory where there is one: these tests sync a lot.
func fastDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "signalbox-editor-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func newBenchIn(t *testing.T, dir string, o Options) *bench {
	t.Helper()
	b := &bench{T: t, root: filepath.Join(dir, "root"), outside: filepath.Join(dir, "outside")}
	for _, folder := range []string{b.root, b.outside} {
		if err := os.Mkdir(folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	must(t, os.WriteFile(filepath.Join(b.outside, "x.txt"), []byte(secret), 0o644))
	b.e = b.open(o)
	if latest != nil {
		latest(b)
	}
	return b
}

// latest, where it is set, hears of each new bench.
var latest func(*bench)

// open returns one more editor of the tree.
func (b *bench) open(o Options) *recorded {
	b.Helper()
	e, err := Open(b.root, o)
	must(b.T, err)
	b.Cleanup(func() { _ = e.Close() })
	return &recorded{e, b}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (b *bench) at(rel string) string { return filepath.Join(b.root, rel) }

// put writes a file of the tree behind the editor's back.
func (b *bench) put(rel, text string) {
	b.Helper()
	must(b.T, os.MkdirAll(filepath.Dir(b.at(rel)), 0o755))
	must(b.T, os.WriteFile(b.at(rel), []byte(text), 0o644))
	b.wrote(event{put: rel, text: text})
}

// holds asserts the bytes of a file.
func (b *bench) holds(rel, want string) {
	b.Helper()
	got, err := os.ReadFile(b.at(rel))
	must(b.T, err)
	if string(got) != want {
		b.Fatalf("%s holds %q, want %q", rel, got, want)
	}
}

func (b *bench) absent(rel string) {
	b.Helper()
	if _, err := os.Lstat(b.at(rel)); err == nil {
		b.Fatalf("%s is there", rel)
	}
}

// args returns a call as JSON from names and values.
func args(t testing.TB, pairs ...any) []byte {
	t.Helper()
	object := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		object[pairs[i].(string)] = pairs[i+1]
	}
	data, err := rule.Canonical(object)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// ok runs a call that must succeed and returns its result.
func (b *bench) ok(command, path string, pairs ...any) Result {
	b.Helper()
	call := args(b, append([]any{"command", command, "path", path}, pairs...)...)
	r := b.e.Run("s", call)
	if !r.OK || r.Code != "" {
		b.Fatalf("%s %s: %s %s", command, path, r.Code, r.Text)
	}
	b.tidy()
	return r
}

// fails runs a call that must be refused with the code and leave everything as
// it was, and returns its text.
func (b *bench) fails(code, command, path string, pairs ...any) string {
	b.Helper()
	return b.failsRaw(code, string(args(b, append([]any{"command", command, "path", path}, pairs...)...)))
}

func (b *bench) failsRaw(code, call string) string {
	b.Helper()
	before, undo := b.state(), len(b.e.history.changes)
	r := b.e.Run("s", []byte(call))
	b.refused(r, code)
	if after := b.state(); after != before {
		b.Fatalf("a refused call changed the tree:\n%s\nbecame\n%s", before, after)
	}
	if len(b.e.history.changes) != undo {
		b.Fatal("a refused call is on the undo stack")
	}
	return r.Text
}

func (b *bench) refused(r Result, code string) {
	b.Helper()
	if r.OK || r.Code != code {
		b.Fatalf("got %q (%s), want the code %s", r.Code, r.Text, code)
	}
	if r.Text == "" || r.Change != nil {
		b.Fatalf("a refusal needs a sentence and has no change: %+v", r)
	}
	for _, hidden := range []string{b.root, b.outside, strings.TrimSpace(secret)} {
		if strings.Contains(r.Text, hidden) {
			b.Fatalf("the text shows %q: %s", hidden, r.Text)
		}
	}
}

// undo takes back an edit that must be there.
func (b *bench) undo(path string) Result {
	b.Helper()
	r := b.e.Undo("s", path)
	if !r.OK {
		b.Fatalf("undo %s: %s %s", path, r.Code, r.Text)
	}
	b.tidy()
	return r
}

func (b *bench) undoFails(code, path string) string {
	b.Helper()
	before := b.state()
	r := b.e.Undo("s", path)
	b.refused(r, code)
	if after := b.state(); after != before {
		b.Fatalf("a refused undo changed the tree:\n%s\nbecame\n%s", before, after)
	}
	return r.Text
}

// view returns what a view shows below its heading.
func (b *bench) view(path string, pairs ...any) string {
	b.Helper()
	_, body, _ := strings.Cut(b.ok("view", path, pairs...).Text, "\n")
	return body
}

// shows asserts the rows of a view.
func (b *bench) shows(want, path string, pairs ...any) {
	b.Helper()
	if got := b.view(path, pairs...); got != want {
		b.Fatalf("view %s %v shows\n%s\nwant\n%s", path, pairs, got, want)
	}
}

func (b *bench) contains(text string, wants ...string) {
	b.Helper()
	for _, want := range wants {
		if !strings.Contains(text, want) {
			b.Fatalf("text lacks %q:\n%s", want, text)
		}
	}
}

func (b *bench) lacks(text string, unwanted ...string) {
	b.Helper()
	for _, u := range unwanted {
		if strings.Contains(text, u) {
			b.Fatalf("text holds %q:\n%s", u, text)
		}
	}
}

// tidy asserts that no temporary file is left.
func (b *bench) tidy() {
	b.Helper()
	_ = filepath.WalkDir(b.root, func(p string, d fs.DirEntry, err error) error {
		if err == nil && IsTemporary(d.Name()) {
			b.Fatalf("temporary file %s is left", p)
		}
		return nil
	})
}

// state describes everything in and beside the tree.
func (b *bench) state() string {
	b.Helper()
	var text strings.Builder
	for _, top := range []string{b.root, b.outside} {
		_ = filepath.WalkDir(top, func(p string, d fs.DirEntry, err error) error {
			if err != nil {
				return nil
			}
			var stat unix.Stat_t
			if unix.Lstat(p, &stat) != nil {
				return nil
			}
			fmt.Fprintf(&text, "%s %o %d %d %d", p, stat.Mode, stat.Ino, stat.Nlink, stat.Size)
			if !d.IsDir() {
				fmt.Fprintf(&text, " %d", stat.Mtim.Nano())
			}
			if d.Type().IsRegular() && stat.Size < 1<<20 {
				data, _ := os.ReadFile(p)
				fmt.Fprintf(&text, " %s", rule.DigestOf(data))
			}
			text.WriteByte('\n')
			return nil
		})
	}
	return text.String()
}

// lines returns n numbered lines.
func lines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "L%d\n", i+1)
	}
	return b.String()
}

// rows returns the rows of a view for lines first to last of lines(n).
func rows(first, last int) string {
	var b strings.Builder
	for i := first; i <= last; i++ {
		fmt.Fprintf(&b, "%6d  L%d\n", i, i)
	}
	return b.String()
}

// needRoot skips where the machine doesn't let a test do what only root can.
func needRoot(t *testing.T) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("needs root")
	}
}
