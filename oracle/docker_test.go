package oracle

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"signalbox/containers"
	"signalbox/fixtures"
	"signalbox/rule"
)

// residents returns real containers with the real kernel. It skips without a
// daemon, and fails under CI.
func residents(t *testing.T) (*containers.Engine, *containers.Residents, rule.Environment) {
	t.Helper()
	kernel := filepath.Join(t.TempDir(), "kernel")
	build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w -buildid=", "-o", kernel, "signalbox/containers/kernel")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building the kernel: %v\n%s", err, out)
	}
	packed, err := os.ReadFile(kernel)
	if err != nil {
		t.Fatal(err)
	}
	engine, err := containers.Open(t.Context(), containers.Options{Workspace: "oracle-test-" + rand.Text(), Kernel: packed})
	if err != nil && os.Getenv("CI") != "true" {
		t.Skipf("no Docker: %v", err)
	}
	if err != nil {
		t.Fatalf("no Docker under CI: %v", err)
	}
	t.Cleanup(func() { engine.Close() })
	environment, err := engine.Starlark(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return engine, engine.Residents(8), environment
}

// load returns a rule's program in an environment.
func load(t *testing.T, tree rule.Tree, environment rule.Environment) rule.Program {
	t.Helper()
	source, manifest, err := rule.ParseSource(tree)
	if err != nil {
		t.Fatal(err)
	}
	return rule.Program{
		Member:   rule.Member{Rule: manifest.Name, Revision: source.Digest(), Environment: environment.Digest()},
		Manifest: manifest, Source: source, Environment: environment,
	}
}

// history reads history lines as cases, every third of them hidden.
func history(t *testing.T, data []byte) (cases []rule.Case) {
	t.Helper()
	for i, line := range bytes.Split(bytes.TrimSpace(data), []byte("\n")) {
		var read struct {
			ID      string      `json:"id"`
			Family  rule.Family `json:"family"`
			Task    rule.Task   `json:"task"`
			Outcome struct {
				rule.Outcome `json:",inline"`
				Fallback     bool `json:"fallback,omitzero"`
			} `json:"outcome"`
			Args     rule.Value    `json:"args,omitzero"`
			Source   string        `json:"source,omitzero"`
			Baseline rule.Baseline `json:"baseline,omitzero"`
		}
		if err := rule.Decode(line, &read); err != nil {
			t.Fatal(err)
		}
		part := rule.VisiblePart
		if i%3 == 2 {
			part = rule.AdmissionPart
		}
		cases = append(cases, rule.Case{ID: read.ID, Family: read.Family, Task: read.Task, Outcome: read.Outcome.Outcome,
			Fallback: read.Outcome.Fallback, Args: read.Args, Part: part, CertifiedBy: "test"})
	}
	return cases
}

// TestStartersPass runs the rules that ship with the program, in containers,
// over all of their cases and probes.
func TestStartersPass(t *testing.T) {
	_, programs, environment := residents(t)
	p := Proposal{Policy: DefaultPolicy(), Cases: history(t, fixtures.StarterCases())}
	for _, starter := range fixtures.Starter() {
		p.Programs = append(p.Programs, load(t, starter.Tree, environment))
	}
	report, err := Check(t.Context(), programs, p, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range report.Refusals {
		t.Errorf("refused: %+v", r)
	}
	if report.Counts.Covered == 0 || report.Counts.Probes == 0 {
		t.Errorf("counted %+v", report.Counts)
	}
	again, err := Check(t.Context(), programs, p, nil)
	if err != nil || again.Matrix != report.Matrix {
		t.Errorf("a second check gives another matrix: %v", err)
	}
}

// withTrigger returns the first starter's program with another trigger.
func withTrigger(t *testing.T, environment rule.Environment, star string) rule.Program {
	t.Helper()
	tree := rule.Tree{}
	for path, data := range fixtures.Starter()[0].Tree {
		tree[path] = data
	}
	tree[rule.TriggerFile] = []byte(star)
	return load(t, tree, environment)
}

// TestHostileTriggersAreRefused has programs that don't end, don't load, and
// match everything.
func TestHostileTriggersAreRefused(t *testing.T) {
	_, programs, environment := residents(t)
	cases := history(t, fixtures.StarterCases())
	for name, test := range map[string]struct {
		star string
		kind Kind
	}{
		"doesn't end":        {"def trigger(task):\n  for i in range(1000000000):\n    pass\n  return no_match()\n", KindTrigger},
		"doesn't load":       {"def trigger(task\n", KindTrigger},
		"matches everything": {"def trigger(task):\n  return match({})\n", KindGuard},
		"says something":     {"def trigger(task):\n  return \"match\"\n", KindTrigger},
	} {
		p := Proposal{Policy: DefaultPolicy(), Programs: []rule.Program{withTrigger(t, environment, test.star)}}
		family := p.Programs[0].Manifest.Family
		for _, c := range cases {
			if c.Family == family && len(p.Cases) < 2 || c.Family != family && test.kind == KindGuard {
				p.Cases = append(p.Cases, c)
			}
		}
		p.Policy.Words = p.Policy.Words[:1]
		report, err := Check(t.Context(), programs, p, nil)
		if err != nil {
			t.Fatal(err)
		}
		if report.Passed() || report.Rules[0].Refused[test.kind] == 0 {
			t.Errorf("%s: refused %v", name, report.Rules[0].Refused)
		}
	}
}

// TestAClosedEngineIsNoVerdict: what could not run is not refused.
func TestAClosedEngineIsNoVerdict(t *testing.T) {
	engine, programs, environment := residents(t)
	if err := engine.Close(); err != nil {
		t.Fatal(err)
	}
	p := Proposal{Policy: DefaultPolicy(), Cases: history(t, fixtures.StarterCases())}
	p.Programs = []rule.Program{load(t, fixtures.Starter()[0].Tree, environment)}
	report, err := Check(context.Background(), programs, p, nil)
	if !errors.Is(err, ErrUnavailable) || report != nil {
		t.Errorf("%v, %v: want ErrUnavailable", report, err)
	}
}
