package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Kind says whose budget is spent: an external endpoint's, whose limits start at
// zero, or the built-in author's, which costs no money and has no other limit
// until an operator sets one.
type Kind string

// The kinds of endpoints.
const (
	External Kind = "external"
	Builtin  Kind = "builtin"
)

var kinds = []Kind{External, Builtin}

// Resource is something that a limit is kept on, cumulative for the workspace.
type Resource string

// The resources. MicroUSD is millionths of a US dollar.
const (
	Calls            Resource = "calls"
	PromptTokens     Resource = "prompt_tokens"
	CompletionTokens Resource = "completion_tokens"
	MicroUSD         Resource = "micro_usd"
	Operations       Resource = "operations"
	Validations      Resource = "validations"
	Attempts         Resource = "attempts"
	WallMillis       Resource = "wall_ms"
)

var resources = []Resource{Calls, PromptTokens, CompletionTokens, MicroUSD, Operations, Validations, Attempts, WallMillis}

// Amounts says how much of each resource. What is absent is zero.
type Amounts map[Resource]int64

// maxAmount keeps sums of amounts far from overflow.
const maxAmount = 1 << 50

func (a Amounts) check() error {
	for resource, amount := range a {
		if !slices.Contains(resources, resource) {
			return fmt.Errorf("resource %q: want one of %v", resource, resources)
		}
		if amount < 0 || amount > maxAmount {
			return fmt.Errorf("%d %s: want 0 to %d", amount, resource, int64(maxAmount))
		}
	}
	return nil
}

// LimitError is returned when a reservation would pass a limit. Nothing was
// reserved then.
type LimitError struct {
	Kind               Kind
	Resource           Resource
	Limit, Used, Asked int64
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("%s limit of %s endpoint is %d: %d used, %d asked for", e.Resource, e.Kind, e.Limit, e.Used, e.Asked)
}

// Budget is one resource of one kind. Limit is meaningless where Unlimited.
type Budget struct {
	Kind      Kind
	Resource  Resource
	Unlimited bool
	Limit     int64
	Used      int64
}

const selectBudgets = `SELECT kind, resource, maximum, used FROM budgets `

func scanBudget(row interface{ Scan(...any) error }) (Budget, error) {
	var b Budget
	var maximum sql.NullInt64
	if err := row.Scan(&b.Kind, &b.Resource, &maximum, &b.Used); err != nil {
		return Budget{}, fmt.Errorf("reading budget: %w", err)
	}
	b.Unlimited, b.Limit = !maximum.Valid, maximum.Int64
	return b, nil
}

// Budgets returns what a kind may spend and has spent, uncertain and reserved
// amounts included.
func (l *Ledger) Budgets(ctx context.Context, kind Kind) ([]Budget, error) {
	rows, err := l.read.QueryContext(ctx, selectBudgets+`WHERE kind = ?`, string(kind))
	if err != nil {
		return nil, fmt.Errorf("reading budgets: %w", err)
	}
	return collect(rows, scanBudget)
}

// LimitChange is the event of a limit that an operator set. Limits are -1 where
// there is none.
type LimitChange struct {
	Time     time.Time
	Kind     Kind
	Resource Resource
	Old, New int64
	Who, Why string
}

// Unlimited stands for no limit in SetLimit and LimitChange.
const Unlimited = -1

// SetLimit sets a cumulative limit and records who did and why. A limit below
// what is used stops further spending and takes nothing back.
func (l *Ledger) SetLimit(ctx context.Context, kind Kind, resource Resource, limit int64, who, why string) error {
	if limit < Unlimited || limit > maxAmount {
		return fmt.Errorf("setting limit: %d %s: want 0 to %d, or %d for none", limit, resource, int64(maxAmount), Unlimited)
	}
	if who == "" {
		return fmt.Errorf("setting limit: who sets it is missing")
	}
	if limit == Unlimited && kind == External {
		return fmt.Errorf("setting limit: %s of an external endpoint can't be without one", resource)
	}
	return l.change(ctx, func(ctx context.Context, tx *sql.Tx) error {
		old, err := scanBudget(tx.QueryRowContext(ctx, selectBudgets+`WHERE kind = ? AND resource = ?`, string(kind), string(resource)))
		if errors.Is(err, sql.ErrNoRows) {
			return fmt.Errorf("setting limit: %s of %q endpoint: %w", resource, kind, ErrUnknown)
		}
		if err != nil {
			return err
		}
		before := nullable(old.Limit, old.Unlimited)
		after := nullable(limit, limit == Unlimited)
		if _, err := tx.ExecContext(ctx, `UPDATE budgets SET maximum = ? WHERE kind = ? AND resource = ?`, after, string(kind), string(resource)); err != nil {
			return fmt.Errorf("setting limit: %w", err)
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO limit_changes (time, kind, resource, old, new, who, why) VALUES (?, ?, ?, ?, ?, ?, ?)`,
			time.Now().UnixMicro(), string(kind), string(resource), before, after, who, why)
		return err
	})
}

func nullable(value int64, null bool) sql.NullInt64 { return sql.NullInt64{Int64: value, Valid: !null} }

// LimitChanges returns every change of a limit, the latest first.
func (l *Ledger) LimitChanges(ctx context.Context) ([]LimitChange, error) {
	rows, err := l.read.QueryContext(ctx, `SELECT time, kind, resource, coalesce(old, -1), coalesce(new, -1), who, why
		FROM limit_changes ORDER BY seq DESC`)
	if err != nil {
		return nil, fmt.Errorf("reading limit changes: %w", err)
	}
	return collect(rows, func(row interface{ Scan(...any) error }) (LimitChange, error) {
		var c LimitChange
		var at int64
		err := row.Scan(&at, &c.Kind, &c.Resource, &c.Old, &c.New, &c.Who, &c.Why)
		c.Time = time.UnixMicro(at).UTC()
		return c, err
	})
}
