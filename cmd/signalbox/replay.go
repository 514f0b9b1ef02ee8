package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/urfave/cli/v2"

	"signalbox/containers"
	"signalbox/oracle"
	"signalbox/oracle/audit"
	"signalbox/router"
	"signalbox/rule"
)

func replayCommand() *cli.Command {
	return &cli.Command{
		Name:      "replay",
		Usage:     "route every task of a history file, and compare",
		ArgsUsage: "FILE.jsonl",
		Description: `Says what would have happened on this history: right, wrong, or fell back, per
family and in all, and shows each wrong answer. Nothing is learned from it, and no
route is recorded.`,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "reasons", Usage: "print why tasks fell back, too"},
		},
		Action: command(replay, "FILE.jsonl"),
	}
}

// replayed is the result as JSON.
type replayed struct {
	Totals   replayTotals        `json:"totals"`
	Reasons  map[rule.Reason]int `json:"reasons"`
	Families []replayFamily      `json:"families"`
	Wrong    []audit.Wrong       `json:"wrong"`
	Skipped  []rejectedLine      `json:"skipped"`
	Millis   int64               `json:"ms"`
}

type replayTotals struct {
	Right    int `json:"right"`
	Wrong    int `json:"wrong"`
	FellBack int `json:"fell_back"`
	Due      int `json:"fell_back_as_certified"`
}

type replayFamily struct {
	Family  rule.Family         `json:"family"`
	Reasons map[rule.Reason]int `json:"reasons"`
	replayTotals
}

func replay(ctx context.Context, w *workspace) error {
	lines, err := readHistory(w.c, w.c.Args().First())
	if err != nil {
		return err
	}
	if err := w.start(ctx); err != nil {
		return err
	}
	started := time.Now()
	routes := router.New(router.NewRegistryAuthority(w.registry, w.engine), w.residents, unrecorded{})
	report, skipped := audit.NewReport(), []rejectedLine{}
	bar := newProgress(w.c, "replaying")
	defer bar.finish()
	for i, line := range lines {
		bar.update(i, len(lines))
		if line.Reason != "" {
			skipped = append(skipped, rejectedLine{line.Number, line.Case.ID, line.Reason})
			continue
		}
		answer, err := routes.Route(ctx, router.Request{Task: line.Case.Task})
		if err != nil {
			return err
		}
		if ctx.Err() != nil {
			return fmt.Errorf("replaying line %d: %w", line.Number, ctx.Err())
		}
		if answer.Reason == rule.ReasonSandboxUnavailable || answer.Reason == rule.ReasonEnvironmentChanged {
			return fmt.Errorf("replaying line %d: %s: %w", line.Number, answer.Detail, containers.ErrUnavailable)
		}
		report.Add(line.Case, oracle.Given{Rule: answer.Rule, Reason: answer.Reason, Outcome: answer.Outcome})
	}
	bar.finish()
	return printReplayed(w, summary(report, skipped, time.Since(started)))
}

// unrecorded is the recorder of a replay: nothing of it is kept.
type unrecorded struct{}

func (unrecorded) Record(context.Context, router.Request, router.Answer) error { return nil }
func (unrecorded) Void(context.Context, router.Answer) error                   { return nil }
func (unrecorded) Late(context.Context, string, time.Duration) error           { return nil }

func summary(report *audit.Report, skipped []rejectedLine, took time.Duration) replayed {
	out := replayed{
		Totals: totalsOf(report.Tally), Reasons: report.FellBack, Families: []replayFamily{},
		Wrong: report.Wrongs, Skipped: skipped, Millis: took.Milliseconds(),
	}
	for _, family := range slices.Sorted(maps.Keys(report.Families)) {
		tally := *report.Families[family]
		out.Families = append(out.Families, replayFamily{family, tally.FellBack, totalsOf(tally)})
	}
	return out
}

func totalsOf(t audit.Tally) replayTotals {
	return replayTotals{Right: t.Right, Wrong: t.Wrong, FellBack: t.Cases - t.Right - t.Wrong, Due: t.Due}
}

func printReplayed(w *workspace, out replayed) error {
	if w.c.Bool("json") {
		return printJSON(w.c, out)
	}
	for _, s := range out.Skipped {
		say(w.c, "line %d skipped: %s", s.Line, printable(s.Reason))
	}
	t := newTable(w.c.App.Writer, "FAMILY", "RIGHT", "WRONG", "FELL BACK", "AS CERTIFIED", "REASONS")
	for _, f := range out.Families {
		t.row(string(f.Family), strconv.Itoa(f.Right), strconv.Itoa(f.Wrong), strconv.Itoa(f.FellBack), strconv.Itoa(f.Due), reasonsText(f.Reasons))
	}
	t.row("in all", strconv.Itoa(out.Totals.Right), strconv.Itoa(out.Totals.Wrong), strconv.Itoa(out.Totals.FellBack), strconv.Itoa(out.Totals.Due), "")
	if err := t.flush(); err != nil {
		return err
	}
	for _, wrong := range out.Wrong {
		fmt.Fprintf(w.c.App.Writer, "wrong: case %s by %s: expected %s, given %s\n",
			printable(wrong.Case), wrong.Rule, printable(outcomeText(wrong.Expected)), printable(outcomeText(wrong.Given)))
	}
	return nil
}

func outcomeText(o *rule.Outcome) string {
	if o == nil {
		return "a fallback"
	}
	text, err := rule.Canonical(o)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func reasonsText(reasons map[rule.Reason]int) string {
	text := ""
	for _, reason := range slices.Sorted(maps.Keys(reasons)) {
		if text != "" {
			text += ", "
		}
		text += fmt.Sprintf("%s %d", reason, reasons[reason])
	}
	return text
}
