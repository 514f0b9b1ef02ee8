package maintenance

// StopReason says why an attempt ended. The list is closed; the zero value is
// an attempt that still runs.
type StopReason string

// All stop reasons. Calls, operations and validations are counted by
// StopCalls, tokens and bytes by StopTokens; a used-up time is a cancellation.
const (
	StopSubmitted StopReason = "submitted"
	StopCalls     StopReason = "call_limit"
	StopTokens    StopReason = "token_limit"
	StopContext   StopReason = "context_exhausted"
	StopProgress  StopReason = "no_progress"
	StopRefused   StopReason = "model_refused"
	StopModel     StopReason = "model_error"
	StopUncertain StopReason = "uncertain_call"
	StopCancelled StopReason = "cancelled"
	StopStale     StopReason = "stale_parent"
)

// stopped is how a step ends its attempt.
type stopped struct {
	reason StopReason
	why    string
}

func (s *stopped) Error() string { return string(s.reason) + ": " + s.why }

func stop(reason StopReason, why string) error { return &stopped{reason: reason, why: why} }
