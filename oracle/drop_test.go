package oracle

import (
	"slices"
	"testing"

	"signalbox/proofs"
	"signalbox/rule"
)

func names(p Proposal) (out []rule.Name) {
	for _, member := range p.Members() {
		out = append(out, member.Rule)
	}
	return out
}

func TestDropFailing(t *testing.T) {
	second := func(w *world) {
		w.fake.rules["upper2"] = upper()
		w.proposal.Programs = append(w.proposal.Programs, program("upper2", "upper", rule.Guard{Equals: []string{upperAsk}}))
	}
	for _, test := range []struct {
		name   string
		change func(*world)
		keeps  []rule.Name
	}{
		{"nothing", func(*world) {}, []rule.Name{"greet", "upper"}},
		{"a wrong rule", func(w *world) { w.at("up-ant").Outcome = *outputs("?").Outcome }, []rule.Name{"greet"}},
		{"a foreign match spoils the other's floor", func(w *world) {
			w.proposal.Programs[0].Manifest.Guard = rule.Guard{Pattern: `\A(?:(?s).*)\z`}
			for _, word := range []string{"ant", "bee", "cat", "dog", "eel", "fox"} {
				w.says("upper", "hi-"+word, match(`{}`))
			}
		}, []rule.Name{"greet"}},
		{"the floor", func(w *world) { w.says("greet", "hi-ant", abstain); w.says("greet", "hi-bee", abstain) }, []rule.Name{"upper"}},
		{"the floor, and another that is wrong", func(w *world) {
			w.says("greet", "hi-ant", abstain)
			w.says("greet", "hi-bee", abstain)
			w.at("up-ant").Outcome = *outputs("?").Outcome
		}, nil},
		{"unheld", unhold, []rule.Name{"greet"}},
		{"of two in conflict the one that covers less", func(w *world) {
			second(w)
			w.says("upper", "up-ant", noMatch)
			w.says("upper2", "up-ant", match(`{}`))
		}, []rule.Name{"greet", "upper2"}},
		{"an idle rule", func(w *world) {
			second(w)
			w.fake.rules["upper2"] = fakeRule{trigger: func(rule.Document) rule.TriggerReply { return noMatch }}
		}, []rule.Name{"greet", "upper"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld()
			test.change(w)
			report := w.check(t)
			for rounds := 0; !report.Passed(); rounds++ {
				before := len(w.proposal.Programs)
				w.proposal = DropFailing(report, w.proposal)
				if len(w.proposal.Programs) >= before || rounds > 3 {
					t.Fatalf("round %d dropped nothing for %q", rounds, found(report))
				}
				if len(w.proposal.Programs) == 0 {
					break
				}
				report = w.check(t)
			}
			if got := names(w.proposal); !slices.Equal(got, test.keeps) {
				t.Errorf("kept %q, want %q", got, test.keeps)
			}
		})
	}
}

// TestDropFailingLeavesTheProposal: the caller's own isn't changed.
func TestDropFailingLeavesTheProposal(t *testing.T) {
	w := newWorld()
	w.proposal.Mapping = rule.Mapping{"upper": {"upper"}, "greet": {"greet"}}
	w.at("up-ant").Outcome = *outputs("?").Outcome
	smaller := DropFailing(w.check(t), w.proposal)
	if len(w.proposal.Programs) != 2 || len(w.proposal.Mapping) != 2 || w.proposal.Programs[0].Member.Rule != "upper" {
		t.Error("the proposal was changed")
	}
	if len(smaller.Mapping) != 1 || len(smaller.Mapping["greet"]) != 1 {
		t.Errorf("mapping %v", smaller.Mapping)
	}
}

func TestFeedbackHidesHiddenCases(t *testing.T) {
	w := newWorld()
	for _, id := range []string{"up-ant", "up-dog", "up-eel", "hi-ant"} {
		w.at(id).Outcome = *outputs("secret " + id).Outcome
	}
	w.proposal.Policy.Floor = 0.9
	report := w.check(t)
	feedback := report.Feedback("upper")
	var shownCases []string
	for _, r := range feedback.Shown {
		shownCases = append(shownCases, string(r.Kind)+" "+r.Case)
	}
	slices.Sort(shownCases)
	if !slices.Equal(shownCases, []string{"floor ", "wrong up-ant"}) {
		t.Errorf("shown %q", shownCases)
	}
	if len(feedback.Hidden) != 2 || feedback.Hidden[KindWrong] != 2 || feedback.Hidden[KindFloor] != 1 {
		t.Errorf("hidden %v", feedback.Hidden)
	}
	if other := report.Feedback("greet"); len(other.Shown) != 2 || len(other.Hidden) != 0 {
		t.Errorf("for the other rule %+v", other)
	}
}

// TestPredicate signs what a check found, and reads it back.
func TestPredicate(t *testing.T) {
	dir := t.TempDir()
	if err := proofs.GenerateKey(dir); err != nil {
		t.Fatal(err)
	}
	key, err := proofs.LoadKey(dir)
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld()
	unhold(w)
	w.proposal.Policy.AllowUnheld = true
	w.proposal.Base = proofs.Base{Generation: 3, Serial: rule.Serial{N: 5, Prev: rule.DigestOf(nil)}}
	report := w.check(t)
	predicate, err := Predicate(report, w.proposal)
	if err != nil {
		t.Fatal(err)
	}
	envelope, err := proofs.Sign(key, predicate)
	if err != nil {
		t.Fatal(err)
	}
	verified, err := proofs.Verify(envelope, key.Public())
	if err != nil {
		t.Fatal(err)
	}
	got := verified.Predicate()
	if got.Collection != report.Collection || got.Matrix != report.Matrix || got.Counts != report.Counts ||
		got.Base != w.proposal.Base || got.Suite.Cases != len(w.proposal.Cases) || !slices.Equal(got.Unheld, []rule.Family{"upper"}) {
		t.Errorf("stated %+v", got)
	}
}

func TestPredicateRefuses(t *testing.T) {
	w := newWorld()
	report := w.check(t)
	if _, err := Predicate(report, w.proposal); err != nil {
		t.Fatalf("control: %v", err)
	}
	other := w.proposal
	other.Programs = other.Programs[:1]
	if _, err := Predicate(report, other); err == nil {
		t.Error("a report was taken for another collection")
	}
	other = w.proposal
	other.Policy.Floor = 0.6
	if _, err := Predicate(report, other); err == nil {
		t.Error("a report was taken for another policy")
	}
	if _, err := Predicate(&Report{}, w.proposal); err == nil {
		t.Error("an empty report was taken")
	}
	w.at("up-ant").Outcome = *outputs("?").Outcome
	if _, err := Predicate(w.check(t), w.proposal); err == nil {
		t.Error("a refused collection was stated")
	}
}
