package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/urfave/cli/v2"

	"signalbox/registry"
	"signalbox/rule"
)

func ingestCommand() *cli.Command {
	return &cli.Command{
		Name:      "ingest",
		Usage:     "take history; what an operator certifies becomes cases",
		ArgsUsage: "FILE.jsonl",
		Description: `FILE holds one JSON object a line ("-" reads standard input):

  {"id": "1", "family": "dates", "task": {"instruction": "Write as YYYY-MM-DD", "input": "5 March 2024"},
   "outcome": {"output": "2024-03-05"}, "source": "crm", "baseline": {"usd": 0.002, "tokens": 410, "ms": 900}}

A task may have "files" (path: text), an outcome changed "files" (path: text or
null). {"fallback": true} as the outcome says that the task must not be answered.

Only with --certified-by do lines become cases: you say that you checked the
outcomes. A log of a model's own answers is no verification. Without the flag the
lines are kept as unverified and used for nothing. A broken line refuses the whole
file; a line that contradicts another is rejected by its number, the rest is taken.

Visible cases, and the feedback of validations, go to whatever model you let
maintain write rules: ingest only what you permit that provider to receive.`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "certified-by", Usage: "`NAME` of the operator who certifies the outcomes"},
			&cli.BoolFlag{Name: "supersedes", Usage: "lines take the place of known cases that they disagree with"},
			&cli.BoolFlag{Name: "strict", Usage: "take nothing if any line is rejected"},
			reasonFlag,
		},
		Action: command(ingest, "FILE.jsonl"),
	}
}

// ingested is the result as JSON.
type ingested struct {
	Taken      int             `json:"taken"`
	Visible    int             `json:"visible"`
	Admission  int             `json:"admission"`
	Sealed     int             `json:"sealed"`
	Fallback   int             `json:"must_fall_back"`
	Known      int             `json:"known"`
	Unverified int             `json:"unverified"`
	Superseded int             `json:"superseded"`
	Rejected   []rejectedLine  `json:"rejected"`
	Generation rule.Generation `json:"generation"`
}

type rejectedLine struct {
	Line   int    `json:"line"`
	ID     string `json:"id,omitzero"`
	Reason string `json:"reason"`
}

func ingest(ctx context.Context, w *workspace) error {
	name := w.c.Args().First()
	lines, err := readHistory(w.c, name)
	if err != nil {
		return err
	}
	report, err := w.registry.Ingest(ctx, lines, registry.IngestOptions{
		CertifiedBy: w.c.String("certified-by"), From: name,
		Supersede: w.c.Bool("supersedes"), Strict: w.c.Bool("strict"),
	}, w.change("ingest "+name))
	if err != nil {
		return err
	}
	snapshot, err := w.registry.Snapshot(ctx)
	if err != nil {
		return err
	}
	return printIngested(w, report, snapshot.Generation())
}

// readHistory parses a history file, or standard input where name is "-".
func readHistory(c *cli.Context, name string) ([]registry.Line, error) {
	var in io.Reader = c.App.Reader
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, fmt.Errorf("reading history: %w", err)
		}
		defer file.Close()
		in = file
	}
	lines, err := registry.ParseHistory(in)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(lines) == 0 {
		return nil, fmt.Errorf("%s: no history lines", name)
	}
	return lines, nil
}

func printIngested(w *workspace, report registry.IngestReport, generation rule.Generation) error {
	out := ingested{
		Taken: report.Total(), Visible: report.Taken[rule.VisiblePart], Admission: report.Taken[rule.AdmissionPart],
		Sealed: report.Taken[rule.SealedPart], Fallback: report.Fallback, Known: report.Known,
		Unverified: report.Unverified, Superseded: report.Superseded, Rejected: []rejectedLine{}, Generation: generation,
	}
	for _, r := range report.Rejected {
		out.Rejected = append(out.Rejected, rejectedLine{r.Line, r.ID, r.Reason})
	}
	if w.c.Bool("json") {
		return printJSON(w.c, out)
	}
	for _, r := range out.Rejected {
		say(w.c, "line %d rejected: %s", r.Line, visible([]byte(r.Reason)))
	}
	fmt.Fprintf(w.c.App.Writer, "taken %d (%d visible, %d for admission, %d sealed; %d must fall back), known %d, unverified %d, rejected %d\n",
		out.Taken, out.Visible, out.Admission, out.Sealed, out.Fallback, out.Known, out.Unverified, len(out.Rejected))
	if out.Unverified > 0 && w.c.String("certified-by") == "" {
		say(w.c, "nothing was certified: with --certified-by NAME you say that you checked the outcomes, and lines become cases")
	}
	return nil
}
