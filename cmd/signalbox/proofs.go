package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/urfave/cli/v2"

	"signalbox/proofs"
	"signalbox/registry"
	"signalbox/rule"
)

func proofsCommand() *cli.Command {
	return &cli.Command{
		Name:  "proofs",
		Usage: "list, show and verify proofs",
		Subcommands: []*cli.Command{
			{Name: "list", Usage: "the saved proofs, newest last", Action: command(listProofs)},
			{
				Name: "show", Usage: "print what a proof states", ArgsUsage: "PROOF",
				Description: "Prints the statement; with --envelope the signed envelope itself, for proofs verify elsewhere.",
				Flags:       []cli.Flag{&cli.BoolFlag{Name: "envelope", Usage: "print the signed envelope"}},
				Action:      command(showProof, "PROOF"),
			},
			{
				Name: "verify", Usage: "verify an exported envelope with a host's public key", ArgsUsage: "FILE",
				Flags:  []cli.Flag{&cli.StringFlag{Name: "key", Usage: "the host's public key `FILE` (keys/host.pub)"}},
				Action: verifyProof,
			},
		},
	}
}

// savedProof is a proof that the registry names.
type savedProof struct {
	Proof      rule.Digest     `json:"proof"`
	Envelope   rule.Digest     `json:"envelope"`
	State      string          `json:"state"`
	Generation rule.Generation `json:"generation"`
	Members    int             `json:"members"`
	Attempt    string          `json:"attempt,omitzero"`
	When       time.Time       `json:"when"`
	By         string          `json:"by"`
}

// allProofs returns the past, proposed and active proofs.
func allProofs(state *registry.State) []savedProof {
	all := []savedProof{}
	for _, p := range state.Past {
		all = append(all, savedProof{p.Proof, p.Envelope, "past", p.Generation, len(p.Members), "", p.Since, p.By})
	}
	for _, p := range state.Proposals {
		all = append(all, savedProof{p.Proof, p.Envelope, "proposed", p.Base + 1, len(p.Members), p.Attempt, p.When, p.By})
	}
	if p := state.Active; p != nil {
		all = append(all, savedProof{p.Proof, p.Envelope, "active", p.Generation, len(p.Members), "", p.Since, p.By})
	}
	return all
}

func listProofs(ctx context.Context, w *workspace) error {
	snapshot, err := w.registry.Snapshot(ctx)
	if err != nil {
		return err
	}
	all := allProofs(snapshot.State())
	if w.c.Bool("json") {
		return printJSON(w.c, all)
	}
	t := newTable(w.c.App.Writer, "PROOF", "STATE", "FOR GENERATION", "RULES", "ATTEMPT", "WHEN", "BY")
	for _, p := range all {
		t.row(p.Proof.Short(), p.State, strconv.FormatUint(uint64(p.Generation), 10), strconv.Itoa(p.Members), p.Attempt, p.When.Format(time.DateTime), p.By)
	}
	return t.flush()
}

func showProof(ctx context.Context, w *workspace) error {
	snapshot, err := w.registry.Snapshot(ctx)
	if err != nil {
		return err
	}
	verified, err := w.savedProof(snapshot, w.c.Args().First())
	if err != nil {
		return err
	}
	if w.c.Bool("envelope") {
		_, err := w.c.App.Writer.Write(verified.Envelope())
		return err
	}
	return printJSON(w.c, verified.Predicate())
}

func verifyProof(c *cli.Context) error {
	if err := wantArguments(c, "FILE"); err != nil {
		return err
	}
	if c.String("key") == "" {
		return usageError("proofs verify needs --key FILE, the host's public key")
	}
	envelope, err := os.ReadFile(c.Args().First())
	if err != nil {
		return fmt.Errorf("reading the proof: %w", err)
	}
	verified, err := verifyEnvelope(envelope, c.String("key"))
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return printJSON(c, verified.Predicate())
	}
	printVerified(c, verified)
	return nil
}

func printVerified(c *cli.Context, verified proofs.Verified) {
	p := verified.Predicate()
	fmt.Fprintf(c.App.Writer, "proof %s holds: %s over %s for generation %d\n",
		verified.ID().Short(), plural(len(p.Members), "rule"), plural(p.Suite.Cases, "case"), p.Base.Generation+1)
	for _, text := range p.DoesNotProve {
		fmt.Fprintf(c.App.Writer, "it does not prove: %s\n", text)
	}
}
