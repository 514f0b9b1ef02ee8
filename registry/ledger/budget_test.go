package ledger

import (
	"context"
	"errors"
	"fmt"
	"os"
	osexec "os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func budget(t *testing.T, l *Ledger, kind Kind, resource Resource) Budget {
	t.Helper()
	budgets, err := l.Budgets(t.Context(), kind)
	must(t, err)
	for _, b := range budgets {
		if b.Resource == resource {
			return b
		}
	}
	t.Fatalf("no budget %s of %s", resource, kind)
	return Budget{}
}

func TestLimitsStartAtZeroForExternal(t *testing.T) {
	l := newLedger(t)
	for _, resource := range resources {
		_, err := l.Reserve(t.Context(), External, "a", "call", Amounts{resource: 1})
		var limit *LimitError
		if !errors.As(err, &limit) || limit.Limit != 0 || limit.Used != 0 || limit.Asked != 1 || limit.Resource != resource {
			t.Errorf("external %s: got %v, want a LimitError at 0", resource, err)
		}
		_, err = l.Reserve(t.Context(), Builtin, "a", "call", Amounts{resource: 1})
		if (err == nil) != (resource != MicroUSD) {
			t.Errorf("builtin %s: got %v", resource, err)
		}
	}
	if b := budget(t, l, Builtin, Calls); !b.Unlimited || b.Used != 1 {
		t.Errorf("builtin calls: %+v: want unlimited and counted", b)
	}
	must(t, l.Check(t.Context()))
}

func TestReserveIsAllOrNothing(t *testing.T) {
	l := newLedger(t)
	must(t, l.SetLimit(t.Context(), External, Calls, 10, "ann", "trial"))
	_, err := l.Reserve(t.Context(), External, "a", "call", Amounts{Calls: 1, MicroUSD: 5})
	var limit *LimitError
	if !errors.As(err, &limit) || limit.Resource != MicroUSD {
		t.Fatalf("got %v, want a LimitError for money", err)
	}
	if b := budget(t, l, External, Calls); b.Used != 0 {
		t.Errorf("%d calls used by a refused reservation", b.Used)
	}
	if open, err := l.OpenReservations(t.Context()); err != nil || len(open) != 0 {
		t.Errorf("open %v, %v: want none", open, err)
	}
}

func TestLifeOfAReservation(t *testing.T) {
	l := newLedger(t)
	must(t, l.SetLimit(t.Context(), External, Calls, 3, "ann", ""))
	must(t, l.SetLimit(t.Context(), External, PromptTokens, 1000, "ann", ""))
	reserve := func() int64 {
		t.Helper()
		id, err := l.Reserve(t.Context(), External, "a", "call", Amounts{Calls: 1, PromptTokens: 300})
		must(t, err)
		return id
	}
	settled, released, uncertain := reserve(), reserve(), reserve()
	if _, err := l.Reserve(t.Context(), External, "a", "call", Amounts{Calls: 1}); err == nil {
		t.Error("a fourth call: want a LimitError")
	}
	must(t, l.Settle(t.Context(), settled, Amounts{Calls: 1, PromptTokens: 450, CompletionTokens: 20}))
	must(t, l.Release(t.Context(), released))
	must(t, l.MarkUncertain(t.Context(), uncertain))
	for resource, want := range map[Resource]int64{Calls: 2, PromptTokens: 750, CompletionTokens: 20} {
		if b := budget(t, l, External, resource); b.Used != want {
			t.Errorf("%s: %d used, want %d", resource, b.Used, want)
		}
	}
	open, err := l.OpenReservations(t.Context())
	must(t, err)
	if len(open) != 1 || open[0].ID != uncertain || open[0].State != Uncertain || open[0].Charged[PromptTokens] != 300 {
		t.Errorf("open: %+v: want the uncertain one", open)
	}
	for _, id := range []int64{settled, released, uncertain, 999} {
		if err := l.Settle(t.Context(), id, Amounts{}); !errors.Is(err, ErrUnknown) {
			t.Errorf("settling %d again: %v, want ErrUnknown", id, err)
		}
	}
	must(t, l.Check(t.Context()))
}

func TestBadAmountsAndLimits(t *testing.T) {
	l := newLedger(t)
	for _, amounts := range []Amounts{{Calls: -1}, {"cows": 1}, {Calls: maxAmount + 1}} {
		if _, err := l.Reserve(t.Context(), Builtin, "a", "", amounts); err == nil {
			t.Errorf("reserving %v: want an error", amounts)
		}
	}
	if _, err := l.Reserve(t.Context(), "other", "a", "", Amounts{Calls: 1}); !errors.Is(err, ErrUnknown) {
		t.Errorf("another kind: %v, want ErrUnknown", err)
	}
	for name, err := range map[string]error{
		"nobody":             l.SetLimit(t.Context(), External, Calls, 1, "", ""),
		"below none":         l.SetLimit(t.Context(), External, Calls, -2, "ann", ""),
		"unlimited external": l.SetLimit(t.Context(), External, MicroUSD, Unlimited, "ann", ""),
		"unknown resource":   l.SetLimit(t.Context(), External, "cows", 1, "ann", ""),
	} {
		if err == nil {
			t.Errorf("%s: want an error", name)
		}
	}
}

func TestLimitChangesAreEvents(t *testing.T) {
	l := newLedger(t)
	must(t, l.SetLimit(t.Context(), External, Calls, 5, "ann", "trial"))
	must(t, l.SetLimit(t.Context(), External, Calls, 2, "bob", "enough"))
	must(t, l.SetLimit(t.Context(), Builtin, Calls, 7, "ann", ""))
	must(t, l.SetLimit(t.Context(), Builtin, Calls, Unlimited, "ann", ""))
	changes, err := l.LimitChanges(t.Context())
	must(t, err)
	var got []string
	for _, c := range changes {
		got = append(got, fmt.Sprintf("%s %s %s %d>%d", c.Who, c.Kind, c.Why, c.Old, c.New))
		if time.Since(c.Time) > time.Minute {
			t.Errorf("time %v", c.Time)
		}
	}
	want := "ann builtin  7>-1,ann builtin  -1>7,bob external enough 5>2,ann external trial 0>5"
	if strings.Join(got, ",") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, ","), want)
	}
}

// TestSpendingLaw compares the ledger with a model under random acts.
func TestSpendingLaw(t *testing.T) {
	l := newLedger(t)
	used, limit := int64(0), int64(0)
	rapid.Check(t, func(t *rapid.T) {
		ctx := context.Background()
		open := map[int64]int64{}
		limit = rapid.Int64Range(0, 200).Draw(t, "limit")
		if err := l.SetLimit(ctx, External, Calls, limit, "ann", ""); err != nil {
			t.Fatal(err)
		}
		for range rapid.IntRange(1, 8).Draw(t, "acts") {
			amount := rapid.Int64Range(1, 40).Draw(t, "amount")
			id, err := l.Reserve(ctx, External, "a", "", Amounts{Calls: amount})
			if (err == nil) != (used+amount <= limit) {
				t.Fatalf("%d used, %d asked, limit %d: %v", used, amount, limit, err)
			}
			if err == nil {
				used, open[id] = used+amount, amount
			}
		}
		for id, amount := range open {
			charged := rapid.Int64Range(0, 50).Draw(t, "charged")
			if err := l.Settle(ctx, id, Amounts{Calls: charged}); err != nil {
				t.Fatal(err)
			}
			used += charged - amount
		}
		if err := l.Check(ctx); err != nil {
			t.Fatal(err)
		}
	})
}

func TestCheckFindsAnAlteredBudget(t *testing.T) {
	l := newLedger(t)
	_, err := l.Reserve(t.Context(), Builtin, "a", "", Amounts{Calls: 2})
	must(t, err)
	must(t, l.Check(t.Context()))
	exec(t, l, "UPDATE budgets SET used = 0")
	if err := l.Check(t.Context()); !errors.Is(err, ErrDamaged) {
		t.Errorf("got %v, want ErrDamaged", err)
	}
}

// TestReservationRace lets two processes of 32 goroutines each ask for more
// than the limit allows: exactly the limit must be given out.
func TestReservationRace(t *testing.T) {
	const limit = 40
	l := newLedger(t)
	must(t, l.SetLimit(t.Context(), External, Calls, limit, "ann", ""))
	var group sync.WaitGroup
	got := make([]int, 2)
	for i := range got {
		group.Go(func() {
			command := osexec.Command(os.Args[0])
			command.Env = append(os.Environ(), "LEDGER_TEST_HELPER=reserve", "LEDGER_TEST_PATH="+l.path)
			out, err := command.Output()
			if err != nil {
				t.Errorf("helper: %v", err)
				return
			}
			got[i], err = strconv.Atoi(strings.TrimSpace(string(out)))
			if err != nil {
				t.Errorf("helper said %q", out)
			}
		})
	}
	group.Wait()
	if got[0]+got[1] != limit {
		t.Errorf("%v reservations given, want %d together", got, limit)
	}
	if b := budget(t, l, External, Calls); b.Used != limit {
		t.Errorf("%d used, want %d", b.Used, limit)
	}
	if open, err := l.OpenReservations(t.Context()); err != nil || len(open) != limit {
		t.Errorf("%d open, %v: want %d", len(open), err, limit)
	}
}

// helper is what the test binary does as another process.
func helper(role string) int {
	ctx := context.Background()
	l, err := Open(ctx, os.Getenv("LEDGER_TEST_PATH"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	switch role {
	case "reserve":
		return helpReserve(ctx, l)
	case "record":
		return helpRecord(ctx, l)
	case "crash":
		return helpCrash(ctx, l)
	}
	return 1
}

func helpReserve(ctx context.Context, l *Ledger) int {
	var group sync.WaitGroup
	var mutex sync.Mutex
	given, failed := 0, 0
	for range 32 {
		group.Go(func() {
			_, err := l.Reserve(ctx, External, "race", "", Amounts{Calls: 1})
			var limit *LimitError
			mutex.Lock()
			defer mutex.Unlock()
			switch {
			case err == nil:
				given++
			case !errors.As(err, &limit):
				fmt.Fprintln(os.Stderr, err)
				failed++
			}
		})
	}
	group.Wait()
	fmt.Println(given)
	return failed
}
