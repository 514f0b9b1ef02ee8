package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"signalbox/rule"
)

// Event is one route as it was when it was persisted. Detail is a JSON document
// of the router's own. Elapsed is the time up to persistence; Late what came
// after it. Void and Wrong say what became of the answer later.
type Event struct {
	Seq        int64
	Time       time.Time
	RouteID    string
	Task       rule.Digest
	Decision   string
	Reason     rule.Reason
	Rule       rule.Name
	Family     rule.Family
	Revision   rule.Digest
	Generation rule.Generation
	Proof      rule.Digest
	Elapsed    time.Duration
	Late       time.Duration
	Detail     rule.Value
	Void       bool
	Wrong      bool
}

// counted returns the reason that the totals count the event under.
func (e Event) counted() rule.Reason {
	if e.Void {
		return rule.ReasonRegistryChanged
	}
	return e.Reason
}

func day(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// RecordEvent persists a new event and counts it. An event whose route ID is
// known is an error.
func (l *Ledger) RecordEvent(ctx context.Context, e Event) error {
	if e.RouteID == "" || e.Reason == "" {
		return fmt.Errorf("recording event: route id or reason is missing")
	}
	return l.change(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO routes
			(time, route_id, task, decision, reason, rule, family, revision, generation, proof, elapsed, detail)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			e.Time.UnixMicro(), e.RouteID, string(e.Task), e.Decision, string(e.Reason), string(e.Rule), string(e.Family),
			string(e.Revision), int64(e.Generation), string(e.Proof), e.Elapsed.Microseconds(), string(e.Detail))
		if err != nil {
			return fmt.Errorf("recording event %q: %w", e.RouteID, err)
		}
		return count(ctx, tx, e, e.Reason, tally{routes: 1, micros: e.Elapsed.Microseconds()})
	})
}

// tally is what an event adds to a row of the totals.
type tally struct{ routes, wrong, micros int64 }

func count(ctx context.Context, tx *sql.Tx, e Event, reason rule.Reason, by tally) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO totals VALUES (?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (day, family, rule, reason) DO UPDATE SET
		routes = routes + excluded.routes, wrong = wrong + excluded.wrong, micros = micros + excluded.micros`,
		day(e.Time), string(e.Family), string(e.Rule), string(reason), by.routes, by.wrong, by.micros)
	if err != nil {
		return fmt.Errorf("counting event %q: %w", e.RouteID, err)
	}
	return nil
}

// Late is the time that a route took after its event was persisted.
type Late struct {
	RouteID string
	Took    time.Duration
}

// AddLate adds late timings to their events, all in one transaction. Routes that
// the ledger doesn't have are passed over: they may be archived.
func (l *Ledger) AddLate(ctx context.Context, batch []Late) error {
	return l.change(ctx, func(ctx context.Context, tx *sql.Tx) error {
		for _, late := range batch {
			event, err := find(ctx, tx, late.RouteID)
			if errors.Is(err, ErrUnknown) {
				continue
			}
			if err != nil {
				return err
			}
			micros := late.Took.Microseconds()
			if _, err := tx.ExecContext(ctx, `UPDATE routes SET late = late + ? WHERE seq = ?`, micros, event.Seq); err != nil {
				return fmt.Errorf("adding late timings: %w", err)
			}
			if err := count(ctx, tx, event, event.counted(), tally{micros: micros}); err != nil {
				return err
			}
		}
		return nil
	})
}

// Void records that a persisted answer was never given, since the registry
// changed meanwhile. The totals count the route as registry_changed from then on.
func (l *Ledger) Void(ctx context.Context, routeID string, at time.Time, detail string) error {
	return l.after(ctx, routeID, "void", at, detail, func(ctx context.Context, tx *sql.Tx, e Event) error {
		took := (e.Elapsed + e.Late).Microseconds()
		if err := count(ctx, tx, e, e.Reason, tally{routes: -1, micros: -took}); err != nil {
			return err
		}
		return count(ctx, tx, e, rule.ReasonRegistryChanged, tally{routes: 1, micros: took})
	})
}

// MarkWrong records that a route's answer is known to be wrong.
func (l *Ledger) MarkWrong(ctx context.Context, routeID string, at time.Time, detail string) error {
	return l.after(ctx, routeID, "wrong", at, detail, func(ctx context.Context, tx *sql.Tx, e Event) error {
		return count(ctx, tx, e, e.counted(), tally{wrong: 1})
	})
}

// after records what became of a route. Saying the same twice changes nothing.
func (l *Ledger) after(ctx context.Context, routeID, kind string, at time.Time, detail string, then func(context.Context, *sql.Tx, Event) error) error {
	return l.change(ctx, func(ctx context.Context, tx *sql.Tx) error {
		event, err := find(ctx, tx, routeID)
		if err != nil {
			return err
		}
		done, err := tx.ExecContext(ctx, `INSERT INTO aftermath (route_id, kind, time, detail) VALUES (?, ?, ?, ?)
			ON CONFLICT DO NOTHING`, routeID, kind, at.UnixMicro(), detail)
		if err != nil {
			return fmt.Errorf("recording that route %q is %s: %w", routeID, kind, err)
		}
		if n, err := done.RowsAffected(); err != nil || n == 0 {
			return err
		}
		return then(ctx, tx, event)
	})
}
