package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/url"
	"os"
	"slices"
	"strconv"

	"github.com/urfave/cli/v2"

	"signalbox/maintenance"
	"signalbox/maintenance/author"
	"signalbox/maintenance/gateway"
	workspacedesk "signalbox/maintenance/workspace"
	"signalbox/registry/ledger"
	"signalbox/rule"
)

// builtinModel names the author that needs no network.
const builtinModel = "builtin"

func maintainCommand() *cli.Command {
	return &cli.Command{
		Name:      "maintain",
		Usage:     "have rules written, within bounds; each that passes becomes a proposal with a proof",
		ArgsUsage: "FAMILY… | --all",
		Description: `One attempt a family. The model sees the family's visible cases, works on a
draft with three tools, and submits it to the whole check; nothing is activated.
A family whose cases the active rules answer already is skipped.

--model builtin (the default) needs no network. Any other name is asked for at
OPENAI_BASE_URL with OPENAI_API_KEY: history and validation feedback go to that
provider. Its budget starts at zero (signalbox budget set), every call is reserved
on disk before it's sent, and a call whose fate is unknown is never repeated.`,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "all", Usage: "every family"},
			&cli.StringFlag{Name: "model", Value: builtinModel, Usage: "`NAME` of the model"},
			&cli.IntFlag{Name: "calls", Usage: "most calls of one attempt"},
			&cli.StringFlag{Name: "resume", Usage: "start from the draft and feedback of an earlier `ATTEMPT`"},
			&cli.Int64Flag{Name: "max-completion", Value: 4096, Usage: "most tokens of one reply"},
			&cli.Float64Flag{Name: "prompt-price", Usage: "`USD` for a million prompt tokens"},
			&cli.Float64Flag{Name: "completion-price", Usage: "`USD` for a million completion tokens"},
			reasonFlag,
		},
		Action: checked(checkMaintain, maintain),
	}
}

func checkMaintain(c *cli.Context) error {
	if c.Bool("all") == c.Args().Present() {
		return usageError("maintain needs either families or --all")
	}
	if c.IsSet("calls") && c.Int("calls") < 1 || c.Int64("max-completion") < 1 {
		return usageError("--calls and --max-completion: want at least 1")
	}
	if c.Float64("prompt-price") < 0 || c.Float64("completion-price") < 0 {
		return usageError("--prompt-price and --completion-price: want at least 0")
	}
	if c.String("resume") != "" && c.NArg() != 1 {
		return usageError("--resume continues one attempt: name its family")
	}
	return nil
}

// maintained is the result as JSON.
type maintained struct {
	Families  int                   `json:"families"`
	Submitted int                   `json:"submitted"`
	Skipped   int                   `json:"skipped"`
	Stopped   int                   `json:"stopped"`
	Attempts  []maintenance.Attempt `json:"attempts"`
}

func maintain(ctx context.Context, w *workspace) error {
	chosen, err := chooseFamilies(ctx, w)
	if err != nil {
		return err
	}
	endpoint, err := endpointOf(w.c)
	if err != nil {
		return err
	}
	if err := w.prepare(ctx); err != nil {
		return err
	}
	if err := w.recoverAttempts(ctx); err != nil {
		return err
	}
	if err := w.tellBudget(ctx, endpoint); err != nil {
		return err
	}
	out := maintained{Families: len(chosen), Attempts: []maintenance.Attempt{}}
	bar := newProgress(w.c, "maintaining")
	for i, family := range chosen {
		bar.update(i, len(chosen))
		attempt, err := maintenance.Maintain(ctx, w.deps(), maintenance.Options{
			Family: family, Endpoint: endpoint, Resume: w.c.String("resume"),
			Bounds: maintenance.Bounds{Calls: w.c.Int("calls")},
		})
		if errors.Is(err, maintenance.ErrRefused) && w.c.Bool("all") {
			attempt, err = maintenance.Attempt{Family: family, Stop: "refused", Why: err.Error()}, nil
		}
		if err != nil {
			bar.finish()
			return errors.Join(fmt.Errorf("maintaining %q: %w", family, err), printMaintained(w, out))
		}
		out.add(attempt)
		if attempt.Stop == maintenance.StopCancelled && ctx.Err() != nil {
			break
		}
	}
	bar.finish()
	if err := printMaintained(w, out); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return fmt.Errorf("maintaining: %w (what was proposed is kept)", ctx.Err())
	}
	return nil
}

func (m *maintained) add(a maintenance.Attempt) {
	m.Attempts = append(m.Attempts, a)
	switch {
	case a.Skipped:
		m.Skipped++
	case a.Stop == maintenance.StopSubmitted:
		m.Submitted++
	default:
		m.Stopped++
	}
}

// recoverAttempts says what a crash left open before anything new begins.
func (w *workspace) recoverAttempts(ctx context.Context) error {
	calls, attempts, err := w.registry.Ledger().Recover(ctx, string(maintenance.StopUncertain))
	if calls+attempts > 0 {
		say(w.c, "an earlier run ended early: %s closed, %s of unknown fate (they stay spent)", plural(attempts, "attempt"), plural(calls, "call"))
	}
	return err
}

// tellBudget says, before the first call of an external model, where history
// goes and what the budget can buy.
func (w *workspace) tellBudget(ctx context.Context, endpoint gateway.Endpoint) error {
	if endpoint.Kind() != ledger.External {
		return nil
	}
	budgets, err := w.registry.Ledger().Budgets(ctx, endpoint.Kind())
	if err != nil {
		return err
	}
	say(w.c, "visible cases and validation feedback go to %s", redacted(endpoint.BaseURL))
	if endpoint.Price == (gateway.Price{}) {
		say(w.c, "its price isn't known (--prompt-price, --completion-price), so money is neither limited nor counted")
	}
	say(w.c, "%s", maintenance.Afford(budgets, endpoint, maintenance.Bounds{Calls: w.c.Int("calls")}))
	return nil
}

// redacted returns the address without any password in it.
func redacted(address string) string {
	parsed, err := url.Parse(address)
	if err != nil {
		return "OPENAI_BASE_URL"
	}
	return parsed.Redacted()
}

func (w *workspace) deps() maintenance.Deps {
	desk := &workspacedesk.Desk{Registry: w.registry, Office: w.office(true), Who: "maintenance for " + operator()}
	return maintenance.Deps{
		Home: w.registry.Dir(), Workspace: desk, Programs: w.residents, Ledger: w.registry.Ledger(),
		OpenEditor: func(ctx context.Context, tree rule.Tree) (maintenance.DraftEditor, error) {
			return w.engine.EditDraft(ctx, tree)
		},
	}
}

// chooseFamilies returns the families that were named, or all.
func chooseFamilies(ctx context.Context, w *workspace) ([]rule.Family, error) {
	named := w.c.Args().Slice()
	snapshot, err := w.registry.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := familyRows(ctx, snapshot)
	if err != nil {
		return nil, err
	}
	var all []rule.Family
	for _, row := range rows {
		all = append(all, row.Family)
	}
	if w.c.Bool("all") {
		if len(all) == 0 {
			return nil, errors.New("there are no cases yet: signalbox ingest FILE.jsonl --certified-by NAME")
		}
		return all, nil
	}
	var chosen []rule.Family
	for _, name := range named {
		if !slices.Contains(all, rule.Family(name)) {
			return nil, fmt.Errorf("family %q has no cases (see signalbox families)", name)
		}
		chosen = append(chosen, rule.Family(name))
	}
	return chosen, nil
}

// endpointOf returns the model that the flags name.
func endpointOf(c *cli.Context) (gateway.Endpoint, error) {
	name := c.String("model")
	if name == builtinModel {
		return gateway.Endpoint{
			Model: name, BaseURL: "http://builtin.invalid/v1/", Transport: gateway.InProcess(author.New()), MaxCompletion: 1 << 20,
		}, nil
	}
	base := os.Getenv("OPENAI_BASE_URL")
	if base == "" {
		return gateway.Endpoint{}, usageError("model %q needs OPENAI_BASE_URL (and OPENAI_API_KEY) to say where it is asked", name)
	}
	return gateway.Endpoint{
		Model: name, BaseURL: base, Key: os.Getenv("OPENAI_API_KEY"), MaxCompletion: c.Int64("max-completion"),
		Price: gateway.Price{Prompt: micros(c.Float64("prompt-price")), Completion: micros(c.Float64("completion-price"))},
	}, nil
}

// micros returns dollars as millionths of one.
func micros(dollars float64) int64 { return int64(math.Ceil(dollars * 1e6)) }

func printMaintained(w *workspace, out maintained) error {
	if w.c.Bool("json") {
		return printJSON(w.c, out)
	}
	t := newTable(w.c.App.Writer, "FAMILY", "RESULT", "RULE", "CALLS", "WHY")
	for _, a := range out.Attempts {
		result := string(a.Stop)
		if a.Skipped {
			result = "skipped"
		}
		t.row(string(a.Family), result, string(a.Rule), strconv.Itoa(a.Counts.Calls), a.Why)
	}
	if err := t.flush(); err != nil {
		return err
	}
	fmt.Fprintf(w.c.App.Writer, "%d proposed, %d skipped, %d stopped\n", out.Submitted, out.Skipped, out.Stopped)
	if out.Submitted > 0 {
		say(w.c, "next: signalbox validate --activate")
	}
	return nil
}
