package ledger

import (
	"context"
	"fmt"
	"time"

	"signalbox/rule"
)

// RouteTotal counts the routes of one day (UTC) with one family, rule and
// reason. Wrong is how many of them are known to be wrong, Took the time of all.
type RouteTotal struct {
	Day    string
	Family rule.Family
	Rule   rule.Name
	Reason rule.Reason
	Routes int64
	Wrong  int64
	Took   time.Duration
}

// SpentTotal is what maintenance of one family cost with one kind of endpoint.
type SpentTotal struct {
	Family   rule.Family
	Kind     Kind
	Attempts int64
	Spent    Amounts
}

// RouteTotals returns the totals of all routes ever, by day. Archived events are
// still in them.
func (l *Ledger) RouteTotals(ctx context.Context) ([]RouteTotal, error) {
	rows, err := l.read.QueryContext(ctx, `SELECT day, family, rule, reason, routes, wrong, micros FROM totals
		WHERE routes <> 0 OR wrong <> 0 ORDER BY day, family, rule, reason`)
	if err != nil {
		return nil, fmt.Errorf("reading totals: %w", err)
	}
	return collect(rows, func(row interface{ Scan(...any) error }) (RouteTotal, error) {
		var t RouteTotal
		var micros int64
		err := row.Scan(&t.Day, &t.Family, &t.Rule, &t.Reason, &t.Routes, &t.Wrong, &micros)
		t.Took = time.Duration(micros) * time.Microsecond
		return t, err
	})
}

// SpentTotals returns what maintenance cost, by family and kind.
func (l *Ledger) SpentTotals(ctx context.Context) ([]SpentTotal, error) {
	attempts, err := l.Attempts(ctx)
	if err != nil {
		return nil, err
	}
	type key struct {
		family rule.Family
		kind   Kind
	}
	at := map[key]int{}
	totals := []SpentTotal{}
	for _, attempt := range attempts {
		k := key{attempt.Family, attempt.Kind}
		if _, ok := at[k]; !ok {
			at[k] = len(totals)
			totals = append(totals, SpentTotal{Family: k.family, Kind: k.kind, Spent: Amounts{}})
		}
		total := &totals[at[k]]
		total.Attempts++
		for resource, amount := range attempt.Spent {
			total.Spent[resource] += amount
		}
	}
	return totals, nil
}
