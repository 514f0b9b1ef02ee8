package rule

// Reason says why a task was answered or fell back. The list is closed.
type Reason string

// All reasons. Only ReasonMatched comes with an outcome.
const (
	ReasonMatched            Reason = "matched"
	ReasonNoMatch            Reason = "no_match"
	ReasonConflict           Reason = "conflict"
	ReasonAbstained          Reason = "abstained"
	ReasonTriggerTimeout     Reason = "trigger_timeout"
	ReasonTriggerFailed      Reason = "trigger_failed"
	ReasonSchemaFailure      Reason = "schema_failure"
	ReasonExecutorAbstained  Reason = "executor_abstained"
	ReasonExecutorTimeout    Reason = "executor_timeout"
	ReasonExecutorFailed     Reason = "executor_failed"
	ReasonUnproven           Reason = "unproven"
	ReasonProofStale         Reason = "proof_stale"
	ReasonEnvironmentChanged Reason = "environment_changed"
	ReasonRegistryChanged    Reason = "registry_changed"
	ReasonSandboxUnavailable Reason = "sandbox_unavailable"
	ReasonTaskRejected       Reason = "task_rejected"
)

// Decision is what a set of trigger answers comes to. Winner is the index of
// the only match where Reason is ReasonMatched, and -1 otherwise.
type Decision struct {
	Reason Reason
	Winner int
}

// Decide applies the unanimity rule: matched only when exactly one trigger says
// match and every other one says no_match. There is no priority, score or
// tie-break, and the order of the answers doesn't matter: of several reasons to
// fall back the gravest is given. Router and oracle both decide here.
func Decide(replies []TriggerReply) Decision {
	winner, matches := -1, 0
	worst := ReasonNoMatch
	for i, reply := range replies {
		if reply.Failure == "" && reply.Verdict == Match {
			winner, matches = i, matches+1
			continue
		}
		worst = graver(worst, triggerReason(reply))
	}
	if matches > 1 {
		worst = graver(worst, ReasonConflict)
	}
	if matches == 1 && worst == ReasonNoMatch {
		return Decision{Reason: ReasonMatched, Winner: winner}
	}
	return Decision{Reason: worst, Winner: -1}
}

// triggerReason returns what a reply that isn't a match means for its route.
func triggerReason(reply TriggerReply) Reason {
	switch reply.Failure {
	case "":
		if reply.Verdict == NoMatch {
			return ReasonNoMatch
		}
		if reply.Verdict == Abstain {
			return ReasonAbstained
		}
		return ReasonTriggerFailed
	case FailureUnavailable:
		return ReasonSandboxUnavailable
	case FailureEnvironment:
		return ReasonEnvironmentChanged
	case FailureTimeout:
		return ReasonTriggerTimeout
	case FailureSchema:
		return ReasonSchemaFailure
	}
	return ReasonTriggerFailed
}

// gravity orders the reasons that trigger answers can give.
var gravity = map[Reason]int{
	ReasonNoMatch:            0,
	ReasonAbstained:          1,
	ReasonConflict:           2,
	ReasonSchemaFailure:      3,
	ReasonTriggerFailed:      4,
	ReasonTriggerTimeout:     5,
	ReasonEnvironmentChanged: 6,
	ReasonSandboxUnavailable: 7,
}

func graver(a, b Reason) Reason {
	if gravity[b] > gravity[a] {
		return b
	}
	return a
}

// ExecutorReason returns what an executor's reply means for its route.
func ExecutorReason(reply ExecutorReply) Reason {
	switch reply.Failure {
	case "":
		if reply.Outcome != nil && !reply.Abstained {
			return ReasonMatched
		}
		if reply.Abstained {
			return ReasonExecutorAbstained
		}
		return ReasonExecutorFailed
	case FailureUnavailable:
		return ReasonSandboxUnavailable
	case FailureEnvironment:
		return ReasonEnvironmentChanged
	case FailureTimeout:
		return ReasonExecutorTimeout
	case FailureSchema:
		return ReasonSchemaFailure
	}
	return ReasonExecutorFailed
}
