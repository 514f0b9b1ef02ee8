package gateway

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"signalbox/registry/ledger"
)

// Endpoint is a model and where it is asked. Transport is set for a model that
// lives in this process; where it is nil, requests leave over the network and
// External limits apply.
type Endpoint struct {
	Model         string
	BaseURL       string // ends before chat/completions
	Key           string
	Transport     http.RoundTripper
	MaxCompletion int64         // tokens that one reply may have
	Context       int64         // tokens that prompt and reply may have together; 0: not known
	Deadline      time.Duration // of one call
	Price         Price
}

// Price is what a million tokens cost, in millionths of a dollar. Zero is
// unknown.
type Price struct {
	Prompt     int64
	Completion int64
}

// Cost returns what the tokens cost in millionths of a dollar, rounded up.
func (p Price) Cost(prompt, completion int64) int64 {
	return (prompt*p.Prompt + completion*p.Completion + 999_999) / 1_000_000
}

// Kind says whose limits a call is charged to.
func (e Endpoint) Kind() ledger.Kind {
	if e.Transport == nil {
		return ledger.External
	}
	return ledger.Builtin
}

// Ledger is where calls are paid for; *ledger.Ledger is one. Reserve checks the
// limits and writes the reservation in one step that holds across processes, and
// returns after it is on disk. A reservation that is neither settled nor
// released counts in full.
type Ledger interface {
	Reserve(ctx context.Context, kind ledger.Kind, attempt, purpose string, amounts ledger.Amounts) (int64, error)
	Settle(ctx context.Context, id int64, charged ledger.Amounts) error
	Release(ctx context.Context, id int64) error
	MarkUncertain(ctx context.Context, id int64) error
}

// Gateway asks one endpoint with one set of tools.
type Gateway struct {
	endpoint Endpoint
	ledger   Ledger
	tools    []openai.ChatCompletionToolUnionParam
	service  openai.ChatCompletionService
}

// New returns a Gateway. Every request that it sends carries exactly these
// tools.
func New(endpoint Endpoint, tools []Tool, ledger Ledger) (*Gateway, error) {
	if endpoint.Model == "" || endpoint.BaseURL == "" {
		return nil, errors.New("model endpoint: want a model and a base URL")
	}
	if endpoint.MaxCompletion <= 0 || endpoint.Deadline <= 0 {
		return nil, fmt.Errorf("model %q: want a bound on the reply's tokens and a deadline", endpoint.Model)
	}
	params, err := toolParams(tools)
	if err != nil {
		return nil, err
	}
	array, err := json.Marshal(params)
	if err != nil {
		return nil, fmt.Errorf("writing tools: %w", err)
	}
	digest, err := toolsDigest(array)
	if err != nil {
		return nil, err
	}
	guard := newTransport(surface{model: endpoint.Model, tools: digest}, endpoint.Transport)
	return &Gateway{endpoint: endpoint, ledger: ledger, tools: params, service: service(endpoint, guard)}, nil
}

// service builds the client without the environment, which would add headers
// of its own.
func service(endpoint Endpoint, guard http.RoundTripper) openai.ChatCompletionService {
	client := &http.Client{
		Transport:     guard,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return openai.NewChatCompletionService(
		option.WithBaseURL(strings.TrimSuffix(endpoint.BaseURL, "/")+"/"),
		option.WithAPIKey(endpoint.Key),
		option.WithHTTPClient(client),
		option.WithMaxRetries(0),
	)
}

// settleDeadline bounds the writing of a call's ending, which happens also when
// the caller has given up.
const settleDeadline = 10 * time.Second

// purpose is what the ledger's reservations of calls are for.
const purpose = "call"

// Ask sends the conversation once and returns the model's turn. It returns a
// *ledger.LimitError where nothing was sent because of a limit, a *CallError
// where the call gave no usable reply, and another error where the ledger can't
// be written: then nothing was sent either, or the call goes on counting.
func (g *Gateway) Ask(ctx context.Context, attempt string, messages []Message) (Reply, error) {
	body := g.body(messages)
	text, err := body.MarshalJSON() // the very bytes that the client sends
	if err != nil {
		return Reply{}, fmt.Errorf("writing request: %w", err)
	}
	prompt := estimate(len(text))
	if g.endpoint.Context > 0 && prompt+g.endpoint.MaxCompletion > g.endpoint.Context {
		return Reply{}, &CallError{Ending: Unsent, Overflow: true,
			Detail: fmt.Sprintf("about %d tokens and a reply don't fit %d", prompt, g.endpoint.Context)}
	}
	reserved := g.amounts(prompt, g.endpoint.MaxCompletion)
	call, err := g.ledger.Reserve(ctx, g.endpoint.Kind(), attempt, purpose, reserved)
	if err != nil {
		return Reply{}, err
	}
	p := &permit{maxBytes: len(text)}
	clientErr := g.dispatch(ctx, p, body)
	reply, callErr := g.conclude(p, clientErr, len(messages))
	keep, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleDeadline)
	defer cancel()
	usage, err := g.settle(keep, call, reserved, p, callErr)
	if err != nil {
		return Reply{}, err
	}
	if callErr != nil {
		callErr.Call, callErr.Usage = call, usage
		return Reply{}, callErr
	}
	reply.Call, reply.Usage, reply.Sent = call, usage, len(text)
	return reply, nil
}

// Weigh returns how many tokens a call with this conversation is reckoned at
// before it is made: its prompt and the longest reply.
func (g *Gateway) Weigh(messages []Message) (int64, error) {
	text, err := g.body(messages).MarshalJSON()
	if err != nil {
		return 0, fmt.Errorf("writing request: %w", err)
	}
	return estimate(len(text)) + g.endpoint.MaxCompletion, nil
}

// dispatch is the one place where a request to a model leaves.
func (g *Gateway) dispatch(ctx context.Context, p *permit, body openai.ChatCompletionNewParams) error {
	ctx, cancel := context.WithTimeout(withPermit(ctx, p), g.endpoint.Deadline)
	defer cancel()
	_, err := g.service.New(ctx, body)
	return err
}

// conclude turns the permit's facts into a reply or an error.
func (g *Gateway) conclude(p *permit, clientErr error, turn int) (Reply, *CallError) {
	ending, detail := p.ending(clientErr)
	if ending != Answered {
		return Reply{}, &CallError{Ending: ending, Status: p.status, Detail: g.redact(detail),
			Overflow: ending == Failed && overflows(p.status, detail), RetryAfter: retryAfter(p.header)}
	}
	reply, err := parseReply(p.body, turn)
	if err != nil {
		return Reply{}, &CallError{Ending: Malformed, Status: p.status, Detail: g.redact(err.Error())}
	}
	return reply, nil
}

// redact takes the key out of what a server said.
func (g *Gateway) redact(text string) string {
	if g.endpoint.Key == "" {
		return text
	}
	return strings.ReplaceAll(text, g.endpoint.Key, "[key]")
}

// settle writes how the call ended and returns what it is charged with.
func (g *Gateway) settle(ctx context.Context, call int64, reserved ledger.Amounts, p *permit, callErr *CallError) (Usage, error) {
	ending := Answered
	if callErr != nil {
		ending = callErr.Ending
	}
	held := Usage{Prompt: reserved[ledger.PromptTokens], Completion: reserved[ledger.CompletionTokens]}
	switch ending {
	case Unsent:
		return Usage{}, g.ledger.Release(ctx, call)
	case Uncertain:
		return held, g.ledger.MarkUncertain(ctx, call)
	}
	usage := spent(held, ending, p.body)
	return usage, g.ledger.Settle(ctx, call, g.amounts(usage.Prompt, usage.Completion))
}

// amounts returns what one call with so many tokens is charged with.
func (g *Gateway) amounts(prompt, completion int64) ledger.Amounts {
	amounts := ledger.Amounts{ledger.Calls: 1, ledger.PromptTokens: prompt, ledger.CompletionTokens: completion}
	if cost := g.endpoint.Price.Cost(prompt, completion); cost > 0 {
		amounts[ledger.MicroUSD] = cost
	}
	return amounts
}
