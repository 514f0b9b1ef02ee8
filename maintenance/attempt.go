package maintenance

import (
	"time"

	"signalbox/maintenance/gateway"
	"signalbox/registry/ledger"
	"signalbox/rule"
)

// Options say what one attempt is for. Rule chooses one of several rules that
// serve the family. Resume names an earlier attempt whose draft and feedback
// this one starts from.
type Options struct {
	Family   rule.Family
	Rule     rule.Name
	Endpoint gateway.Endpoint
	Bounds   Bounds
	Resume   string
}

// Bounds end an attempt. A zero field means the default beside it. The built-in
// author's tokens cost nothing and are only counted, unless a bound is set.
type Bounds struct {
	Calls       int           // requests to the model: 40
	Tokens      int64         // prompt and completion together: 2,000,000
	Wall        time.Duration // 30 minutes
	Operations  int           // tool calls executed: 200
	Validations int           // validate_rule and submit_rule: 30
	Bytes       int64         // of tool results: 4 MiB
	Idle        int           // turns without a change of the draft: 15
}

func (b Bounds) withDefaults(kind ledger.Kind) Bounds {
	if kind == ledger.Builtin {
		b.Tokens = orElse(b.Tokens, unlimited)
	}
	b.Calls = orElse(b.Calls, 40)
	b.Tokens = orElse(b.Tokens, 2_000_000)
	b.Wall = orElse(b.Wall, 30*time.Minute)
	b.Operations = orElse(b.Operations, 200)
	b.Validations = orElse(b.Validations, 30)
	b.Bytes = orElse(b.Bytes, 4<<20)
	b.Idle = orElse(b.Idle, 15)
	return b
}

func orElse[N int | int64 | time.Duration](n, otherwise N) N {
	if n <= 0 {
		return otherwise
	}
	return n
}

// endpointDefaults fills in what a reply may cost where nobody said it.
func endpointDefaults(e gateway.Endpoint) gateway.Endpoint {
	e.MaxCompletion = orElse(e.MaxCompletion, 8192)
	e.Deadline = orElse(e.Deadline, 5*time.Minute)
	return e
}

// Counts says what an attempt has used.
type Counts struct {
	Calls       int   `json:"calls"`
	Prompt      int64 `json:"prompt_tokens"`
	Completion  int64 `json:"completion_tokens"`
	Operations  int   `json:"operations"`
	Errors      int   `json:"errors"`
	Validations int   `json:"validations"`
	Submits     int   `json:"submits"`
	Revealed    int   `json:"revealed"`
	Requests    int   `json:"requests"`
	Bytes       int64 `json:"bytes"`
}

// Attempt is what came of one attempt. Skipped says that the active rules
// answer the family already, so that no attempt was opened. Proof is set where
// Stop is StopSubmitted.
type Attempt struct {
	ID      string        `json:"id,omitzero"`
	Family  rule.Family   `json:"family"`
	Rule    rule.Name     `json:"rule,omitzero"`
	Skipped bool          `json:"skipped,omitzero"`
	Stop    StopReason    `json:"stop,omitzero"`
	Why     string        `json:"why,omitzero"`
	Draft   rule.Digest   `json:"draft,omitzero"`
	Proof   rule.Digest   `json:"proof,omitzero"`
	Counts  Counts        `json:"counts"`
	Took    time.Duration `json:"took_ns,format:nano"`
}
