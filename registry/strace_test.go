package registry

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
)

// runtimeQuiet keeps the Go runtime from making system calls of its own while
// they are counted.
func runtimeQuiet() {
	debug.SetGCPercent(-1)
	runtime.GOMAXPROCS(1)
}

// killable are the system calls that a commit's effects go through.
var killable = []string{"openat", "write", "fsync", "renameat"}

// TestKilledAtSystemCalls kills a committing process at its n-th system call of
// each kind, counted from the end, where the commit is. The naive writer has to
// fail the same sweep: that shows that the sweep bites.
func TestKilledAtSystemCalls(t *testing.T) {
	if testing.Short() {
		t.Skip("slow")
	}
	strace := findStrace(t)
	corrupt := 0
	for _, call := range killable {
		for _, role := range []string{"commit", "naive"} {
			total := countCalls(t, strace, role, call)
			for n := max(1, total-2); n <= total; n++ {
				if killAt(t, strace, role, call, n) {
					corrupt++
				}
			}
		}
	}
	if corrupt == 0 {
		t.Error("the naive writer survived every kill: the sweep shows nothing")
	}
	t.Logf("the naive writer left %d damaged registries", corrupt)
}

// findStrace returns a strace that works here.
func findStrace(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("no strace here; TestKilledAtEachStep covers the steps")
	}
	if out, err := exec.Command(path, "-f", "-e", "trace=none", "/bin/true").CombinedOutput(); err != nil {
		t.Skipf("strace can't trace here: %v: %s", err, out)
	}
	return path
}

// traced runs a helper under strace.
func traced(t *testing.T, strace, role string, options ...string) (*Registry, string, error) {
	t.Helper()
	r := newHome(t)
	command := other(r, role)
	command.Args = append(append([]string{strace, "-f", "-qq"}, options...), os.Args[0])
	command.Path = strace
	command.Env = append(command.Env, "GOMAXPROCS=1")
	out, err := command.Output()
	return r, string(out), err
}

func countCalls(t *testing.T, strace, role, call string) int {
	t.Helper()
	log := t.TempDir() + "/log"
	_, _, err := traced(t, strace, role, "-e", "trace="+call, "-o", log)
	must(t, err)
	return strings.Count(string(readFile(t, log)), call+"(")
}

// killAt kills the helper and says whether a naive one left a damaged registry.
func killAt(t *testing.T, strace, role, call string, n int) bool {
	t.Helper()
	r, out, _ := traced(t, strace, role, "-o", "/dev/null", "-e", "trace="+call, "-e", fmt.Sprintf("inject=%s:signal=KILL:when=%d", call, n))
	if role == "naive" {
		_, err := r.load()
		return err != nil
	}
	checkAfterCrash(t, r, out)
	if t.Failed() {
		t.Fatalf("killed at %s %d", call, n)
	}
	return false
}
