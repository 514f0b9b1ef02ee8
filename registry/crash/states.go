package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// crashState is a disk that a crash could leave of an act.
type crashState struct {
	ref   reference
	disk  *disk
	acked bool
	n     int
}

// states records what each act does to its files, puts together every state that
// a crash could leave of it, and looks at each.
func (h *harness) states(ctx context.Context, b budget) error {
	if b.states == 0 {
		return nil
	}
	var found, control []crashState
	for _, ref := range h.refs {
		states, err := h.statesOf(ctx, ref)
		if err != nil {
			return err
		}
		if ref.name == naiveAct {
			control = states
			continue
		}
		found = append(found, states...)
	}
	return each(append(control, spread(found, b.states)...), func(s crashState) error {
		stage, err := os.MkdirTemp(h.dir, "state-")
		if err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(stage) }()
		if err := s.disk.save(stage); err != nil {
			return fmt.Errorf("writing crash state %d of %s: %w", s.n, s.ref.name, err)
		}
		v := s.ref.check(ctx, stage, s.acked)
		h.mu.Lock()
		defer h.mu.Unlock()
		if s.ref.name == naiveAct {
			h.tally.naive(&h.tally.naiveStates, v)
			return nil
		}
		h.tally.states++
		h.tally.add(fmt.Sprintf("crash state %d of %s", s.n, s.ref.name), v)
		return nil
	})
}

// statesOf returns the different states that an act can leave.
func (h *harness) statesOf(ctx context.Context, ref reference) (found []crashState, err error) {
	err = h.onStage(ref.name, func(stage string) error {
		recording, err := h.tracer.record(ctx, ref.name, filepath.Clean(stage))
		found = ref.different(recording)
		return err
	})
	return found, err
}

// different returns each state of a recording once.
func (ref reference) different(r recording) (found []crashState) {
	type kind struct {
		digest [32]byte
		acked  bool
	}
	seen := map[kind]bool{}
	r.states(func(d *disk, done bool) {
		if k := (kind{d.digest(), done}); !seen[k] {
			seen[k] = true
			found = append(found, crashState{ref, d, done, len(found) + 1})
		}
	})
	return found
}
