package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"signalbox/oracle/admission"
	"signalbox/registry"
	"signalbox/router/testbed"
	"signalbox/rule"
)

func diffRulesCommand() *cli.Command {
	return &cli.Command{
		Name: "diff", Usage: "what two revisions of a rule differ in", ArgsUsage: "RULE [A B]",
		Description: `A and B are first digits of revisions (see rules list). Without them the active
revision is compared with the newest one, or, where those are the same or none is
active, the one before the newest with it. The result is a patch from A to B.`,
		Action: checked(checkRulesDiff, diffRules),
	}
}

func checkRulesDiff(c *cli.Context) error {
	if c.NArg() == 1 {
		return wantArguments(c, "RULE")
	}
	return wantArguments(c, "RULE", "A", "B")
}

func diffRules(ctx context.Context, w *workspace) error {
	snapshot, err := w.registry.Snapshot(ctx)
	if err != nil {
		return err
	}
	name := rule.Name(w.c.Args().First())
	from, to := w.c.Args().Get(1), w.c.Args().Get(2)
	if w.c.NArg() == 1 {
		if from, to, err = lastChange(snapshot.State(), name); err != nil {
			return err
		}
	}
	old, err := revisionTree(snapshot, name, from)
	if err != nil {
		return err
	}
	next, err := revisionTree(snapshot, name, to)
	if err != nil {
		return err
	}
	patch := visible(testbed.Diff(old, changes(old, next)))
	if w.c.Bool("json") {
		return printJSON(w.c, map[string]any{"rule": name, "from": old.Digest(), "to": next.Digest(), "patch": patch})
	}
	_, err = fmt.Fprint(w.c.App.Writer, patch)
	return err
}

// lastChange returns the revisions that a diff is about when none was named.
func lastChange(state *registry.State, name rule.Name) (from, to string, err error) {
	revisions := state.Rules[name].Revisions
	if len(revisions) == 0 {
		return "", "", fmt.Errorf("rule %q: %w", name, registry.ErrUnknown)
	}
	if len(revisions) == 1 {
		return "", "", fmt.Errorf("rule %q has one revision: there is nothing to compare it with", name)
	}
	newest := revisions[len(revisions)-1]
	before := revisions[len(revisions)-2]
	for _, r := range revisions[:len(revisions)-1] {
		if r.State == registry.RevisionActive {
			before = r
		}
	}
	return before.Digest.Hex(), newest.Digest.Hex(), nil
}

func revisionTree(s *registry.Snapshot, name rule.Name, revision string) (rule.Tree, error) {
	member, err := admission.Find(s, string(name)+"@"+strings.TrimPrefix(revision, "sha256:"))
	if err != nil {
		return nil, err
	}
	program, err := s.Program(member)
	if err != nil {
		return nil, err
	}
	return program.Source.Tree(), nil
}

// changes is what makes one tree the other, as an outcome has it.
func changes(old, next rule.Tree) map[string]*string {
	files := map[string]*string{}
	for path := range old {
		if _, kept := next[path]; !kept {
			files[path] = nil
		}
	}
	for path, data := range next {
		text := string(data)
		if was, ok := old[path]; !ok || string(was) != text {
			files[path] = &text
		}
	}
	return files
}
