package workspace

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"signalbox/maintenance"
	"signalbox/maintenance/author"
	"signalbox/maintenance/gateway"
	"signalbox/oracle"
	"signalbox/oracle/admission"
	"signalbox/proofs"
	"signalbox/registry"
	"signalbox/rule"
)

// history is two families of twelve cases each, so that some are held back.
func history() string {
	var lines strings.Builder
	for i, word := range []string{"ant", "bee", "cat", "dog", "eel", "fox", "gnu", "hen", "ibis", "jay", "koala", "lark"} {
		fmt.Fprintf(&lines, `{"id":"u%02d","family":"Upper case","task":{"instruction":"Uppercase the text","input":%q},"outcome":{"output":%q}}`+"\n", i, word, strings.ToUpper(word))
		fmt.Fprintf(&lines, `{"id":"p%02d","family":"polite","task":{"instruction":"Greet by name","input":%q},"outcome":{"output":"Hello, %s!"}}`+"\n", i, word, word)
	}
	return lines.String()
}

// newDesk returns a desk over a registry that holds the history.
func newDesk(t *testing.T) *Desk {
	t.Helper()
	r, err := registry.Init(t.Context(), filepath.Join(t.TempDir(), "home"), registry.InitOptions{
		Options:      registry.Options{},
		Environments: []rule.Environment{{Name: rule.StarlarkEnvironment, Runtime: "starlark"}},
		Policy:       oracle.DefaultPolicy().Bound(), Who: "tester",
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	lines, err := registry.ParseHistory(strings.NewReader(history()))
	if err != nil {
		t.Fatal(err)
	}
	report, err := r.Ingest(t.Context(), lines, registry.IngestOptions{CertifiedBy: "ann"}, registry.Change{Who: "ann"})
	if err != nil || len(report.Rejected) > 0 {
		t.Fatalf("ingest: %+v, %v", report, err)
	}
	return &Desk{Registry: r, Office: &admission.Office{Registry: r, Programs: runner{}, Tool: "test"}, Who: "maintenance"}
}

func (d *Desk) maintain(t *testing.T, family rule.Family) maintenance.Attempt {
	t.Helper()
	a, err := maintenance.Maintain(t.Context(), maintenance.Deps{
		Home: d.Registry.Dir(), Workspace: d, Programs: runner{}, Ledger: d.Registry.Ledger(), OpenEditor: openLocal(t),
	}, maintenance.Options{Family: family, Endpoint: gateway.Endpoint{
		Model: "builtin", BaseURL: "http://builtin.invalid/v1/", Transport: gateway.InProcess(author.New()),
	}})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestBuiltinAuthor takes certified history to an active rule, with nothing
// but the containers left out.
func TestBuiltinAuthor(t *testing.T) {
	d := newDesk(t)
	a := d.maintain(t, "Upper case")
	if a.Stop != maintenance.StopSubmitted || a.Proof == "" || a.Rule != "upper-case" {
		t.Fatalf("attempt = %+v", a)
	}
	snapshot, err := d.Registry.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	state := snapshot.State()
	if state.Active != nil || len(state.Proposals) != 1 || state.Proposals[0].Proof != a.Proof || state.Proposals[0].Attempt != a.ID {
		t.Fatalf("active = %v, proposals = %+v", state.Active, state.Proposals)
	}
	d.activate(t, state.Proposals[0])
	if again := d.maintain(t, "Upper case"); !again.Skipped {
		t.Errorf("a family that is answered was maintained: %+v", again)
	}
	second := d.maintain(t, "polite")
	if second.Stop != maintenance.StopSubmitted || second.ID != "a0002" {
		t.Errorf("attempt = %+v", second)
	}
	view, err := d.View(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(view.Active) != 1 || view.Active[0].Member.Rule != "upper-case" || view.Known["polite"] != "polite" || len(view.Mapping) != 1 {
		t.Errorf("view = %+v", view)
	}
}

// activate does what a maintainer does with a proposal.
func (d *Desk) activate(t *testing.T, p registry.Proposed) {
	t.Helper()
	envelope, err := d.Registry.Objects().Get(p.Envelope)
	if err != nil {
		t.Fatal(err)
	}
	key, err := proofs.LoadKey(d.Registry.Keys())
	if err != nil {
		t.Fatal(err)
	}
	verified, err := proofs.Verify(envelope, key.Public())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Registry.Activate(t.Context(), verified, sameEngine{}, registry.Change{Who: "mia"}); err != nil {
		t.Fatal(err)
	}
}

type sameEngine struct{}

func (sameEngine) Check(context.Context, rule.Environment) error { return nil }

// TestReveal makes a hidden case visible and nothing else.
func TestReveal(t *testing.T) {
	d := newDesk(t)
	before, err := d.View(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var hidden []string
	for _, c := range before.Cases {
		switch c.Part {
		case rule.AdmissionPart:
			hidden = append(hidden, c.ID)
		case rule.SealedPart:
			t.Fatalf("sealed case %s is in the view", c.ID)
		}
	}
	if len(hidden) < 2 {
		t.Fatalf("%d hidden cases", len(hidden))
	}
	if err := d.Reveal(t.Context(), "a0001", hidden[:1]); err != nil {
		t.Fatal(err)
	}
	after, err := d.View(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range after.Cases {
		want := before.Cases[i].Part
		if c.ID == hidden[0] {
			want = rule.VisiblePart
		}
		if c.Part != want {
			t.Errorf("case %s is %s, want %s", c.ID, c.Part, want)
		}
	}
	if after.Suite != before.Suite {
		t.Error("revealing changed the suite")
	}
	if err := d.Reveal(t.Context(), "a0001", []string{"no such case"}); !errors.Is(err, registry.ErrUnknown) {
		t.Errorf("error = %v for an unknown case", err)
	}
}

// TestLocked refuses to maintain a rule that a maintainer has locked.
func TestLocked(t *testing.T) {
	d := newDesk(t)
	d.maintain(t, "Upper case")
	snapshot, err := d.Registry.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	d.activate(t, snapshot.State().Proposals[0])
	if err := d.Registry.Lock(t.Context(), "upper-case", registry.Change{Who: "mia"}); err != nil {
		t.Fatal(err)
	}
	lines, err := registry.ParseHistory(strings.NewReader(`{"id":"u90","family":"Upper case","task":{"instruction":"Uppercase the text","input":"ox"},"outcome":{"output":"OXEN"}}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Registry.Ingest(t.Context(), lines, registry.IngestOptions{CertifiedBy: "ann"}, registry.Change{Who: "ann"}); err != nil {
		t.Fatal(err)
	}
	_, err = maintenance.Maintain(t.Context(), maintenance.Deps{
		Home: d.Registry.Dir(), Workspace: d, Programs: runner{}, Ledger: d.Registry.Ledger(), OpenEditor: openLocal(t),
	}, maintenance.Options{Family: "Upper case", Endpoint: gateway.Endpoint{Model: "builtin", BaseURL: "http://b/", Transport: gateway.InProcess(author.New())}})
	if !errors.Is(err, maintenance.ErrRefused) || !strings.Contains(err.Error(), "locked") {
		t.Errorf("error = %v, want a refusal that names the lock", err)
	}
}
