package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"signalbox/rule"
)

// Attempt is one bounded maintenance attempt. Stop is its stop reason, "" while
// it is open. Spent is what its reservations are charged with. Detail is a JSON
// document of maintenance's own.
type Attempt struct {
	ID     string
	Family rule.Family
	Model  string
	Kind   Kind
	Open   bool
	Stop   string
	Opened time.Time
	Closed time.Time
	Detail rule.Value
	Spent  Amounts
}

// OpenAttempt persists a new attempt as open and owned by this process. ID,
// Family, Model, Kind and Detail count; an ID that is known is an error.
func (l *Ledger) OpenAttempt(ctx context.Context, a Attempt) error {
	if a.ID == "" {
		return fmt.Errorf("opening attempt: id is missing")
	}
	return l.change(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO attempts (id, family, model, kind, owner, state, stop, opened, closed, detail)
			VALUES (?, ?, ?, ?, ?, 'open', '', ?, 0, ?)`,
			a.ID, string(a.Family), a.Model, string(a.Kind), thisProcess(), time.Now().UnixMicro(), string(a.Detail))
		if err != nil {
			return fmt.Errorf("opening attempt %q: %w", a.ID, err)
		}
		return nil
	})
}

// CloseAttempt ends an open attempt with its stop reason and last detail. It
// returns ErrUnknown where no open attempt has the ID.
func (l *Ledger) CloseAttempt(ctx context.Context, id, stop string, detail rule.Value) error {
	return l.change(ctx, func(ctx context.Context, tx *sql.Tx) error {
		done, err := tx.ExecContext(ctx, `UPDATE attempts SET state = 'closed', stop = ?, closed = ?, detail = ?
			WHERE id = ? AND state = 'open'`, stop, time.Now().UnixMicro(), string(detail), id)
		if err != nil {
			return fmt.Errorf("closing attempt %q: %w", id, err)
		}
		if n, err := done.RowsAffected(); err != nil || n == 0 {
			return errors.Join(err, fmt.Errorf("closing attempt %q: no open one has that id: %w", id, ErrUnknown))
		}
		return nil
	})
}

// Attempts returns all attempts, the latest first, each with what it spent.
func (l *Ledger) Attempts(ctx context.Context) ([]Attempt, error) {
	rows, err := l.read.QueryContext(ctx, `SELECT id, family, model, kind, state = 'open', stop, opened, closed, detail
		FROM attempts ORDER BY seq DESC`)
	if err != nil {
		return nil, fmt.Errorf("reading attempts: %w", err)
	}
	attempts, err := collect(rows, scanAttempt)
	if err != nil {
		return nil, err
	}
	spent, err := l.spentByAttempt(ctx)
	if err != nil {
		return nil, err
	}
	for i := range attempts {
		attempts[i].Spent = spent[attempts[i].ID]
	}
	return attempts, nil
}

func scanAttempt(row interface{ Scan(...any) error }) (Attempt, error) {
	var a Attempt
	var opened, closed int64
	err := row.Scan(&a.ID, &a.Family, &a.Model, &a.Kind, &a.Open, &a.Stop, &opened, &closed, &a.Detail)
	if err != nil {
		return Attempt{}, fmt.Errorf("reading attempt: %w", err)
	}
	a.Opened = time.UnixMicro(opened).UTC()
	if closed > 0 {
		a.Closed = time.UnixMicro(closed).UTC()
	}
	return a, nil
}

func (l *Ledger) spentByAttempt(ctx context.Context) (map[string]Amounts, error) {
	rows, err := l.read.QueryContext(ctx, `SELECT r.attempt, c.resource, sum(c.charged) FROM charges c
		JOIN reservations r ON r.id = c.reservation GROUP BY r.attempt, c.resource`)
	if err != nil {
		return nil, fmt.Errorf("reading charges: %w", err)
	}
	defer func() { _ = rows.Close() }()
	spent := map[string]Amounts{}
	for rows.Next() {
		var attempt string
		var resource Resource
		var amount int64
		if err := rows.Scan(&attempt, &resource, &amount); err != nil {
			return nil, fmt.Errorf("reading charges: %w", err)
		}
		if spent[attempt] == nil {
			spent[attempt] = Amounts{}
		}
		spent[attempt][resource] = amount
	}
	return spent, rows.Err()
}
