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
