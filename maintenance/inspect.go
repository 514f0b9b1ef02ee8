package maintenance

import (
	"context"
	"fmt"
	"slices"

	"signalbox/rule"
)

// maxDiagnosed bounds how many cases one diagnosis goes into.
const maxDiagnosed = 10

// diagnosis follows one visible case through the draft, step by step.
type diagnosis struct {
	Case    string       `json:"case"`
	Guard   bool         `json:"guard"`
	Verdict rule.Verdict `json:"verdict,omitzero"`
	Args    rule.Value   `json:"args,omitzero"`
	Note    string       `json:"note,omitzero"`
	Problem string       `json:"problem"`
}

// diagnose says why visible cases of the family fail, or what becomes of the
// one that was asked for.
func (s *session) diagnose(ctx context.Context, data ruleData) (answer, error) {
	draft, err := s.program()
	if err != nil {
		return answer{}, err
	}
	cases := visibleOf(s.view.Cases, s.draft.Identity().Family)
	if data.Case != "" {
		cases = slices.DeleteFunc(cases, func(c rule.Case) bool { return c.ID != data.Case })
		if len(cases) == 0 {
			return answer{}, bad("no_case", "no visible case of this family has the id %q", clip(data.Case, 200))
		}
	}
	found := []diagnosis{}
	for _, c := range cases {
		d, err := s.follow(ctx, draft, c)
		if err != nil {
			return answer{}, err
		}
		if d.Problem != "" || data.Case != "" {
			found = append(found, d)
		}
	}
	shown := struct {
		Cases []diagnosis `json:"cases"`
		More  int         `json:"more,omitzero"`
	}{found[:min(len(found), maxDiagnosed)], max(0, len(found)-maxDiagnosed)}
	return answer{OK: true, Code: "diagnosed", Message: fmt.Sprintf("%d of %d visible cases are not answered as certified.", count(found), len(cases)), Data: shown}, nil
}

func count(found []diagnosis) (problems int) {
	for _, d := range found {
		if d.Problem != "" {
			problems++
		}
	}
	return problems
}

// follow runs one case through guard, trigger and executor.
func (s *session) follow(ctx context.Context, draft rule.Program, c rule.Case) (diagnosis, error) {
	d := diagnosis{Case: c.ID, Guard: draft.Manifest.Guard.Allows(c.Task.Document())}
	reply, err := s.trigger(ctx, draft, c.Task.Document())
	if err != nil {
		return d, err
	}
	d.Verdict, d.Args, d.Note = reply.Verdict, reply.Args, reply.Note
	switch {
	case reply.Failure != "":
		d.Problem = fmt.Sprintf("the trigger failed: %s: %s", reply.Failure, reply.Detail)
	case c.Fallback && reply.Verdict == rule.Match:
		d.Problem = "it must fall back, and the trigger says match"
	case c.Fallback:
	case reply.Verdict != rule.Match:
		d.Problem = fmt.Sprintf("not covered: %s: %s", reply.Verdict, reply.Note)
	case c.Args.Present() && c.Args != reply.Args:
		d.Problem = fmt.Sprintf("args %s, certified %s", clip(string(reply.Args), 300), clip(string(c.Args), 300))
	default:
		done, err := s.execute1(ctx, draft, c.Task, reply.Args)
		if err != nil {
			return d, err
		}
		d.Problem = differs(done, c.Outcome)
	}
	return d, nil
}

// profile says how large the draft's work on visible cases is. Times are left
// out: they differ from run to run, and a replay has to be exact. What is too
// slow shows as a timeout.
func (s *session) profile(ctx context.Context) (answer, error) {
	draft, err := s.program()
	if err != nil {
		return answer{}, err
	}
	var sum struct {
		Cases       int `json:"cases"`
		Matched     int `json:"matched"`
		Abstained   int `json:"abstained"`
		Guarded     int `json:"stopped_by_guard"`
		Timeouts    int `json:"timeouts"`
		Failures    int `json:"failures"`
		ArgsBytes   int `json:"largest_args_bytes"`
		OutputBytes int `json:"largest_output_bytes"`
		SourceBytes int `json:"source_bytes"`
	}
	sum.SourceBytes = draft.Source.Tree().Bytes()
	for _, c := range visibleOf(s.view.Cases, s.draft.Identity().Family) {
		sum.Cases++
		if !draft.Manifest.Guard.Allows(c.Task.Document()) {
			sum.Guarded++
			continue
		}
		reply, err := s.trigger(ctx, draft, c.Task.Document())
		if err != nil {
			return answer{}, err
		}
		failure := reply.Failure
		if reply.Verdict == rule.Match {
			sum.Matched++
			sum.ArgsBytes = max(sum.ArgsBytes, len(reply.Args))
			done, err := s.execute1(ctx, draft, c.Task, reply.Args)
			if err != nil {
				return answer{}, err
			}
			failure = done.Failure
			if done.Outcome != nil {
				sum.OutputBytes = max(sum.OutputBytes, len(done.Outcome.Output))
			}
		}
		switch {
		case reply.Verdict == rule.Abstain:
			sum.Abstained++
		case failure == rule.FailureTimeout:
			sum.Timeouts++
		case failure != "":
			sum.Failures++
		}
	}
	return answer{OK: true, Code: "profiled", Message: "Sizes and counts over the visible cases of this family.", Data: sum}, nil
}

// clash is a visible case on which the collection with the draft in it would
// not be unanimous.
type clash struct {
	Case   string        `json:"case"`
	Family rule.Family   `json:"family"`
	Reason rule.Reason   `json:"reason"`
	Rules  []rule.Name   `json:"rules"`
	Task   rule.Document `json:"task"`
}

// conflicts asks the triggers of the draft and of all active rules about the
// visible cases, and shows where the draft spoils an answer or another rule
// spoils the draft's.
func (s *session) conflicts(ctx context.Context) (answer, error) {
	draft, err := s.program()
	if err != nil {
		return answer{}, err
	}
	programs := whole(s.view, draft).Programs // the draft is the first
	found, asked := []clash{}, 0
	for _, c := range s.view.Cases {
		if c.Part != rule.VisiblePart {
			continue
		}
		asked++
		replies := make([]rule.TriggerReply, len(programs))
		for i, p := range programs {
			if replies[i], err = s.trigger(ctx, p, c.Task.Document()); err != nil {
				return answer{}, err
			}
		}
		decision := rule.Decide(replies)
		if quiet(replies[0]) || decision.Reason == rule.ReasonMatched && c.Family == draft.Manifest.Family {
			continue
		}
		if one := (clash{c.ID, c.Family, decision.Reason, loud(programs, replies), c.Task.Document()}); len(found) < maxFailures &&
			(len(one.Rules) > 1 || c.Family != draft.Manifest.Family) {
			found = append(found, one)
		}
	}
	data := struct {
		Asked   int     `json:"asked"`
		Clashes []clash `json:"clashes"`
	}{asked, found}
	return answer{OK: true, Code: "checked", Message: fmt.Sprintf("%d clashes on %d visible cases.", len(found), asked), Data: data}, nil
}

// quiet says whether a trigger said no_match.
func quiet(reply rule.TriggerReply) bool {
	return reply.Failure == "" && reply.Verdict == rule.NoMatch
}

func loud(programs []rule.Program, replies []rule.TriggerReply) []rule.Name {
	var names []rule.Name
	for i, reply := range replies {
		if !quiet(reply) {
			names = append(names, programs[i].Member.Rule)
		}
	}
	return names
}
