package editor

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// changes are calls that change the tree of faultBench in every way there is.
var changes = map[string]func(e *recorded, t testing.TB) Result{
	"create": func(e *recorded, t testing.TB) Result {
		return e.Run("s", args(t, "command", "create", "path", "/draft/p/q/new.txt", "file_text", "new"))
	},
	"str_replace": func(e *recorded, t testing.TB) Result {
		return e.Run("s", args(t, "command", "str_replace", "path", "/draft/d/a.txt", "old_str", "one", "new_str", "eleven"))
	},
	"insert": func(e *recorded, t testing.TB) Result {
		return e.Run("s", args(t, "command", "insert", "path", "/draft/d/a.txt", "insert_line", 0, "new_str", "zero"))
	},
	"undo edit":   func(e *recorded, _ testing.TB) Result { return e.Undo("s", "/draft/d/edited.txt") },
	"undo create": func(e *recorded, _ testing.TB) Result { return e.Undo("s", "/draft/made/made.txt") },
}

// faultBench is a tree in which all changes are possible.
func faultBench(t *testing.T) *bench {
	b := newBench(t, Options{})
	b.put("d/a.txt", "one\ntwo\n")
	b.put("d/edited.txt", "x\n")
	b.ok("str_replace", "/draft/d/edited.txt", "old_str", "x", "new_str", "y")
	b.ok("create", "/draft/made/made.txt", "file_text", "made")
	return b
}

// everyFault makes each step of each change fail in turn, at each passage: the
// call is refused with the code, everything is as before, no temporary file is
// left, and without the fault the call works.
func everyFault(t *testing.T, fault error, code string) map[string]bool {
	reached := map[string]bool{}
	for name, change := range changes {
		b := faultBench(t)
		for _, step := range steps {
			for n := 1; ; n++ {
				before, undo := b.state(), len(b.e.history.changes)
				passed := failAt(b.e, step, n, fault)
				got := change(b.e, t)
				b.e.tree.fault = nil
				if *passed < n {
					undoChange(t, b, got)
					break
				}
				reached[step] = true
				if got.OK || got.Code != code || got.Change != nil {
					t.Fatalf("%s, %s #%d: got %+v, want the code %s", name, step, n, got, code)
				}
				if after := b.state(); after != before || len(b.e.history.changes) != undo {
					t.Fatalf("%s, %s #%d changed the tree:\n%s\nbecame\n%s", name, step, n, before, after)
				}
				b.tidy()
			}
		}
	}
	return reached
}

// undoChange brings the bench back after a call that worked.
func undoChange(t *testing.T, b *bench, r Result) {
	t.Helper()
	if !r.OK {
		t.Fatalf("without a fault: %+v", r)
	}
	undone := *r.Change
	undone.Undo = false
	if back := b.e.Revert(undone); !back.OK {
		t.Fatalf("reverting: %+v", back)
	}
	if r.Change.Undo { // the stack lost the change that was undone
		again := r.Change.inverse()
		again.Undo = false
		b.e.Load([]Change{again})
	}
}

func faultsLeaveTheFile(t *testing.T) {
	reached := everyFault(t, unix.EIO, "io_error")
	for _, step := range steps {
		if !reached[step] {
			t.Errorf("no change passes the step %q", step)
		}
	}
}

// Environment of the test binary when it runs as a child.
const (
	crashEnv   = "SIGNALBOX_EDITOR_TEST_CRASH"   // step:root
	seccompEnv = "SIGNALBOX_EDITOR_TEST_SECCOMP" // system calls to deny: name=errno,…
)

func TestMain(m *testing.M) {
	if denied := os.Getenv(seccompEnv); denied != "" {
		if err := denySyscalls(denied); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(3)
		}
	}
	if step, root, ok := strings.Cut(os.Getenv(crashEnv), ":"); ok {
		crash(step, root)
	}
	os.Exit(m.Run())
}

// crash edits a file and is killed at a step.
func crash(step, root string) {
	e, err := Open(root, Options{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
	e.tree.fault = func(at string) error {
		if at == step {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
		return nil
	}
	e.Run("s", []byte(`{"command":"str_replace","path":"/draft/d/a.txt","old_str":"old","new_str":"new"}`))
	os.Exit(3)
}

// crashIsSwept kills an editor at every step of an edit: the file is old or new
// and whole, what is left beside it is never listed, and the next Open removes it.
func crashIsSwept(t *testing.T) {
	left := 0
	for step, want := range map[string]string{"create": "old\n", "write": "old\n", "sync": "old\n", "rename": "old\n",
		"compare": "new\n", "sync folder": "new\n", "discard": "new\n"} {
		b := newBench(t, Options{})
		b.put("d/a.txt", "old\n")
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), crashEnv+"="+step+":"+b.root)
		err := child.Run()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
			t.Fatalf("%s: the child ended with %v", step, err)
		}
		b.holds("d/a.txt", want)
		entries, _ := filepath.Glob(b.at("d/.*"))
		left += len(entries)
		got := b.e.Run("s", args(t, "command", "view", "path", "/draft"))
		if !got.OK || !strings.HasSuffix(got.Text, ":\nd\t/draft/\nd\t/draft/d/\nf\t/draft/d/a.txt\n") {
			t.Fatalf("%s: a view says %+v", step, got)
		}
		b.open(Options{})
		b.tidy()
		b.holds("d/a.txt", want)
	}
	if left == 0 {
		t.Fatal("no crash left a temporary file: nothing was tested")
	}
}

// TestSweepLeavesLiveFiles keeps what another living process, or this one, is
// working with, and what only looks similar.
func TestSweepLeavesLiveFiles(t *testing.T) {
	b := newBench(t, Options{})
	mine, err := claimName()
	must(t, err)
	defer claimed.Delete(mine)
	parent := fmt.Sprintf("%s%d-0011223344556677", temporaryPrefix, os.Getppid())
	kept := []string{mine, parent, ".signalbox", "signalbox-edit-1-00"}
	swept := []string{temporaryPrefix + "999999999-00", temporaryPrefix + "x", fmt.Sprintf("%s%d-00", temporaryPrefix, os.Getpid())}
	for _, name := range append(swept, kept...) {
		b.put(name, "")
	}
	b.open(Options{})
	for _, name := range kept {
		b.holds(name, "")
	}
	for _, name := range swept {
		b.absent(name)
	}
	old := b.at(parent)
	must(t, os.Chtimes(old, noTime, noTime))
	b.open(Options{})
	b.absent(parent)
}
