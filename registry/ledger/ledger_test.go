package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"signalbox/rule"
)

func TestMain(m *testing.M) {
	if role := os.Getenv("LEDGER_TEST_HELPER"); role != "" {
		os.Exit(helper(role))
	}
	os.Exit(m.Run())
}

func newLedger(t *testing.T) *Ledger {
	t.Helper()
	ledger, err := Create(t.Context(), filepath.Join(t.TempDir(), "a ledger?#%.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := ledger.Close(); err != nil {
			t.Error(err)
		}
	})
	return ledger
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func exec(t *testing.T, l *Ledger, query string) {
	t.Helper()
	must(t, l.change(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, query)
		return err
	}))
}

func TestMissingIsNotAFreshStart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	if _, err := Open(t.Context(), path); !errors.Is(err, ErrMissing) || !strings.Contains(err.Error(), path) {
		t.Errorf("got %v, want ErrMissing with the path", err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("opening made a file (%v)", err)
	}
}

func TestCreateRefusesToOverwrite(t *testing.T) {
	l := newLedger(t)
	if _, err := Create(t.Context(), l.path); !errors.Is(err, os.ErrExist) {
		t.Errorf("got %v, want os.ErrExist", err)
	}
}

func TestOpenRefuses(t *testing.T) {
	cases := []struct {
		name  string
		spoil func(t *testing.T, l *Ledger)
		want  error
	}{
		{"nothing wrong", func(*testing.T, *Ledger) {}, nil},
		{"newer schema", func(t *testing.T, l *Ledger) { exec(t, l, "PRAGMA user_version = 2") }, ErrNewerSchema},
		{"schema that nothing migrates", func(t *testing.T, l *Ledger) { exec(t, l, "PRAGMA user_version = 0") }, ErrDamaged},
		{"another program's", func(t *testing.T, l *Ledger) { exec(t, l, "PRAGMA application_id = 7") }, ErrDamaged},
		{"open to others", func(t *testing.T, l *Ledger) { must(t, os.Chmod(l.path, 0o644)) }, ErrDamaged},
		{"not a database", func(t *testing.T, l *Ledger) {
			must(t, l.Close())
			must(t, os.WriteFile(l.path, []byte(strings.Repeat("not a database at all ", 100)), 0o600))
		}, ErrDamaged},
		{"empty file", func(t *testing.T, l *Ledger) {
			must(t, l.Close())
			must(t, os.Truncate(l.path, 0))
		}, ErrDamaged},
		{"symbolic link", func(t *testing.T, l *Ledger) {
			must(t, l.Close())
			must(t, os.Rename(l.path, l.path+"2"))
			must(t, os.Symlink(l.path+"2", l.path))
		}, ErrDamaged},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			l := newLedger(t)
			c.spoil(t, l)
			again, err := Open(t.Context(), l.path)
			if !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
			must(t, again.Close())
		})
	}
}

func TestMigration(t *testing.T) {
	l := newLedger(t)
	exec(t, l, "PRAGMA user_version = 0")
	migrations[0] = func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "CREATE TABLE moved (x INTEGER) STRICT")
		return err
	}
	defer delete(migrations, 0)
	for range 2 { // the second time there is nothing to do
		again, err := Open(t.Context(), l.path)
		must(t, err)
		must(t, again.Close())
	}
	migrations[0] = func(context.Context, *sql.Tx) error { return errors.New("half way") }
	exec(t, l, "PRAGMA user_version = 0")
	if _, err := Open(t.Context(), l.path); err == nil || !strings.Contains(err.Error(), "half way") {
		t.Errorf("got %v, want the migration's error", err)
	}
}

func TestMarkOnlyRises(t *testing.T) {
	l := newLedger(t)
	a, b := rule.DigestOf([]byte("a")), rule.DigestOf([]byte("b"))
	steps := []struct {
		to   Mark
		fine bool
	}{
		{Mark{1, a}, true}, {Mark{1, a}, true}, {Mark{1, b}, false}, {Mark{3, b}, true}, {Mark{2, a}, false}, {Mark{3, a}, false},
	}
	for i, step := range steps {
		before, err := l.Mark(t.Context())
		must(t, err)
		err = l.Raise(t.Context(), step.to)
		if (err == nil) != step.fine {
			t.Errorf("step %d: Raise(%v) gave %v", i, step.to, err)
		}
		want := step.to
		if !step.fine {
			want = before
		}
		if got, err := l.Mark(t.Context()); err != nil || got != want {
			t.Errorf("step %d: mark is %v, %v: want %v", i, got, err, want)
		}
	}
}

func event(id string, reason rule.Reason) Event {
	return Event{
		Time: time.Date(2026, 3, 1, 23, 59, 0, 0, time.UTC), RouteID: id, Task: rule.DigestOf([]byte(id)),
		Decision: "fallback", Reason: reason, Rule: "dates", Family: "dates", Generation: 3, Elapsed: 5 * time.Millisecond,
		Detail: `{"a":1}`,
	}
}

func TestEventsRoundTrip(t *testing.T) {
	l := newLedger(t)
	want := event("r1", rule.ReasonMatched)
	must(t, l.RecordEvent(t.Context(), want))
	if err := l.RecordEvent(t.Context(), want); err == nil {
		t.Error("one route id twice: want an error")
	}
	if err := l.RecordEvent(t.Context(), Event{RouteID: "x"}); err == nil {
		t.Error("no reason: want an error")
	}
	got, err := l.Event(t.Context(), "r1")
	must(t, err)
	want.Seq = got.Seq
	if got != want {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if _, err := l.Event(t.Context(), "none"); !errors.Is(err, ErrUnknown) {
		t.Errorf("got %v, want ErrUnknown", err)
	}
}

func TestEventsFilterAndPage(t *testing.T) {
	l := newLedger(t)
	for i := range 10 {
		reason := rule.ReasonMatched
		if i%2 == 1 {
			reason = rule.ReasonNoMatch
		}
		must(t, l.RecordEvent(t.Context(), event(fmt.Sprintf("r%d", i), reason)))
	}
	for _, c := range []struct {
		filter Filter
		want   string
	}{
		{Filter{Limit: 3}, "r9 r8 r7"},
		{Filter{Limit: 2, Before: 8}, "r6 r5"},
		{Filter{Reason: rule.ReasonNoMatch, Limit: 2}, "r9 r7"},
		{Filter{Rule: "other"}, ""},
		{Filter{Family: "dates", Rule: "dates", Reason: rule.ReasonMatched}, "r8 r6 r4 r2 r0"},
	} {
		events, err := l.Events(t.Context(), c.filter)
		must(t, err)
		var ids []string
		for _, e := range events {
			ids = append(ids, e.RouteID)
		}
		if got := strings.Join(ids, " "); got != c.want {
			t.Errorf("%+v: got %q, want %q", c.filter, got, c.want)
		}
	}
}

// total returns how many routes and wrong ones the totals have for a reason,
// and their time.
func total(t *testing.T, l *Ledger, reason rule.Reason) (routes, wrong int64, took time.Duration) {
	t.Helper()
	totals, err := l.RouteTotals(t.Context())
	must(t, err)
	for _, row := range totals {
		if row.Day != "2026-03-01" {
			t.Errorf("day %q, want 2026-03-01", row.Day)
		}
		if row.Reason == reason {
			routes, wrong, took = routes+row.Routes, wrong+row.Wrong, took+row.Took
		}
	}
	return routes, wrong, took
}

func TestTotalsFollowTheAftermath(t *testing.T) {
	l := newLedger(t)
	now := time.Now()
	for _, id := range []string{"r1", "r2", "r3"} {
		must(t, l.RecordEvent(t.Context(), event(id, rule.ReasonMatched)))
	}
	must(t, l.AddLate(t.Context(), []Late{{"r1", time.Millisecond}, {"r2", 2 * time.Millisecond}, {"gone", time.Hour}}))
	if n, _, took := total(t, l, rule.ReasonMatched); n != 3 || took != 18*time.Millisecond {
		t.Errorf("matched: %d in %v, want 3 in 18ms", n, took)
	}
	for range 2 { // saying it twice counts once
		must(t, l.Void(t.Context(), "r2", now, "serial 5"))
		must(t, l.MarkWrong(t.Context(), "r1", now, "by hand"))
	}
	must(t, l.AddLate(t.Context(), []Late{{"r2", time.Millisecond}}))
	if n, wrong, took := total(t, l, rule.ReasonMatched); n != 2 || wrong != 1 || took != 11*time.Millisecond {
		t.Errorf("matched: %d, %d wrong, in %v: want 2, 1, 11ms", n, wrong, took)
	}
	if n, wrong, took := total(t, l, rule.ReasonRegistryChanged); n != 1 || wrong != 0 || took != 8*time.Millisecond {
		t.Errorf("registry_changed: %d, %d wrong, in %v: want 1, 0, 8ms", n, wrong, took)
	}
	for id, want := range map[string][2]bool{"r1": {false, true}, "r2": {true, false}, "r3": {false, false}} {
		e, err := l.Event(t.Context(), id)
		must(t, err)
		if e.Void != want[0] || e.Wrong != want[1] {
			t.Errorf("%s: void %v, wrong %v: want %v", id, e.Void, e.Wrong, want)
		}
	}
	if err := l.Void(t.Context(), "none", now, ""); !errors.Is(err, ErrUnknown) {
		t.Errorf("got %v, want ErrUnknown", err)
	}
}

func TestCancelledChangeLeavesNothing(t *testing.T) {
	l := newLedger(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := l.RecordEvent(ctx, event("r1", rule.ReasonMatched)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
	if _, err := l.Event(t.Context(), "r1"); !errors.Is(err, ErrUnknown) {
		t.Errorf("got %v, want ErrUnknown", err)
	}
}

func TestReadersCanNotWrite(t *testing.T) {
	l := newLedger(t)
	if _, err := l.read.ExecContext(t.Context(), "DELETE FROM mark"); err == nil {
		t.Error("a reading connection wrote")
	}
}

func TestDurability(t *testing.T) {
	l := newLedger(t)
	for pragma, want := range map[string]string{"journal_mode": "wal", "synchronous": "2", "busy_timeout": "20000"} {
		var got string
		must(t, l.write.QueryRowContext(t.Context(), "PRAGMA "+pragma).Scan(&got))
		if got != want {
			t.Errorf("%s is %q, want %q", pragma, got, want)
		}
	}
}
