package account

import (
	"fmt"
	"math"
	"path/filepath"
	"testing"
	"time"

	"signalbox/registry/ledger"
	"signalbox/rule"
)

// book returns a ledger with n routes of each kind that is given.
func book(t *testing.T, routes ...ledger.Event) *ledger.Ledger {
	t.Helper()
	l, err := ledger.Create(t.Context(), filepath.Join(t.TempDir(), "ledger.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	for i, e := range routes {
		e.RouteID, e.Time, e.Detail = fmt.Sprintf("r%d", i), time.Now(), "{}"
		if err := l.RecordEvent(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	return l
}

func answered(family rule.Family) ledger.Event {
	return ledger.Event{Decision: "rule", Reason: rule.ReasonMatched, Rule: "a", Family: family, Elapsed: 10 * time.Millisecond}
}

func fellBack(reason rule.Reason) ledger.Event {
	return ledger.Event{Decision: "fallback", Reason: reason, Elapsed: 10 * time.Millisecond}
}

func costing(family rule.Family, usd float64, tokens, millis int64) rule.Case {
	return rule.Case{Family: family, Baseline: rule.Baseline{USD: usd, Tokens: tokens, Millis: millis}}
}

func TestTakeCounts(t *testing.T) {
	l := book(t, answered("f"), answered("f"), answered("g"), fellBack(rule.ReasonNoMatch), fellBack(rule.ReasonConflict))
	if err := l.MarkWrong(t.Context(), "r1", time.Now(), "seen by a person"); err != nil {
		t.Fatal(err)
	}
	a, err := Take(t.Context(), l, nil)
	if err != nil {
		t.Fatal(err)
	}
	if a.Tasks != 5 || a.Answered != 3 || a.FellBack != 2 || a.KnownWrong != 1 || a.RoutingMS != 50 {
		t.Errorf("account %+v", a)
	}
	if a.Reasons[rule.ReasonNoMatch] != 1 || a.Reasons[rule.ReasonConflict] != 1 {
		t.Errorf("reasons %v", a.Reasons)
	}
	if a.Saving != nil {
		t.Errorf("a saving without any baseline: %+v", a.Saving)
	}
}

// TestSavingIsNet counts right answers only, takes the overhead off, and is
// negative where maintenance cost more than it saved.
func TestSavingIsNet(t *testing.T) {
	l := book(t, answered("f"), answered("f"), answered("f"), answered("unpriced"))
	if err := l.MarkWrong(t.Context(), "r0", time.Now(), ""); err != nil {
		t.Fatal(err)
	}
	cases := []rule.Case{costing("f", 0.01, 100, 1000), costing("f", 0.03, 300, 3000), costing("never", 9, 9, 9), {Family: "unpriced"}}
	a, err := Take(t.Context(), l, cases)
	if err != nil {
		t.Fatal(err)
	}
	// Two right answers at a mean of $0.02, 200 tokens and 2000 ms; 40 ms of routing.
	if a.Saving == nil || a.Saving.Answers != 2 || a.Saving.Basis != 2 || !near(*a.Saving.USD, 0.04) || a.Saving.Tokens != 400 || a.Saving.Millis != 3960 {
		t.Fatalf("saving %+v", a.Saving)
	}
	spend(t, l, ledger.External, 1_000, 2_000_000)
	if a, err = Take(t.Context(), l, cases); err != nil {
		t.Fatal(err)
	}
	if !near(*a.Saving.USD, 0.04-2) || a.Saving.Tokens != 400-1000 {
		t.Errorf("saving %+v after a maintenance of $2", a.Saving)
	}
	spend(t, l, ledger.Builtin, 5_000, 0)
	if a, err = Take(t.Context(), l, cases); err != nil {
		t.Fatal(err)
	}
	if a.Saving.Tokens != 400-1000 || a.Maintenance.Tokens != 6000 || a.Maintenance.ExternalToken != 1000 {
		t.Errorf("the built-in author's tokens cost nothing: %+v, %+v", a.Saving, a.Maintenance)
	}
}

// TestSavingWithoutAPrice states no dollars where external calls have no price.
func TestSavingWithoutAPrice(t *testing.T) {
	l := book(t, answered("f"))
	cases := []rule.Case{costing("f", 0.01, 100, 1000)}
	if a, err := Take(t.Context(), l, cases); err != nil || a.Saving.USD == nil {
		t.Fatalf("control: saving %+v, %v", a.Saving, err)
	}
	spend(t, l, ledger.External, 10, 0)
	a, err := Take(t.Context(), l, cases)
	if err != nil || a.Saving.USD != nil || a.Saving.Tokens != 90 {
		t.Errorf("saving %+v, %v: want tokens and no dollars", a.Saving, err)
	}
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

// spend makes one attempt that costs this much.
func spend(t *testing.T, l *ledger.Ledger, kind ledger.Kind, tokens, micro int64) {
	t.Helper()
	for _, resource := range []ledger.Resource{ledger.Calls, ledger.PromptTokens, ledger.MicroUSD} {
		if err := l.SetLimit(t.Context(), kind, resource, 1_000_000_000, "tester", "test"); err != nil {
			t.Fatal(err)
		}
	}
	attempt := "attempt-" + string(kind)
	if err := l.OpenAttempt(t.Context(), ledger.Attempt{ID: attempt, Family: "f", Model: "m", Kind: kind, Detail: "{}"}); err != nil {
		t.Fatal(err)
	}
	id, err := l.Reserve(t.Context(), kind, attempt, "test", ledger.Amounts{ledger.Calls: 1, ledger.PromptTokens: tokens, ledger.MicroUSD: micro})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Settle(t.Context(), id, ledger.Amounts{ledger.Calls: 1, ledger.PromptTokens: tokens, ledger.MicroUSD: micro}); err != nil {
		t.Fatal(err)
	}
}
