package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/urfave/cli/v2"

	"signalbox/oracle"
	"signalbox/oracle/admission"
	"signalbox/proofs"
	"signalbox/registry"
	"signalbox/rule"
)

func validateCommand() *cli.Command {
	return &cli.Command{
		Name:  "validate",
		Usage: "check the whole proposed collection over the whole suite, and sign the proof",
		Description: `The collection is the newest proposed revision of each rule, or else its active
one. Every trigger is asked about every visible and admission case and about the
probes made of them, the executor of the one that matches is run, everything
twice. What passes gets a signed proof, and with --activate answers from now on.`,
		Flags: []cli.Flag{
			&cli.StringSliceFlag{Name: "with", Usage: "take this revision too (`RULE` or RULE@DIGEST); may be repeated"},
			&cli.StringSliceFlag{Name: "without", Usage: "leave `RULE` out; may be repeated"},
			&cli.BoolFlag{Name: "activate", Usage: "activate the collection if it passes"},
			&cli.BoolFlag{Name: "drop-failing", Usage: "leave out what is refused, and check the rest again"},
			&cli.BoolFlag{Name: "allow-unheld", Usage: "take families that have no hidden case; the proof says so"},
			&cli.BoolFlag{Name: "matrix", Usage: "print coverage, overlap and probes of every rule"},
			reasonFlag,
		},
		Action: command(func(ctx context.Context, w *workspace) error {
			if err := w.prepare(ctx); err != nil {
				return err
			}
			return validate(ctx, w, validation{
				choice:      admission.Choice{With: w.c.StringSlice("with"), Without: w.c.StringSlice("without")},
				activate:    w.c.Bool("activate"),
				dropFailing: w.c.Bool("drop-failing"),
				allowUnheld: w.c.Bool("allow-unheld"),
				matrix:      w.c.Bool("matrix"),
			})
		}),
	}
}

// validation says what to validate and what then.
type validation struct {
	choice      admission.Choice
	programs    []rule.Program // instead of a choice: rollback
	mapping     rule.Mapping
	activate    bool
	dropFailing bool
	allowUnheld bool
	matrix      bool
}

// validated is the result as JSON.
type validated struct {
	Passed     bool            `json:"passed"`
	Proof      rule.Digest     `json:"proof,omitzero"`
	Activated  bool            `json:"activated"`
	Generation rule.Generation `json:"generation"`
	Members    int             `json:"members"`
	Dropped    []rule.Name     `json:"dropped"`
	Report     *oracle.Report  `json:"report"`
}

func validate(ctx context.Context, w *workspace, v validation) error {
	snapshot, err := w.registry.Snapshot(ctx)
	if err != nil {
		return err
	}
	programs := v.programs
	if programs == nil {
		if programs, err = admission.Choose(snapshot, v.choice); err != nil {
			return err
		}
	}
	if len(programs) == 0 {
		return refusedError("there is no rule to validate: run maintain, or add one with rules add")
	}
	office := w.office(v.allowUnheld)
	proposal, err := office.Proposal(ctx, snapshot, programs, v.mapping)
	if err != nil {
		return err
	}
	bar := newProgress(w.c, "checking")
	result, err := office.Prove(ctx, proposal, v.dropFailing, bar.update)
	bar.finish()
	if err != nil {
		return err
	}
	return w.conclude(ctx, v, snapshot, result)
}

// conclude saves or activates what passed, and prints what was found.
func (w *workspace) conclude(ctx context.Context, v validation, before *registry.Snapshot, result admission.Result) error {
	out := validated{
		Passed: result.Report.Passed(), Generation: before.Generation(), Members: len(result.Proposal.Programs),
		Dropped: result.Dropped, Report: result.Report,
	}
	if out.Passed {
		out.Proof = result.Proof.ID()
		after, err := w.keep(ctx, v, result)
		if err != nil {
			return err
		}
		out.Generation, out.Activated = after.Generation(), v.activate
	}
	if w.c.Bool("json") {
		if err := printJSON(w.c, out); err != nil {
			return err
		}
	} else if err := printValidated(w, v, out); err != nil {
		return err
	}
	if !out.Passed {
		return resultWas(exitRefused, "refused")
	}
	return nil
}

func (w *workspace) keep(ctx context.Context, v validation, result admission.Result) (*registry.Snapshot, error) {
	if v.activate {
		return w.registry.Activate(ctx, result.Proof, w.engine, w.change("validated and activated"))
	}
	predicate := result.Proof.Predicate()
	err := w.registry.SaveProposal(ctx, registry.Proposal{
		Members: predicate.Members, Mapping: predicate.Mapping, Proof: result.Envelope,
	}, w.change("validated"))
	if err != nil {
		return nil, err
	}
	return w.registry.Snapshot(ctx)
}

func printValidated(w *workspace, v validation, out validated) error {
	counts := out.Report.Counts
	for _, name := range out.Dropped {
		fmt.Fprintf(w.c.App.Writer, "dropped %s\n", name)
	}
	if v.matrix {
		if err := printMatrix(w, out.Report); err != nil {
			return err
		}
	}
	if !out.Passed {
		return printRefusals(w, out.Report)
	}
	fmt.Fprintf(w.c.App.Writer, "passed: %s over %s and %s, %d right, %d fell back; proof %s\n",
		plural(out.Members, "rule"), plural(counts.Positive+counts.MustFallBack+counts.Unserved, "case"), plural(counts.Probes, "probe"),
		counts.Covered, counts.Uncovered+counts.MustFallBack+counts.Unserved, out.Proof.Short())
	if out.Activated {
		fmt.Fprintf(w.c.App.Writer, "activated: generation %d\n", out.Generation)
		return nil
	}
	fmt.Fprintf(w.c.App.Writer, "not activated: signalbox activate %s\n", out.Proof.Short())
	return nil
}

func printRefusals(w *workspace, report *oracle.Report) error {
	fmt.Fprintf(w.c.App.Writer, "refused: %s\n", plural(len(report.Refusals)+report.Omitted, "reason"))
	t := newTable(w.c.App.Writer, "KIND", "RULE", "FAMILY", "CASE", "DETAIL")
	for _, r := range report.Refusals {
		detail := r.Detail
		if r.Probe != "" {
			detail = fmt.Sprintf("probe %q: %s", r.Probe, detail)
		}
		t.row(string(r.Kind), string(r.Rule), string(r.Family), r.Case, detail)
	}
	if err := t.flush(); err != nil {
		return err
	}
	say(w.c, "validate --drop-failing proposes what passes; --allow-unheld takes families that have no hidden case")
	return nil
}

func printMatrix(w *workspace, report *oracle.Report) error {
	families := map[rule.Family]oracle.FamilyReport{}
	for _, f := range report.Families {
		families[f.Family] = f
	}
	t := newTable(w.c.App.Writer, "RULE", "FAMILY", "VISIBLE", "HIDDEN", "ABSTAINED", "OVERLAP", "CONFLICTS", "PROBES IGNORED")
	for _, r := range report.Rules {
		f := families[r.Family]
		t.row(string(r.Rule), string(r.Family), fmt.Sprintf("%d/%d", r.Visible, f.Visible.Positive), fmt.Sprintf("%d/%d", r.Hidden, f.Hidden.Positive),
			strconv.Itoa(r.Abstained), strconv.Itoa(r.Overlap), strconv.Itoa(r.Conflicts), fmt.Sprintf("%d/%d", r.ProbesIgnored, r.Probes))
	}
	return t.flush()
}

// verifyEnvelope verifies a proof with a host's public key.
func verifyEnvelope(envelope []byte, keyPath string) (proofs.Verified, error) {
	key, err := proofs.LoadPublicKey(keyPath)
	if err != nil {
		return proofs.Verified{}, err
	}
	return proofs.Verify(envelope, key)
}
