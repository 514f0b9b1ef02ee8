package maintenance

import (
	"context"
	"fmt"
	"path"
	"strings"

	"signalbox/oracle"
	"signalbox/registry/ledger"
	"signalbox/rule"
)

// failure is a finding as an author sees it.
type failure struct {
	Case     string     `json:"case,omitzero"`
	Kind     string     `json:"kind"`
	Detail   string     `json:"detail"`
	Probe    string     `json:"probe,omitzero"`
	Expected rule.Value `json:"expected,omitzero"`
	Got      rule.Value `json:"got,omitzero"`
}

// maxFailures bounds how many findings one reply shows.
const maxFailures = 20

// spend takes one validation from what is left.
func (s *session) spend(ctx context.Context) error {
	if s.counts.Validations >= s.bounds.Validations {
		return stop(StopCalls, fmt.Sprintf("%d validations are used up", s.bounds.Validations))
	}
	if err := s.charge(ctx, "validation", ledger.Validations); err != nil {
		return err
	}
	s.counts.Validations++
	return nil
}

// validate runs the development tests, and the oracle over the visible cases.
func (s *session) validate(ctx context.Context) (answer, error) {
	draft, err := s.program()
	if err != nil {
		return answer{}, err
	}
	if err := s.spend(ctx); err != nil {
		return answer{}, err
	}
	failures, tests, err := s.runTests(ctx, draft)
	if err != nil {
		return answer{}, err
	}
	report, err := s.deps.check(ctx, s.visible(draft))
	if err != nil {
		return answer{}, fmt.Errorf("checking the visible cases: %w", err)
	}
	for _, r := range report.Refusals {
		failures = append(failures, failureOf(r))
	}
	data := struct {
		Passed    int       `json:"passed"`
		Tests     int       `json:"tests"`
		Failures  []failure `json:"failures"`
		Uncovered []string  `json:"uncovered"`
		More      int       `json:"more,omitzero"`
	}{Tests: tests, Failures: failures[:min(len(failures), maxFailures)], Uncovered: []string{}}
	data.More = len(failures) - len(data.Failures) + report.Omitted
	for _, f := range report.Families {
		if f.Family == draft.Manifest.Family {
			data.Passed = f.Visible.Covered
			for _, u := range f.Uncovered {
				data.Uncovered = append(data.Uncovered, u.Case)
			}
		}
	}
	if len(failures) > 0 || !report.Passed() {
		return answer{Code: "failures", Message: fmt.Sprintf("%d visible cases pass; see the failures.", data.Passed), Data: data}, nil
	}
	return answer{OK: true, Code: "passed", Message: "The visible cases pass. Hidden ones decide at submit_rule.", Data: data}, nil
}

// failureOf returns a finding on a visible case, or on none, in full.
func failureOf(r oracle.Refusal) failure {
	return failure{Case: r.Case, Kind: string(r.Kind), Detail: r.Detail, Probe: r.Probe, Expected: r.Expected, Got: r.Got}
}

// developmentTest is a file of tests/. A verdict says what the trigger answers.
type developmentTest struct {
	Task   rule.Task `json:"task"`
	Expect struct {
		Verdict rule.Verdict  `json:"verdict"`
		Args    rule.Value    `json:"args,omitzero"`
		Outcome *rule.Outcome `json:"outcome,omitzero"`
	} `json:"expect"`
}

// runTests runs the draft's own tests and returns those that fail. They help an
// author and prove nothing.
func (s *session) runTests(ctx context.Context, draft rule.Program) (failures []failure, ran int, err error) {
	failures = []failure{}
	tree := draft.Source.Tree()
	for _, p := range tree.Paths() {
		if path.Dir(p) != "tests" {
			continue
		}
		ran++
		var test developmentTest
		if err := rule.Decode(tree[p], &test); err != nil {
			failures = append(failures, failure{Kind: "test", Detail: p + ": " + clip(err.Error(), 300)})
			continue
		}
		detail, err := s.runTest(ctx, draft, test)
		if err != nil {
			return nil, 0, err
		}
		if detail != "" {
			failures = append(failures, failure{Kind: "test", Detail: p + ": " + detail})
		}
	}
	return failures, ran, nil
}

// runTest returns how a test's expectation was missed, "" where it wasn't.
func (s *session) runTest(ctx context.Context, draft rule.Program, test developmentTest) (string, error) {
	reply, err := s.trigger(ctx, draft, test.Task.Document())
	if err != nil {
		return "", err
	}
	switch {
	case reply.Failure != "":
		return fmt.Sprintf("the trigger failed: %s: %s", reply.Failure, reply.Detail), nil
	case reply.Verdict != test.Expect.Verdict:
		return fmt.Sprintf("verdict %s, want %s", reply.Verdict, test.Expect.Verdict), nil
	case test.Expect.Args.Present() && reply.Args != test.Expect.Args:
		return fmt.Sprintf("args %s, want %s", clip(string(reply.Args), 300), clip(string(test.Expect.Args), 300)), nil
	case reply.Verdict != rule.Match || test.Expect.Outcome == nil:
		return "", nil
	}
	done, err := s.execute1(ctx, draft, test.Task, reply.Args)
	if err != nil {
		return "", err
	}
	return differs(done, *test.Expect.Outcome), nil
}

// trigger asks the draft's trigger, guard first. An error says that it could
// not be run.
func (s *session) trigger(ctx context.Context, p rule.Program, task rule.Document) (rule.TriggerReply, error) {
	if !p.Manifest.Guard.Allows(task) {
		return rule.TriggerReply{Verdict: rule.NoMatch, Note: "the guard in manifest.json is false"}, nil
	}
	reply := p.Manifest.FitTrigger(s.deps.Programs.Triggers(ctx, p, []rule.Document{task})[0])
	if isAbsent(reply.Failure) {
		return reply, fmt.Errorf("running the trigger: %s: %s", reply.Failure, reply.Detail)
	}
	return reply, nil
}

// execute1 runs an executor once.
func (s *session) execute1(ctx context.Context, p rule.Program, task rule.Task, args rule.Value) (rule.ExecutorReply, error) {
	reply := p.Manifest.FitExecutor(s.deps.Programs.Execute(ctx, p, task.Document(), args, task.Tree()))
	if isAbsent(reply.Failure) {
		return reply, fmt.Errorf("running the executor: %s: %s", reply.Failure, reply.Detail)
	}
	return reply, nil
}

// isAbsent says whether a failure is the host's, so that nothing was found out.
func isAbsent(f rule.Failure) bool {
	return f == rule.FailureUnavailable || f == rule.FailureEnvironment
}

// differs says how an executor's reply is not the outcome that was wanted.
func differs(reply rule.ExecutorReply, want rule.Outcome) string {
	switch {
	case reply.Failure != "":
		return fmt.Sprintf("the executor failed: %s: %s", reply.Failure, clip(reply.Detail, 300))
	case reply.Abstained:
		return "the executor abstained: " + clip(reply.Note, 300)
	case reply.Outcome.Equal(want):
		return ""
	}
	if got := *reply.Outcome; got.Output != want.Output {
		return "output " + difference(string(got.Output), string(want.Output))
	}
	return "files " + difference(texts(*reply.Outcome), texts(want))
}

func texts(o rule.Outcome) string {
	value, err := rule.ValueOf(o.Files)
	if err != nil {
		return ""
	}
	return string(value)
}

// difference shows where two texts part.
func difference(got, want string) string {
	at := 0
	for at < len(got) && at < len(want) && got[at] == want[at] {
		at++
	}
	from := max(0, at-20)
	return fmt.Sprintf("differs from byte %d: got %q, want %q", at,
		clip(strings.ToValidUTF8(got[from:], "?"), 80), clip(strings.ToValidUTF8(want[from:], "?"), 80))
}
