package gateway

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"signalbox/registry/ledger"
)

// threeTools stand for the real ones: the guard only compares digests.
var threeTools = []Tool{
	{Name: "rule", Description: "works on a rule", Parameters: `{"type":"object","properties":{"action":{"type":"string"}}}`},
	{Name: "rule_skill", Description: "reads a guide", Parameters: `{"type":"object","properties":{}}`},
	{Name: "str_replace_editor", Description: "edits", Parameters: `{"type":"object","properties":{}}`},
}

// asked is a conversation that can be sent.
var asked = []Message{{Role: System, Text: "be brief"}, {Role: User, Text: "go"}}

// good is a chat completion with one call.
const good = `{"id":"x","object":"chat.completion","choices":[{"index":0,"finish_reason":"tool_calls","message":{"role":"assistant","content":null,
"tool_calls":[{"id":"call_1","type":"function","function":{"name":"rule","arguments":"{\"action\":\"list_rules\"}"}}]}}],
"usage":{"prompt_tokens":5000,"completion_tokens":70,"total_tokens":5070}}`

// provider is a server that counts what arrives.
type provider struct {
	*httptest.Server
	arrived atomic.Int64
	last    atomic.Pointer[http.Request]
	body    atomic.Pointer[[]byte]
}

func newProvider(t *testing.T, handler http.HandlerFunc) *provider {
	t.Helper()
	p := &provider{}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.arrived.Add(1)
		data, _ := io.ReadAll(r.Body)
		p.body.Store(&data)
		p.last.Store(r)
		handler(w, r)
	}))
	t.Cleanup(p.Close)
	return p
}

// answers returns a handler that gives one JSON document.
func answers(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// newLedger returns an empty ledger in which every limit of an external endpoint
// is wide open.
func newLedger(t *testing.T) *ledger.Ledger {
	t.Helper()
	l, err := ledger.Create(t.Context(), filepath.Join(t.TempDir(), "ledger.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	budgets, err := l.Budgets(t.Context(), ledger.External)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range budgets {
		allow(t, l, b.Resource, 1<<30)
	}
	return l
}

func allow(t *testing.T, l *ledger.Ledger, resource ledger.Resource, limit int64) {
	t.Helper()
	if err := l.SetLimit(t.Context(), ledger.External, resource, limit, "tester", "a test"); err != nil {
		t.Fatal(err)
	}
}

func endpointAt(url string) Endpoint {
	return Endpoint{Model: "m", BaseURL: url + "/v1", Key: "sk-secret", MaxCompletion: 100, Deadline: 5 * time.Second}
}

func newGateway(t *testing.T, e Endpoint, l Ledger) *Gateway {
	t.Helper()
	g, err := New(e, threeTools, l)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// used returns what is spent of a resource by external endpoints.
func used(t *testing.T, l *ledger.Ledger, resource ledger.Resource) int64 {
	t.Helper()
	budgets, err := l.Budgets(t.Context(), ledger.External)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range budgets {
		if b.Resource == resource {
			return b.Used
		}
	}
	t.Fatalf("no budget of %s", resource)
	return 0
}

// uncertain returns how many reservations are of unknown fate.
func uncertain(t *testing.T, l *ledger.Ledger) (n int) {
	t.Helper()
	open, err := l.OpenReservations(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range open {
		if r.State == ledger.Uncertain {
			n++
		}
	}
	return n
}
