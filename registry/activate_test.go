package registry

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"

	"signalbox/proofs"
	"signalbox/rule"
)

// ready is a home with cases and a proposed rule, and the predicate that holds
// for it.
func ready(t *testing.T) (*Registry, proofs.Predicate) {
	t.Helper()
	r := newHome(t)
	ingest(t, r, history("squares", 16))
	member := addRule(t, r, "squares", "squares", "")
	return r, predicate(snapshot(t, r), member)
}

func TestActivateCommitsTheNextGeneration(t *testing.T) {
	r, p := ready(t)
	before := snapshot(t, r)
	verified := sign(t, r, p)
	after, err := r.Activate(t.Context(), verified, &engine{}, Change{Who: "bob", Why: "looks good"})
	must(t, err)
	active := after.State().Active
	if after.Generation() != before.Generation()+1 || active.Generation != after.Generation() || active.Proof != verified.ID() ||
		active.By != "bob" || active.Why != "looks good" || !slices.Equal(active.Members, p.Members) || active.Suite != p.Suite.Digest {
		t.Errorf("active: %+v at generation %d", active, after.Generation())
	}
	if got, _ := after.State().Revision("squares", p.Members[0].Revision); got.State != RevisionActive {
		t.Errorf("revision is %q", got.State)
	}
	if _, err := r.Activate(t.Context(), verified, &engine{}, ann); err == nil {
		t.Error("one proof activated twice: want an error, its base has passed")
	}
}

// TestActivateRefuses alters every binding of a proof, signed by the right key
// all the same. None may be activated.
func TestActivateRefuses(t *testing.T) {
	other := rule.DigestOf([]byte("other"))
	cases := []struct {
		name   string
		what   string
		spoil  func(p *proofs.Predicate)
		reason rule.Reason
	}{
		{"generation before", "the generation", func(p *proofs.Predicate) { p.Base.Generation-- }, rule.ReasonProofStale},
		{"generation after", "the generation", func(p *proofs.Predicate) { p.Base.Generation++ }, rule.ReasonProofStale},
		{"suite", "the suite", func(p *proofs.Predicate) { p.Suite.Digest = other }, rule.ReasonProofStale},
		{"case count", "the suite's cases", func(p *proofs.Predicate) { p.Suite.Cases-- }, rule.ReasonProofStale},
		{"floor", "the policy", func(p *proofs.Predicate) { p.Policy.Floor = 0 }, rule.ReasonProofStale},
		{"repeats", "the policy", func(p *proofs.Predicate) { p.Policy.Repeats = 3 }, rule.ReasonProofStale},
		{"probes", "the policy", func(p *proofs.Predicate) { p.Policy.Probes = false }, rule.ReasonProofStale},
		{"scope words", "the policy", func(p *proofs.Predicate) { p.Policy.ScopeWords = other }, rule.ReasonProofStale},
		{"revision", `rule "squares"`, func(p *proofs.Predicate) { p.Members[0].Revision = other }, rule.ReasonProofStale},
		{"rule", `rule "cubes"`, func(p *proofs.Predicate) {
			p.Members[0].Rule, p.Mapping = "cubes", rule.Mapping{"squares": {"cubes"}}
		}, rule.ReasonProofStale},
		{"family", "the family of rule", func(p *proofs.Predicate) { p.Mapping = rule.Mapping{"cubes": {"squares"}} }, rule.ReasonProofStale},
		{"weaker environment", `environment "starlark"`, func(p *proofs.Predicate) {
			weak := starlark()
			weak.Seccomp = map[rule.Role]rule.Digest{rule.RoleTrigger: other}
			p.Members[0].Environment = weak.Digest()
			p.Environments = map[rule.Digest]rule.Environment{weak.Digest(): weak}
		}, rule.ReasonProofStale},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r, p := ready(t)
			good := predicate(snapshot(t, r), p.Members[0])
			p.Members = slices.Clone(p.Members)
			c.spoil(&p)
			before := readFile(t, r.path(registryFile))
			_, err := r.Activate(t.Context(), sign(t, r, p), &engine{}, ann)
			wantStale(t, err, c.reason, c.what)
			if !slices.Equal(readFile(t, r.path(registryFile)), before) {
				t.Error("the registry changed")
			}
			_, err = r.Activate(t.Context(), sign(t, r, good), &engine{}, ann) // the control
			must(t, err)
		})
	}
}

func TestActivateTakesOnlyThisHostsProof(t *testing.T) {
	r, p := ready(t)
	stranger := newHome(t)
	if _, err := r.Activate(t.Context(), sign(t, stranger, p), &engine{}, ann); !errors.Is(err, proofs.ErrBad) {
		t.Errorf("another host's proof: %v, want ErrBad", err)
	}
	_, err := r.Activate(t.Context(), proofs.Verified{}, &engine{}, ann)
	wantStale(t, err, rule.ReasonUnproven, "no proof")
}

// TestChangeBetweenCheckAndCommit changes what a proof binds after the writer
// has looked at it for the first time.
func TestChangeBetweenCheckAndCommit(t *testing.T) {
	t.Run("environment", func(t *testing.T) {
		r, p := ready(t)
		changed := fmt.Errorf("image was a, is b: %w", rule.ErrEnvironmentChanged)
		_, err := r.Activate(t.Context(), sign(t, r, p), &engine{answer: changed}, ann)
		wantStale(t, err, rule.ReasonEnvironmentChanged, "image was a, is b")
	})
	t.Run("engine that can't be asked", func(t *testing.T) {
		r, p := ready(t)
		_, err := r.Activate(t.Context(), sign(t, r, p), &engine{answer: errors.New("no daemon")}, ann)
		wantStale(t, err, rule.ReasonSandboxUnavailable, "no daemon")
	})
	t.Run("cancelled", func(t *testing.T) {
		r, p := ready(t)
		ctx, cancel := context.WithCancel(t.Context())
		r.atStep = func(step string) error {
			if step == "checking" {
				cancel()
			}
			return nil
		}
		if _, err := r.Activate(ctx, sign(t, r, p), &engine{answer: errors.New("x")}, ann); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want context.Canceled", err)
		}
	})
	t.Run("source", func(t *testing.T) {
		r, p := ready(t)
		path := r.objects.Path(rule.DigestOf(source("squares", "squares", "")[rule.ExecutorFile]))
		r.atStep = func(step string) error {
			if step == "checking" {
				must(t, os.Chmod(path, 0o600))
				must(t, os.WriteFile(path, []byte("def execute(task, args): return result(output=666)"), 0o600))
			}
			return nil
		}
		if _, err := r.Activate(t.Context(), sign(t, r, p), &engine{}, ann); !errors.Is(err, ErrDamaged) {
			t.Errorf("got %v, want ErrDamaged", err)
		}
		if snapshot(t, r).State().Active != nil {
			t.Error("it was activated")
		}
	})
	t.Run("another activation", func(t *testing.T) {
		r, p := ready(t)
		verified := sign(t, r, p)
		rival := reopen(t, r)
		if _, err := rival.Activate(t.Context(), verified, &engine{}, ann); err != nil {
			t.Fatal(err)
		}
		_, err := r.Activate(t.Context(), verified, &engine{}, ann)
		wantStale(t, err, rule.ReasonProofStale, "the generation")
	})
}

func TestActivateRefusesADisabledRevision(t *testing.T) {
	r, p := ready(t)
	must(t, r.Disable(t.Context(), "squares", ann))
	_, err := r.Activate(t.Context(), sign(t, r, p), &engine{}, ann)
	wantStale(t, err, rule.ReasonProofStale, `rule "squares"`)
	addRule(t, r, "squares", "squares", "") // adding it again proposes it again
	_, err = r.Activate(t.Context(), sign(t, r, p), &engine{}, ann)
	must(t, err)
}

// TestAuthoriseFollowsEveryChange makes each change that a proof doesn't survive.
func TestAuthoriseFollowsEveryChange(t *testing.T) {
	weaker := policy
	weaker.Floor = 0.1
	moved := starlark()
	moved.Engine.Docker = "28.0"
	for name, c := range map[string]struct {
		change func(r *Registry) error
		stale  string // what the error names; "" where nothing went stale
	}{
		"nothing":         {func(*Registry) error { return nil }, ""},
		"a lock":          {func(r *Registry) error { return r.Lock(t.Context(), "squares", ann) }, ""},
		"an unused rule":  {func(r *Registry) error { return second(r.AddRule(t.Context(), source("cubes", "cubes", ""), ann)) }, ""},
		"a new revision":  {func(r *Registry) error { return second(r.AddRule(t.Context(), source("squares", "squares", "2"), ann)) }, ""},
		"a case":          {func(r *Registry) error { ingest(t, r, history("cubes", 1)); return nil }, "the suite"},
		"another policy":  {func(r *Registry) error { return r.SetPolicy(t.Context(), weaker, ann) }, "the policy"},
		"its environment": {func(r *Registry) error { return r.SetEnvironment(t.Context(), moved, ann) }, "environment"},
		"a disabled rule": {func(r *Registry) error { return r.Disable(t.Context(), "squares", ann) }, "rule \"squares\""},
		"a revealed case": {func(r *Registry) error { return r.Reveal(t.Context(), []string{admissionID(t, r)}, ann) }, ""},
		"unverified lines": {func(r *Registry) error {
			return second(r.Ingest(t.Context(), parse(t, goodLine), IngestOptions{}, ann))
		}, ""},
		"another environment": {func(r *Registry) error {
			python := starlark()
			python.Name = "python"
			return r.SetEnvironment(t.Context(), python, ann)
		}, ""},
	} {
		r, _ := activated(t)
		must(t, c.change(r))
		_, err := snapshot(t, r).Authorise(t.Context(), &engine{})
		if c.stale != "" {
			if err == nil {
				t.Errorf("%s: still authorised", name)
				continue
			}
			wantStale(t, err, rule.ReasonProofStale, c.stale)
		} else if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// admissionID returns the ID of a hidden case.
func admissionID(t *testing.T, r *Registry) string {
	t.Helper()
	cases, err := snapshot(t, r).Cases(t.Context())
	must(t, err)
	for _, c := range cases {
		if c.Part == rule.AdmissionPart {
			return c.ID
		}
	}
	t.Fatal("no admission case")
	return ""
}

// TestAuthoriseComparesEveryBinding changes the registry behind the proof's back
// (a state that no method makes) with the generation left alone.
func TestAuthoriseComparesEveryBinding(t *testing.T) {
	other := rule.DigestOf([]byte("other"))
	for name, c := range map[string]struct {
		spoil func(s *State)
		what  string
	}{
		"proof":       {func(s *State) { s.Active.Proof = other }, "identity"},
		"activation":  {func(s *State) { s.Active.Generation-- }, "generation of activation"},
		"generation":  {func(s *State) { s.Generation++ }, "the generation"},
		"mapping":     {func(s *State) { s.Active.Mapping = rule.Mapping{"x": {"squares"}} }, "mapping"},
		"suite":       {func(s *State) { s.Suite.Digest = other }, "the suite"},
		"suite cases": {func(s *State) { s.Suite.Cases++ }, "cases"},
		"policy":      {func(s *State) { s.Policy.Repeats = 9 }, "the policy"},
		"members": {func(s *State) {
			known := s.Rules["squares"]
			known.Revisions = append(known.Revisions, Revision{Digest: other, Environment: "starlark", State: RevisionActive})
			s.Rules["squares"] = known
			s.Active.Members[0].Revision = other
		}, "the collection"},
	} {
		r, _ := activated(t)
		must(t, r.commit(t.Context(), ann, "x", func(s *State) error { c.spoil(s); return nil }))
		_, err := snapshot(t, r).Authorise(t.Context(), &engine{})
		if err == nil {
			t.Errorf("%s: still authorised", name)
			continue
		}
		wantStale(t, err, rule.ReasonProofStale, c.what)
	}
}

func TestAuthoriseAsksTheEngine(t *testing.T) {
	r, _ := activated(t)
	s := snapshot(t, r)
	for _, c := range []struct {
		answer error
		reason rule.Reason
	}{
		{fmt.Errorf("kernel was a, is b: %w", rule.ErrEnvironmentChanged), rule.ReasonEnvironmentChanged},
		{errors.New("daemon is down"), rule.ReasonSandboxUnavailable},
	} {
		_, err := s.Authorise(t.Context(), &engine{answer: c.answer})
		wantStale(t, err, c.reason, c.answer.Error())
	}
	_, err := s.Authorise(t.Context(), &engine{})
	must(t, err)
	_, err = snapshot(t, newHome(t)).Authorise(t.Context(), &engine{})
	wantStale(t, err, rule.ReasonUnproven, "no collection is active")
}

func TestSnapshotStaysAsItWas(t *testing.T) {
	r, _ := activated(t)
	s := snapshot(t, r)
	serial, identity := s.Serial(), s.Identity()
	if now, err := r.Stat(); err != nil || now != identity {
		t.Errorf("Stat %+v, %v: want %+v", now, err, identity)
	}
	must(t, r.Disable(t.Context(), "squares", ann))
	if s.Serial() != serial || s.Identity() != identity {
		t.Error("the snapshot changed")
	}
	if _, err := s.Authorise(t.Context(), &engine{}); err != nil {
		t.Errorf("the old snapshot: %v", err)
	}
	if now, err := r.Stat(); err != nil || now == identity {
		t.Errorf("Stat says that nothing changed (%v)", err)
	}
}

func TestProposals(t *testing.T) {
	r, p := ready(t)
	verified := sign(t, r, p)
	proposal := Proposal{Attempt: "a1", Members: p.Members, Mapping: p.Mapping, Proof: verified.Envelope()}
	before := snapshot(t, r)
	for range 2 { // the second time nothing is new
		must(t, r.SaveProposal(t.Context(), proposal, ann))
	}
	s := snapshot(t, r)
	if s.Generation() != before.Generation() || s.Serial().N != before.Serial().N+1 || len(s.State().Proposals) != 1 {
		t.Errorf("state: %+v", s.State())
	}
	got := s.State().Proposals[0]
	if got.Attempt != "a1" || got.Proof != verified.ID() || got.Base != p.Base.Generation {
		t.Errorf("proposal: %+v", got)
	}
	for name, spoiled := range map[string]Proposal{
		"other mapping": {Members: p.Members, Mapping: rule.Mapping{"x": {"squares"}}, Proof: proposal.Proof},
		"other members": {Members: rule.Collection{{Rule: "x"}}, Mapping: p.Mapping, Proof: proposal.Proof},
		"no proof":      {Members: p.Members, Mapping: p.Mapping},
		"altered proof": {Members: p.Members, Mapping: p.Mapping, Proof: append(verified.Envelope()[:50:50], 'x')},
		"another host":  {Members: p.Members, Mapping: p.Mapping, Proof: sign(t, newHome(t), p).Envelope()},
	} {
		if err := r.SaveProposal(t.Context(), spoiled, ann); err == nil {
			t.Errorf("%s: want an error", name)
		}
	}
	after, err := r.Activate(t.Context(), verified, &engine{}, ann)
	must(t, err)
	if len(after.State().Proposals) != 0 {
		t.Error("the proposal that became active still waits")
	}
}

func TestPastAndRollback(t *testing.T) {
	r, first := activated(t)
	firstGeneration := snapshot(t, r).Generation()
	next := addRule(t, r, "squares", "squares", "2")
	_, err := r.Activate(t.Context(), sign(t, r, predicate(snapshot(t, r), next)), &engine{}, ann)
	must(t, err)
	s := snapshot(t, r)
	past, err := s.Past(firstGeneration)
	must(t, err)
	if past.Members[0] != first || past.Until.IsZero() {
		t.Errorf("past: %+v", past)
	}
	if now, err := s.Past(s.Generation()); err != nil || now.Members[0] != next {
		t.Errorf("the active one: %+v, %v", now, err)
	}
	if _, err := s.Past(99); !errors.Is(err, ErrUnknown) {
		t.Errorf("got %v, want ErrUnknown", err)
	}
	if old, _ := s.State().Revision("squares", first.Revision); old.State != RevisionRetired {
		t.Errorf("the earlier revision is %q", old.State)
	}
	_, err = r.Activate(t.Context(), sign(t, r, predicate(s, past.Members...)), &engine{}, ann)
	must(t, err)
	if got := snapshot(t, r).State().Active.Members[0]; got != first {
		t.Errorf("active after rollback: %+v", got)
	}
}

// TestActivationKilledAtEachStep: either the old or the new collection is active.
func TestActivationKilledAtEachStep(t *testing.T) {
	for _, step := range append([]string{"checking", "activating"}, commitSteps...) {
		r, p := ready(t)
		stop := errors.New("stop")
		r.atStep = func(at string) error {
			if at == step {
				return stop
			}
			return nil
		}
		if _, err := r.Activate(t.Context(), sign(t, r, p), &engine{}, ann); !errors.Is(err, stop) {
			t.Errorf("%s: %v", step, err)
		}
		r.atStep = func(string) error { return nil }
		s := snapshot(t, r)
		_, err := s.Authorise(t.Context(), &engine{})
		if (err == nil) != (s.State().Active != nil) {
			t.Errorf("%s: active %v, authorised %v", step, s.State().Active, err)
		}
	}
}
