package oracle

import (
	"fmt"

	"signalbox/rule"
)

// result is what a case came to, as the matrix keeps it.
type result byte

const (
	resultRight     result = 'R'
	resultUncovered result = 'u' // positive, fell back
	resultFellBack  result = 'F' // had to
	resultRefused   result = 'x'
	resultUnserved  result = '-' // fell back, and no rule serves the family
)

// decided is a case after the triggers: its winner has to be executed where
// there is one.
type decided struct {
	winner *row // nil where nothing is executed
	result result
	reason rule.Reason
}

// decide applies the router's decision to every case.
func (l *plan) decide() []decided {
	out := make([]decided, len(l.cases))
	replies := make([]rule.TriggerReply, len(l.rules))
	for i := range l.cases {
		out[i] = l.decideCase(i, replies)
	}
	return out
}

func (l *plan) decideCase(i int, replies []rule.TriggerReply) decided {
	doc := l.caseDoc[i]
	var matches, owners []*row
	spoiled := false
	for k, r := range l.rules {
		replies[k] = r.cells[doc].reply()
		spoiled = spoiled || !r.own[doc] && replies[k].Verdict != rule.NoMatch
		if r.cells[doc] == cellMatch {
			matches = append(matches, r)
			if r.own[doc] {
				owners = append(owners, r)
			}
		}
	}
	decision := rule.Decide(replies)
	if len(matches) > 1 {
		l.overlap(i, matches, owners)
	}
	if decision.Reason == rule.ReasonMatched {
		winner := l.rules[decision.Winner]
		if winner.own[doc] {
			return decided{winner: winner, reason: decision.Reason}
		}
		return decided{result: resultRefused, reason: decision.Reason}
	}
	f := l.families[l.cases[i].Family]
	if spoiled && len(owners) == 1 && owners[0].family == f.name && !l.cases[i].Fallback {
		f.report.Disturbed++
	}
	return decided{result: l.fallback(i, owners), reason: decision.Reason}
}

// fallback returns what falling back means for a case.
func (l *plan) fallback(i int, owners []*row) result {
	c := l.cases[i]
	switch {
	case len(owners) > 1:
		return resultRefused
	case c.Fallback:
		return resultFellBack
	case len(l.families[c.Family].rules) == 0:
		return resultUnserved
	}
	return resultUncovered
}

// overlap counts a case that several rules match. Two of them that both own it
// are in conflict; a rule of another family is refused by judge already.
func (l *plan) overlap(i int, matches, owners []*row) {
	for _, r := range matches {
		r.report.Overlap++
	}
	if len(owners) < 2 {
		return
	}
	var names []rule.Name
	for _, r := range owners {
		r.report.Conflicts++
		names = append(names, r.report.Rule)
	}
	owners[0].finds.onCase(l.cases[i], Refusal{
		Kind: KindConflict, Rule: names[0], Rivals: names[1:], Detail: fmt.Sprintf("%d rules match", len(names)),
	})
}
