package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"signalbox/proofs"
	"signalbox/registry"
	"signalbox/rule"
)

// act is one lifecycle operation, as its command makes it, on a stage's home.
type act func(ctx context.Context, r *registry.Registry, stage string) error

var change = registry.Change{Who: "crash", Why: "to see what survives"}

// acts are all the operations that change what is in a home. init and naive are
// beside them, since they work without an open registry.
var acts = map[string]act{
	"ingest": func(ctx context.Context, r *registry.Registry, _ string) error {
		lines, err := registry.ParseHistory(strings.NewReader(history("cubes", 8)))
		if err != nil {
			return err
		}
		_, err = r.Ingest(ctx, lines, registry.IngestOptions{CertifiedBy: "crash", From: "history"}, change)
		return err
	},
	"certify": func(ctx context.Context, r *registry.Registry, _ string) error {
		_, err := r.Certify(ctx, []string{"later-0"}, "crash", change)
		return err
	},
	"add-rule": func(ctx context.Context, r *registry.Registry, _ string) error {
		_, err := r.AddRule(ctx, source("third"), change)
		return err
	},
	"save-proposal": func(ctx context.Context, r *registry.Registry, stage string) error {
		verified, err := readProof(r, stage)
		if err != nil {
			return err
		}
		p := verified.Predicate()
		return r.SaveProposal(ctx, registry.Proposal{Attempt: "a1", Members: p.Members, Mapping: p.Mapping, Proof: verified.Envelope()}, change)
	},
	"activate": func(ctx context.Context, r *registry.Registry, stage string) error {
		verified, err := readProof(r, stage)
		if err != nil {
			return err
		}
		_, err = r.Activate(ctx, verified, anyEngine{}, change)
		return err
	},
	"disable": func(ctx context.Context, r *registry.Registry, _ string) error {
		return r.Disable(ctx, theRule, change)
	},
	"lock": func(ctx context.Context, r *registry.Registry, _ string) error {
		return r.Lock(ctx, theRule, change)
	},
	"wrong": func(ctx context.Context, r *registry.Registry, _ string) error {
		return r.Wrong(ctx, theRule, rule.Case{
			ID: "wrong-1", Family: "squares", Task: rule.Task{Instruction: "do squares", Input: "99"}, Fallback: true, CertifiedBy: "crash",
		}, change)
	},
	"reveal": func(ctx context.Context, r *registry.Registry, _ string) error {
		s, err := r.Snapshot(ctx)
		if err != nil {
			return err
		}
		cases, err := s.Cases(ctx)
		if err != nil {
			return err
		}
		for _, c := range cases {
			if c.Part == rule.AdmissionPart {
				return r.Reveal(ctx, []string{c.ID}, change)
			}
		}
		return fmt.Errorf("no admission case to reveal")
	},
	"set-environment": func(ctx context.Context, r *registry.Registry, _ string) error {
		changed := environment()
		changed.Kernel = rule.DigestOf([]byte("another kernel"))
		return r.SetEnvironment(ctx, changed, change)
	},
}

// anyEngine finds every environment as it was.
type anyEngine struct{}

func (anyEngine) Check(context.Context, rule.Environment) error { return nil }

func readProof(r *registry.Registry, stage string) (proofs.Verified, error) {
	envelope, err := os.ReadFile(filepath.Join(stage, "proof"))
	if err != nil {
		return proofs.Verified{}, err
	}
	public, err := proofs.LoadPublicKey(filepath.Join(r.Keys(), proofs.PublicKeyFile))
	if err != nil {
		return proofs.Verified{}, err
	}
	return proofs.Verify(envelope, public)
}

// writer makes one act on the home of a stage and says ACK once it has returned.
// It is the process that is killed.
func writer(name, stage string) int {
	if !strings.HasPrefix(name, commitWord) { // or the collector's calls are counted
		debug.SetGCPercent(-1)
		runtime.GOMAXPROCS(1)
	}
	if _, err := os.Stdout.WriteString(begin); err != nil {
		return 1
	}
	if err := perform(name, stage); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if _, err := os.Stdout.WriteString(acknowledged); err != nil {
		return 1
	}
	return 0
}

// What a writer says before the act and after it.
const (
	begin        = "BEGIN\n"
	acknowledged = "ACK\n"
)

func perform(name, stage string) error {
	switch name {
	case initAct:
		r, err := initialise(filepath.Join(stage, home))
		if err != nil {
			return err
		}
		return r.Close()
	case naiveAct:
		return naive(stage)
	}
	r, err := registry.Open(filepath.Join(stage, home), registry.Options{LockTimeout: 2 * time.Minute})
	if err != nil {
		return err
	}
	if order, ok := strings.CutPrefix(name, commitWord); ok {
		return commits(context.Background(), r, order)
	}
	// The process ends right after the ACK, as a killed one would.
	return acts[name](context.Background(), r, stage)
}

// naive writes the next registry in place, in pieces, as a program without a
// care would.
func naive(stage string) error {
	data, err := os.ReadFile(filepath.Join(stage, "next"))
	if err != nil {
		return err
	}
	file, err := os.Create(filepath.Join(stage, home, registryFile))
	if err != nil {
		return err
	}
	for len(data) > 0 {
		n := min(500, len(data))
		if _, err := file.Write(data[:n]); err != nil {
			return err
		}
		data = data[n:]
	}
	return file.Close()
}
