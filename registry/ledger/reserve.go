package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// ReservationState says what became of a reservation. Reserved and Uncertain
// ones count with what was reserved, settled ones with what was charged, released
// ones not at all.
type ReservationState string

// The states. Uncertain is for good: nobody knows what the call cost.
const (
	Reserved  ReservationState = "reserved"
	Settled   ReservationState = "settled"
	Released  ReservationState = "released"
	Uncertain ReservationState = "uncertain"
)

// Reservation is what one act of maintenance may cost. Charged equals Reserved
// until it is settled.
type Reservation struct {
	ID       int64
	Kind     Kind
	Attempt  string
	Purpose  string
	State    ReservationState
	Opened   time.Time
	Closed   time.Time
	Reserved Amounts
	Charged  Amounts
}

// Reserve checks every limit of the kind and reserves the amounts, in one step
// that no other process can come between. When it returns, the reservation is on
// disk. Purpose is for people. The error is a *LimitError where a limit is in the
// way.
func (l *Ledger) Reserve(ctx context.Context, kind Kind, attempt, purpose string, amounts Amounts) (id int64, err error) {
	if err := amounts.check(); err != nil {
		return 0, fmt.Errorf("reserving: %w", err)
	}
	err = l.change(ctx, func(ctx context.Context, tx *sql.Tx) error {
		done, err := tx.ExecContext(ctx, `INSERT INTO reservations (kind, attempt, purpose, owner, state, opened, closed)
			VALUES (?, ?, ?, ?, 'reserved', ?, 0)`, string(kind), attempt, purpose, thisProcess(), time.Now().UnixMicro())
		if err != nil {
			return fmt.Errorf("reserving: %w", err)
		}
		if id, err = done.LastInsertId(); err != nil {
			return fmt.Errorf("reserving: %w", err)
		}
		for _, resource := range resources {
			if amount := amounts[resource]; amount > 0 {
				if err := charge(ctx, tx, id, kind, resource, amount); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return id, err
}

// charge spends the amount where the limit allows it.
func charge(ctx context.Context, tx *sql.Tx, id int64, kind Kind, resource Resource, amount int64) error {
	budget, err := scanBudget(tx.QueryRowContext(ctx, selectBudgets+`WHERE kind = ? AND resource = ?`, string(kind), string(resource)))
	if errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("reserving: %q endpoint: %w", kind, ErrUnknown)
	}
	if err != nil {
		return err
	}
	if !budget.Unlimited && budget.Used+amount > budget.Limit {
		return &LimitError{Kind: kind, Resource: resource, Limit: budget.Limit, Used: budget.Used, Asked: amount}
	}
	if err := spend(ctx, tx, kind, resource, amount); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO charges VALUES (?, ?, ?, ?)`, id, string(resource), amount, amount)
	return err
}

func spend(ctx context.Context, tx *sql.Tx, kind Kind, resource Resource, by int64) error {
	_, err := tx.ExecContext(ctx, `UPDATE budgets SET used = used + ? WHERE kind = ? AND resource = ?`, by, string(kind), string(resource))
	if err != nil {
		return fmt.Errorf("spending %s: %w", resource, err)
	}
	return nil
}

// Settle closes a reservation with what the act did cost, which may be more than
// was reserved: it is charged all the same.
func (l *Ledger) Settle(ctx context.Context, id int64, charged Amounts) error {
	if err := charged.check(); err != nil {
		return fmt.Errorf("settling reservation %d: %w", id, err)
	}
	return l.close(ctx, id, Settled, charged)
}

// Release closes a reservation whose act was certainly never begun. It costs
// nothing.
func (l *Ledger) Release(ctx context.Context, id int64) error {
	return l.close(ctx, id, Released, Amounts{})
}

// MarkUncertain closes a reservation whose act may or may not have been done. It
// goes on counting with all that was reserved.
func (l *Ledger) MarkUncertain(ctx context.Context, id int64) error {
	return l.close(ctx, id, Uncertain, nil)
}

// close ends a reservation; charged nil leaves what was reserved.
func (l *Ledger) close(ctx context.Context, id int64, state ReservationState, charged Amounts) error {
	return l.change(ctx, func(ctx context.Context, tx *sql.Tx) error {
		return closeIn(ctx, tx, id, state, charged)
	})
}

func closeIn(ctx context.Context, tx *sql.Tx, id int64, state ReservationState, charged Amounts) error {
	var kind Kind
	var now ReservationState
	err := tx.QueryRowContext(ctx, `SELECT kind, state FROM reservations WHERE id = ?`, id).Scan(&kind, &now)
	if errors.Is(err, sql.ErrNoRows) || err == nil && now != Reserved {
		return fmt.Errorf("closing reservation %d as %s: no open one has that number: %w", id, state, ErrUnknown)
	}
	if err != nil {
		return fmt.Errorf("closing reservation %d: %w", id, err)
	}
	_, err = tx.ExecContext(ctx, `UPDATE reservations SET state = ?, closed = ? WHERE id = ?`, string(state), time.Now().UnixMicro(), id)
	if err != nil || charged == nil {
		return err
	}
	reserved, _, err := chargesOf(ctx, tx, id)
	if err != nil {
		return err
	}
	for _, resource := range resources {
		if err := recharge(ctx, tx, id, kind, resource, reserved[resource], charged[resource]); err != nil {
			return err
		}
	}
	return nil
}

func recharge(ctx context.Context, tx *sql.Tx, id int64, kind Kind, resource Resource, reserved, charged int64) error {
	if reserved == charged {
		return nil
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO charges VALUES (?, ?, ?, ?)
		ON CONFLICT (reservation, resource) DO UPDATE SET charged = excluded.charged`, id, string(resource), reserved, charged)
	if err != nil {
		return fmt.Errorf("charging %s: %w", resource, err)
	}
	return spend(ctx, tx, kind, resource, charged-reserved)
}
