package rule

import (
	"fmt"
	"strings"
)

// Verdict is a trigger's answer. The zero value is none: the program failed or
// was never asked.
type Verdict string

// The verdicts that a trigger can give.
const (
	Match   Verdict = "match"
	NoMatch Verdict = "no_match"
	Abstain Verdict = "abstain"
)

// Failure says how a program ended without giving a usable reply. The zero
// value is no failure. A failure is never a verdict.
type Failure string

// The failures, from the host's facts (deadline, counters, caps) down to the
// reply's form. FailureUnavailable says that nothing is known of the program:
// the host could not run it.
const (
	FailureTimeout     Failure = "timeout"
	FailureMemory      Failure = "out_of_memory"
	FailureProcesses   Failure = "too_many_processes"
	FailureSandbox     Failure = "sandbox_violation"
	FailureOutput      Failure = "output_limit"
	FailureCrash       Failure = "crash"
	FailureSchema      Failure = "schema_failure"
	FailureEnvironment Failure = "environment_changed"
	FailureUnavailable Failure = "unavailable"
)

// MaxNoteBytes bounds the note of a verdict, which people read.
const MaxNoteBytes = 500

// TriggerReply is what a trigger program answered. Either Verdict or Failure
// is set. Args is a JSON object with Match and absent otherwise. Detail
// explains a failure to a maintainer and may quote the program.
type TriggerReply struct {
	Verdict Verdict `json:"verdict,omitzero"`
	Args    Value   `json:"args,omitzero"`
	Note    string  `json:"note,omitzero"`
	Failure Failure `json:"failure,omitzero"`
	Detail  string  `json:"detail,omitzero"`
}

// ExecutorReply is what an executor program answered: an outcome, an
// abstention, or a failure. Exactly one of the three.
type ExecutorReply struct {
	Outcome   *Outcome `json:"outcome,omitzero"`
	Abstained bool     `json:"abstained,omitzero"`
	Note      string   `json:"note,omitzero"`
	Failure   Failure  `json:"failure,omitzero"`
	Detail    string   `json:"detail,omitzero"`
}

// ParseTriggerReply decodes a trigger's reply as a program wrote it. It never
// accepts a failure: only the host says that.
func ParseTriggerReply(data []byte) (TriggerReply, error) {
	var wire struct {
		Verdict Verdict `json:"verdict"`
		Args    Value   `json:"args,omitzero"`
		Note    string  `json:"note,omitzero"`
	}
	if err := Decode(data, &wire); err != nil {
		return TriggerReply{}, fmt.Errorf("reading trigger reply: %w", err)
	}
	reply := TriggerReply{Verdict: wire.Verdict, Args: wire.Args, Note: wire.Note}
	return reply, reply.check()
}

func (r TriggerReply) check() error {
	isObject := len(r.Args) > 0 && r.Args[0] == '{'
	switch {
	case r.Verdict != Match && r.Verdict != NoMatch && r.Verdict != Abstain:
		return fmt.Errorf("verdict %q: want match, no_match or abstain", shorten(string(r.Verdict)))
	case r.Verdict == Match && !isObject:
		return fmt.Errorf("match without args: want a JSON object, possibly empty")
	case r.Verdict != Match && r.Args.Present():
		return fmt.Errorf("args with %s: only match carries args", r.Verdict)
	}
	return checkNote(r.Note)
}

// checkNote refuses what is too long, or could command a reader's terminal.
func checkNote(note string) error {
	if len(note) > MaxNoteBytes {
		return fmt.Errorf("note has %d bytes: the limit is %d", len(note), MaxNoteBytes)
	}
	if hasControl(strings.NewReplacer("\n", "", "\t", "").Replace(note)) {
		return fmt.Errorf("note %q: control characters are not allowed", shorten(note))
	}
	return nil
}

// ParseExecutorReply decodes an executor's reply as a program wrote it:
// {"outcome":{…}} or {"abstained":true,"note":…}.
func ParseExecutorReply(data []byte) (ExecutorReply, error) {
	var wire struct {
		Outcome   *Outcome `json:"outcome,omitzero"`
		Abstained bool     `json:"abstained,omitzero"`
		Note      string   `json:"note,omitzero"`
	}
	if err := Decode(data, &wire); err != nil {
		return ExecutorReply{}, fmt.Errorf("reading executor reply: %w", err)
	}
	reply := ExecutorReply{Outcome: wire.Outcome, Abstained: wire.Abstained, Note: wire.Note}
	return reply, reply.check()
}

func (r ExecutorReply) check() error {
	switch {
	case r.Abstained == (r.Outcome != nil):
		return fmt.Errorf("want either an outcome or an abstention")
	case r.Outcome != nil:
		if err := r.Outcome.Check(); err != nil {
			return err
		}
	}
	return checkNote(r.Note)
}
