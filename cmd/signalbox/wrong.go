package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/urfave/cli/v2"

	"signalbox/registry/ledger"
	"signalbox/router"
	"signalbox/rule"
)

func wrongCommand() *cli.Command {
	return &cli.Command{
		Name:      "wrong",
		Usage:     "say that a route's answer was wrong: its rule stops, and the task becomes a case",
		ArgsUsage: "ROUTE",
		Description: `In one commit the rule is disabled and the route's task becomes a case for good:
one that must fall back, or with --expect FILE (an outcome) and --certified-by one
with the right outcome. The other rules answer again after validate --activate.`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "expect", Usage: "`FILE` with the right outcome, as JSON"},
			&cli.StringFlag{Name: "certified-by", Usage: "`NAME` of the operator who certifies it"},
			reasonFlag,
		},
		Action: checked(checkWrong, wrong),
	}
}

func checkWrong(c *cli.Context) error {
	if (c.String("expect") == "") != (c.String("certified-by") == "") {
		return usageError("--expect and --certified-by go together")
	}
	return wantArguments(c, "ROUTE")
}

func wrong(ctx context.Context, w *workspace) error {
	route := w.c.Args().First()
	event, err := w.registry.Ledger().Event(ctx, route)
	if err != nil {
		return fmt.Errorf("route %q: %w", route, err)
	}
	if event.Decision != router.DecisionRule || event.Void {
		return refusedError("route %q was a fallback (%s): no rule answered it", route, event.Reason)
	}
	task, err := router.StoredTask(w.registry.Objects(), event)
	if err != nil {
		return err
	}
	known := rule.Case{
		ID: "wrong-" + route, Family: event.Family, Task: task, Fallback: true,
		CertifiedBy: operator(), Source: "route " + route,
	}
	if name := w.c.String("expect"); name != "" {
		if known.Outcome, err = readOutcome(name); err != nil {
			return err
		}
		known.Fallback, known.CertifiedBy = false, w.c.String("certified-by")
	}
	if unfit := task.Check(); unfit != nil {
		return w.disableOnly(ctx, event, unfit)
	}
	if err := w.registry.Wrong(ctx, event.Rule, known, w.change("wrong answer of route "+route)); err != nil {
		return err
	}
	if err := w.registry.Ledger().MarkWrong(ctx, route, time.Now(), w.c.String("reason")); err != nil {
		return err
	}
	return w.printWrong(ctx, event.Rule, known)
}

// disableOnly stops the rule where its task can't be kept as a case.
func (w *workspace) disableOnly(ctx context.Context, event ledger.Event, unfit error) error {
	if err := w.registry.Disable(ctx, event.Rule, w.change("wrong answer of route "+event.RouteID)); err != nil {
		return err
	}
	if err := w.registry.Ledger().MarkWrong(ctx, event.RouteID, time.Now(), w.c.String("reason")); err != nil {
		return err
	}
	return fmt.Errorf("disabled %s, but the route's task can't be kept as a case: %w", event.Rule, unfit)
}

func readOutcome(name string) (rule.Outcome, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return rule.Outcome{}, fmt.Errorf("reading outcome: %w", err)
	}
	var outcome rule.Outcome
	if err := rule.Decode(data, &outcome); err != nil {
		return rule.Outcome{}, fmt.Errorf("reading outcome %q: %w", name, err)
	}
	return outcome, outcome.Check()
}

func (w *workspace) printWrong(ctx context.Context, name rule.Name, known rule.Case) error {
	snapshot, err := w.registry.Snapshot(ctx)
	if err != nil {
		return err
	}
	if w.c.Bool("json") {
		return printJSON(w.c, map[string]any{"rule": name, "case": known.ID, "must_fall_back": known.Fallback, "generation": snapshot.Generation()})
	}
	fmt.Fprintf(w.c.App.Writer, "disabled %s; the task is a case for good: generation %d\n", name, snapshot.Generation())
	say(w.c, "next: signalbox validate --activate, so that the other rules answer again")
	return nil
}
