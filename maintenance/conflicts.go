package maintenance

import (
	"context"
	"fmt"

	"signalbox/rule"
)

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
