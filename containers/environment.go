package containers

import (
	"context"
	"fmt"
	"reflect"
	"time"

	"signalbox/rule"
)

// starlarkLimits bound the starlark environment. Two processors' worth of Go
// runtime needs a dozen threads; the deadlines leave a loaded host room.
var starlarkLimits = rule.Limits{
	Memory:        256 << 20,
	CPUs:          1,
	Processes:     32,
	OpenFiles:     64,
	FileSize:      32 << 20,
	TmpfsSize:     32 << 20,
	TmpfsInodes:   8_192,
	Steps:         10_000_000,
	ReplyBytes:    24 << 20,
	LoadDeadline:  5 * time.Second,
	CallDeadline:  2 * time.Second,
	StartDeadline: 15 * time.Second,
}

// runtimeStarlark is the only runtime that this program has.
const runtimeStarlark = "starlark"

// Starlark returns the starlark environment as it stands on this host, and
// loads its image into the engine where that has none: ErrUnavailable where
// this can't be had.
func (e *Engine) Starlark(ctx context.Context) (rule.Environment, error) {
	env, _, err := e.starlark(ctx)
	return env, err
}

// starlark is Starlark with the engine's name for the image.
func (e *Engine) starlark(ctx context.Context) (rule.Environment, string, error) {
	if e.imageErr != nil {
		return rule.Environment{}, "", e.imageErr
	}
	facts, err := e.engineFacts(ctx)
	if err != nil {
		return rule.Environment{}, "", err
	}
	ref, err := e.ensureImage(ctx)
	if err != nil {
		return rule.Environment{}, "", err
	}
	seccomp, err := profileDigests()
	if err != nil {
		return rule.Environment{}, "", err
	}
	return rule.Environment{
		Name: rule.StarlarkEnvironment, Runtime: runtimeStarlark,
		ImageID: e.image.ID, Kernel: e.image.Kernel, Limits: e.limits,
		Seccomp: seccomp, Engine: facts.engine(),
	}, ref, nil
}

// ensureImage returns the engine's name for the image. It asks once until the
// engine reports a change.
func (e *Engine) ensureImage(ctx context.Context) (string, error) {
	e.checking.Lock()
	defer e.checking.Unlock()
	e.mu.Lock()
	ref, epoch := e.ref, e.epoch
	e.mu.Unlock()
	if ref != "" {
		return ref, nil
	}
	ref, err := e.image.ensure(ctx, e.daemon)
	if err != nil {
		return "", err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.epoch == epoch {
		e.ref = ref
	}
	return ref, nil
}

// Check compares an environment with what stands now: image, kernel, limits,
// seccomp profiles and engine. A difference is ErrEnvironmentChanged with the
// first name that differs and both values; ErrUnavailable where that can't be
// told.
func (e *Engine) Check(ctx context.Context, env rule.Environment) error {
	_, err := e.imageFor(ctx, env)
	return err
}

// imageFor is Check and returns the engine's name for the image.
func (e *Engine) imageFor(ctx context.Context, env rule.Environment) (string, error) {
	if env.Name != rule.StarlarkEnvironment || env.Runtime != runtimeStarlark {
		return "", fmt.Errorf("environment %q has runtime %q: this program has %q alone: %w",
			env.Name, env.Runtime, runtimeStarlark, ErrUnavailable)
	}
	now, ref, err := e.starlark(ctx)
	if err != nil {
		return "", err
	}
	if what, was, is := environmentDifference(env, now); what != "" {
		return "", fmt.Errorf("environment %q: %s was %v, is %v: %w", env.Name, what, was, is, ErrEnvironmentChanged)
	}
	return ref, nil
}

// environmentDifference names the first difference between two environments.
func environmentDifference(was, is rule.Environment) (what string, old, current any) {
	for _, part := range []struct {
		what     string
		was, now any
	}{
		{"image", was.ImageID, is.ImageID},
		{"kernel program", was.Kernel, is.Kernel},
		{"Docker", was.Engine.Docker, is.Engine.Docker},
		{"runtime", was.Engine.Runtime, is.Engine.Runtime},
		{"runtime commit", was.Engine.RuntimeCommit, is.Engine.RuntimeCommit},
		{"Linux", was.Engine.LinuxKernel, is.Engine.LinuxKernel},
		{"architecture", was.Engine.Architecture, is.Engine.Architecture},
		{"cgroup", was.Engine.Cgroup, is.Engine.Cgroup},
		{"seccomp profile of trigger", was.Seccomp[rule.RoleTrigger], is.Seccomp[rule.RoleTrigger]},
		{"seccomp profile of executor", was.Seccomp[rule.RoleExecutor], is.Seccomp[rule.RoleExecutor]},
		{"seccomp profile of editor", was.Seccomp[rule.RoleEditor], is.Seccomp[rule.RoleEditor]},
	} {
		if part.was != part.now {
			return part.what, part.was, part.now
		}
	}
	if what, old, current := limitsDifference(was.Limits, is.Limits); what != "" {
		return what, old, current
	}
	if was.Digest() != is.Digest() {
		return "digest", was.Digest(), is.Digest()
	}
	return "", nil, nil
}

// limitsDifference names the first limit that differs.
func limitsDifference(was, is rule.Limits) (what string, old, current any) {
	before, now := reflect.ValueOf(was), reflect.ValueOf(is)
	for i := range before.NumField() {
		a, b := before.Field(i).Interface(), now.Field(i).Interface()
		if a != b {
			return "limit " + before.Type().Field(i).Name, a, b
		}
	}
	return "", nil, nil
}
