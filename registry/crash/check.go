package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"signalbox/registry"
)

// reference is an act with the states before and after it.
type reference struct {
	name     string
	old, new []byte // registry.json without times; nil where there is none
	calls    []call // every call that the writer makes after BEGIN
}

var times = regexp.MustCompile(`"[0-9]{4}-[0-9]{2}-[0-9]{2}T[^"]*Z"`)

// stateOf reads the registry of a stage without the times in it.
func stateOf(stage string) ([]byte, error) {
	data, err := os.ReadFile(filepath.Join(stage, home, registryFile))
	return times.ReplaceAll(data, []byte(`"T"`)), err
}

// check looks at a stage after an attack.
func (ref reference) check(ctx context.Context, stage string, acked bool) verdict {
	var isNew bool
	var err error
	switch ref.name {
	case naiveAct:
		isNew, err = ref.oldOrNew(stage)
	case initAct:
		isNew, err = checkInit(ctx, stage)
	default:
		isNew, err = ref.checkHome(ctx, stage)
	}
	v := verdict{acked: acked, corrupt: err != nil, lost: err == nil && acked && !isNew}
	switch {
	case v.corrupt:
		v.why = "corrupt: " + err.Error()
	case v.lost:
		v.why = "lost: it was acknowledged, and the old state is back"
	}
	return v
}

func (ref reference) oldOrNew(stage string) (isNew bool, err error) {
	now, err := stateOf(stage)
	switch {
	case err != nil:
		return false, err
	case bytes.Equal(now, ref.new):
		return true, nil
	case bytes.Equal(now, ref.old):
		return false, nil
	}
	return false, fmt.Errorf("registry.json (%d bytes) is neither the old one nor the new one", len(now))
}

// checkHome opens the home, wants the old or the new state, makes the next commit
// and has everything derived again.
func (ref reference) checkHome(ctx context.Context, stage string) (isNew bool, err error) {
	r, err := registry.Open(filepath.Join(stage, home), registry.Options{})
	if err != nil {
		return false, err
	}
	defer func() { _ = r.Close() }()
	isNew, err = ref.oldOrNew(stage)
	if err != nil {
		return false, err
	}
	return isNew, goOn(ctx, r)
}

// goOn makes the next commit, and looks for what is wrong or was left behind.
func goOn(ctx context.Context, r *registry.Registry) error {
	before, err := r.Snapshot(ctx)
	if err != nil {
		return err
	}
	policy := before.State().Policy
	policy.Repeats++
	if err := r.SetPolicy(ctx, policy, change); err != nil {
		return fmt.Errorf("the next commit: %w", err)
	}
	after, err := r.Snapshot(ctx)
	if err != nil {
		return err
	}
	if after.Serial().N != before.Serial().N+1 {
		return fmt.Errorf("serial %d after %d", after.Serial().N, before.Serial().N)
	}
	problems, err := r.Fsck(ctx)
	if err != nil {
		return err
	}
	if len(problems) > 0 {
		return fmt.Errorf("fsck: %s", problems[0].What)
	}
	left, err := filepath.Glob(filepath.Join(r.Dir(), ".*"))
	if err == nil && len(left) > 0 {
		err = fmt.Errorf("left behind: %q", left)
	}
	return err
}

// checkInit wants a whole home or none; where there is none, init must work now.
func checkInit(ctx context.Context, stage string) (isNew bool, err error) {
	dir := filepath.Join(stage, home)
	_, err = os.Lstat(dir)
	var r *registry.Registry
	switch {
	case errors.Is(err, fs.ErrNotExist):
		r, err = initialise(dir)
	case err == nil:
		isNew = true
		r, err = registry.Open(dir, registry.Options{})
	}
	if err != nil {
		return false, err
	}
	defer func() { _ = r.Close() }()
	return isNew, goOn(ctx, r)
}
