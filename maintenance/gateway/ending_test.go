package gateway

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"signalbox/registry/ledger"
)

// hijack returns a handler that takes the connection over.
func hijack(do func(net.Conn)) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			panic(err)
		}
		defer conn.Close()
		do(conn)
	}
}

func reset(conn net.Conn) { _ = conn.(*net.TCPConn).SetLinger(0) }

// ending is a row of the table of endings: what the server does, what class
// that is, and what the call is charged with.
type ending struct {
	handler  http.HandlerFunc
	ending   Ending
	status   int
	overflow bool
	prompt   int64 // charged; -1: the whole reservation, 0: the prompt alone
}

var endings = map[string]ending{
	"closed after the request": {handler: hijack(func(net.Conn) {}), ending: Uncertain, prompt: -1},
	"reset after the request":  {handler: hijack(reset), ending: Uncertain, prompt: -1},
	"half a body": {handler: hijack(func(c net.Conn) {
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 900\r\n\r\n{\"choices\":")
	}), ending: Uncertain, status: 200, prompt: -1},
	"half a chunk": {handler: hijack(func(c net.Conn) {
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n{\"cho")
	}), ending: Uncertain, status: 200, prompt: -1},
	"garbage instead of HTTP": {handler: hijack(func(c net.Conn) { _, _ = io.WriteString(c, "SSH-2.0-x\r\n\r\n") }), ending: Uncertain, prompt: -1},
	"deadline": {handler: func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-r.Context().Done():
		case <-time.After(5 * time.Second):
		}
	}, ending: Uncertain, prompt: -1},
	"429 with an error object": {handler: answers(429, `{"error":{"message":"slow down","type":"rate","code":"rate_limited"}}`), ending: Failed, status: 429},
	"400 with an error text":   {handler: answers(400, `{"error":"no such model"}`), ending: Failed, status: 400},
	"500 with HTML": {handler: func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(500)
		_, _ = io.WriteString(w, "<html>oops</html>")
	}, ending: Failed, status: 500},
	"context overflow, OpenAI":    {handler: answers(400, `{"error":{"message":"too long","code":"context_length_exceeded"}}`), ending: Failed, status: 400, overflow: true},
	"context overflow, llama.cpp": {handler: answers(400, `{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error"}}`), ending: Failed, status: 400, overflow: true},
	"context overflow, vLLM":      {handler: answers(400, `{"object":"error","message":"This model's maximum context length is 4096 tokens"}`), ending: Failed, status: 400, overflow: true},
	"401 echoes the key":          {handler: answers(401, `{"error":{"message":"bad key sk-secret"}}`), ending: Failed, status: 401},
	"null":                        {handler: answers(200, `null`), ending: Malformed, status: 200, prompt: -1},
	"empty object":                {handler: answers(200, `{}`), ending: Malformed, status: 200, prompt: -1},
	"error with 200":              {handler: answers(200, `{"error":{"message":"x"},"choices":null}`), ending: Malformed, status: 200, prompt: -1},
	"no choices":                  {handler: answers(200, `{"choices":[],"usage":{"prompt_tokens":7000,"completion_tokens":1}}`), ending: Malformed, status: 200, prompt: 7000},
	"null message":                {handler: answers(200, `{"choices":[{"message":null}]}`), ending: Malformed, status: 200, prompt: -1},
	"trailing bytes":              {handler: answers(200, good+"x"), ending: Malformed, status: 200, prompt: -1},
	"duplicate names":             {handler: answers(200, `{"choices":[],"choices":[]}`), ending: Malformed, status: 200, prompt: -1},
	"names in another case":       {handler: answers(200, strings.Replace(good, "choices", "Choices", 1)), ending: Malformed, status: 200, prompt: 5000},
	"lone surrogate":              {handler: answers(200, `{"choices":[{"message":{"content":"\ud800"}}]}`), ending: Malformed, status: 200, prompt: -1},
	"legacy function_call":        {handler: answers(200, `{"choices":[{"message":{"role":"assistant","function_call":{"name":"rule","arguments":"{}"}}}]}`), ending: Malformed, status: 200, prompt: -1},
	"unknown role":                {handler: answers(200, `{"choices":[{"message":{"role":"user","content":"hi"}}]}`), ending: Malformed, status: 200, prompt: -1},
	"204":                         {handler: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(204) }, ending: Malformed, status: 204, prompt: -1},
	"redirect": {handler: func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/v1/chat/completions?again", http.StatusTemporaryRedirect)
	}, ending: Malformed, status: 307, prompt: -1},
	"permanent redirect": {handler: func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/other", http.StatusPermanentRedirect)
	}, ending: Malformed, status: 308, prompt: -1},
	"event stream": {handler: func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: {}\n\ndata: [DONE]\n\n")
	}, ending: Malformed, status: 200, prompt: -1},
	"endless body": {handler: func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		chunk := strings.Repeat(" ", 1<<20)
		for range 40 {
			if _, err := io.WriteString(w, chunk); err != nil {
				return
			}
		}
	}, ending: Malformed, status: 200, prompt: -1},
}

// TestEndings pins the table of endings.
func TestEndings(t *testing.T) {
	for name, c := range endings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, l := newProvider(t, c.handler), newLedger(t)
			endpoint := endpointAt(server.URL)
			if name == "deadline" {
				endpoint.Deadline = 200 * time.Millisecond
			}
			_, err := newGateway(t, endpoint, l).Ask(t.Context(), "a0001", asked)
			var call *CallError
			if !errors.As(err, &call) {
				t.Fatalf("error = %v, want a *CallError", err)
			}
			if call.Ending != c.ending || call.Status != c.status || call.Overflow != c.overflow {
				t.Errorf("ended %s, status %d, overflow %v (%v); want %s, %d, %v", call.Ending, call.Status, call.Overflow, err, c.ending, c.status, c.overflow)
			}
			if strings.Contains(err.Error(), "sk-secret") {
				t.Errorf("the error shows the key: %v", err)
			}
			if got := server.arrived.Load(); got != 1 {
				t.Errorf("%d requests arrived, want 1", got)
			}
			if want := c.ending == Uncertain; (uncertain(t, l) == 1) != want {
				t.Errorf("%d uncertain reservations, want uncertain = %v", uncertain(t, l), want)
			}
			checkCharge(t, l, c.prompt)
		})
	}
}

// checkCharge compares what a call is charged with; 0 stands for the estimate
// of the prompt alone, -1 for the whole reservation.
func checkCharge(t *testing.T, l *ledger.Ledger, prompt int64) {
	t.Helper()
	charged, completion := used(t, l, ledger.PromptTokens), used(t, l, ledger.CompletionTokens)
	switch {
	case used(t, l, ledger.Calls) != 1:
		t.Errorf("%d calls are spent, want 1", used(t, l, ledger.Calls))
	case prompt > 0 && charged != prompt:
		t.Errorf("%d prompt tokens are spent, want %d", charged, prompt)
	case prompt <= 0 && (charged < 100 || charged > 1000):
		t.Errorf("%d prompt tokens are spent, want the estimate of a short prompt", charged)
	case prompt == 0 && completion != 0, prompt < 0 && completion != 100:
		t.Errorf("%d completion tokens are spent", completion)
	}
}

// TestNeverSent gives a reservation back, and nothing else does.
func TestNeverSent(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := listener.Addr().String()
	listener.Close()
	l := newLedger(t)
	_, err = newGateway(t, endpointAt("http://"+closed), l).Ask(t.Context(), "a0001", asked)
	var call *CallError
	if !errors.As(err, &call) || call.Ending != Unsent {
		t.Fatalf("error = %v, want unsent", err)
	}
	if n := used(t, l, ledger.Calls); n != 0 {
		t.Errorf("%d calls are spent after a refused dial", n)
	}
}

// TestOpaqueTransportFails shows that without word of a connection nothing is
// taken for unsent.
func TestOpaqueTransportFails(t *testing.T) {
	endpoint := endpointAt("http://builtin.invalid")
	endpoint.Transport = roundTrip(func(*http.Request) (*http.Response, error) { return nil, errors.New("broken") })
	l := newLedger(t)
	_, err := newGateway(t, endpoint, l).Ask(t.Context(), "a0001", asked)
	var call *CallError
	if !errors.As(err, &call) || call.Ending != Uncertain {
		t.Fatalf("error = %v, want uncertain", err)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestCancelledCaller settles what it knows although its caller has gone.
func TestCancelledCaller(t *testing.T) {
	l := newLedger(t)
	ctx, cancel := context.WithCancel(t.Context())
	server := newProvider(t, func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	})
	_, err := newGateway(t, endpointAt(server.URL), l).Ask(ctx, "a0001", asked)
	var call *CallError
	if !errors.As(err, &call) || call.Ending != Uncertain {
		t.Fatalf("error = %v, want uncertain", err)
	}
	if uncertain(t, l) != 1 {
		t.Error("the reservation isn't marked uncertain")
	}
}

// TestRetryAfter keeps what a server asks for, and never waits for it.
func TestRetryAfter(t *testing.T) {
	server := newProvider(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", "7")
		w.Header().Set("x-should-retry", "true")
		answers(503, `{"error":{"message":"busy"}}`)(w, r)
	})
	started := time.Now()
	_, err := newGateway(t, endpointAt(server.URL), newLedger(t)).Ask(t.Context(), "a0001", asked)
	var call *CallError
	if !errors.As(err, &call) || call.RetryAfter != 7*time.Second {
		t.Fatalf("error = %v, want a retry after 7 seconds", err)
	}
	if server.arrived.Load() != 1 || time.Since(started) > 4*time.Second {
		t.Errorf("%d requests after %v", server.arrived.Load(), time.Since(started))
	}
}

// TestErrorTexts names the ending in each of them.
func TestErrorTexts(t *testing.T) {
	for ending, want := range map[Ending]string{
		Unsent: "never sent", Uncertain: "unknown fate", Failed: "status 418", Malformed: "can't be used",
	} {
		err := fmt.Errorf("%w", &CallError{Ending: ending, Status: 418, Detail: "why"})
		if !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "why") {
			t.Errorf("%s: %q", ending, err)
		}
	}
}
