package maintenance

import (
	"context"
	"errors"
	"fmt"

	"signalbox/maintenance/draft"
	"signalbox/maintenance/gateway"
	"signalbox/registry/ledger"
	"signalbox/rule"
)

// session is one attempt while it runs.
type session struct {
	deps        Deps
	endpoint    gateway.Endpoint
	bounds      Bounds
	view        View
	environment rule.Environment // that the draft's programs run in
	draft       *draft.Draft
	gateway     *gateway.Gateway
	editor      DraftEditor // opened by the first edit
	part        part        // what the editor may change; nothing before any edit_… action
	messages    []gateway.Message
	progress    *progress
	counts      Counts
	bad         int   // malformed turns in a row
	texts       int   // turns without a call in a row
	reported    int64 // prompt tokens that the server reported last
	hidden      int   // admission cases of the family when the attempt began
	proof       rule.Digest
}

// maxMalformed is how many malformed turns in a row end an attempt.
const maxMalformed = 3

// run talks until something stops it. The error is a *stopped, or says that the
// host couldn't go on.
func (s *session) run(ctx context.Context) error {
	for {
		if err := s.within(ctx); err != nil {
			return err
		}
		if err := s.turn(ctx); err != nil {
			return err
		}
	}
}

// within stops an attempt that is at one of its bounds.
func (s *session) within(ctx context.Context) error {
	switch {
	case ctx.Err() != nil:
		return stop(StopCancelled, "the attempt was cancelled or its time is used up")
	case s.counts.Calls >= s.bounds.Calls:
		return stop(StopCalls, fmt.Sprintf("%d calls of the model are used up", s.bounds.Calls))
	case s.counts.Operations >= s.bounds.Operations:
		return stop(StopCalls, fmt.Sprintf("%d operations are used up", s.bounds.Operations))
	case s.counts.Bytes >= s.bounds.Bytes:
		return stop(StopTokens, fmt.Sprintf("%d bytes of tool results are used up", s.bounds.Bytes))
	}
	next, err := s.gateway.Weigh(s.messages)
	if err != nil {
		return err
	}
	if spent := s.counts.Prompt + s.counts.Completion; spent+next > s.bounds.Tokens {
		return stop(StopTokens, fmt.Sprintf("%d of %d tokens are used, and the next call may need %d", spent, s.bounds.Tokens, next))
	}
	return nil
}

// turn asks the model once and does what it says.
func (s *session) turn(ctx context.Context) error {
	reply, err := s.gateway.Ask(ctx, s.draft.Identity().Attempt, s.messages)
	if err != nil {
		return s.unanswered(ctx, err)
	}
	s.count(reply.Usage)
	if err := s.draft.Record("turn", reply); err != nil {
		return err
	}
	before := s.reported
	s.reported = reply.Usage.Reported
	switch {
	case gateway.Shrunk(reply.Sent, before, reply.Usage.Reported):
		return stop(StopContext, "the server has dropped a part of the conversation")
	case reply.Refusal != "":
		return stop(StopRefused, clip(reply.Refusal, 500))
	case reply.Cut:
		return s.malformed("Your reply was cut at its length limit, and nothing of it was executed. Write less at once: one call, smaller edits.")
	case len(reply.Calls) == 0:
		return s.wordsOnly(reply.Text)
	}
	s.bad, s.texts = 0, 0
	return s.execute(ctx, reply)
}

// unanswered deals with a call that gave no usable reply.
func (s *session) unanswered(ctx context.Context, err error) error {
	var limit *ledger.LimitError
	if errors.As(err, &limit) {
		return limited(limit)
	}
	var call *gateway.CallError
	if !errors.As(err, &call) {
		return err
	}
	s.count(call.Usage)
	if err := s.draft.Record("failed_turn", failedTurn{string(call.Ending), call.Status, call.Detail}); err != nil {
		return err
	}
	switch {
	case call.Overflow:
		return stop(StopContext, call.Error())
	case call.Ending == gateway.Uncertain:
		return stop(StopUncertain, call.Error())
	case call.Ending == gateway.Unsent && ctx.Err() != nil:
		return stop(StopCancelled, "the attempt was cancelled or its time is used up")
	case call.Ending == gateway.Malformed:
		return s.malformed("Your reply can't be used: " + call.Detail + ". Answer with one tool call.")
	}
	return stop(StopModel, call.Error())
}

type failedTurn struct {
	Ending string `json:"ending"`
	Status int    `json:"status"`
	Detail string `json:"detail"`
}

// limited says which limit of the workspace ended an attempt, and how to raise it.
func limited(limit *ledger.LimitError) error {
	reason := StopCalls
	switch limit.Resource {
	case ledger.PromptTokens, ledger.CompletionTokens, ledger.MicroUSD:
		reason = StopTokens
	case ledger.WallMillis:
		reason = StopCancelled
	}
	return stop(reason, fmt.Sprintf("%v: an operator raises it with `signalbox budget set %s N --kind %s`", limit, limit.Resource, limit.Kind))
}

// malformed gives the model one corrective message; three in a row end the
// attempt.
func (s *session) malformed(correction string) error {
	s.bad++
	if s.bad >= maxMalformed {
		return stop(StopModel, fmt.Sprintf("%d replies in a row could not be used: %s", s.bad, clip(correction, 300)))
	}
	s.say(gateway.Message{Role: gateway.User, Text: correction})
	return s.progress.idled()
}

// wordsOnly ends the attempt of a model that gives up. A model that is asked
// over the network may only have forgotten to call, and is reminded once. What
// it said stays with the draft, for a person and for a later attempt.
func (s *session) wordsOnly(text string) error {
	s.texts++
	if s.endpoint.Kind() == ledger.Builtin || s.texts > 1 {
		if err := s.draft.AddFeedback(clip("the model gave up: "+text, 4<<10)); err != nil {
			return err
		}
		return stop(StopProgress, "the model gave up: "+clip(text, 1000))
	}
	s.say(gateway.Message{Role: gateway.Assistant, Text: text})
	s.say(gateway.Message{Role: gateway.User, Text: "No tool was called. Call one, or answer once more without a call to give up."})
	return s.progress.idled()
}

// execute does the first call of a turn and answers every one exactly once.
func (s *session) execute(ctx context.Context, reply gateway.Reply) error {
	echo := gateway.Message{Role: gateway.Assistant, Text: reply.Text}
	for _, call := range reply.Calls {
		call.Arguments = echoed(call.Arguments)
		echo.Calls = append(echo.Calls, call)
	}
	s.say(echo)
	first := reply.Calls[0]
	r, err := s.call(ctx, first)
	if err != nil {
		return err
	}
	if err := s.draft.Record("result", toolResult{first.ID, r.text, r.failed}); err != nil {
		return err
	}
	nudge, stopping := s.progress.step(first.Name+" "+first.Arguments, r.gist, r.failed, s.draft.Tree().Digest())
	s.say(gateway.Message{Role: gateway.ToolReply, CallID: first.ID, Text: r.text})
	for _, call := range reply.Calls[1:] {
		s.say(gateway.Message{Role: gateway.ToolReply, CallID: call.ID, Text: "Not executed: only the first call of a turn is."})
	}
	if nudge != "" {
		s.say(gateway.Message{Role: gateway.User, Text: nudge})
	}
	return stopping
}

type toolResult struct {
	CallID string `json:"call_id"`
	Text   string `json:"text"`
	Failed bool   `json:"failed"`
}

// echoed returns arguments as they go back to the server: some servers read
// them, and fail where they are not an object.
func echoed(arguments string) string {
	if value, err := rule.ParseValue([]byte(arguments)); err == nil && value[0] == '{' {
		return arguments
	}
	return "{}"
}

// say appends a message to the conversation.
func (s *session) say(m gateway.Message) {
	s.messages = append(s.messages, m)
	if m.Role == gateway.ToolReply {
		s.counts.Bytes += int64(len(m.Text))
	}
}

func (s *session) count(usage gateway.Usage) {
	s.counts.Calls++
	s.counts.Prompt += usage.Prompt
	s.counts.Completion += usage.Completion
}

// left says what remains of the bounds that a model can plan with.
func (s *session) left() left {
	return left{Calls: s.bounds.Calls - s.counts.Calls, Validations: s.bounds.Validations - s.counts.Validations}
}
