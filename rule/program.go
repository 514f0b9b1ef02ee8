package rule

// Program is a member with everything that running it needs. The registry
// makes one from verified objects only.
type Program struct {
	Member      Member
	Manifest    Manifest
	Source      Source
	Environment Environment
}

// FitTrigger returns the reply as the host takes it: a match whose args don't
// fit the manifest's args_schema is a schema failure.
func (m Manifest) FitTrigger(reply TriggerReply) TriggerReply {
	if reply.Failure != "" || reply.Verdict != Match {
		return reply
	}
	if err := m.ArgsSchema.Accepts(reply.Args); err != nil {
		return TriggerReply{Failure: FailureSchema, Detail: "args: " + err.Error()}
	}
	return reply
}

// FitExecutor returns the reply as the host takes it: an outcome whose output
// doesn't fit the manifest's result_schema is a schema failure. An outcome
// without output is judged by its files alone.
func (m Manifest) FitExecutor(reply ExecutorReply) ExecutorReply {
	if reply.Failure != "" || reply.Outcome == nil || !reply.Outcome.Output.Present() {
		return reply
	}
	if err := m.ResultSchema.Accepts(reply.Outcome.Output); err != nil {
		return ExecutorReply{Failure: FailureSchema, Detail: "output: " + err.Error()}
	}
	return reply
}
