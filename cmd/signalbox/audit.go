package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"signalbox/oracle/audit"
	"signalbox/rule"
)

func auditCommand() *cli.Command {
	return &cli.Command{
		Name:  "audit",
		Usage: "run the active collection over the sealed cases, or over later history",
		Description: `Sealed cases are seen by nothing else, so they tell how rules do on tasks that
nobody tuned on. A rule that gives a wrong answer is disabled, and the case becomes
a visible one for good.

With --file the operator who runs the command certifies the outcomes of the lines
that show a rule to be wrong.`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "file", Usage: "later history (`FILE`.jsonl) instead of the sealed cases"},
			reasonFlag,
		},
		Action: command(runAudit),
	}
}

func runAudit(ctx context.Context, w *workspace) error {
	if err := w.start(ctx); err != nil {
		return err
	}
	snapshot, err := w.registry.Snapshot(ctx)
	if err != nil {
		return err
	}
	active, err := snapshot.Authorise(ctx, w.engine)
	if err != nil {
		return err
	}
	cases, err := snapshot.SealedForAudit(ctx)
	if name := w.c.String("file"); name != "" && err == nil {
		cases, err = laterCases(w.c, name)
	}
	if err != nil {
		return err
	}
	if len(cases) == 0 {
		return errors.New("there are no sealed cases: a family needs 12 for one of them to be sealed")
	}
	started := time.Now()
	bar := newProgress(w.c, "auditing")
	report, err := audit.Run(ctx, w.residents, active.Programs, cases, bar.update)
	bar.finish()
	if err != nil {
		return err
	}
	if err := w.recordWrongs(ctx, report, cases); err != nil {
		return err
	}
	return printReplayed(w, summary(report, []rejectedLine{}, time.Since(started)))
}

// recordWrongs disables each rule that gave a wrong answer, and makes the case a
// visible one for good, so that the same rule can't be proven again.
func (w *workspace) recordWrongs(ctx context.Context, report *audit.Report, cases []rule.Case) error {
	for _, wrong := range report.Wrongs {
		at := slices.IndexFunc(cases, func(c rule.Case) bool { return c.ID == wrong.Case })
		known := cases[at]
		if known.CertifiedBy == "" {
			known.CertifiedBy = operator()
		}
		if err := w.registry.Wrong(ctx, wrong.Rule, known, w.change("a wrong answer in an audit")); err != nil {
			return err
		}
		say(w.c, "disabled %s, which answered case %s wrongly; the case is visible from now on", wrong.Rule, printable(wrong.Case))
	}
	if len(report.Wrongs) > 0 {
		say(w.c, "next: signalbox validate --activate, so that the other rules answer again")
	}
	return nil
}

// laterCases returns the history's cases; a line that can't be taken is an error.
func laterCases(c *cli.Context, name string) ([]rule.Case, error) {
	lines, err := readHistory(c, name)
	if err != nil {
		return nil, err
	}
	var cases []rule.Case
	for _, line := range lines {
		if line.Reason != "" {
			return nil, fmt.Errorf("%s: line %d: %s", name, line.Number, line.Reason)
		}
		cases = append(cases, line.Case)
	}
	return cases, nil
}
