package gateway

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"signalbox/registry/ledger"
)

// TestInProcess asks a model in this process: its replies are read, its panics
// and its silence are calls of unknown fate, and its calls are counted as the
// built-in author's.
func TestInProcess(t *testing.T) {
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		ending  Ending
	}{
		"answers":  {answers(200, good), Answered},
		"refuses":  {answers(400, `{"error":{"message":"no"}}`), Failed},
		"is empty": {func(http.ResponseWriter, *http.Request) {}, Malformed},
		"panics":   {func(http.ResponseWriter, *http.Request) { panic("oh") }, Uncertain},
		"hangs":    {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, Uncertain},
	} {
		l := newLedger(t)
		endpoint := endpointAt("http://builtin.invalid")
		endpoint.Transport, endpoint.Deadline = InProcess(c.handler), 300*time.Millisecond
		reply, err := newGateway(t, endpoint, l).Ask(t.Context(), "a0001", asked)
		var call *CallError
		ending := Answered
		if errors.As(err, &call) {
			ending = call.Ending
		}
		if ending != c.ending || ending == Answered && len(reply.Calls) != 1 {
			t.Errorf("%s: %+v, %v", name, reply, err)
		}
		if used(t, l, ledger.Calls) != 0 {
			t.Errorf("%s: the call was charged to external endpoints", name)
		}
		budgets, err := l.Budgets(t.Context(), ledger.Builtin)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range budgets {
			if b.Resource == ledger.Calls && b.Used != 1 {
				t.Errorf("%s: %d calls of the built-in author are counted", name, b.Used)
			}
		}
	}
}
