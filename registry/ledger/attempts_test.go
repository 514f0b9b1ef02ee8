package ledger

import (
	"context"
	"errors"
	"fmt"
	"os"
	osexec "os/exec"
	"strings"
	"testing"
	"time"
)

func TestAttempts(t *testing.T) {
	l := newLedger(t)
	for _, id := range []string{"a1", "a2"} {
		must(t, l.OpenAttempt(t.Context(), Attempt{ID: id, Family: "dates", Model: "builtin", Kind: Builtin, Detail: `{"draft":1}`}))
	}
	if err := l.OpenAttempt(t.Context(), Attempt{ID: "a1", Kind: Builtin}); err == nil {
		t.Error("one id twice: want an error")
	}
	if err := l.OpenAttempt(t.Context(), Attempt{}); err == nil {
		t.Error("no id: want an error")
	}
	id, err := l.Reserve(t.Context(), Builtin, "a1", "call", Amounts{Calls: 1, PromptTokens: 10})
	must(t, err)
	must(t, l.Settle(t.Context(), id, Amounts{Calls: 1, PromptTokens: 7}))
	must(t, l.CloseAttempt(t.Context(), "a1", "submitted", `{"draft":2}`))
	if err := l.CloseAttempt(t.Context(), "a1", "cancelled", ""); !errors.Is(err, ErrUnknown) {
		t.Errorf("closing twice: %v, want ErrUnknown", err)
	}
	attempts, err := l.Attempts(t.Context())
	must(t, err)
	if len(attempts) != 2 || attempts[0].ID != "a2" || !attempts[0].Open || !attempts[0].Closed.IsZero() {
		t.Fatalf("attempts: %+v", attempts)
	}
	a := attempts[1]
	if a.Open || a.Stop != "submitted" || a.Detail != `{"draft":2}` || a.Spent[PromptTokens] != 7 || time.Since(a.Closed) > time.Minute {
		t.Errorf("closed attempt: %+v", a)
	}
	totals, err := l.SpentTotals(t.Context())
	must(t, err)
	if len(totals) != 1 || totals[0].Attempts != 2 || totals[0].Spent[Calls] != 1 || totals[0].Kind != Builtin {
		t.Errorf("totals: %+v", totals)
	}
}

// TestRecover kills a process that holds a reservation and an attempt.
func TestRecover(t *testing.T) {
	l := newLedger(t)
	mine, err := l.Reserve(t.Context(), Builtin, "mine", "", Amounts{Calls: 1})
	must(t, err)
	must(t, l.OpenAttempt(t.Context(), Attempt{ID: "mine", Kind: Builtin}))
	command := osexec.Command(os.Args[0])
	command.Env = append(os.Environ(), "LEDGER_TEST_HELPER=crash", "LEDGER_TEST_PATH="+l.path)
	if out, err := command.CombinedOutput(); err == nil {
		t.Fatalf("the helper survived: %s", out)
	}
	if open, err := l.OpenReservations(t.Context()); err != nil || len(open) != 2 || open[0].State != Reserved {
		t.Fatalf("after the crash: %+v, %v", open, err)
	}
	for i, want := range [][2]int{{1, 1}, {0, 0}} { // the second time there is nothing left
		reservations, attempts, err := l.Recover(t.Context(), "uncertain_call")
		if err != nil || reservations != want[0] || attempts != want[1] {
			t.Errorf("Recover %d: %d, %d, %v: want %v", i, reservations, attempts, err, want)
		}
	}
	if b := budget(t, l, Builtin, Calls); b.Used != 6 {
		t.Errorf("%d calls used: the uncertain one must go on counting", b.Used)
	}
	attempts, err := l.Attempts(t.Context())
	must(t, err)
	if attempts[0].ID != "lost" || attempts[0].Open || attempts[0].Stop != "uncertain_call" || !attempts[1].Open {
		t.Errorf("attempts: %+v", attempts)
	}
	must(t, l.Settle(t.Context(), mine, Amounts{Calls: 1}))
}

func helpCrash(ctx context.Context, l *Ledger) int {
	if _, err := l.Reserve(ctx, Builtin, "lost", "call", Amounts{Calls: 5}); err != nil {
		return 0
	}
	if err := l.OpenAttempt(ctx, Attempt{ID: "lost", Kind: Builtin}); err != nil {
		return 0
	}
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		return 0
	}
	fmt.Fprintln(os.Stderr, self.Kill())
	select {}
}

func TestAlive(t *testing.T) {
	me := thisProcess()
	boot, rest, _ := strings.Cut(me, ":")
	pid, start, _ := strings.Cut(rest, ":")
	for owner, want := range map[string]bool{
		me:                                   true,
		"":                                   false,
		"x:y":                                false,
		boot + ":x:" + start:                 false,
		boot + ":" + pid + ":":               false,
		boot + ":" + pid + ":" + start + "1": false,
		"other-boot:" + pid + ":" + start:    false,
		boot + ":999999999:" + start:         false,
	} {
		if got := alive(owner); got != want {
			t.Errorf("alive(%q) = %v, want %v", owner, got, want)
		}
	}
}
