package gateway

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"

	"signalbox/registry/ledger"
)

// TestAsk sends a conversation and reads the turn.
func TestAsk(t *testing.T) {
	t.Setenv("OPENAI_ORG_ID", "org")
	t.Setenv("OPENAI_PROJECT_ID", "project")
	t.Setenv("OPENAI_CUSTOM_HEADERS", "X-Leak: yes")
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	server, l := newProvider(t, answers(200, good)), newLedger(t)
	messages := append(asked,
		Message{Role: Assistant, Text: "first", Calls: []ToolCall{{ID: "", Name: "rule", Arguments: "{}"}}},
		Message{Role: ToolReply, CallID: "", Text: "done"})
	reply, err := newGateway(t, endpointAt(server.URL), l).Ask(t.Context(), "a0001", messages)
	if err != nil {
		t.Fatal(err)
	}
	if len(reply.Calls) != 1 || reply.Calls[0] != (ToolCall{ID: "call_1", Name: "rule", Arguments: `{"action":"list_rules"}`}) {
		t.Errorf("calls = %+v", reply.Calls)
	}
	if reply.Usage.Prompt != 5000 || reply.Usage.Completion < 70 || reply.Usage.Reported != 5000 {
		t.Errorf("usage = %+v", reply.Usage)
	}
	if got := used(t, l, ledger.PromptTokens); got != 5000 {
		t.Errorf("%d prompt tokens are spent, want what was reported: 5000", got)
	}
	if uncertain(t, l) != 0 {
		t.Error("a settled call is uncertain")
	}
	checkRequest(t, server)
}

// checkRequest wants nothing in the request that wasn't meant to be there.
func checkRequest(t *testing.T, server *provider) {
	t.Helper()
	request := server.last.Load()
	for name := range request.Header {
		if strings.HasPrefix(name, "X-") || strings.HasPrefix(name, "Openai-") || strings.Contains(name, "Idempotency") {
			t.Errorf("header %s was sent", name)
		}
	}
	if request.Proto != "HTTP/1.1" || !request.Close || request.Header.Get("Authorization") != "Bearer sk-secret" {
		t.Errorf("protocol %s, close %v, authorization %q", request.Proto, request.Close, request.Header.Get("Authorization"))
	}
	var body map[string]jsontext.Value
	if err := json.Unmarshal(*server.body.Load(), &body); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"model", "messages", "tools", "tool_choice", "max_completion_tokens"} {
		if len(body[name]) == 0 {
			t.Errorf("%s is missing", name)
		}
		delete(body, name)
	}
	if len(body) > 0 {
		t.Errorf("further fields: %v", body)
	}
	if strings.Contains(string(*server.body.Load()), `"tool_calls":[null]`) {
		t.Error("a call without an id became null")
	}
}

// TestReplies reads what servers really send.
func TestReplies(t *testing.T) {
	message := func(m string) string { return `{"choices":[{"finish_reason":"stop","message":` + m + `}]}` }
	call := func(c string) string { return message(`{"role":"assistant","content":null,"tool_calls":[` + c + `]}`) }
	for name, c := range map[string]struct {
		body string
		want Reply
	}{
		"stop with a call":    {call(`{"id":"abc","type":"function","function":{"name":"rule","arguments":"{}"}}`), Reply{Calls: []ToolCall{{"abc", "rule", "{}"}}}},
		"missing id":          {call(`{"function":{"name":"rule","arguments":"{}"}}`), Reply{Calls: []ToolCall{{"c00002x00", "rule", "{}"}}}},
		"empty id":            {call(`{"id":"","function":{"name":"rule","arguments":"{}"}}`), Reply{Calls: []ToolCall{{"c00002x00", "rule", "{}"}}}},
		"null id":             {call(`{"id":null,"function":{"name":"rule","arguments":"{}"}}`), Reply{Calls: []ToolCall{{"c00002x00", "rule", "{}"}}}},
		"number as id":        {call(`{"id":7,"function":{"name":"rule","arguments":"{}"}}`), Reply{Calls: []ToolCall{{"c00002x00", "rule", "{}"}}}},
		"duplicate ids":       {call(`{"id":"a","function":{"name":"rule","arguments":"{}"}},{"id":"a","function":{"name":"rule","arguments":"{}"}}`), Reply{Calls: []ToolCall{{"a", "rule", "{}"}, {"c00002x01", "rule", "{}"}}}},
		"arguments an object": {call(`{"id":"a","function":{"name":"rule","arguments":{"action":"x"}}}`), Reply{Calls: []ToolCall{{"a", "rule", `{"action":"x"}`}}}},
		"arguments null":      {call(`{"id":"a","function":{"name":"rule","arguments":null}}`), Reply{Calls: []ToolCall{{"a", "rule", ""}}}},
		"no function":         {call(`{"id":"a","type":"custom"}`), Reply{Calls: []ToolCall{{"a", "", ""}}}},
		"text only":           {message(`{"role":"assistant","content":"hello"}`), Reply{Text: "hello"}},
		"content an array":    {message(`{"content":[{"type":"text","text":"a"},{"type":"image"},{"type":"text","text":"b"}]}`), Reply{Text: "ab"}},
		"reasoning field":     {message(`{"role":"assistant","content":"x","reasoning_content":"hm","annotations":[]}`), Reply{Text: "x"}},
		"refusal":             {message(`{"role":"assistant","content":null,"refusal":"I can't"}`), Reply{Refusal: "I can't"}},
		"content filter":      {`{"choices":[{"finish_reason":"content_filter","message":{"content":""}}]}`, Reply{Refusal: "the provider's content filter ended the reply"}},
		"cut":                 {`{"choices":[{"finish_reason":"length","message":{"tool_calls":[{"id":"a","function":{"name":"rule","arguments":"{\"act"}}]}}]}`, Reply{Cut: true, Calls: []ToolCall{{"a", "rule", `{"act`}}}},
	} {
		got, err := parseReply([]byte(c.body), 2)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		a, _ := json.Marshal(got)
		b, _ := json.Marshal(c.want)
		if !bytes.Equal(a, b) {
			t.Errorf("%s: got %s, want %s", name, a, b)
		}
	}
}

// FuzzReply reads replies of any form: it may refuse them, and never more.
func FuzzReply(f *testing.F) {
	f.Add([]byte(good))
	f.Add([]byte(`{"choices":[{"message":{"content":[{"type":"text","text":"a"}],"tool_calls":[{"id":1}]}}],"usage":{"prompt_tokens":"x"}}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, body []byte) {
		reply, err := parseReply(body, 1)
		if err != nil {
			return
		}
		seen := map[string]bool{}
		for _, call := range reply.Calls {
			if call.ID == "" || seen[call.ID] && !strings.HasPrefix(call.ID, "c") {
				t.Errorf("id %q is empty or doubled", call.ID)
			}
			seen[call.ID] = true
		}
		usage := spent(Usage{Prompt: 10, Completion: 20}, Answered, body)
		if usage.Prompt < 10 || usage.Completion < 0 || usage.Prompt > maxTokens {
			t.Errorf("usage = %+v", usage)
		}
	})
}

// TestUsage settles at the larger of reported and estimated.
func TestUsage(t *testing.T) {
	held := Usage{Prompt: 300, Completion: 400}
	body := func(usage string) []byte {
		return []byte(`{"choices":[{"message":{"content":"` + strings.Repeat("x", 300) + `"}}],"usage":` + usage + `}`)
	}
	for name, c := range map[string]struct {
		body []byte
		want Usage
	}{
		"reported more":   {body(`{"prompt_tokens":900,"completion_tokens":500}`), Usage{900, 500, 900}},
		"reported less":   {body(`{"prompt_tokens":1,"completion_tokens":1}`), Usage{300, 105, 1}},
		"nothing":         {body(`null`), held},
		"zero":            {body(`{"prompt_tokens":0,"completion_tokens":0}`), held},
		"negative":        {body(`{"prompt_tokens":5,"completion_tokens":-5}`), held},
		"absurd":          {body(`{"prompt_tokens":1e300,"completion_tokens":5}`), held},
		"text":            {body(`{"prompt_tokens":"900","completion_tokens":"5"}`), held},
		"not even JSON":   {[]byte("<html>"), held},
		"no usage at all": {[]byte(`{"choices":[]}`), held},
	} {
		if got := spent(held, Answered, c.body); got != c.want {
			t.Errorf("%s: got %+v, want %+v", name, got, c.want)
		}
	}
}

// TestShrunk notices a server that drops the front of a long prompt.
func TestShrunk(t *testing.T) {
	for _, c := range []struct {
		bytes       int
		before, now int64
		want        bool
	}{
		{bytes: 40_000, now: 10_000},
		{bytes: 40_000, now: 2_048, want: true},
		{bytes: 40_000, before: 9_000, now: 4_096, want: true},
		{bytes: 40_000, before: 9_000, now: 8_900},
		{bytes: 40_000, before: 9_000, now: 0},
	} {
		if got := Shrunk(c.bytes, c.before, c.now); got != c.want {
			t.Errorf("Shrunk(%d, %d, %d) = %v", c.bytes, c.before, c.now, got)
		}
	}
}

// TestPermits shows that nothing leaves without one, with a used one, or with
// more bytes than were reserved for.
func TestPermits(t *testing.T) {
	server := newProvider(t, answers(200, good))
	g := newGateway(t, endpointAt(server.URL), newLedger(t))
	body := g.body(asked)
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	once := &permit{maxBytes: len(text)}
	for _, c := range []struct {
		name    string
		ctx     context.Context
		arrived int64
	}{
		{"none", t.Context(), 0},
		{"too small", withPermit(t.Context(), &permit{maxBytes: len(text) - 1}), 0},
		{"fresh", withPermit(t.Context(), once), 1},
		{"used", withPermit(t.Context(), once), 1},
		{"another fresh one", withPermit(t.Context(), &permit{maxBytes: len(text)}), 2},
	} {
		_, err := g.service.New(c.ctx, body)
		if refused := errors.Is(err, errGuard); refused == (err == nil) {
			t.Errorf("%s: error = %v", c.name, err)
		}
		if got := server.arrived.Load(); got != c.arrived {
			t.Errorf("%s: %d requests arrived, want %d", c.name, got, c.arrived)
		}
	}
}

// TestSurface refuses every request that isn't a maintenance call, before it
// leaves, and lets the real one pass.
func TestSurface(t *testing.T) {
	server := newProvider(t, answers(200, good))
	g := newGateway(t, endpointAt(server.URL), newLedger(t))
	for name, change := range map[string]func(*openai.ChatCompletionNewParams){
		"no tools":        func(b *openai.ChatCompletionNewParams) { b.Tools = nil },
		"two tools":       func(b *openai.ChatCompletionNewParams) { b.Tools = b.Tools[:2] },
		"a fourth tool":   func(b *openai.ChatCompletionNewParams) { b.Tools = append(b.Tools[:3:3], b.Tools[0]) },
		"another order":   func(b *openai.ChatCompletionNewParams) { b.Tools = append(b.Tools[1:3:3], b.Tools[0]) },
		"another model":   func(b *openai.ChatCompletionNewParams) { b.Model = "cheaper" },
		"several choices": func(b *openai.ChatCompletionNewParams) { b.N = param.NewOpt[int64](3) },
		"stored":          func(b *openai.ChatCompletionNewParams) { b.Store = param.NewOpt(true) },
	} {
		body := g.body(asked)
		change(&body)
		if _, err := g.service.New(withPermit(t.Context(), &permit{maxBytes: 1 << 20}), body); !errors.Is(err, errGuard) {
			t.Errorf("%s: error = %v, want it refused", name, err)
		}
	}
	if n := server.arrived.Load(); n != 0 {
		t.Fatalf("%d requests arrived", n)
	}
	if _, err := g.service.New(withPermit(t.Context(), &permit{maxBytes: 1 << 20}), g.body(asked)); err != nil {
		t.Errorf("the real request: %v", err)
	}
}

// TestGuardOddRequests keeps what isn't even a request of the client inside.
func TestGuardOddRequests(t *testing.T) {
	server := newProvider(t, answers(200, good))
	guard := newTransport(surface{model: "m"}, nil)
	for _, body := range []io.Reader{nil, strings.NewReader(""), strings.NewReader("[]"), strings.NewReader(`{"model":"m","stream":true}`)} {
		ctx := withPermit(t.Context(), &permit{maxBytes: 100})
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL, body)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := guard.RoundTrip(request); !errors.Is(err, errGuard) {
			t.Errorf("error = %v, want it refused", err)
		}
	}
	if server.arrived.Load() != 0 {
		t.Error("something arrived")
	}
}

// TestLimits refuses the call after the last one that a limit allows, before it
// is sent.
func TestLimits(t *testing.T) {
	for _, c := range []struct {
		resource ledger.Resource
		limit    int64
		arrive   int64
	}{
		{ledger.Calls, 0, 0},
		{ledger.Calls, 2, 2},
		{ledger.PromptTokens, 100, 0},
		{ledger.PromptTokens, 5100, 1}, // one is settled at 5,000
		{ledger.CompletionTokens, 99, 0},
		{ledger.CompletionTokens, 165, 1},
		{ledger.MicroUSD, 5, 0},
		{ledger.Operations, 0, 3}, // not spent by calls
	} {
		server, l := newProvider(t, answers(200, good)), newLedger(t)
		allow(t, l, c.resource, c.limit)
		endpoint := endpointAt(server.URL)
		endpoint.Price = Price{Prompt: 1_000_000, Completion: 2_000_000}
		g := newGateway(t, endpoint, l)
		var limit *ledger.LimitError
		for range 3 {
			if _, err := g.Ask(t.Context(), "a0001", asked); err != nil && !errors.As(err, &limit) {
				t.Fatal(err)
			}
		}
		if got := server.arrived.Load(); got != c.arrive {
			t.Errorf("%s limit %d: %d requests arrived, want %d", c.resource, c.limit, got, c.arrive)
		}
		if (limit != nil) != (c.arrive < 3) || limit != nil && limit.Resource != c.resource {
			t.Errorf("%s limit %d: error = %v", c.resource, c.limit, limit)
		}
	}
}

// TestReservedBeforeArrival asks from many goroutines at once, under a limit:
// at every arrival the ledger has at least as many calls reserved.
func TestReservedBeforeArrival(t *testing.T) {
	l := newLedger(t)
	allow(t, l, ledger.Calls, 10)
	var server *provider
	server = newProvider(t, func(w http.ResponseWriter, r *http.Request) {
		if arrived, reserved := server.arrived.Load(), used(t, l, ledger.Calls); arrived > reserved {
			t.Errorf("%d requests have arrived, %d are reserved", arrived, reserved)
		}
		answers(200, good)(w, r)
	})
	g := newGateway(t, endpointAt(server.URL), l)
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() { _, _ = g.Ask(t.Context(), "a0001", asked) })
	}
	all.Wait()
	if got := server.arrived.Load(); got != 10 {
		t.Errorf("%d requests arrived, want the 10 that the limit allows", got)
	}
}

// TestContextBound refuses a conversation that can't fit, without a call.
func TestContextBound(t *testing.T) {
	server, l := newProvider(t, answers(200, good)), newLedger(t)
	endpoint := endpointAt(server.URL)
	endpoint.Context = 1200
	g := newGateway(t, endpoint, l)
	if _, err := g.Ask(t.Context(), "a0001", asked); err != nil {
		t.Fatalf("a short conversation: %v", err)
	}
	_, err := g.Ask(t.Context(), "a0001", append(asked, Message{Role: User, Text: strings.Repeat("x", 4000)}))
	var call *CallError
	if !errors.As(err, &call) || !call.Overflow || server.arrived.Load() != 1 {
		t.Errorf("error = %v after %d requests", err, server.arrived.Load())
	}
}

// TestNewRefuses an endpoint without a model, an address or bounds.
func TestNewRefuses(t *testing.T) {
	whole := endpointAt("http://x")
	for name, change := range map[string]func(*Endpoint){
		"model": func(e *Endpoint) { e.Model = "" }, "address": func(e *Endpoint) { e.BaseURL = "" },
		"length": func(e *Endpoint) { e.MaxCompletion = 0 }, "deadline": func(e *Endpoint) { e.Deadline = 0 },
	} {
		endpoint := whole
		change(&endpoint)
		if _, err := New(endpoint, threeTools, nil); err == nil {
			t.Errorf("no %s: accepted", name)
		}
	}
	if _, err := New(whole, []Tool{{Name: "x", Parameters: "["}}, nil); err == nil {
		t.Error("a broken schema was accepted")
	}
	if _, err := New(whole, threeTools, nil); err != nil {
		t.Error(err)
	}
}
