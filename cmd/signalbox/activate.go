package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"signalbox/proofs"
	"signalbox/registry"
	"signalbox/rule"
)

func activateCommand() *cli.Command {
	return &cli.Command{
		Name:      "activate",
		Usage:     "let a proven collection answer",
		ArgsUsage: "PROOF",
		Description: `PROOF is the name of a saved proof (see signalbox proofs list; its first digits
are enough). Signature, sources, images, suite, mapping, policy and generation are
all checked again; any difference refuses, and both values are named.`,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "allow-unheld", Usage: "take families that have no hidden case"},
			reasonFlag,
		},
		Action: command(activate, "PROOF"),
	}
}

func activate(ctx context.Context, w *workspace) error {
	snapshot, err := w.registry.Snapshot(ctx)
	if err != nil {
		return err
	}
	verified, err := w.savedProof(snapshot, w.c.Args().First())
	if err != nil {
		return err
	}
	if unheld := verified.Predicate().Unheld; len(unheld) > 0 && !w.c.Bool("allow-unheld") {
		return refusedError("the proof takes families that have no hidden case (%s): say --allow-unheld if that is what you want", joinFamilies(unheld))
	}
	if err := w.start(ctx); err != nil {
		return err
	}
	after, err := w.registry.Activate(ctx, verified, w.engine, w.change("activated"))
	if err != nil {
		return err
	}
	return w.printGeneration("activated", after)
}

// generationResult is the JSON of a change of what answers.
type generationResult struct {
	Generation rule.Generation `json:"generation"`
	Proof      rule.Digest     `json:"proof,omitzero"`
	Members    int             `json:"members"`
}

func (w *workspace) printGeneration(what string, s *registry.Snapshot) error {
	out := generationResult{Generation: s.Generation()}
	if active := s.State().Active; active != nil {
		out.Proof, out.Members = active.Proof, len(active.Members)
	}
	if w.c.Bool("json") {
		return printJSON(w.c, out)
	}
	_, err := fmt.Fprintf(w.c.App.Writer, "%s: generation %d\n", what, out.Generation)
	return err
}

func joinFamilies(families []rule.Family) string {
	var words []string
	for _, f := range families {
		words = append(words, string(f))
	}
	return strings.Join(words, ", ")
}

// savedProof finds a saved proof by the first digits of its name, and verifies
// it.
func (w *workspace) savedProof(s *registry.Snapshot, name string) (proofs.Verified, error) {
	prefix := strings.TrimPrefix(name, "sha256:")
	var found []savedProof
	for _, p := range allProofs(s.State()) {
		if prefix != "" && strings.HasPrefix(p.Proof.Hex(), prefix) && !slices.ContainsFunc(found, func(q savedProof) bool { return q.Proof == p.Proof }) {
			found = append(found, p)
		}
	}
	if len(found) != 1 {
		return proofs.Verified{}, fmt.Errorf("proof %q: %s of that name: %w", name, plural(len(found), "proof"), registry.ErrUnknown)
	}
	envelope, err := w.registry.Objects().Get(found[0].Envelope)
	if err != nil {
		return proofs.Verified{}, err
	}
	return verifyEnvelope(envelope, w.registry.Keys()+"/"+proofs.PublicKeyFile)
}

func disableCommand() *cli.Command {
	return &cli.Command{
		Name:      "disable",
		Usage:     "stop a rule at once; the rest answers again after validate --activate",
		ArgsUsage: "RULE",
		Flags:     []cli.Flag{reasonFlag},
		Action: command(func(ctx context.Context, w *workspace) error {
			if err := w.registry.Disable(ctx, rule.Name(w.c.Args().First()), w.change("disabled")); err != nil {
				return err
			}
			after, err := w.registry.Snapshot(ctx)
			if err != nil {
				return err
			}
			say(w.c, "the active proof no longer holds; next: signalbox validate --activate")
			return w.printGeneration("disabled", after)
		}, "RULE"),
	}
}

func rollbackCommand() *cli.Command {
	return &cli.Command{
		Name:      "rollback",
		Usage:     "validate an earlier collection against today's suite, and activate it",
		ArgsUsage: "[GENERATION]",
		Description: `Without a number the collection before the active one is taken. It has to pass
today's cases: an old proof is never used again.`,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "allow-unheld", Usage: "take families that have no hidden case"},
			reasonFlag,
		},
		Action: checked(checkRollback, rollback),
	}
}

func checkRollback(c *cli.Context) error {
	if c.NArg() == 0 {
		return nil
	}
	if _, err := strconv.ParseUint(c.Args().First(), 10, 64); err != nil {
		return usageError("generation %q is not a number", c.Args().First())
	}
	return wantArguments(c, "GENERATION")
}

func rollback(ctx context.Context, w *workspace) error {
	snapshot, err := w.registry.Snapshot(ctx)
	if err != nil {
		return err
	}
	generation, err := rollbackTo(w.c, snapshot)
	if err != nil {
		return err
	}
	past, err := snapshot.Past(generation)
	if err != nil {
		return err
	}
	if err := w.prepare(ctx); err != nil {
		return err
	}
	if snapshot, err = w.registry.Snapshot(ctx); err != nil {
		return err
	}
	var programs []rule.Program
	for _, member := range past.Members {
		now, err := snapshot.Member(member.Rule, member.Revision)
		if err != nil {
			return err
		}
		program, err := snapshot.Program(now)
		if err != nil {
			return err
		}
		programs = append(programs, program)
	}
	return validate(ctx, w, validation{programs: programs, mapping: past.Mapping, activate: true, allowUnheld: w.c.Bool("allow-unheld")})
}

// rollbackTo returns the generation that was named, or the one before the active.
func rollbackTo(c *cli.Context, s *registry.Snapshot) (rule.Generation, error) {
	if c.NArg() == 1 {
		n, err := strconv.ParseUint(c.Args().First(), 10, 64)
		return rule.Generation(n), err
	}
	past := s.State().Past
	if len(past) == 0 {
		return 0, fmt.Errorf("there is no earlier collection: %w", registry.ErrUnknown)
	}
	return past[len(past)-1].Generation, nil
}
