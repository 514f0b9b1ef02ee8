package registry

import (
	"errors"
	"strings"
	"testing"

	"signalbox/proofs"
	"signalbox/rule"
)

func TestAddRule(t *testing.T) {
	r := newHome(t)
	member := addRule(t, r, "squares", "squares", "")
	if member.Rule != "squares" || member.Revision != source("squares", "squares", "").Digest() || member.Environment != starlark().Digest() {
		t.Errorf("member: %+v", member)
	}
	if again := addRule(t, r, "squares", "squares", ""); again != member {
		t.Errorf("once more: %+v", again)
	}
	s := snapshot(t, r)
	if s.Serial().N != 2 || s.Generation() != 1 {
		t.Errorf("serial %d, generation %d: want 2, 1", s.Serial().N, s.Generation())
	}
	program, err := s.Program(member)
	if err != nil || program.Source.Digest() != member.Revision || program.Environment.Name != "starlark" || program.Manifest.Family != "squares" {
		t.Errorf("program %+v, %v", program.Member, err)
	}
	if got, err := s.Member("squares", member.Revision); err != nil || got != member {
		t.Errorf("Member: %+v, %v", got, err)
	}
	stranger := member
	stranger.Revision = rule.DigestOf([]byte("x"))
	for name, err := range map[string]error{
		"Member of no rule":     second(s.Member("none", member.Revision)),
		"Program of none":       second(s.Program(stranger)),
		"Program, unknown home": second(s.Program(rule.Member{Rule: member.Rule, Revision: member.Revision})),
	} {
		if !errors.Is(err, ErrUnknown) {
			t.Errorf("%s: %v, want ErrUnknown", name, err)
		}
	}
}

func TestAddRuleRefuses(t *testing.T) {
	r := newHome(t)
	addRule(t, r, "squares", "squares", "")
	broken := source("x", "f", "")
	delete(broken, rule.TriggerFile)
	python := source("x", "f", "")
	python[rule.ManifestFile] = []byte(strings.Replace(string(python[rule.ManifestFile]), "starlark", "python", 1))
	for name, tree := range map[string]rule.Tree{
		"no trigger":          broken,
		"unknown environment": python,
		"another family":      source("squares", "cubes", ""),
		"nothing":             nil,
	} {
		if _, err := r.AddRule(t.Context(), tree, ann); err == nil {
			t.Errorf("%s: want an error", name)
		}
	}
	if n := snapshot(t, r).Serial().N; n != 2 {
		t.Errorf("serial %d: something was committed", n)
	}
}

func TestLockedRules(t *testing.T) {
	r, member := activated(t)
	model := Change{Who: "maintain", Maintenance: true}
	must(t, r.Lock(t.Context(), "squares", ann))
	must(t, r.Lock(t.Context(), "squares", ann))
	next, err := r.AddRule(t.Context(), source("squares", "squares", "by hand"), ann)
	must(t, err) // a person may
	s := snapshot(t, r)
	proposal := func(members ...rule.Member) Proposal {
		p := predicate(s, members...)
		return Proposal{Members: p.Members, Mapping: p.Mapping, Proof: sign(t, r, p).Envelope()}
	}
	for name, err := range map[string]error{
		"add":      second(r.AddRule(t.Context(), source("squares", "squares", "3"), model)),
		"disable":  r.Disable(t.Context(), "squares", model),
		"unlock":   r.Unlock(t.Context(), "squares", model),
		"propose":  r.SaveProposal(t.Context(), proposal(next), model),
		"activate": second(r.Activate(t.Context(), sign(t, r, predicate(s, next)), &engine{}, model)),
	} {
		if !errors.Is(err, ErrRuleLocked) {
			t.Errorf("%s: %v, want ErrRuleLocked", name, err)
		}
	}
	must(t, r.SaveProposal(t.Context(), proposal(member), model)) // unchanged is fine
	must(t, r.Unlock(t.Context(), "squares", ann))
	if _, err := r.AddRule(t.Context(), source("squares", "squares", "3"), model); err != nil {
		t.Errorf("unlocked: %v", err)
	}
	if err := r.Lock(t.Context(), "none", ann); !errors.Is(err, ErrUnknown) {
		t.Errorf("got %v, want ErrUnknown", err)
	}
}

func TestDisable(t *testing.T) {
	r, member := activated(t)
	unused := addRule(t, r, "cubes", "cubes", "")
	before := snapshot(t, r).Generation()
	must(t, r.Disable(t.Context(), "cubes", ann))
	if got := snapshot(t, r).Generation(); got != before {
		t.Errorf("an unused rule disabled: generation %d → %d", before, got)
	}
	for range 2 { // the second time nothing is left to do
		must(t, r.Disable(t.Context(), "squares", ann))
	}
	s := snapshot(t, r)
	if s.Generation() != before+1 {
		t.Errorf("generation %d, want %d", s.Generation(), before+1)
	}
	for _, m := range []rule.Member{member, unused} {
		if got, _ := s.State().Revision(m.Rule, m.Revision); got.State != RevisionDisabled {
			t.Errorf("%s is %q", m.Rule, got.State)
		}
	}
	if err := r.Disable(t.Context(), "none", ann); !errors.Is(err, ErrUnknown) {
		t.Errorf("got %v, want ErrUnknown", err)
	}
}

func TestSetPolicyAndEnvironmentCheck(t *testing.T) {
	r := newHome(t)
	for name, err := range map[string]error{
		"floor":       r.SetPolicy(t.Context(), proofs.Policy{Floor: 1.5, Repeats: 2}, ann),
		"repeats":     r.SetPolicy(t.Context(), proofs.Policy{Floor: 0.5, Repeats: 1}, ann),
		"environment": r.SetEnvironment(t.Context(), rule.Environment{}, ann),
	} {
		if err == nil {
			t.Errorf("%s: want an error", name)
		}
	}
	must(t, r.SetPolicy(t.Context(), policy, ann))
	must(t, r.SetEnvironment(t.Context(), starlark(), ann))
	if n := snapshot(t, r).Serial().N; n != 1 {
		t.Errorf("serial %d: nothing was new", n)
	}
}

func TestWrong(t *testing.T) {
	task := rule.Task{Instruction: "do squares", Input: "3"}
	fallback := rule.Case{ID: "wrong-1", Family: "squares", Task: task, Fallback: true, CertifiedBy: "ann"}
	corrected := fallback
	corrected.Fallback, corrected.Outcome = false, rule.Outcome{Output: `"nine"`}
	fresh := fallback
	fresh.Task.Input = "1000"
	for name, c := range map[string]rule.Case{"must fall back": fallback, "corrected": corrected, "unknown task": fresh} {
		t.Run(name, func(t *testing.T) {
			r, member := activated(t)
			before := snapshot(t, r)
			must(t, r.Wrong(t.Context(), "squares", c, ann))
			s := snapshot(t, r)
			if s.Serial().N != before.Serial().N+1 {
				t.Errorf("serial %d → %d: want one commit", before.Serial().N, s.Serial().N)
			}
			if got, _ := s.State().Revision("squares", member.Revision); got.State != RevisionDisabled {
				t.Errorf("the rule is %q", got.State)
			}
			_, err := s.Authorise(t.Context(), &engine{})
			wantStale(t, err, rule.ReasonProofStale, "the suite")
			got, ok := casesByID(t, r)["wrong-1"]
			if !ok || got.Part != rule.VisiblePart || got.Fallback != c.Fallback || !got.Outcome.Equal(c.Outcome) {
				t.Errorf("case: %+v", got)
			}
			if want := map[bool]int{true: 0, false: 1}[name == "unknown task"]; s.State().Superseded.Cases != want {
				t.Errorf("%d superseded, want %d", s.State().Superseded.Cases, want)
			}
			must(t, r.Wrong(t.Context(), "squares", c, ann)) // again: nothing to do
			if n := snapshot(t, r).Serial().N; n != s.Serial().N {
				t.Errorf("once more: serial %d", n)
			}
		})
	}
}

func TestWrongAndOtherFamilies(t *testing.T) {
	r, _ := activated(t)
	ingest(t, r, line("other", "others", "77", `{"output":1}`))
	c := rule.Case{ID: "w", Family: "squares", Task: rule.Task{Instruction: "do it", Input: "77"}, Fallback: true, CertifiedBy: "ann"}
	corrected := c
	corrected.Fallback, corrected.Outcome = false, rule.Outcome{Output: "2"}
	before := snapshot(t, r).Serial()
	if err := r.Wrong(t.Context(), "squares", corrected, ann); err == nil || !strings.Contains(err.Error(), `"other"`) {
		t.Errorf("a corrected case against another family's: %v", err)
	}
	if snapshot(t, r).Serial() != before {
		t.Error("half of it was committed")
	}
	must(t, r.Wrong(t.Context(), "squares", c, ann))
	if got := casesByID(t, r); got["w"].ID != "" || got["other"].ID == "" {
		t.Error("the other family's case should stand alone")
	}
	if state := snapshot(t, r).State(); state.Rules["squares"].Revisions[0].State != RevisionDisabled {
		t.Error("the rule isn't disabled")
	}
}

func TestWrongRefuses(t *testing.T) {
	r, _ := activated(t)
	good := rule.Case{ID: "w", Family: "squares", Task: rule.Task{Instruction: "x"}, Fallback: true, CertifiedBy: "ann"}
	uncertified, taken, empty := good, good, good
	uncertified.CertifiedBy = ""
	taken.ID = admissionID(t, r)
	empty.Fallback = false
	for name, err := range map[string]error{
		"uncertified":  r.Wrong(t.Context(), "squares", uncertified, ann),
		"id taken":     r.Wrong(t.Context(), "squares", taken, ann),
		"no outcome":   r.Wrong(t.Context(), "squares", empty, ann),
		"unknown rule": r.Wrong(t.Context(), "none", good, ann),
	} {
		if err == nil {
			t.Errorf("%s: want an error", name)
		}
	}
	if _, err := snapshot(t, r).Authorise(t.Context(), &engine{}); err != nil {
		t.Errorf("a refused word about a wrong answer had an effect: %v", err)
	}
}

func TestReveal(t *testing.T) {
	r, _ := activated(t)
	id := admissionID(t, r)
	before := snapshot(t, r)
	must(t, r.Reveal(t.Context(), []string{id}, ann))
	must(t, r.Reveal(t.Context(), []string{id}, ann))
	s := snapshot(t, r)
	if casesByID(t, r)[id].Part != rule.VisiblePart {
		t.Error("the case isn't visible")
	}
	if s.Generation() != before.Generation() || s.State().Suite.Digest != before.State().Suite.Digest || s.Serial().N != before.Serial().N+1 {
		t.Errorf("suite or generation moved: %+v", s.State().Suite)
	}
	sealed, err := s.SealedForAudit(t.Context())
	must(t, err)
	for _, ids := range [][]string{{sealed[0].ID}, {"none"}, {admissionID(t, r), "none"}} {
		if err := r.Reveal(t.Context(), ids, ann); !errors.Is(err, ErrUnknown) {
			t.Errorf("revealing %v: %v, want ErrUnknown", ids, err)
		}
	}
	if snapshot(t, r).Serial() != s.Serial() {
		t.Error("a refused reveal had an effect")
	}
}
