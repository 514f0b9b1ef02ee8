package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"signalbox/rule"
)

const selectEvents = `SELECT seq, time, route_id, task, decision, reason, rule, family, revision, generation,
	proof, elapsed, late, detail,
	EXISTS (SELECT 1 FROM aftermath a WHERE a.route_id = routes.route_id AND kind = 'void'),
	EXISTS (SELECT 1 FROM aftermath a WHERE a.route_id = routes.route_id AND kind = 'wrong') FROM routes `

// Event returns the event of a route, or ErrUnknown.
func (l *Ledger) Event(ctx context.Context, routeID string) (Event, error) {
	return find(ctx, l.read, routeID)
}

// querier is what a connection pool and a transaction have in common.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

func find(ctx context.Context, from querier, routeID string) (Event, error) {
	event, err := scanEvent(from.QueryRowContext(ctx, selectEvents+`WHERE route_id = ?`, routeID))
	if errors.Is(err, sql.ErrNoRows) {
		return Event{}, fmt.Errorf("route %q: %w", routeID, ErrUnknown)
	}
	return event, err
}

func scanEvent(row interface{ Scan(...any) error }) (Event, error) {
	var e Event
	var at, elapsed, late, generation int64
	err := row.Scan(&e.Seq, &at, &e.RouteID, &e.Task, &e.Decision, &e.Reason, &e.Rule, &e.Family, &e.Revision,
		&generation, &e.Proof, &elapsed, &late, &e.Detail, &e.Void, &e.Wrong)
	if err != nil {
		return Event{}, fmt.Errorf("reading event: %w", err)
	}
	e.Time, e.Generation = time.UnixMicro(at).UTC(), rule.Generation(generation)
	e.Elapsed, e.Late = time.Duration(elapsed)*time.Microsecond, time.Duration(late)*time.Microsecond
	return e, nil
}

// Filter chooses events. Empty fields choose all; Before is a Seq to page on
// from, and Limit 0 means 100.
type Filter struct {
	Reason rule.Reason
	Rule   rule.Name
	Family rule.Family
	Before int64
	Limit  int
}

const defaultLimit = 100

// Events returns the chosen events, the latest first.
func (l *Ledger) Events(ctx context.Context, f Filter) ([]Event, error) {
	var where []string
	var args []any
	add := func(set bool, condition string, value any) {
		if set {
			where, args = append(where, condition), append(args, value)
		}
	}
	add(f.Reason != "", "reason = ?", string(f.Reason))
	add(f.Rule != "", "rule = ?", string(f.Rule))
	add(f.Family != "", "family = ?", string(f.Family))
	add(f.Before > 0, "seq < ?", f.Before)
	query := selectEvents
	if len(where) > 0 {
		query += "WHERE " + strings.Join(where, " AND ")
	}
	if f.Limit <= 0 {
		f.Limit = defaultLimit
	}
	rows, err := l.read.QueryContext(ctx, query+" ORDER BY seq DESC LIMIT ?", append(args, f.Limit)...)
	if err != nil {
		return nil, fmt.Errorf("reading events: %w", err)
	}
	return collect(rows, scanEvent)
}

// collect scans every row and closes them.
func collect[T any](rows *sql.Rows, scan func(interface{ Scan(...any) error }) (T, error)) ([]T, error) {
	defer func() { _ = rows.Close() }()
	all := []T{}
	for rows.Next() {
		one, err := scan(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("reading ledger: %w", err)
	}
	return all, nil
}
