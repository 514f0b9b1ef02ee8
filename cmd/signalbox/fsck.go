package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"signalbox/registry"
)

func fsckCommand() *cli.Command {
	return &cli.Command{
		Name:        "fsck",
		Usage:       "derive every digest, reference and signature again, and say what to do",
		Description: `Nothing is repaired. The exit code is 1 where something doesn't hold.`,
		Action:      fsckAction,
	}
}

// fsckAction looks at a home that can't even be opened, too: that is its first
// finding.
func fsckAction(c *cli.Context) (err error) {
	if err := wantArguments(c); err != nil {
		return err
	}
	w, err := openWorkspace(c)
	if broken(err) {
		problem := registry.Problem{What: err.Error(), Advice: "restore the named file from a backup of this home, then run fsck again; nothing else was looked at"}
		return reportProblems(&workspace{c: c}, []registry.Problem{problem})
	}
	if err != nil {
		return err
	}
	defer w.close(&err)
	return fsck(c.Context, w)
}

// broken says whether err is about the home's own files.
func broken(err error) bool {
	return errors.Is(err, registry.ErrDamaged) || errors.Is(err, registry.ErrRolledBack)
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
	return reportProblems(w, found)
}

func reportProblems(w *workspace, found []registry.Problem) error {
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
