package main

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

	"signalbox/registry"
)

func fsckCommand() *cli.Command {
	return &cli.Command{
		Name:        "fsck",
		Usage:       "derive every digest, reference and signature again, and say what to do",
		Description: `Nothing is repaired. The exit code is 1 where something doesn't hold.`,
		Action:      command(fsck),
	}
}

// fsckResult is the result as JSON.
type fsckResult struct {
	Problems []problemRow `json:"problems"`
}

type problemRow struct {
	What   string `json:"what"`
	Advice string `json:"advice"`
}

func fsck(ctx context.Context, w *workspace) error {
	found, err := w.registry.Fsck(ctx)
	if err != nil {
		return err
	}
	if err := printProblems(w, found); err != nil {
		return err
	}
	if len(found) > 0 {
		return resultWas(exitError, "problems were found")
	}
	return nil
}

func printProblems(w *workspace, found []registry.Problem) error {
	if w.c.Bool("json") {
		out := fsckResult{Problems: []problemRow{}}
		for _, p := range found {
			out.Problems = append(out.Problems, problemRow(p))
		}
		return printJSON(w.c, out)
	}
	for _, p := range found {
		fmt.Fprintf(w.c.App.Writer, "%s\n  %s\n", visible([]byte(p.What)), p.Advice)
	}
	if len(found) == 0 {
		fmt.Fprintln(w.c.App.Writer, "everything holds")
	}
	return nil
}
