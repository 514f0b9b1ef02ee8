package main

import (
	"context"

	"github.com/urfave/cli/v2"

	"signalbox/editor"
	"signalbox/maintenance/draft"
)

// editCommand is for programs, and hidden from people: JSON lines in, JSON lines
// out, as editor.Serve takes and gives them. What a request changes in the
// draft is in its journal, where `drafts undo` finds it; one whose root is
// another folder edits that, and leaves no trace here.
func editCommand() *cli.Command {
	return &cli.Command{
		Name: "edit", Usage: "edit a draft by JSON lines", ArgsUsage: "DRAFT", Hidden: true,
		Action: command(editDraft, "DRAFT"),
	}
}

func editDraft(ctx context.Context, w *workspace) error {
	d, err := draft.Open(w.registry.Dir(), w.c.Args().First())
	if err != nil {
		return err
	}
	defer d.Close()
	own, err := d.Editor()
	if err != nil {
		return err
	}
	served := make(chan error, 1)
	go func() { served <- editor.Serve(w.c.App.Reader, w.c.App.Writer, own) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done(): // a call that is under way still ends before own is closed
		return context.Cause(ctx)
	}
}
