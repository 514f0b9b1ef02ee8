package registry

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"signalbox/proofs"
	"signalbox/registry/ledger"
	"signalbox/rule"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// ann is who makes the changes of tests.
var ann = Change{Who: "ann", Why: "test"}

// starlark is an environment that nothing here runs.
func starlark() rule.Environment {
	return rule.Environment{
		Name: "starlark", Runtime: "starlark", ImageID: rule.DigestOf([]byte("image")), Kernel: rule.DigestOf([]byte("kernel")),
		Limits:  rule.Limits{Memory: 64 << 20, CPUs: 1, CallDeadline: time.Second},
		Seccomp: map[rule.Role]rule.Digest{rule.RoleTrigger: rule.DigestOf([]byte("profile"))},
		Engine:  rule.Engine{Docker: "27.0", Runtime: "runc", LinuxKernel: "6.1", Architecture: "amd64", Cgroup: "2"},
	}
}

// engine is an EnvironmentChecker that answers what it is told.
type engine struct {
	answer error
	asked  []rule.Environment
}

func (e *engine) Check(_ context.Context, environment rule.Environment) error {
	e.asked = append(e.asked, environment)
	return e.answer
}

var policy = proofs.Policy{Floor: 0.5, Repeats: 2, Probes: true, ScopeWords: rule.DigestOf([]byte("words"))}

func newHome(t testing.TB) *Registry {
	t.Helper()
	r, err := Init(context.Background(), filepath.Join(t.TempDir(), "home"), InitOptions{Environments: []rule.Environment{starlark()}, Policy: policy})
	must(t, err)
	t.Cleanup(func() { must(t, r.Close()) })
	return r
}

// reopen opens the home of r a second time, as another process would.
func reopen(t testing.TB, r *Registry) *Registry {
	t.Helper()
	again, err := Open(r.Dir(), Options{LockTimeout: 10 * time.Second})
	must(t, err)
	t.Cleanup(func() { must(t, again.Close()) })
	return again
}

func snapshot(t testing.TB, r *Registry) *Snapshot {
	t.Helper()
	s, err := r.Snapshot(context.Background())
	must(t, err)
	return s
}

// source is a rule's source; salt makes another revision of it.
func source(name, family, salt string) rule.Tree {
	manifest := fmt.Sprintf(`{"schema":1,"name":%q,"family":%q,"summary":"","environment":"starlark",
		"guard":{"equals":["do it"]},"args_schema":{"type":"object"},"result_schema":{}}`, name, family)
	return rule.TreeOf(map[string]string{
		rule.ManifestFile: manifest,
		rule.TriggerFile:  "def trigger(task): return match({}) #" + salt,
		rule.ExecutorFile: "def execute(task, args): return result(output=1)",
	})
}

func addRule(t testing.TB, r *Registry, name, family, salt string) rule.Member {
	t.Helper()
	member, err := r.AddRule(context.Background(), source(name, family, salt), ann)
	must(t, err)
	return member
}

// history is n history lines of a family, as a file has them.
func history(family string, n int) string {
	var out strings.Builder
	for i := range n {
		fmt.Fprintf(&out, `{"id":"%s-%d","family":%q,"task":{"instruction":"do %s","input":%d},"outcome":{"output":%d}}`+"\n",
			family, i, family, family, i, i*i)
	}
	return out.String()
}

func parse(t testing.TB, text string) []Line {
	t.Helper()
	lines, err := ParseHistory(strings.NewReader(text))
	must(t, err)
	return lines
}

func ingest(t testing.TB, r *Registry, text string) IngestReport {
	t.Helper()
	report, err := r.Ingest(context.Background(), parse(t, text), IngestOptions{CertifiedBy: "ann", From: "test"}, ann)
	must(t, err)
	return report
}

// predicate is what an honest oracle would state of the members today.
func predicate(s *Snapshot, members ...rule.Member) proofs.Predicate {
	state := s.State()
	environments := map[rule.Digest]rule.Environment{}
	mapping := rule.Mapping{}
	for _, member := range members {
		environments[member.Environment] = state.Environments[member.Environment]
		family := state.Rules[member.Rule].Family
		mapping[family] = append(mapping[family], member.Rule)
	}
	return proofs.Predicate{
		Members: members, Environments: environments, Mapping: mapping,
		Suite:  proofs.Suite{Digest: state.Suite.Digest, Cases: state.Suite.Cases},
		Policy: state.Policy, Base: proofs.Base{Generation: state.Generation, Serial: state.Serial},
		Matrix: rule.DigestOf([]byte("matrix")), Tool: "test",
		StartedAt: time.Unix(1, 0), FinishedAt: time.Unix(2, 0),
	}
}

// sign signs with the home's own key.
func sign(t testing.TB, r *Registry, p proofs.Predicate) proofs.Verified {
	t.Helper()
	return signFor(t, r, p)
}

// fatal is what testing.TB and rapid.T have in common.
type fatal interface{ Fatal(args ...any) }

func signFor(t fatal, r *Registry, p proofs.Predicate) proofs.Verified {
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	key, err := proofs.LoadKey(r.Keys())
	must(err)
	envelope, err := proofs.Sign(key, p)
	must(err)
	verified, err := proofs.Verify(envelope, key.Public())
	must(err)
	return verified
}

// activated is a home with cases and one active rule.
func activated(t testing.TB) (*Registry, rule.Member) {
	t.Helper()
	r := newHome(t)
	ingest(t, r, history("squares", 16))
	member := addRule(t, r, "squares", "squares", "")
	_, err := r.Activate(context.Background(), sign(t, r, predicate(snapshot(t, r), member)), &engine{}, ann)
	must(t, err)
	return r, member
}

// wantStale asserts that err is a StaleError with the reason and a word of What.
func wantStale(t testing.TB, err error, reason rule.Reason, what string) {
	t.Helper()
	var stale *StaleError
	if !errors.As(err, &stale) || stale.Reason != reason || !strings.Contains(stale.What, what) {
		t.Errorf("got %v, want a StaleError %s about %q", err, reason, what)
	}
}

func readFile(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	must(t, err)
	return data
}

func replaceFile(t testing.TB, path string, data []byte) {
	t.Helper()
	must(t, os.WriteFile(path+".new", data, 0o600))
	must(t, os.Rename(path+".new", path))
}

func removeObject(t testing.TB, path string) {
	t.Helper()
	must(t, os.Remove(path))
}

func markOf(serial uint64, digest rule.Digest) ledger.Mark {
	return ledger.Mark{Serial: serial, Digest: digest}
}
