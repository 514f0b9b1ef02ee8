package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"golang.org/x/sys/unix"
)

// harness is what all attacks share.
type harness struct {
	tracer   tracer
	dir      string // for everything; removed at the end
	template string // a stage to copy
	refs     []reference

	mu    sync.Mutex
	tally tally
}

// workers is how many attacks are made at once.
const workers = 2

// attack makes the attacks that the budget allows.
func attack(ctx context.Context, b budget) (*tally, error) {
	tracer, err := newTracer()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(memory(), "signalbox-crash-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	h := &harness{tracer: tracer, dir: dir, template: filepath.Join(dir, "template")}
	if err := h.study(ctx, everything()...); err != nil {
		return nil, err
	}
	for _, step := range []func(context.Context, budget) error{h.kills, h.faults, h.states, h.together, h.cuts} {
		if err := step(ctx, b); err != nil {
			return nil, err
		}
	}
	return &h.tally, nil
}

// memory is where a kill is tried: it needs no disk. A power cut makes its own.
func memory() string {
	var stat unix.Statfs_t
	const room = 512 << 20
	if os.Getenv("TMPDIR") == "" && unix.Statfs("/dev/shm", &stat) == nil && stat.Bavail*uint64(stat.Bsize) > room {
		return "/dev/shm"
	}
	return ""
}

// everything names all acts. The naive writer writes what the first one did.
func everything() []string {
	names := []string{"lock", naiveAct, initAct}
	for _, name := range slices.Sorted(maps.Keys(acts)) {
		if name != names[0] {
			names = append(names, name)
		}
	}
	return names
}

// study builds the template and runs each of the acts undisturbed.
func (h *harness) study(ctx context.Context, names ...string) error {
	if err := build(ctx, h.template); err != nil {
		return fmt.Errorf("building a home: %w", err)
	}
	for _, name := range names {
		if err := h.studyAct(ctx, name); err != nil {
			return fmt.Errorf("act %s: %w", name, err)
		}
	}
	return nil
}

func (h *harness) studyAct(ctx context.Context, name string) error {
	ref := reference{name: name}
	return h.onStage(name, func(stage string) (err error) {
		if name != initAct {
			if ref.old, err = stateOf(stage); err != nil {
				return err
			}
		}
		if ref.calls, err = h.tracer.calls(ctx, name, stage); err != nil {
			return err
		}
		if ref.new, err = stateOf(stage); err != nil {
			return err
		}
		if v := ref.check(ctx, stage, true); v.corrupt || v.lost {
			return fmt.Errorf("undisturbed, and %s", v.why)
		}
		h.refs = append(h.refs, ref)
		if len(h.refs) > 1 {
			return nil
		}
		return os.WriteFile(filepath.Join(h.template, "next"), ref.new, 0o600)
	})
}

// onStage runs do on a fresh stage.
func (h *harness) onStage(name string, do func(stage string) error) error {
	stage, err := os.MkdirTemp(h.dir, "stage-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(stage) }()
	if err := prepare(h.template, stage, name); err != nil {
		return err
	}
	return do(stage)
}

// point is one place to attack.
type point struct {
	ref reference
	at  call
}

func (p point) String() string { return fmt.Sprintf("%s, %s", p.ref.name, p.at) }

// points returns the places that suit, at most limit, evenly spread.
func (h *harness) points(limit int, suits func(reference, call) bool) []point {
	var found []point
	for _, ref := range h.refs {
		for _, at := range ref.calls {
			if suits(ref, at) {
				found = append(found, point{ref, at})
			}
		}
	}
	return spread(found, limit)
}

// spread returns at most limit elements, evenly spread.
func spread[T any](found []T, limit int) []T {
	if len(found) <= limit {
		return found
	}
	chosen := make([]T, 0, limit)
	for i := range limit {
		chosen = append(chosen, found[i*len(found)/limit])
	}
	return chosen
}

// each attacks all points, several at once, and stops at the first error.
func each[T any](points []T, attack func(T) error) error {
	var group sync.WaitGroup
	next := make(chan T)
	failed := make(chan error, workers)
	for range workers {
		group.Go(func() {
			for p := range next {
				if err := attack(p); err != nil {
					failed <- err
					return
				}
			}
		})
	}
	var err error
feeding:
	for _, p := range points {
		select {
		case next <- p:
		case err = <-failed:
			break feeding
		}
	}
	close(next)
	group.Wait()
	select {
	case err = <-failed:
	default:
	}
	return err
}
