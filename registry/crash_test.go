package registry

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"signalbox/proofs"
)

// TestMain lets the test binary be other processes.
func TestMain(m *testing.M) {
	if role := os.Getenv("REGISTRY_TEST_HELPER"); role != "" {
		os.Exit(helper(role, os.Getenv("REGISTRY_TEST_HOME")))
	}
	preferMemory()
	os.Exit(m.Run())
}

// preferMemory puts the tests' homes into memory where there is room: hundreds
// of them are made, and each syncs a dozen files. TMPDIR decides where it's set.
func preferMemory() {
	var stat unix.Statfs_t
	const room = 256 << 20
	if os.Getenv("TMPDIR") == "" && unix.Statfs("/dev/shm", &stat) == nil && stat.Bavail*uint64(stat.Bsize) > room {
		_ = os.Setenv("TMPDIR", "/dev/shm")
	}
}

func helper(role, home string) int {
	verb, argument, _ := strings.Cut(role, " ")
	r, err := Open(home, Options{LockTimeout: 20 * time.Second})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	switch verb {
	case "touch": // that many commits
		n, _ := strconv.Atoi(argument)
		for range n {
			if err := touch(r, ann); err != nil {
				fmt.Fprintln(os.Stderr, err)
				return 1
			}
		}
	case "die": // at that step of one commit
		r.atStep = func(step string) error {
			if step == argument {
				die()
			}
			return nil
		}
		if err := touch(r, ann); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		fmt.Println("acknowledged")
	case "hold": // the lock, until killed
		if _, err := r.lock(context.Background()); err != nil {
			return 1
		}
		fmt.Println("locked")
		select {}
	case "activate": // with the proof in a file
		envelope, err := os.ReadFile(argument)
		if err == nil {
			err = activateEnvelope(r, envelope)
		}
		if err != nil {
			fmt.Println(err)
			return 4
		}
		fmt.Println("activated")
	}
	return 0
}

func die() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

func activateEnvelope(r *Registry, envelope []byte) error {
	s, err := r.Snapshot(context.Background())
	if err != nil {
		return err
	}
	public, err := r.public(s.State())
	if err != nil {
		return err
	}
	verified, err := proofs.Verify(envelope, public)
	if err != nil {
		return err
	}
	_, err = r.Activate(context.Background(), verified, &engine{}, ann)
	return err
}

func other(r *Registry, role string) *exec.Cmd {
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), "REGISTRY_TEST_HELPER="+role, "REGISTRY_TEST_HOME="+r.Dir())
	return command
}

// TestTwoProcesses has two processes commit at once.
func TestTwoProcesses(t *testing.T) {
	r := newHome(t)
	var group sync.WaitGroup
	for range 2 {
		group.Go(func() {
			if out, err := other(r, "touch 15").CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	group.Wait()
	if n := snapshot(t, r).Serial().N; n != 31 {
		t.Errorf("serial %d, want 31: a commit was lost", n)
	}
}

// TestKilledAtEachStep kills a process at every step of a commit. What is there
// afterwards is the old or the new registry, the new one if it was acknowledged,
// and the next commit works and cleans up.
func TestKilledAtEachStep(t *testing.T) {
	for _, step := range append([]string{"nowhere"}, commitSteps...) {
		t.Run(step, func(t *testing.T) {
			r := newHome(t)
			out, err := other(r, "die "+step).Output()
			if (err == nil) != (step == "nowhere") {
				t.Fatalf("the process ended with %v", err)
			}
			checkAfterCrash(t, r, string(out))
		})
	}
}

// checkAfterCrash asserts old or new, and that the next commit works.
func checkAfterCrash(t *testing.T, r *Registry, out string) {
	t.Helper()
	s, err := r.Snapshot(context.Background())
	if err != nil {
		t.Fatalf("after the crash: %v", err)
	}
	n := s.Serial().N
	if n != 1 && n != 2 || n == 1 && strings.Contains(out, "acknowledged") {
		t.Errorf("serial %d after %q", n, out)
	}
	must(t, touch(r, ann))
	if got := snapshot(t, r).Serial().N; got != n+1 {
		t.Errorf("serial %d after the next commit, want %d", got, n+1)
	}
	if left := leftovers(t, r); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestLockOfAKilledProcess is free at once.
func TestLockOfAKilledProcess(t *testing.T) {
	r := newHome(t)
	r.lockTimeout = 200 * time.Millisecond
	command := other(r, "hold")
	out, err := command.StdoutPipe()
	must(t, err)
	must(t, command.Start())
	if _, err := out.Read(make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	if err := touch(r, ann); !errors.Is(err, ErrLocked) {
		t.Errorf("got %v, want ErrLocked", err)
	}
	must(t, command.Process.Signal(syscall.SIGSTOP))
	if err := touch(r, ann); !errors.Is(err, ErrLocked) {
		t.Errorf("stopped holder: got %v, want ErrLocked", err)
	}
	must(t, command.Process.Kill())
	_ = command.Wait()
	must(t, touch(r, ann))
}
