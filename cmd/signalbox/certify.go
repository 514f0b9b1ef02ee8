package main

import (
	"context"

	"github.com/urfave/cli/v2"
)

func certifyCommand() *cli.Command {
	return &cli.Command{
		Name:      "certify",
		Usage:     "take unverified lines as cases, one by one",
		ArgsUsage: "ID…",
		Description: `You say that you checked the outcome of each line that you name: a model's own
answers become cases in no other way. All of the lines are taken, or none.`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "certified-by", Usage: "`NAME` of the operator who certifies the outcomes"},
			reasonFlag,
		},
		Action: checked(checkCertify, certify),
	}
}

func checkCertify(c *cli.Context) error {
	if !c.Args().Present() {
		return usageError("certify needs the IDs of unverified lines")
	}
	if c.String("certified-by") == "" {
		return usageError("certify needs --certified-by NAME")
	}
	return nil
}

func certify(ctx context.Context, w *workspace) error {
	report, err := w.registry.Certify(ctx, w.c.Args().Slice(), w.c.String("certified-by"), w.change("certified one by one"))
	if err != nil {
		return err
	}
	snapshot, err := w.registry.Snapshot(ctx)
	if err != nil {
		return err
	}
	return printIngested(w, report, snapshot.Generation())
}
