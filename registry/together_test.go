package registry

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"signalbox/rule"
)

// TestTwoProcessesActivate has two processes activate different proofs of one
// generation at once. One wins; the other is told both generations.
func TestTwoProcessesActivate(t *testing.T) {
	r, _ := activated(t)
	for round := range 4 {
		before := snapshot(t, r)
		commands := map[string]*struct {
			out []byte
			err error
		}{}
		for _, salt := range []string{"a", "b"} {
			member := addRule(t, r, "squares", "squares", fmt.Sprint(salt, round))
			path := filepath.Join(t.TempDir(), salt)
			must(t, os.WriteFile(path, sign(t, r, predicate(snapshot(t, r), member)).Envelope(), 0o600))
			commands[path] = &struct {
				out []byte
				err error
			}{}
		}
		var group sync.WaitGroup
		for path, result := range commands {
			group.Go(func() { result.out, result.err = other(r, "activate "+path).Output() })
		}
		group.Wait()
		won := 0
		for _, result := range commands {
			if result.err == nil {
				won++
				continue
			}
			told := fmt.Sprintf("the generation: the proof has %d, there is %d", before.Generation(), before.Generation()+1)
			if !strings.Contains(string(result.out), told) {
				t.Errorf("the loser was told %q, want %q", result.out, told)
			}
		}
		if won != 1 || snapshot(t, r).Generation() != before.Generation()+1 {
			t.Errorf("%d won, generation %d after %d", won, snapshot(t, r).Generation(), before.Generation())
		}
	}
}

// TestManyDisableAndValidate has 32 goroutines disable, prove and activate, while
// readers look. Everyone sees whole generations only, and they never fall.
func TestManyDisableAndValidate(t *testing.T) {
	r, _ := activated(t)
	stop := make(chan struct{})
	var readers, writers sync.WaitGroup
	for range 3 {
		readers.Go(func() { watch(t, r, stop) })
	}
	var mu sync.Mutex
	won, lost := 0, 0
	for i := range 32 {
		writers.Go(func() {
			if i%4 == 0 {
				if err := r.Disable(context.Background(), "squares", ann); err != nil {
					t.Errorf("disabling: %v", err)
				}
				return
			}
			err := validateAnew(t, r, fmt.Sprint(i))
			var stale *StaleError
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				won++
			case errors.As(err, &stale) && stale.Reason == rule.ReasonProofStale:
				lost++
			default:
				t.Errorf("activating: %v", err)
			}
		})
	}
	writers.Wait()
	close(stop)
	readers.Wait()
	if won+lost != 24 {
		t.Errorf("%d activated, %d were refused: want 24 in all", won, lost)
	}
	if err := validateAnew(t, r, "alone"); err != nil {
		t.Errorf("alone: %v", err)
	}
	t.Logf("32 goroutines: %d activations, %d refused as stale, 8 disabled", won, lost)
	if problems, err := r.Fsck(t.Context()); err != nil || len(problems) > 0 {
		t.Errorf("fsck: %v, %v", problems, err)
	}
}

// validateAnew adds a revision, proves it for the generation as it is, and
// activates it.
func validateAnew(t *testing.T, r *Registry, salt string) error {
	member, err := r.AddRule(context.Background(), source("squares", "squares", salt), ann)
	if err != nil {
		return err
	}
	s, err := r.Snapshot(context.Background())
	if err != nil {
		return err
	}
	_, err = r.Activate(context.Background(), signFor(failing{t}, r, predicate(s, member)), &engine{}, ann)
	return err
}

// failing is a test that a goroutine may fail.
type failing struct{ t *testing.T }

func (f failing) Fatal(args ...any) { f.t.Error(args...) }

// watch reads until it's stopped, and wants every collection that may answer to be
// the one that was proven for the generation before.
func watch(t *testing.T, r *Registry, stop <-chan struct{}) {
	var serial uint64
	var generation rule.Generation
	for {
		s, err := r.Snapshot(context.Background())
		if err != nil {
			t.Errorf("a reader saw: %v", err)
			return
		}
		if s.Serial().N < serial || s.Generation() < generation {
			t.Errorf("serial %d, generation %d after %d, %d", s.Serial().N, s.Generation(), serial, generation)
		}
		serial, generation = s.Serial().N, s.Generation()
		active, err := s.Authorise(context.Background(), &engine{})
		var stale *StaleError
		switch {
		case err == nil && (active.Generation != generation || active.Proof != s.State().Active.Proof || len(active.Programs) != 1):
			t.Errorf("generation %d is answered by %+v", generation, active)
		case err != nil && !errors.As(err, &stale):
			t.Errorf("a reader saw: %v", err)
		}
		select {
		case <-stop:
			return
		default:
		}
	}
}
