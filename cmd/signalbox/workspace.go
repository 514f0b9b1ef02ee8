package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"signalbox/containers"
	"signalbox/oracle/admission"
	"signalbox/registry"
	"signalbox/rule"
)

const defaultLockTimeout = 10 * time.Second

// workspace is what a command has open. Commands take only what they need:
// most read the registry alone, and the engine is opened by need.
type workspace struct {
	c         *cli.Context
	registry  *registry.Registry
	engine    *containers.Engine
	residents *containers.Residents
}

// residentPrograms is how many containers a command keeps running at most.
const residentPrograms = 48

func openWorkspace(c *cli.Context) (*workspace, error) {
	r, err := registry.Open(c.String("home"), registry.Options{LockTimeout: c.Duration("lock-timeout")})
	if err != nil {
		return nil, err
	}
	return &workspace{c: c, registry: r}, nil
}

// close ends everything, containers first, and reports what it couldn't end.
func (w *workspace) close(err *error) {
	closers := []func() error{w.registry.Close}
	if w.engine != nil {
		closers = slices.Insert(closers, 0, w.engine.Close)
	}
	if w.residents != nil {
		closers = slices.Insert(closers, 0, w.residents.Close)
	}
	for _, closing := range closers {
		if left := closing(); left != nil {
			*err = errors.Join(*err, left)
		}
	}
}

// start opens the engine, removes what a crash left behind, and makes ready to
// run programs.
func (w *workspace) start(ctx context.Context) error {
	home, err := filepath.Abs(w.registry.Dir())
	if err != nil {
		return err
	}
	engine, err := containers.Open(ctx, containers.Options{Workspace: rule.DigestOf([]byte(home)).Short()})
	if err != nil {
		return err
	}
	w.engine, w.residents = engine, engine.Residents(residentPrograms)
	reaped, err := engine.Reap(ctx)
	if reaped > 0 {
		say(w.c, "removed %s that an earlier run left behind", plural(reaped, "container"))
	}
	if err != nil {
		say(w.c, "what an earlier run left behind could not be removed: %v", err)
	}
	return nil
}

// prepare is start, and records the starlark environment as it stands now where
// the registry has another. A route never does that.
func (w *workspace) prepare(ctx context.Context) error {
	if err := w.start(ctx); err != nil {
		return err
	}
	environment, err := w.engine.Starlark(ctx)
	if err != nil {
		return err
	}
	snapshot, err := w.registry.Snapshot(ctx)
	if err != nil {
		return err
	}
	known := snapshot.State().Current[environment.Name]
	if known == environment.Digest() {
		return nil
	}
	if known != "" {
		say(w.c, "environment %q changed from %s to %s", environment.Name, known.Short(), environment.Digest().Short())
	}
	return w.registry.SetEnvironment(ctx, environment, w.change("environment as it stands on this host"))
}

// office returns the way to a proof.
func (w *workspace) office(allowUnheld bool) *admission.Office {
	return &admission.Office{Registry: w.registry, Programs: w.residents, AllowUnheld: allowUnheld, Tool: "signalbox " + version()}
}

// change says who makes a change, and why: --reason, or what the command does.
func (w *workspace) change(why string) registry.Change {
	if reason := w.c.String("reason"); reason != "" {
		why = reason
	}
	return registry.Change{Who: operator(), Why: why}
}

// operator names whoever runs the program: $SIGNALBOX_OPERATOR or the account.
func operator() string {
	if name := os.Getenv("SIGNALBOX_OPERATOR"); name != "" {
		return name
	}
	if account, err := user.Current(); err == nil && account.Username != "" {
		return account.Username
	}
	return fmt.Sprintf("uid %d", os.Getuid())
}

var reasonFlag = &cli.StringFlag{Name: "reason", Usage: "why, for the registry's log"}

// command is what most commands are: their arguments, one workspace, one action
// on it. Mistakes in the command line are found before anything is opened.
func command(action func(ctx context.Context, w *workspace) error, arguments ...string) cli.ActionFunc {
	return checked(func(c *cli.Context) error { return wantArguments(c, arguments...) }, action)
}

// checked is command with a check of the command line of its own.
func checked(check func(c *cli.Context) error, action func(ctx context.Context, w *workspace) error) cli.ActionFunc {
	return func(c *cli.Context) (err error) {
		if err := check(c); err != nil {
			return err
		}
		w, err := openWorkspace(c)
		if err != nil {
			return err
		}
		defer w.close(&err)
		return action(c.Context, w)
	}
}
