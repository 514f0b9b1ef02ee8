package editor

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"signalbox/containers"
	"signalbox/rule"
	"signalbox/rule/frame"
)

// byHand are the cases that lay traps or hidden files, change the tree behind the editor's back,
// or give the editor other limits, none of which can be done to a container
// from outside. They run in a container too: see the containers package.
var byHand = strings.Fields(`V17 V20 V21 V22 C1 C5 C7 C10 C12 R18 R19 R20 R25 R26 R28 R29 U3 U6 U7 U8
	H2 H5 H6 H7 H8 H9 H10 H11 H13 H14 H15 H16 H20 H21 H22`)

// TestConformanceRows plays every other case through the real thing: an editor
// container with the role's own profile and limits. Whatever the editor of this
// host answered, changes included, that one must answer too.
func TestConformanceRows(t *testing.T) {
	draft := openContainer(t, rule.Tree{})
	played, calls := 0, 0
	for _, c := range conformanceCases() {
		if slices.Contains(byHand, c.id) {
			continue
		}
		t.Run(c.id, func(t *testing.T) {
			var b *bench
			latest = func(made *bench) { b = made }
			defer func() { latest = nil }()
			c.run(t)
			calls += replay(t, draft, b.log)
		})
		played++
	}
	if played+len(byHand) != 107 || calls < 200 {
		t.Errorf("%d cases and %d calls were played, %d cases not: want all 107", played, calls, len(byHand))
	}
}

// replay plays what a case did and leaves the container's draft empty. A file
// that the case puts there is created, after what was done to it is undone.
func replay(t *testing.T, draft *containers.DraftEditor, log []event) (calls int) {
	t.Helper()
	var touched []string
	clear := func(path string) {
		for _, session := range []string{"s", "put"} {
			for inContainer(t, draft, frame.Edit{Session: session, Undo: &path}).OK {
			}
		}
	}
	for _, e := range log {
		if e.call == nil {
			path := Root + "/" + e.put
			clear(path)
			touched = append(touched, path)
			create := args(t, "command", "create", "path", path, "file_text", e.text)
			if got := inContainer(t, draft, frame.Edit{Session: "put", Args: create}); !got.OK {
				t.Fatalf("putting %s: %+v", path, got)
			}
			continue
		}
		got := inContainer(t, draft, *e.call)
		if want := e.result; canonical(t, got) != canonical(t, want) {
			t.Fatalf("%s: the container answers\n%s\nthis host\n%s", e.call.Args, canonical(t, got), canonical(t, want))
		}
		if got.Change != nil {
			touched = append(touched, got.Path)
		}
		calls++
	}
	slices.Reverse(touched)
	for _, path := range touched {
		clear(path)
	}
	return calls
}

func canonical(t *testing.T, r Result) string {
	t.Helper()
	data, err := rule.Canonical(r)
	must(t, err)
	return string(data)
}

func inContainer(t testing.TB, draft *containers.DraftEditor, call frame.Edit) Result {
	t.Helper()
	if call.Writable == nil {
		call.Writable = allOf
	}
	data, err := draft.Call(t.Context(), call)
	if err != nil {
		t.Fatal(err)
	}
	var got Result
	if err := rule.Decode(data, &got); err != nil {
		t.Fatal(err)
	}
	return got
}

// allOf are patterns for the files of all cases.
var allOf = []string{"*", "*/*", "*/*/*", "*/*/*/*"}

// openContainer starts an editor container on a draft, with the kernel program
// as it stands in the source. It skips without Docker, and fails under CI.
func openContainer(t testing.TB, tree rule.Tree) *containers.DraftEditor {
	t.Helper()
	to := filepath.Join(t.TempDir(), "kernel")
	build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w -buildid=", "-o", to, "signalbox/containers/kernel")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building the kernel program: %v\n%s", err, out)
	}
	kernel, err := os.ReadFile(to)
	if err != nil {
		t.Fatal(err)
	}
	engine, err := containers.Open(t.Context(), containers.Options{Workspace: "editor-test", Kernel: kernel})
	if err != nil && os.Getenv("CI") != "true" {
		t.Skipf("no Docker: %v", err)
	}
	if err != nil {
		t.Fatalf("no Docker under CI: %v", err)
	}
	t.Cleanup(func() {
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
	})
	draft, err := engine.EditDraft(t.Context(), tree)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := draft.Close(); err != nil {
			t.Error(err)
		}
	})
	return draft
}

// BenchmarkCallInContainer is the call of BenchmarkEdit, an edit and its undo, in
// a running container and on this host in turn: the medians of one call, and
// their ratio.
func BenchmarkCallInContainer(b *testing.B) {
	tree := rule.Tree{}
	root := b.TempDir()
	if dir, err := os.MkdirTemp("/dev/shm", "signalbox-editor-"); err == nil {
		root = dir
		b.Cleanup(func() { _ = os.RemoveAll(dir) })
	}
	for _, name := range []string{"0.star", "1.star", "2.star", "3.star"} {
		tree[name] = []byte(lines(300))
		if err := os.WriteFile(filepath.Join(root, name), tree[name], 0o644); err != nil {
			b.Fatal(err)
		}
	}
	draft := openContainer(b, tree)
	host, err := Open(root, Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = host.Close() })
	path := "/draft/3.star"
	edit := args(b, "command", "str_replace", "path", path, "old_str", "L150\n", "new_str", "changed\n")
	var there, here []time.Duration
	for b.Loop() {
		for _, call := range []frame.Edit{{Session: "s", Args: edit}, {Session: "s", Undo: &path}} {
			started := time.Now()
			if got := inContainer(b, draft, call); !got.OK {
				b.Fatal(got.Text)
			}
			there = append(there, time.Since(started))
			started = time.Now()
			got := Result{}
			if call.Undo == nil {
				got = host.Run("s", call.Args)
			} else {
				got = host.Undo("s", path)
			}
			if !got.OK {
				b.Fatal(got.Text)
			}
			here = append(here, time.Since(started))
		}
	}
	median := func(all []time.Duration) float64 {
		slices.Sort(all)
		return float64(all[len(all)/2].Nanoseconds()) / 1e6
	}
	b.ReportMetric(median(there), "ms/call")
	b.ReportMetric(median(there)/median(here), "×host")
}
