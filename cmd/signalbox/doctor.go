package main

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

	"signalbox/containers"
	"signalbox/proofs"
	"signalbox/rule"
)

func doctorCommand() *cli.Command {
	return &cli.Command{
		Name:   "doctor",
		Usage:  "check the engine, the kernel program, the keys and the registry",
		Action: doctorAction,
	}
}

// doctorAction makes a home that can't be opened a row of the table.
func doctorAction(c *cli.Context) (err error) {
	if err := wantArguments(c); err != nil {
		return err
	}
	w, err := openWorkspace(c)
	if broken(err) {
		return printFindings(&workspace{c: c}, []finding{{"registry", false, err.Error()}})
	}
	if err != nil {
		return err
	}
	defer w.close(&err)
	return doctor(c.Context, w)
}

// finding is one row of the doctor's table.
type finding struct {
	What   string `json:"what"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
}

func doctor(ctx context.Context, w *workspace) error {
	var rows []finding
	row := func(what string, err error, detail string) {
		if err != nil {
			detail = err.Error()
		}
		rows = append(rows, finding{what, err == nil, detail})
	}
	_, err := proofs.LoadKey(w.registry.Keys())
	row("host key", err, w.registry.Keys())
	snapshot, err := w.registry.Snapshot(ctx)
	if err != nil {
		return err
	}
	row("registry", nil, fmt.Sprintf("serial %d, generation %d, %s", snapshot.Serial().N, snapshot.Generation(), plural(snapshot.State().Suite.Cases, "case")))
	row("ledger", w.registry.Ledger().Check(ctx), "whole")
	row("kernel program", missingKernel(), "packed")
	environment, err := w.probe(ctx)
	row("container engine", err, describe(environment.Engine))
	if err == nil {
		row("environment starlark", nil, fmt.Sprintf("%s, image %s", environment.Digest().Short(), environment.ImageID.Short()))
		_, err = snapshot.Authorise(ctx, w.engine)
		row("active collection", err, "proven")
	}
	return printFindings(w, rows)
}

// probe starts the engine and describes the environment, without recording it.
func (w *workspace) probe(ctx context.Context) (rule.Environment, error) {
	if err := w.start(ctx); err != nil {
		return rule.Environment{}, err
	}
	return w.engine.Starlark(ctx)
}

func missingKernel() error {
	if !containers.KernelAvailable() {
		return fmt.Errorf("this signalbox was built without it: run make build")
	}
	return nil
}

func describe(e rule.Engine) string {
	return fmt.Sprintf("docker %s, %s, linux %s, %s, cgroup %s", e.Docker, e.Runtime, e.LinuxKernel, e.Architecture, e.Cgroup)
}

func printFindings(w *workspace, rows []finding) error {
	bad := 0
	for _, r := range rows {
		if !r.OK {
			bad++
		}
	}
	if w.c.Bool("json") {
		if err := printJSON(w.c, rows); err != nil {
			return err
		}
	} else {
		t := newTable(w.c.App.Writer, "CHECK", "HOLDS", "DETAIL")
		for _, r := range rows {
			t.row(r.What, map[bool]string{true: "yes", false: "no"}[r.OK], r.Detail)
		}
		if err := t.flush(); err != nil {
			return err
		}
	}
	if bad > 0 {
		return resultWas(exitError, "a check doesn't hold")
	}
	return nil
}
