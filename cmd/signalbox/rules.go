package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"signalbox/oracle/admission"
	"signalbox/registry"
	"signalbox/rule"
)

func rulesCommand() *cli.Command {
	return &cli.Command{
		Name:  "rules",
		Usage: "list, show, compare, add, lock and unlock rules",
		Subcommands: []*cli.Command{
			{Name: "list", Usage: "every rule and its revisions", Action: command(listRules)},
			{
				Name: "show", Usage: "a rule's manifest and programs", ArgsUsage: "RULE[@REVISION]",
				Action: command(showRule, "RULE[@REVISION]"),
			},
			diffRulesCommand(),
			{
				Name: "add", Usage: "take a rule that a person wrote", ArgsUsage: "FOLDER",
				Description: `FOLDER holds manifest.json, trigger.star, execute.star and what they load. The
rule is proposed, not active: it is checked, proven and activated like any other
(signalbox validate --activate).`,
				Flags: []cli.Flag{reasonFlag}, Action: command(addRule, "FOLDER"),
			},
			{
				Name: "lock", Usage: "keep maintenance from changing a rule", ArgsUsage: "RULE",
				Flags: []cli.Flag{reasonFlag}, Action: command(func(ctx context.Context, w *workspace) error { return setLock(ctx, w, true) }, "RULE"),
			},
			{
				Name: "unlock", Usage: "let maintenance change a rule again", ArgsUsage: "RULE",
				Flags: []cli.Flag{reasonFlag}, Action: command(func(ctx context.Context, w *workspace) error { return setLock(ctx, w, false) }, "RULE"),
			},
		},
	}
}

// ruleRow is one revision as listed.
type ruleRow struct {
	Rule     rule.Name              `json:"rule"`
	Family   rule.Family            `json:"family"`
	Revision rule.Digest            `json:"revision"`
	State    registry.RevisionState `json:"state"`
	Locked   bool                   `json:"locked"`
	By       string                 `json:"by"`
	Why      string                 `json:"why,omitzero"`
}

func listRules(ctx context.Context, w *workspace) error {
	snapshot, err := w.registry.Snapshot(ctx)
	if err != nil {
		return err
	}
	rows := []ruleRow{}
	state := snapshot.State()
	for _, name := range slices.Sorted(maps.Keys(state.Rules)) {
		known := state.Rules[name]
		for _, r := range known.Revisions {
			rows = append(rows, ruleRow{name, known.Family, r.Digest, r.State, known.Locked, r.By, r.Why})
		}
	}
	if w.c.Bool("json") {
		return printJSON(w.c, rows)
	}
	t := newTable(w.c.App.Writer, "RULE", "FAMILY", "REVISION", "STATE", "LOCKED", "BY", "WHY")
	for _, r := range rows {
		locked := ""
		if r.Locked {
			locked = "locked"
		}
		t.row(string(r.Rule), string(r.Family), r.Revision.Short(), string(r.State), locked, r.By, r.Why)
	}
	return t.flush()
}

func showRule(ctx context.Context, w *workspace) error {
	snapshot, err := w.registry.Snapshot(ctx)
	if err != nil {
		return err
	}
	member, err := admission.Find(snapshot, w.c.Args().First())
	if err != nil {
		return err
	}
	program, err := snapshot.Program(member)
	if err != nil {
		return err
	}
	if w.c.Bool("json") {
		texts := map[string]string{}
		for p, data := range program.Source.Tree() {
			texts[p] = string(data)
		}
		return printJSON(w.c, map[string]any{"member": member, "manifest": program.Manifest, "files": texts})
	}
	fmt.Fprintf(w.c.App.Writer, "%s@%s, family %s\n", member.Rule, member.Revision.Short(), program.Manifest.Family)
	for _, p := range program.Source.Tree().Paths() {
		fmt.Fprintf(w.c.App.Writer, "\n--- %s\n%s", p, visible(program.Source.Tree()[p]))
	}
	return nil
}

// visible makes a file of a rule, which may be hostile, safe for a terminal.
func visible(data []byte) string {
	var out strings.Builder
	for _, line := range strings.SplitAfter(string(data), "\n") {
		body, newline := strings.CutSuffix(line, "\n")
		for _, r := range body {
			if r < ' ' && r != '\t' || r == 0x7f || r >= 0x80 && r < 0xa0 {
				fmt.Fprintf(&out, `\x%02x`, r)
				continue
			}
			out.WriteRune(r)
		}
		if newline {
			out.WriteByte('\n')
		}
	}
	return out.String()
}

func addRule(ctx context.Context, w *workspace) error {
	folder := w.c.Args().First()
	tree, err := rule.ReadTree(os.DirFS(folder))
	if err != nil {
		return fmt.Errorf("reading rule %q: %w", folder, err)
	}
	if _, _, err := rule.ParseSource(tree); err != nil {
		return fmt.Errorf("%s: %w", folder, err)
	}
	if err := w.prepare(ctx); err != nil {
		return err
	}
	member, err := w.registry.AddRule(ctx, tree, w.change("added by hand"))
	if err != nil {
		return err
	}
	if w.c.Bool("json") {
		return printJSON(w.c, member)
	}
	fmt.Fprintf(w.c.App.Writer, "added %s@%s, not active\n", member.Rule, member.Revision.Short())
	say(w.c, "next: signalbox validate --activate")
	return nil
}

func setLock(ctx context.Context, w *workspace, locked bool) error {
	name := rule.Name(w.c.Args().First())
	change := w.registry.Unlock
	if locked {
		change = w.registry.Lock
	}
	return change(ctx, name, w.change("set by hand"))
}
