package router

import (
	"time"

	"signalbox/rule"
)

// The two decisions of an answer.
const (
	DecisionRule     = "rule"
	DecisionFallback = "fallback"
)

// Answer is the one document that a route gives. Outcome is set exactly when
// Decision is "rule".
type Answer struct {
	RouteID    string          `json:"route_id"`
	Task       rule.Digest     `json:"task"`
	Decision   string          `json:"decision"`
	Reason     rule.Reason     `json:"reason"`
	Detail     string          `json:"detail,omitzero"`
	Rule       rule.Name       `json:"rule,omitzero"`
	Family     rule.Family     `json:"family,omitzero"`
	Revision   rule.Digest     `json:"revision,omitzero"`
	Outcome    *rule.Outcome   `json:"outcome,omitzero"`
	Verdicts   []Verdict       `json:"verdicts"`
	Generation rule.Generation `json:"generation"`
	Proof      rule.Digest     `json:"proof,omitzero"`
	Timing     Timing          `json:"timing"`
}

// Verdict is what one trigger said. Guard is true where the host's evaluation
// of the guard said no_match and the program wasn't asked.
type Verdict struct {
	Rule     rule.Name    `json:"rule"`
	Revision rule.Digest  `json:"revision"`
	Verdict  rule.Verdict `json:"verdict,omitzero"`
	Failure  rule.Failure `json:"failure,omitzero"`
	Args     rule.Value   `json:"args,omitzero"`
	Note     string       `json:"note,omitzero"`
	Detail   string       `json:"detail,omitzero"`
	Guard    bool         `json:"guard,omitzero"`
	Millis   float64      `json:"ms"`
}

// Timing holds the parts of a route and the whole, in milliseconds. Whole
// includes persistence; a stored event has the time up to it.
type Timing struct {
	Authority float64 `json:"authority_ms"`
	Triggers  float64 `json:"triggers_ms"`
	Executor  float64 `json:"executor_ms,omitzero"`
	Persist   float64 `json:"persist_ms"`
	Whole     float64 `json:"whole_ms"`
}

// Answered says whether a rule answered.
func (a Answer) Answered() bool { return a.Decision == DecisionRule }

// Asked returns the verdicts of the programs that were asked.
func (a Answer) Asked() []Verdict {
	asked := make([]Verdict, 0, 4)
	for _, v := range a.Verdicts {
		if !v.Guard {
			asked = append(asked, v)
		}
	}
	return asked
}

// fallBack turns the answer into a fallback; no outcome survives it.
func (a *Answer) fallBack(reason rule.Reason, detail string) {
	a.Decision, a.Reason, a.Detail, a.Outcome = DecisionFallback, reason, detail, nil
}

func millis(since time.Time) float64 {
	return float64(time.Since(since).Microseconds()) / 1000
}
