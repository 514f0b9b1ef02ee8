package router

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"signalbox/rule"
)

// fake is an authority, programs and a recorder at once.
type fake struct {
	programs []rule.Program
	refuse   error
	moved    bool
	recordTo error

	triggers  map[rule.Name]rule.TriggerReply
	executors map[rule.Name]rule.ExecutorReply

	mu       sync.Mutex
	asked    []rule.Name
	executed []rule.Name
	recorded []Answer
	voided   []Answer
	sawTree  rule.Tree
}

func (f *fake) Current(context.Context) (*Authorised, error) {
	if f.refuse != nil {
		return nil, f.refuse
	}
	return NewAuthorised(f.programs, "sha256:proof", 7)
}
func (f *fake) Still(context.Context, *Authorised) bool { return !f.moved }

func (f *fake) Trigger(_ context.Context, p rule.Program, _ rule.Document) rule.TriggerReply {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, p.Member.Rule)
	return f.triggers[p.Member.Rule]
}

func (f *fake) Execute(_ context.Context, p rule.Program, _ rule.Document, _ rule.Value, tree rule.Tree) rule.ExecutorReply {
	f.executed = append(f.executed, p.Member.Rule)
	f.sawTree = tree
	return f.executors[p.Member.Rule]
}

func (f *fake) Record(_ context.Context, _ Request, a Answer) error {
	f.recorded = append(f.recorded, a)
	return f.recordTo
}

func (f *fake) Late(context.Context, string, time.Duration) error { return nil }

func (f *fake) Void(_ context.Context, a Answer) error {
	f.voided = append(f.voided, a)
	return nil
}

// program returns a rule whose guard allows instructions that begin with "do".
func program(name rule.Name) rule.Program {
	return rule.Program{
		Member: rule.Member{Rule: name, Revision: rule.DigestOf([]byte(name))},
		Manifest: rule.Manifest{
			Guard:        rule.Guard{Pattern: `\A(?:do .*)\z`},
			ArgsSchema:   rule.Schema{Type: "object", Properties: map[string]rule.Schema{"n": {Type: "integer"}}, Required: []string{"n"}},
			ResultSchema: rule.Schema{Type: "string"},
		},
	}
}

var (
	match   = rule.TriggerReply{Verdict: rule.Match, Args: `{"n":1}`}
	noMatch = rule.TriggerReply{Verdict: rule.NoMatch}
	abstain = rule.TriggerReply{Verdict: rule.Abstain, Note: "not sure"}
	done    = rule.ExecutorReply{Outcome: &rule.Outcome{Output: `"yes"`}}
)

func failed(f rule.Failure) rule.TriggerReply { return rule.TriggerReply{Failure: f} }

func TestRouteReasons(t *testing.T) {
	for name, c := range map[string]struct {
		a, b rule.TriggerReply
		exec rule.ExecutorReply
		want rule.Reason
	}{
		"one match":            {match, noMatch, done, rule.ReasonMatched},
		"none":                 {noMatch, noMatch, done, rule.ReasonNoMatch},
		"two":                  {match, match, done, rule.ReasonConflict},
		"match and abstain":    {match, abstain, done, rule.ReasonAbstained},
		"match and timeout":    {match, failed(rule.FailureTimeout), done, rule.ReasonTriggerTimeout},
		"match and crash":      {match, failed(rule.FailureCrash), done, rule.ReasonTriggerFailed},
		"match and memory":     {match, failed(rule.FailureMemory), done, rule.ReasonTriggerFailed},
		"match and schema":     {match, failed(rule.FailureSchema), done, rule.ReasonSchemaFailure},
		"match and no sandbox": {match, failed(rule.FailureUnavailable), done, rule.ReasonSandboxUnavailable},
		"args of another form": {rule.TriggerReply{Verdict: rule.Match, Args: `{"n":"1"}`}, noMatch, done, rule.ReasonSchemaFailure},
		"empty reply":          {rule.TriggerReply{}, noMatch, done, rule.ReasonTriggerFailed},
		"executor abstains":    {match, noMatch, rule.ExecutorReply{Abstained: true, Note: "two readings"}, rule.ReasonExecutorAbstained},
		"executor late":        {match, noMatch, rule.ExecutorReply{Failure: rule.FailureTimeout}, rule.ReasonExecutorTimeout},
		"executor dies":        {match, noMatch, rule.ExecutorReply{Failure: rule.FailureCrash}, rule.ReasonExecutorFailed},
		"executor says number": {match, noMatch, rule.ExecutorReply{Outcome: &rule.Outcome{Output: `1`}}, rule.ReasonSchemaFailure},
		"executor empty reply": {match, noMatch, rule.ExecutorReply{}, rule.ReasonExecutorFailed},
	} {
		t.Run(name, func(t *testing.T) {
			f := &fake{
				programs:  []rule.Program{program("a"), program("b")},
				triggers:  map[rule.Name]rule.TriggerReply{"a": c.a, "b": c.b},
				executors: map[rule.Name]rule.ExecutorReply{"a": c.exec, "b": c.exec},
			}
			answer, err := New(f, f, f).Route(t.Context(), Request{Task: rule.Task{Instruction: "do it"}})
			if err != nil {
				t.Fatal(err)
			}
			if answer.Reason != c.want {
				t.Errorf("reason %s (%s), want %s", answer.Reason, answer.Detail, c.want)
			}
			if answer.Answered() != (c.want == rule.ReasonMatched) || answer.Answered() != (answer.Outcome != nil) {
				t.Errorf("decision %s with outcome %v for %s", answer.Decision, answer.Outcome, answer.Reason)
			}
			if len(f.recorded) != 1 || f.recorded[0].RouteID != answer.RouteID {
				t.Errorf("recorded %d answers, want this one", len(f.recorded))
			}
		})
	}
}

func TestRouteAsksOnlyWhereTheGuardAllows(t *testing.T) {
	other := program("b")
	other.Manifest.Guard = rule.Guard{Equals: []string{"something else"}}
	f := &fake{
		programs:  []rule.Program{program("a"), other},
		triggers:  map[rule.Name]rule.TriggerReply{"a": match, "b": failed(rule.FailureCrash)},
		executors: map[rule.Name]rule.ExecutorReply{"a": done},
	}
	answer, err := New(f, f, f).Route(t.Context(), Request{Task: rule.Task{Instruction: "do it"}})
	if err != nil || !answer.Answered() {
		t.Fatalf("answer %+v, error %v", answer, err)
	}
	if len(f.asked) != 1 || f.asked[0] != "a" {
		t.Errorf("asked %v, want a alone", f.asked)
	}
	if !answer.Verdicts[1].Guard || answer.Verdicts[1].Verdict != rule.NoMatch {
		t.Errorf("verdict of b: %+v", answer.Verdicts[1])
	}
}

func TestRouteNothingRunsWithoutAuthority(t *testing.T) {
	for _, reason := range []rule.Reason{rule.ReasonUnproven, rule.ReasonProofStale, rule.ReasonEnvironmentChanged} {
		f := &fake{programs: []rule.Program{program("a")}, refuse: &Refusal{Reason: reason, Detail: "suite changed"}}
		answer, err := New(f, f, f).Route(t.Context(), Request{Task: rule.Task{Instruction: "do it"}})
		if err != nil || answer.Reason != reason || answer.Detail != "suite changed" || len(f.asked) != 0 {
			t.Errorf("%s: answer %+v, error %v, asked %v", reason, answer, err, f.asked)
		}
	}
	f := &fake{refuse: errors.New("registry can't be read")}
	answer, err := New(f, f, f).Route(t.Context(), Request{Task: rule.Task{Instruction: "do it"}})
	if err != nil || answer.Reason != rule.ReasonUnproven {
		t.Errorf("answer %+v, error %v", answer, err)
	}
}

func TestRouteVoidsWhenTheRegistryMoved(t *testing.T) {
	f := &fake{
		programs:  []rule.Program{program("a")},
		moved:     true,
		triggers:  map[rule.Name]rule.TriggerReply{"a": match},
		executors: map[rule.Name]rule.ExecutorReply{"a": done},
	}
	answer, err := New(f, f, f).Route(t.Context(), Request{Task: rule.Task{Instruction: "do it"}})
	if err != nil || answer.Reason != rule.ReasonRegistryChanged || answer.Outcome != nil {
		t.Fatalf("answer %+v, error %v", answer, err)
	}
	if len(f.voided) != 1 {
		t.Errorf("voided %d answers, want 1", len(f.voided))
	}
}

func TestRouteGivesNothingUnrecorded(t *testing.T) {
	f := &fake{
		programs:  []rule.Program{program("a")},
		recordTo:  errors.New("disk full"),
		triggers:  map[rule.Name]rule.TriggerReply{"a": match},
		executors: map[rule.Name]rule.ExecutorReply{"a": done},
	}
	answer, err := New(f, f, f).Route(t.Context(), Request{Task: rule.Task{Instruction: "do it"}})
	if !errors.Is(err, ErrNotRecorded) || answer.Outcome != nil {
		t.Errorf("answer %+v, error %v", answer, err)
	}
}

func TestRouteRejectsTasks(t *testing.T) {
	for name, request := range map[string]Request{
		"no instruction": {},
		"hidden file":    {Task: rule.Task{Instruction: "do it", Files: map[string]string{".env": "x"}}},
		"escaping file":  {Task: rule.Task{Instruction: "do it"}, Tree: rule.TreeOf(map[string]string{"../x": ""})},
		"two trees":      {Task: rule.Task{Instruction: "do it", Files: map[string]string{"a": ""}}, Tree: rule.Tree{}},
		"long":           {Task: rule.Task{Instruction: strings.Repeat("x", rule.MaxInstructionBytes+1)}},
	} {
		f := &fake{programs: []rule.Program{program("a")}}
		answer, err := New(f, f, f).Route(t.Context(), request)
		if err != nil || answer.Reason != rule.ReasonTaskRejected || answer.Detail == "" || len(f.asked) != 0 {
			t.Errorf("%s: answer %+v, error %v", name, answer, err)
		}
	}
}

func TestRouteHandsOverTheTree(t *testing.T) {
	f := &fake{
		programs:  []rule.Program{program("a")},
		triggers:  map[rule.Name]rule.TriggerReply{"a": match},
		executors: map[rule.Name]rule.ExecutorReply{"a": done},
	}
	tree := rule.TreeOf(map[string]string{"a.txt": "x"})
	if _, err := New(f, f, f).Route(t.Context(), Request{Task: rule.Task{Instruction: "do it"}, Tree: tree}); err != nil {
		t.Fatal(err)
	}
	if string(f.sawTree["a.txt"]) != "x" {
		t.Errorf("the executor saw %v", f.sawTree)
	}
}
