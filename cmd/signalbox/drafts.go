package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"signalbox/maintenance/draft"
	"signalbox/router/testbed"
	"signalbox/rule"
)

func draftsCommand() *cli.Command {
	return &cli.Command{
		Name:  "drafts",
		Usage: "look at drafts, undo an edit, discard one",
		Subcommands: []*cli.Command{
			{Name: "list", Usage: "every draft", Action: command(listDrafts)},
			{Name: "show", Usage: "a draft's files and what was said of it", ArgsUsage: "ATTEMPT", Action: command(showDraft, "ATTEMPT")},
			{Name: "diff", Usage: "what the draft changes against the stable revision", ArgsUsage: "ATTEMPT", Action: command(diffDraft, "ATTEMPT")},
			{Name: "undo", Usage: "take back the latest edit that still stands", ArgsUsage: "ATTEMPT", Action: command(undoDraft, "ATTEMPT")},
			{Name: "discard", Usage: "remove a draft", ArgsUsage: "ATTEMPT", Action: command(func(_ context.Context, w *workspace) error {
				return draft.Discard(w.registry.Dir(), w.c.Args().First())
			}, "ATTEMPT")},
		},
	}
}

func listDrafts(_ context.Context, w *workspace) error {
	all, err := draft.List(w.registry.Dir())
	if err != nil {
		return err
	}
	if w.c.Bool("json") {
		return printJSON(w.c, all)
	}
	t := newTable(w.c.App.Writer, "ATTEMPT", "FAMILY", "RULE", "PARENT", "RESUMES")
	for _, d := range all {
		t.row(d.Attempt, string(d.Family), string(d.Rule), d.Parent.Short(), d.Resumes)
	}
	return t.flush()
}

// openDraft opens the draft that the command's argument names.
func openDraft(w *workspace) (*draft.Draft, error) {
	return draft.Open(w.registry.Dir(), w.c.Args().First())
}

func showDraft(_ context.Context, w *workspace) error {
	d, err := openDraft(w)
	if err != nil {
		return err
	}
	defer d.Close()
	feedback, err := d.Feedback()
	if err != nil {
		return err
	}
	if w.c.Bool("json") {
		texts := map[string]string{}
		for p, data := range d.Tree() {
			texts[p] = string(data)
		}
		return printJSON(w.c, map[string]any{"identity": d.Identity(), "files": texts, "feedback": feedback})
	}
	for _, p := range d.Tree().Paths() {
		fmt.Fprintf(w.c.App.Writer, "--- %s\n%s\n", p, strings.TrimRight(visible(d.Tree()[p]), "\n"))
	}
	for _, text := range feedback {
		fmt.Fprintf(w.c.App.Writer, "said: %s\n", visible([]byte(text)))
	}
	return nil
}

func diffDraft(ctx context.Context, w *workspace) error {
	d, err := openDraft(w)
	if err != nil {
		return err
	}
	defer d.Close()
	before := rule.Tree{}
	if parent := d.Identity().Parent; parent != "" {
		if before, err = w.registry.Objects().GetTree(parent); err != nil {
			return err
		}
	}
	after := map[string]*string{}
	for p, data := range d.Tree() {
		text := string(data)
		after[p] = &text
	}
	for p := range before {
		if _, kept := d.Tree()[p]; !kept {
			after[p] = nil
		}
	}
	_, err = fmt.Fprint(w.c.App.Writer, visible(testbed.Diff(before, after)))
	return err
}

func undoDraft(_ context.Context, w *workspace) error {
	d, err := openDraft(w)
	if err != nil {
		return err
	}
	defer d.Close()
	path, err := d.Undo()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w.c.App.Writer, "took back the latest edit of %s\n", path)
	return err
}
