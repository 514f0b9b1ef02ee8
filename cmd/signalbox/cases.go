package main

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

	"signalbox/rule"
)

func casesCommand() *cli.Command {
	return &cli.Command{
		Name:      "cases",
		Usage:     "list the visible cases of a family",
		ArgsUsage: "FAMILY",
		Description: `Admission cases are listed by ID only: whoever writes rules shouldn't see them.
Sealed cases are never listed.`,
		Action: command(listCases, "FAMILY"),
	}
}

func listCases(ctx context.Context, w *workspace) error {
	snapshot, err := w.registry.Snapshot(ctx)
	if err != nil {
		return err
	}
	all, err := snapshot.Cases(ctx)
	if err != nil {
		return err
	}
	chosen := []rule.Case{}
	for _, c := range all {
		if c.Family != rule.Family(w.c.Args().First()) {
			continue
		}
		if c.Part != rule.VisiblePart {
			c = rule.Case{ID: c.ID, Family: c.Family, Part: c.Part, CertifiedBy: c.CertifiedBy}
		}
		chosen = append(chosen, c)
	}
	if len(chosen) == 0 {
		return fmt.Errorf("family %q has no cases (see signalbox families)", w.c.Args().First())
	}
	if w.c.Bool("json") {
		return printJSON(w.c, chosen)
	}
	t := newTable(w.c.App.Writer, "CASE", "PART", "INSTRUCTION", "INPUT", "OUTCOME")
	for _, c := range chosen {
		outcome := ""
		if c.Part == rule.VisiblePart {
			outcome = "must fall back"
			if !c.Fallback {
				outcome = outcomeText(&c.Outcome)
			}
		}
		t.row(c.ID, string(c.Part), c.Task.Instruction, string(c.Task.Input), outcome)
	}
	return t.flush()
}
