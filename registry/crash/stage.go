package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"signalbox/proofs"
	"signalbox/registry"
	"signalbox/rule"
)

// A stage is a folder with the home that a writer works on; beside it lie the
// proof that it activates and the registry that the naive one writes.
const (
	home         = "home"
	registryFile = "registry.json"
	initAct      = "init"
	naiveAct     = "naive"
	theRule      = rule.Name("squares")
)

func environment() rule.Environment {
	return rule.Environment{
		Name: "starlark", Runtime: "starlark", ImageID: rule.DigestOf([]byte("image")), Kernel: rule.DigestOf([]byte("kernel")),
		Limits: rule.Limits{Memory: 64 << 20, CPUs: 1, CallDeadline: time.Second},
	}
}

func initialise(dir string) (*registry.Registry, error) {
	return registry.Init(context.Background(), dir, registry.InitOptions{
		Environments: []rule.Environment{environment()}, Who: "crash",
		Policy: proofs.Policy{Floor: 0.5, Repeats: 2, Probes: true, ScopeWords: rule.DigestOf([]byte("words"))},
	})
}

// history is n history lines of a family.
func history(family string, n int) string {
	var out strings.Builder
	for i := range n {
		fmt.Fprintf(&out, `{"id":"%s-%d","family":"%s","task":{"instruction":"do %s","input":%d},"outcome":{"output":%d}}`+"\n", family, i, family, family, i, i*i)
	}
	return out.String()
}

// source is a revision of the rule.
func source(salt string) rule.Tree {
	return rule.TreeOf(map[string]string{
		rule.ManifestFile: `{"schema":1,"name":"squares","family":"squares","summary":"","environment":"starlark",
			"guard":{"equals":["do squares"]},"args_schema":{"type":"object"},"result_schema":{}}`,
		rule.TriggerFile:  "def trigger(task): return match({}) #" + salt,
		rule.ExecutorFile: "def execute(task, args): return result(output=1)",
	})
}

// build makes a stage whose home has cases, lines that nobody certified, one
// active revision, and a proof for the next one.
func build(ctx context.Context, stage string) error {
	if err := os.Mkdir(stage, 0o700); err != nil {
		return err
	}
	r, err := initialise(filepath.Join(stage, home))
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()
	for from, certified := range map[string]string{history("squares", 16): "crash", history("later", 2): ""} {
		lines, err := registry.ParseHistory(strings.NewReader(from))
		if err != nil {
			return err
		}
		if _, err := r.Ingest(ctx, lines, registry.IngestOptions{CertifiedBy: certified, From: "history"}, change); err != nil {
			return err
		}
	}
	for _, revision := range []string{"first", "second"} {
		member, err := r.AddRule(ctx, source(revision), change)
		if err != nil {
			return err
		}
		verified, err := prove(ctx, r, member)
		if err != nil {
			return err
		}
		if revision == "second" {
			return os.WriteFile(filepath.Join(stage, "proof"), verified.Envelope(), 0o600)
		}
		if _, err := r.Activate(ctx, verified, anyEngine{}, change); err != nil {
			return err
		}
	}
	return nil
}

// prove signs what an honest oracle would state of one member now.
func prove(ctx context.Context, r *registry.Registry, member rule.Member) (proofs.Verified, error) {
	s, err := r.Snapshot(ctx)
	if err != nil {
		return proofs.Verified{}, err
	}
	state := s.State()
	key, err := proofs.LoadKey(r.Keys())
	if err != nil {
		return proofs.Verified{}, err
	}
	envelope, err := proofs.Sign(key, proofs.Predicate{
		Members:      rule.Collection{member},
		Environments: map[rule.Digest]rule.Environment{member.Environment: state.Environments[member.Environment]},
		Mapping:      rule.Mapping{"squares": {theRule}},
		Suite:        proofs.Suite{Digest: state.Suite.Digest, Cases: state.Suite.Cases},
		Policy:       state.Policy, Base: proofs.Base{Generation: state.Generation, Serial: state.Serial},
		Matrix: rule.DigestOf([]byte("matrix")), Tool: "crash", StartedAt: time.Unix(1, 0), FinishedAt: time.Unix(2, 0),
	})
	if err != nil {
		return proofs.Verified{}, err
	}
	return proofs.Verify(envelope, key.Public())
}

// prepare puts what an act starts from into dir, which must be empty.
func prepare(template, dir, name string) error {
	if name == initAct {
		return nil
	}
	return copyTree(template, dir)
}

// copyTree copies folders and regular files with their modes; os.CopyFS doesn't
// keep those.
func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		target := filepath.Join(to, strings.TrimPrefix(path, from))
		if entry.IsDir() {
			if err := os.MkdirAll(target, 0o700); err != nil {
				return err
			}
			return os.Chmod(target, info.Mode().Perm())
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(target, data, info.Mode().Perm())
	})
}
