package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/urfave/cli/v2"

	"signalbox/registry/ledger"
	"signalbox/router/account"
	"signalbox/rule"
)

func reportCommand() *cli.Command {
	return &cli.Command{
		Name:  "report",
		Usage: "count tasks, answers, fallbacks, known wrong answers, and what maintenance cost",
		Description: `A saving is stated only where the history gave a baseline, after all overhead,
and is negative where it is one.`,
		Action: command(printReport),
	}
}

func printReport(ctx context.Context, w *workspace) error {
	snapshot, err := w.registry.Snapshot(ctx)
	if err != nil {
		return err
	}
	cases, err := snapshot.Cases(ctx)
	if err != nil {
		return err
	}
	taken, err := account.Take(ctx, w.registry.Ledger(), cases)
	if err != nil {
		return err
	}
	if w.c.Bool("json") {
		return printJSON(w.c, taken)
	}
	return writeReport(w, taken)
}

func writeReport(w *workspace, a account.Account) error {
	out := w.c.App.Writer
	fmt.Fprintf(out, "%s: %d answered, %d fell back, %d known wrong\n", plural(int(a.Tasks), "task"), a.Answered, a.FellBack, a.KnownWrong)
	for _, reason := range slices.Sorted(maps.Keys(a.Reasons)) {
		fmt.Fprintf(out, "  fell back: %s %d\n", reason, a.Reasons[reason])
	}
	t := newTable(out, "FAMILY", "ANSWERED", "KNOWN WRONG", "ROUTING MS")
	for _, f := range a.Families {
		t.row(string(f.Family), strconv.FormatInt(f.Answered, 10), strconv.FormatInt(f.KnownWrong, 10), strconv.FormatInt(f.RoutingMS, 10))
	}
	if err := t.flush(); err != nil {
		return err
	}
	m := a.Maintenance
	fmt.Fprintf(out, "maintenance: %s, %s (%d external), %s (%d external), $%.4f\n",
		plural(int(m.Attempts), "attempt"), plural(int(m.Calls), "call"), m.ExternalCalls, plural(int(m.Tokens), "token"), m.ExternalToken, m.ExternalUSD)
	fmt.Fprintf(out, "routing: %d ms in all\n", a.RoutingMS)
	if a.Saving == nil {
		fmt.Fprintln(out, "saving: not known, since no case of an answered family has a baseline")
		return nil
	}
	dollars := "dollars not known (calls without a price)"
	if a.Saving.USD != nil {
		dollars = fmt.Sprintf("$%.4f", *a.Saving.USD)
	}
	fmt.Fprintf(out, "saving, after overhead: %s, %s, %d ms (%s; mean of %s with a baseline)\n",
		dollars, plural(int(a.Saving.Tokens), "token"), a.Saving.Millis, plural(int(a.Saving.Answers), "answer"), plural(a.Saving.Basis, "case"))
	return nil
}

func eventsCommand() *cli.Command {
	return &cli.Command{
		Name:  "events",
		Usage: "list routes, the latest first",
		Flags: []cli.Flag{
			&cli.IntFlag{Name: "limit", Value: 20, Usage: "how many"},
			&cli.StringFlag{Name: "reason", Usage: "only routes with this `REASON`"},
			&cli.StringFlag{Name: "rule", Usage: "only routes that this `RULE` answered"},
		},
		Action: command(listEvents),
	}
}

// eventRow is one route as listed.
type eventRow struct {
	Route    string      `json:"route_id"`
	When     time.Time   `json:"when"`
	Task     rule.Digest `json:"task"`
	Decision string      `json:"decision"`
	Reason   rule.Reason `json:"reason"`
	Rule     rule.Name   `json:"rule,omitzero"`
	Millis   int64       `json:"ms"`
	Detail   rule.Value  `json:"detail,omitzero"`
}

func listEvents(ctx context.Context, w *workspace) error {
	events, err := w.registry.Ledger().Events(ctx, ledger.Filter{
		Limit: w.c.Int("limit"), Reason: rule.Reason(w.c.String("reason")), Rule: rule.Name(w.c.String("rule")),
	})
	if err != nil {
		return err
	}
	rows := []eventRow{}
	for _, e := range events {
		rows = append(rows, eventRow{e.RouteID, e.Time, e.Task, account.Decided(e), e.Reason, e.Rule, (e.Elapsed + e.Late).Milliseconds(), e.Detail})
	}
	if w.c.Bool("json") {
		return printJSON(w.c, rows)
	}
	t := newTable(w.c.App.Writer, "ROUTE", "WHEN", "DECISION", "REASON", "RULE", "MS")
	for _, r := range rows {
		t.row(r.Route, r.When.UTC().Format(time.DateTime), r.Decision, string(r.Reason), string(r.Rule), strconv.FormatInt(r.Millis, 10))
	}
	return t.flush()
}
