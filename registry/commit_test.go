package registry

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"signalbox/registry/ledger"
	"signalbox/rule"
)

// touch is a small commit: it moves the serial alone.
func touch(r *Registry, change Change) error {
	return r.commit(context.Background(), change, "touch", func(*State) error { return nil })
}

func TestCommitCountsAndLogs(t *testing.T) {
	r := newHome(t)
	for i := range 3 {
		before := readFile(t, r.path(registryFile))
		must(t, touch(r, Change{Who: "bob", Why: fmt.Sprint("reason ", i)}))
		s := snapshot(t, r)
		if want := (rule.Serial{N: uint64(i + 2), Prev: rule.DigestOf(before)}); s.Serial() != want {
			t.Errorf("serial %+v, want %+v", s.Serial(), want)
		}
		last := s.State().Log[len(s.State().Log)-1]
		if last.Who != "bob" || last.Why != fmt.Sprint("reason ", i) || last.What != "touch" || last.Serial != s.Serial().N || time.Since(last.When) > time.Minute {
			t.Errorf("log: %+v", last)
		}
		mark, err := r.ledger.Mark(t.Context())
		if err != nil || mark != (ledger.Mark{Serial: s.Serial().N, Digest: rule.DigestOf(readFile(t, r.path(registryFile)))}) {
			t.Errorf("mark %+v, %v", mark, err)
		}
	}
}

func TestLogIsBounded(t *testing.T) {
	r := newHome(t)
	must(t, r.commit(t.Context(), ann, "x", func(s *State) error {
		for len(s.Log) < maxLog {
			s.Log = append(s.Log, Commit{When: now(), Who: "ann"})
		}
		return nil
	}))
	must(t, touch(r, ann))
	log := snapshot(t, r).State().Log
	if len(log) != maxLog || log[len(log)-1].Serial != 3 || log[0].What == "init" {
		t.Errorf("%d lines, the first %+v, the last %+v", len(log), log[0], log[len(log)-1])
	}
}

func TestConflict(t *testing.T) {
	r := newHome(t)
	base := snapshot(t, r).Serial()
	based := Change{Who: "ann", Base: base}
	must(t, touch(r, based)) // the control: nothing moved yet
	now := snapshot(t, r).Serial()
	for name, change := range map[string]Change{
		"older":          based,
		"other past":     {Who: "ann", Base: rule.Serial{N: now.N, Prev: rule.DigestOf([]byte("other"))}},
		"from tomorrow":  {Who: "ann", Base: rule.Serial{N: now.N + 1, Prev: now.Prev}},
		"only the count": {Who: "ann", Base: rule.Serial{N: now.N}},
	} {
		var conflict *ConflictError
		if err := touch(r, change); !errors.As(err, &conflict) || conflict.Want != change.Base || conflict.Got != now {
			t.Errorf("%s: got %v, want a ConflictError", name, err)
		}
	}
	if got := snapshot(t, r).Serial(); got != now {
		t.Errorf("serial %+v, want %+v", got, now)
	}
}

func TestRefusedEditChangesNothing(t *testing.T) {
	r := newHome(t)
	before := readFile(t, r.path(registryFile))
	want := errors.New("no")
	err := r.commit(t.Context(), ann, "x", func(s *State) error {
		s.Generation = 99
		return want
	})
	if !errors.Is(err, want) {
		t.Errorf("got %v, want the edit's error", err)
	}
	unsound := r.commit(t.Context(), ann, "x", func(s *State) error {
		s.Generation = 99
		return nil
	})
	if unsound == nil || !strings.Contains(unsound.Error(), "isn't sound") {
		t.Errorf("got %v, want an error about an unsound state", unsound)
	}
	if string(readFile(t, r.path(registryFile))) != string(before) {
		t.Error("the registry changed")
	}
}

func TestGoroutinesTakeTurns(t *testing.T) {
	r := newHome(t)
	other := reopen(t, r)
	var group sync.WaitGroup
	for i := range 20 {
		group.Go(func() {
			if err := touch([]*Registry{r, other}[i%2], ann); err != nil {
				t.Error(err)
			}
		})
	}
	stop := make(chan struct{})
	var reader sync.WaitGroup
	reader.Go(func() {
		last := uint64(0)
		for {
			s, err := r.Snapshot(context.Background())
			if err != nil {
				t.Errorf("a reader saw: %v", err)
				return
			}
			if s.Serial().N < last {
				t.Errorf("serial %d after %d", s.Serial().N, last)
			}
			last = s.Serial().N
			select {
			case <-stop:
				return
			default:
			}
		}
	})
	group.Wait()
	close(stop)
	reader.Wait()
	if n := snapshot(t, r).Serial().N; n != 21 {
		t.Errorf("serial %d, want 21", n)
	}
}

func TestLockTimeout(t *testing.T) {
	r := newHome(t)
	other := reopen(t, r)
	other.lockTimeout = 50 * time.Millisecond
	unlock, err := r.lock(t.Context())
	must(t, err)
	started := time.Now()
	if err := touch(other, ann); !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), r.path(lockFile)) {
		t.Errorf("got %v, want ErrLocked with the path", err)
	}
	if took := time.Since(started); took < 50*time.Millisecond {
		t.Errorf("waited %v", took)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := other.lock(ctx); !errors.Is(err, context.Canceled) || errors.Is(err, ErrLocked) {
		t.Errorf("got %v, want context.Canceled", err)
	}
	if _, err := other.Snapshot(t.Context()); err != nil {
		t.Errorf("a reader waited for the lock: %v", err)
	}
	unlock()
	must(t, touch(other, ann))
}

func TestLockFileThatIsNotOurs(t *testing.T) {
	for name, spoil := range map[string]func(path string) error{
		"missing": os.Remove,
		"symbolic link": func(p string) error {
			return errors.Join(os.Rename(p, p+"2"), os.Symlink(p+"2", p))
		},
		"folder":         func(p string) error { return errors.Join(os.Remove(p), os.Mkdir(p, 0o700)) },
		"open to others": func(p string) error { return os.Chmod(p, 0o666) },
	} {
		r := newHome(t)
		must(t, spoil(r.path(lockFile)))
		if err := touch(r, ann); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: got %v, want ErrDamaged", name, err)
		}
	}
}

// TestLockFileReplacedUnderTheHolder: a lock on a file that is no longer at the
// path is not a lock.
func TestLockFileReplacedUnderTheHolder(t *testing.T) {
	r := newHome(t)
	path := r.path(lockFile)
	held, err := r.tryLock()
	if err != nil || held == nil {
		t.Fatalf("the lock is free, and tryLock gave %v, %v", held, err)
	}
	defer func() { must(t, held.Close()) }()
	if twice, err := r.tryLock(); err != nil || twice != nil {
		t.Fatalf("the lock was given twice (%v)", err)
	}
	if same, err := sameFile(held, path); err != nil || !same {
		t.Errorf("sameFile says %v, %v of the file itself", same, err)
	}
	must(t, writeNew(path+".new", nil))
	must(t, os.Rename(path+".new", path))
	if same, err := sameFile(held, path); err != nil || same {
		t.Errorf("sameFile says %v, %v of a file that was replaced", same, err)
	}
	must(t, os.Remove(path))
	if same, err := sameFile(held, path); err != nil || same {
		t.Errorf("sameFile says %v, %v of a file that was removed", same, err)
	}
}

// TestFence replaces the registry while its writer holds the lock, as someone
// who doesn't take the lock would.
func TestFence(t *testing.T) {
	r := newHome(t)
	before := readFile(t, r.path(registryFile))
	must(t, touch(r, ann))
	r.atStep = func(step string) error {
		if step == "synced" {
			replaceFile(t, r.path(registryFile), before)
		}
		return nil
	}
	var conflict *ConflictError
	if err := touch(r, ann); !errors.As(err, &conflict) {
		t.Errorf("got %v, want a ConflictError", err)
	}
	if string(readFile(t, r.path(registryFile))) != string(before) {
		t.Error("the other's file was overwritten")
	}
}

// TestFailureAtEachStep injects an error at every step of a commit. The caller
// gets it; the registry is the old or the new one; the next commit works.
func TestFailureAtEachStep(t *testing.T) {
	for _, step := range commitSteps {
		t.Run(step, func(t *testing.T) {
			r := newHome(t)
			must(t, touch(r, ann))
			broken := errors.New("broken disk")
			r.atStep = func(at string) error {
				if at == step {
					return broken
				}
				return nil
			}
			if err := touch(r, ann); !errors.Is(err, broken) {
				t.Errorf("got %v, want the injected error", err)
			}
			r.atStep = func(string) error { return nil }
			n := snapshot(t, r).Serial().N
			if visible := step == "renamed" || step == "durable" || step == "marked"; n != 2 && !visible || n != 3 && visible {
				t.Errorf("serial %d after an error at %q", n, step)
			}
			must(t, touch(r, ann))
			if got := snapshot(t, r).Serial().N; got != n+1 {
				t.Errorf("serial %d, want %d", got, n+1)
			}
			if left := leftovers(t, r); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// commitSteps are the places where a test can stop a commit.
var commitSteps = []string{"begin", "created", "written", "synced", "renamed", "durable", "marked"}

// leftovers are files in the home that don't belong there.
func leftovers(t *testing.T, r *Registry) []string {
	t.Helper()
	entries, err := os.ReadDir(r.Dir())
	must(t, err)
	var left []string
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), ".") {
			left = append(left, entry.Name())
		}
	}
	return left
}
