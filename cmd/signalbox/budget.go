package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/urfave/cli/v2"

	"signalbox/registry/ledger"
)

func budgetCommand() *cli.Command {
	kind := &cli.StringFlag{Name: "kind", Value: string(ledger.External), Usage: "external or builtin"}
	return &cli.Command{
		Name:  "budget",
		Usage: "show and set what maintenance may spend",
		Description: `Limits are cumulative for the workspace. Those of an external endpoint start at
zero; the built-in author's are unlimited until one is set. A call whose fate is
unknown stays spent.`,
		Subcommands: []*cli.Command{
			{Name: "show", Usage: "limits, what is used, and calls of unknown fate", Flags: []cli.Flag{kind}, Action: checked(checkKind, showBudget)},
			{
				Name: "set", Usage: "set one limit", ArgsUsage: "RESOURCE N|unlimited",
				Description: "RESOURCE is calls, prompt_tokens, completion_tokens, micro_usd, operations, validations, attempts or wall_ms.",
				Flags:       []cli.Flag{kind, reasonFlag}, Action: checked(checkBudget, setBudget),
			},
		},
	}
}

var resources = []ledger.Resource{
	ledger.Calls, ledger.PromptTokens, ledger.CompletionTokens, ledger.MicroUSD,
	ledger.Operations, ledger.Validations, ledger.Attempts, ledger.WallMillis,
}

func kindOf(c *cli.Context) ledger.Kind { return ledger.Kind(c.String("kind")) }

func checkKind(c *cli.Context) error {
	if kind := kindOf(c); kind != ledger.External && kind != ledger.Builtin {
		return usageError("--kind %q: want external or builtin", kind)
	}
	return nil
}

func checkBudget(c *cli.Context) error {
	if err := wantArguments(c, "RESOURCE", "N"); err != nil {
		return err
	}
	if resource := ledger.Resource(c.Args().Get(0)); !slices.Contains(resources, resource) {
		return usageError("resource %q: want one of %v", resource, resources)
	}
	if _, err := parseLimit(c.Args().Get(1)); err != nil {
		return err
	}
	return checkKind(c)
}

func parseLimit(text string) (int64, error) {
	if text == "unlimited" {
		return ledger.Unlimited, nil
	}
	limit, err := strconv.ParseInt(text, 10, 64)
	if err != nil || limit < 0 {
		return 0, usageError("limit %q: want a number from 0, or unlimited", text)
	}
	return limit, nil
}

// budgetRow is one limit as listed; a null limit is none.
type budgetRow struct {
	Resource ledger.Resource `json:"resource"`
	Limit    *int64          `json:"limit"`
	Used     int64           `json:"used"`
}

// openCall is a call whose end isn't known.
type openCall struct {
	Call    int64                   `json:"call"`
	Attempt string                  `json:"attempt"`
	State   ledger.ReservationState `json:"state"`
	When    time.Time               `json:"when"`
}

func showBudget(ctx context.Context, w *workspace) error {
	kind := kindOf(w.c)
	budgets, err := w.registry.Ledger().Budgets(ctx, kind)
	if err != nil {
		return err
	}
	open, err := w.registry.Ledger().OpenReservations(ctx)
	if err != nil {
		return err
	}
	rows, calls := []budgetRow{}, []openCall{}
	for _, b := range budgets {
		row := budgetRow{Resource: b.Resource, Used: b.Used}
		if !b.Unlimited {
			row.Limit = &b.Limit
		}
		rows = append(rows, row)
	}
	for _, r := range open {
		if r.Kind == kind {
			calls = append(calls, openCall{r.ID, r.Attempt, r.State, r.Opened})
		}
	}
	if w.c.Bool("json") {
		return printJSON(w.c, map[string]any{"kind": kind, "budget": rows, "open": calls})
	}
	t := newTable(w.c.App.Writer, "RESOURCE", "LIMIT", "USED")
	for _, r := range rows {
		limit := "unlimited"
		if r.Limit != nil {
			limit = strconv.FormatInt(*r.Limit, 10)
		}
		t.row(string(r.Resource), limit, strconv.FormatInt(r.Used, 10))
	}
	if err := t.flush(); err != nil {
		return err
	}
	for _, c := range calls {
		fmt.Fprintf(w.c.App.Writer, "call %d of attempt %s since %s: %s\n", c.Call, c.Attempt, c.When.UTC().Format(time.DateTime), c.State)
	}
	return nil
}

func setBudget(ctx context.Context, w *workspace) error {
	limit, err := parseLimit(w.c.Args().Get(1))
	if err != nil {
		return err
	}
	change := w.change("set by hand")
	return w.registry.Ledger().SetLimit(ctx, kindOf(w.c), ledger.Resource(w.c.Args().First()), limit, change.Who, change.Why)
}
