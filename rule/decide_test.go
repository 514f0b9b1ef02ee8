package rule

import (
	"testing"

	"pgregory.net/rapid"
)

var (
	match   = TriggerReply{Verdict: Match, Args: "{}"}
	noMatch = TriggerReply{Verdict: NoMatch}
	abstain = TriggerReply{Verdict: Abstain}
)

// failures is every failure with the reason that it comes to in a trigger and
// in an executor.
var failures = map[Failure][2]Reason{
	FailureTimeout:     {ReasonTriggerTimeout, ReasonExecutorTimeout},
	FailureMemory:      {ReasonTriggerFailed, ReasonExecutorFailed},
	FailureProcesses:   {ReasonTriggerFailed, ReasonExecutorFailed},
	FailureSandbox:     {ReasonTriggerFailed, ReasonExecutorFailed},
	FailureOutput:      {ReasonTriggerFailed, ReasonExecutorFailed},
	FailureCrash:       {ReasonTriggerFailed, ReasonExecutorFailed},
	FailureSchema:      {ReasonSchemaFailure, ReasonSchemaFailure},
	FailureEnvironment: {ReasonEnvironmentChanged, ReasonEnvironmentChanged},
	FailureUnavailable: {ReasonSandboxUnavailable, ReasonSandboxUnavailable},
	"of tomorrow":      {ReasonTriggerFailed, ReasonExecutorFailed},
}

func failed(f Failure) TriggerReply { return TriggerReply{Failure: f} }

func TestDecide(t *testing.T) {
	for _, c := range []struct {
		name    string
		replies []TriggerReply
		want    Decision
	}{
		{"nobody", nil, Decision{ReasonNoMatch, -1}},
		{"one match", []TriggerReply{match}, Decision{ReasonMatched, 0}},
		{"one match of three", []TriggerReply{noMatch, noMatch, match}, Decision{ReasonMatched, 2}},
		{"no match", []TriggerReply{noMatch, noMatch}, Decision{ReasonNoMatch, -1}},
		{"two matches", []TriggerReply{match, noMatch, match}, Decision{ReasonConflict, -1}},
		{"abstention alone", []TriggerReply{abstain}, Decision{ReasonAbstained, -1}},
		{"match and abstention", []TriggerReply{match, abstain}, Decision{ReasonAbstained, -1}},
		{"two matches and abstention", []TriggerReply{match, abstain, match}, Decision{ReasonConflict, -1}},
		{"no verdict at all", []TriggerReply{match, {}}, Decision{ReasonTriggerFailed, -1}},
		{"a verdict of its own", []TriggerReply{{Verdict: "yes"}}, Decision{ReasonTriggerFailed, -1}},
		{"a failure beside a match's words", []TriggerReply{{Verdict: Match, Args: "{}", Failure: FailureCrash}}, Decision{ReasonTriggerFailed, -1}},
		{"two matches and a failure", []TriggerReply{match, failed(FailureCrash), match}, Decision{ReasonTriggerFailed, -1}},
		{"timeout before crash", []TriggerReply{failed(FailureCrash), failed(FailureTimeout)}, Decision{ReasonTriggerTimeout, -1}},
		{"no sandbox before all", []TriggerReply{failed(FailureEnvironment), failed(FailureUnavailable), failed(FailureTimeout), match}, Decision{ReasonSandboxUnavailable, -1}},
	} {
		if got := Decide(c.replies); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestFailuresHaveReasons(t *testing.T) {
	for failure, want := range failures {
		for _, replies := range [][]TriggerReply{{failed(failure)}, {noMatch, failed(failure)}, {match, failed(failure)}, {failed(failure), abstain}} {
			if got := Decide(replies); got != (Decision{want[0], -1}) {
				t.Errorf("trigger %q among %d: %v, want %s", failure, len(replies), got, want[0])
			}
		}
		if got := ExecutorReason(ExecutorReply{Failure: failure, Outcome: &Outcome{Output: "1"}}); got != want[1] {
			t.Errorf("executor %q: %s, want %s", failure, got, want[1])
		}
	}
}

func TestExecutorReason(t *testing.T) {
	outcome := &Outcome{Output: "1"}
	for _, c := range []struct {
		reply ExecutorReply
		want  Reason
	}{
		{ExecutorReply{Outcome: outcome}, ReasonMatched},
		{ExecutorReply{Abstained: true}, ReasonExecutorAbstained},
		{ExecutorReply{Abstained: true, Outcome: outcome}, ReasonExecutorAbstained},
		{ExecutorReply{}, ReasonExecutorFailed},
	} {
		if got := ExecutorReason(c.reply); got != c.want {
			t.Errorf("%+v: %s, want %s", c.reply, got, c.want)
		}
	}
}

func anyReply() *rapid.Generator[TriggerReply] {
	kinds := []TriggerReply{match, noMatch, noMatch, noMatch, abstain, {}, {Verdict: "maybe"}, {Verdict: Match, Failure: FailureSchema}}
	for failure := range failures {
		kinds = append(kinds, failed(failure))
	}
	return rapid.OneOf(rapid.SampledFrom(kinds[:4]), rapid.SampledFrom(kinds))
}

// TestDecisionIsUnanimous: matched exactly where one says match and all others
// say no_match, and then the winner is the one that did.
func TestDecisionIsUnanimous(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		replies := rapid.SliceOfN(anyReply(), 0, 6).Draw(t, "replies")
		matches, others, at := 0, 0, -1
		for i, reply := range replies {
			switch reply {
			case match:
				matches, at = matches+1, i
			case noMatch:
			default:
				others++
			}
		}
		got := Decide(replies)
		if unanimous := matches == 1 && others == 0; (got.Reason == ReasonMatched) != unanimous {
			t.Fatalf("%v of %+v", got, replies)
		}
		if got.Reason == ReasonMatched && got.Winner != at || got.Reason != ReasonMatched && got.Winner != -1 {
			t.Fatalf("winner %d of %+v, want %d", got.Winner, replies, at)
		}
		if (got.Reason == ReasonNoMatch) != (matches == 0 && others == 0) {
			t.Fatalf("%v of %+v", got, replies)
		}
	})
}

// TestDecisionKnowsNoOrder: whatever the order of the answers, the reason is
// one, and the winner is the same rule.
func TestDecisionKnowsNoOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		replies := rapid.SliceOfN(anyReply(), 0, 6).Draw(t, "replies")
		order := make([]int, len(replies))
		for i := range order {
			order[i] = i
		}
		order = rapid.Permutation(order).Draw(t, "order")
		shuffled := make([]TriggerReply, len(replies))
		for to, from := range order {
			shuffled[to] = replies[from]
		}
		before, after := Decide(replies), Decide(shuffled)
		if before.Reason != after.Reason {
			t.Fatalf("%s, but shuffled %s", before.Reason, after.Reason)
		}
		if after.Winner >= 0 && order[after.Winner] != before.Winner {
			t.Fatalf("winner %d, but shuffled %d", before.Winner, order[after.Winner])
		}
	})
}

// TestOneMoreAnswerNeverHelps: adding an answer that isn't no_match takes an
// answered task away, and adding no_match changes nothing.
func TestOneMoreAnswerNeverHelps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		replies := rapid.SliceOfN(anyReply(), 0, 5).Draw(t, "replies")
		before := Decide(replies)
		if after := Decide(append(replies[:len(replies):len(replies)], noMatch)); after != before {
			t.Fatalf("%v became %v by a no_match", before, after)
		}
		more := anyReply().Filter(func(r TriggerReply) bool { return r != noMatch }).Draw(t, "more")
		after := Decide(append(replies[:len(replies):len(replies)], more))
		if before.Reason != ReasonNoMatch && after.Reason == ReasonMatched {
			t.Fatalf("%v became %v by %+v", before, after, more)
		}
	})
}
