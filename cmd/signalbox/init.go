package main

import (
	"bytes"
	"context"
	"errors"

	"github.com/urfave/cli/v2"

	"signalbox/containers"
	"signalbox/fixtures"
	"signalbox/oracle"
	"signalbox/registry"
)

func initCommand() *cli.Command {
	return &cli.Command{
		Name:  "init",
		Usage: "make a workspace",
		Description: `Makes the folder that --home names (default .signalbox) with a registry, a
ledger and a host key. With --starter it also installs, checks and activates
three rules over a tree of files: list the visible files, count them, count the
lines of all files with an extension.`,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "starter", Usage: "install the starter rules, and activate them"},
		},
		Action: initAction,
	}
}

func initAction(c *cli.Context) (err error) {
	if err := wantArguments(c); err != nil {
		return err
	}
	r, err := registry.Init(c.Context, c.String("home"), registry.InitOptions{
		Options: registry.Options{LockTimeout: c.Duration("lock-timeout")},
		Policy:  oracle.DefaultPolicy().Bound(),
		Who:     operator(),
	})
	if err != nil {
		return err
	}
	w := &workspace{c: c, registry: r}
	defer w.close(&err)
	say(c, "made the workspace %s", r.Dir())
	err = w.prepare(c.Context)
	if errors.Is(err, containers.ErrUnavailable) && !c.Bool("starter") {
		say(c, "no container engine can be used yet (%v); the commands that run programs will need one", err)
		return nil
	}
	if err != nil || !c.Bool("starter") {
		return err
	}
	return installStarter(c.Context, w)
}

// installStarter ingests the starter rules' cases, adds the rules, and proves
// and activates them.
func installStarter(ctx context.Context, w *workspace) error {
	lines, err := registry.ParseHistory(bytes.NewReader(fixtures.StarterCases()))
	if err != nil {
		return err
	}
	options := registry.IngestOptions{CertifiedBy: "signalbox starter", From: "starter", Strict: true}
	if _, err := w.registry.Ingest(ctx, lines, options, w.change("starter cases")); err != nil {
		return err
	}
	for _, starter := range fixtures.Starter() {
		if _, err := w.registry.AddRule(ctx, starter.Tree, w.change("starter rule")); err != nil {
			return err
		}
	}
	return validate(ctx, w, validation{activate: true})
}
