package oracle

import "signalbox/rule"

// cell is what one trigger answered about one document, as the matrix keeps it.
type cell byte

// The cells. Where the guard is false the decision takes a rule for no_match,
// whatever its program said.
const (
	cellNone      cell = 0
	cellMatch     cell = 'm'
	cellNoMatch   cell = 'n'
	cellAbstain   cell = 'a'
	cellTimeout   cell = 't'
	cellSchema    cell = 's'
	cellFailed    cell = 'f'
	cellDiffers   cell = 'd'
	cellGuarded   cell = '.' // guard false, program says no_match
	cellDisagrees cell = '!' // guard false, program says anything else
)

// cellOf returns the cell of a reply that was fitted to the manifest.
func cellOf(reply rule.TriggerReply, allowed bool) cell {
	if !allowed && reply.Failure == "" && reply.Verdict == rule.NoMatch {
		return cellGuarded
	}
	if !allowed {
		return cellDisagrees
	}
	switch reply.Failure {
	case "":
	case rule.FailureTimeout:
		return cellTimeout
	case rule.FailureSchema:
		return cellSchema
	default:
		return cellFailed
	}
	switch reply.Verdict {
	case rule.Match:
		return cellMatch
	case rule.NoMatch:
		return cellNoMatch
	case rule.Abstain:
		return cellAbstain
	}
	return cellFailed
}

// reply returns the cell as the reply that the decision is made from.
func (c cell) reply() rule.TriggerReply {
	switch c {
	case cellMatch:
		return rule.TriggerReply{Verdict: rule.Match}
	case cellNoMatch, cellGuarded, cellDisagrees:
		return rule.TriggerReply{Verdict: rule.NoMatch}
	case cellAbstain:
		return rule.TriggerReply{Verdict: rule.Abstain}
	case cellTimeout:
		return rule.TriggerReply{Failure: rule.FailureTimeout}
	case cellSchema:
		return rule.TriggerReply{Failure: rule.FailureSchema}
	}
	return rule.TriggerReply{Failure: rule.FailureCrash}
}

// unavailable says that nothing is known of the program.
func unavailable(failure rule.Failure) bool {
	return failure == rule.FailureUnavailable || failure == rule.FailureEnvironment
}
