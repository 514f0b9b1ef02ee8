package audit

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"signalbox/oracle"
	"signalbox/rule"
)

// shout answers every task whose input is a text: with the text in capitals,
// or with a failure that fail names.
type shout struct{ fail rule.Failure }

func (s shout) Triggers(_ context.Context, _ rule.Program, tasks []rule.Document) []rule.TriggerReply {
	var replies []rule.TriggerReply
	for _, task := range tasks {
		reply := rule.TriggerReply{Verdict: rule.Abstain}
		if strings.HasPrefix(string(task.Input), `"`) {
			reply = rule.TriggerReply{Verdict: rule.Match, Args: "{}"}
		}
		replies = append(replies, reply)
	}
	return replies
}

func (s shout) Execute(_ context.Context, _ rule.Program, task rule.Document, _ rule.Value, _ rule.Tree) rule.ExecutorReply {
	if s.fail != "" {
		return rule.ExecutorReply{Failure: s.fail}
	}
	return rule.ExecutorReply{Outcome: output(rule.Value(strings.ToUpper(string(task.Input))))}
}

func output(value rule.Value) *rule.Outcome { return &rule.Outcome{Output: value} }

var collection = []rule.Program{{
	Member:   rule.Member{Rule: "shout"},
	Manifest: rule.Manifest{Family: "shout", Guard: rule.Guard{Equals: []string{"Shout"}}, ArgsSchema: rule.Schema{Type: "object"}},
}}

func sealed(id string, family rule.Family, instruction string, input rule.Value, want *rule.Outcome) rule.Case {
	c := rule.Case{ID: id, Family: family, Part: rule.SealedPart, Task: rule.Task{Instruction: instruction, Input: input}}
	if c.Fallback = want == nil; want != nil {
		c.Outcome = *want
	}
	return c
}

func suite() []rule.Case {
	return []rule.Case{
		sealed("right", "shout", "Shout", `"a"`, output(`"A"`)),
		sealed("wrong", "shout", "Shout", `"b"`, output(`"b!"`)),
		sealed("unsure", "shout", "Shout", "1", output(`"1"`)),
		sealed("not ours", "other", "Whisper", `"c"`, output(`"c"`)),
		sealed("must", "other", "Whisper", `"d"`, nil),
		sealed("must not", "other", "Shout", `"e"`, nil),
	}
}

func TestRun(t *testing.T) {
	report, err := Run(context.Background(), shout{}, collection, suite(), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := Tally{Cases: 6, Right: 1, Wrong: 2, Due: 1, FellBack: map[rule.Reason]int{rule.ReasonAbstained: 1, rule.ReasonNoMatch: 2}}
	if !equal(report.Tally, want) {
		t.Errorf("in all %+v, want %+v", report.Tally, want)
	}
	want = Tally{Cases: 3, Wrong: 1, Due: 1, FellBack: map[rule.Reason]int{rule.ReasonNoMatch: 2}}
	if got := *report.Families["other"]; !equal(got, want) {
		t.Errorf("other: %+v, want %+v", got, want)
	}
	if len(report.Wrongs) != 2 {
		t.Fatalf("wrong: %+v", report.Wrongs)
	}
	first, second := report.Wrongs[0], report.Wrongs[1]
	if first.Case != "wrong" || first.Rule != "shout" || !first.Expected.Equal(*output(`"b!"`)) || !first.Given.Equal(*output(`"B"`)) {
		t.Errorf("first wrong %+v", first)
	}
	if second.Case != "must not" || second.Expected != nil || !second.Given.Equal(*output(`"E"`)) {
		t.Errorf("second wrong %+v", second)
	}
	if got := report.WrongRules(); !slices.Equal(got, []rule.Name{"shout"}) {
		t.Errorf("wrong rules %q", got)
	}
}

func equal(a, b Tally) bool {
	return a.Cases == b.Cases && a.Right == b.Right && a.Wrong == b.Wrong && a.Due == b.Due && maps.Equal(a.FellBack, b.FellBack)
}

func TestRunCountsFailuresAsFallbacks(t *testing.T) {
	report, err := Run(context.Background(), shout{rule.FailureTimeout}, collection, suite()[:2], nil)
	if err != nil || report.FellBack[rule.ReasonExecutorTimeout] != 2 || report.Wrong != 0 {
		t.Errorf("%+v, %v", report, err)
	}
}

func TestRunIsUnavailable(t *testing.T) {
	report, err := Run(context.Background(), shout{rule.FailureUnavailable}, collection, suite(), nil)
	if !errors.Is(err, oracle.ErrUnavailable) || report != nil {
		t.Errorf("%+v, %v", report, err)
	}
}

// TestAddTakesRoutes: a replay adds what it routed by itself.
func TestAddTakesRoutes(t *testing.T) {
	report := NewReport()
	report.Add(suite()[0], oracle.Given{Reason: rule.ReasonProofStale})
	report.Add(suite()[0], oracle.Given{Reason: rule.ReasonMatched, Rule: "shout", Outcome: output(`"A"`)})
	if report.Right != 1 || report.FellBack[rule.ReasonProofStale] != 1 || report.Cases != 2 {
		t.Errorf("%+v", report)
	}
	data, err := rule.Canonical(report)
	if err != nil || !strings.Contains(string(data), `"cases":2`) {
		t.Errorf("%s, %v", data, err)
	}
}
