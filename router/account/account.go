// Package account adds up what routing did and what maintenance cost, as it is:
// known wrong answers count against, every maintenance call counts as overhead,
// and a saving is stated only where the history said what the work cost without
// a rule.
package account

import (
	"context"
	"maps"
	"slices"

	"signalbox/registry/ledger"
	"signalbox/rule"
)

// Account is the whole of it. Times are milliseconds, money is US dollars.
type Account struct {
	Tasks       int64                 `json:"tasks"`
	Answered    int64                 `json:"answered"`
	FellBack    int64                 `json:"fell_back"`
	KnownWrong  int64                 `json:"known_wrong"`
	Reasons     map[rule.Reason]int64 `json:"reasons"`
	RoutingMS   int64                 `json:"routing_ms"`
	Families    []Family              `json:"families"`
	Maintenance Spent                 `json:"maintenance"`
	Saving      *Saving               `json:"saving,omitzero"`
}

// Family is a family's part. The family of a fallback isn't known.
type Family struct {
	Family     rule.Family `json:"family"`
	Answered   int64       `json:"answered"`
	KnownWrong int64       `json:"known_wrong"`
	RoutingMS  int64       `json:"routing_ms"`
}

// Spent is what maintenance cost. External is the part that left the machine.
type Spent struct {
	Attempts      int64   `json:"attempts"`
	Calls         int64   `json:"calls"`
	Tokens        int64   `json:"tokens"`
	ExternalCalls int64   `json:"external_calls"`
	ExternalUSD   float64 `json:"external_usd"`
	ExternalToken int64   `json:"external_tokens"`
}

// Saving is the net of answers with a baseline over all overhead. Answers
// counts those; Basis is how many cases the baselines were averaged over. A
// negative figure is a loss. USD is null where calls were made whose price nobody
// said.
type Saving struct {
	Answers int64    `json:"answers"`
	Basis   int      `json:"basis"`
	USD     *float64 `json:"usd"`
	Tokens  int64    `json:"tokens"`
	Millis  int64    `json:"ms"`
}

// Take reads the ledger's totals. cases are those whose baselines count.
func Take(ctx context.Context, l *ledger.Ledger, cases []rule.Case) (Account, error) {
	totals, err := l.RouteTotals(ctx)
	if err != nil {
		return Account{}, err
	}
	spent, err := l.SpentTotals(ctx)
	if err != nil {
		return Account{}, err
	}
	a := Account{Reasons: map[rule.Reason]int64{}, Families: []Family{}}
	families := map[rule.Family]*Family{}
	for _, t := range totals {
		a.add(t, families)
	}
	for _, name := range slices.Sorted(maps.Keys(families)) {
		a.Families = append(a.Families, *families[name])
	}
	for _, s := range spent {
		a.Maintenance.add(s)
	}
	a.Saving = saving(a, cases)
	return a, nil
}

func (a *Account) add(t ledger.RouteTotal, families map[rule.Family]*Family) {
	a.Tasks += t.Routes
	a.RoutingMS += t.Took.Milliseconds()
	if t.Reason != rule.ReasonMatched {
		a.FellBack += t.Routes
		a.Reasons[t.Reason] += t.Routes
		return
	}
	a.Answered += t.Routes
	a.KnownWrong += t.Wrong
	f := families[t.Family]
	if f == nil {
		f = &Family{Family: t.Family}
		families[t.Family] = f
	}
	f.Answered += t.Routes
	f.KnownWrong += t.Wrong
	f.RoutingMS += t.Took.Milliseconds()
}

func (s *Spent) add(t ledger.SpentTotal) {
	tokens := t.Spent[ledger.PromptTokens] + t.Spent[ledger.CompletionTokens]
	s.Attempts += t.Attempts
	s.Calls += t.Spent[ledger.Calls]
	s.Tokens += tokens
	if t.Kind == ledger.External {
		s.ExternalCalls += t.Spent[ledger.Calls]
		s.ExternalToken += tokens
		s.ExternalUSD += float64(t.Spent[ledger.MicroUSD]) / 1e6
	}
}

// baseline is the mean of a family's baselines.
type baseline struct {
	usd, tokens, millis float64
	cases               int
}

// saving returns nil where no answered family has a baseline. A wrong answer
// saved nothing: its work has to be done again.
func saving(a Account, cases []rule.Case) *Saving {
	means := baselines(cases)
	out := Saving{}
	var usd, tokens, millis float64
	for _, f := range a.Families {
		mean, ok := means[f.Family]
		if !ok {
			continue
		}
		right := f.Answered - f.KnownWrong
		out.Answers += right
		out.Basis += mean.cases
		usd += mean.usd * float64(right)
		tokens += mean.tokens * float64(right)
		millis += mean.millis * float64(right)
	}
	if out.Basis == 0 {
		return nil
	}
	if a.Maintenance.ExternalCalls == 0 || a.Maintenance.ExternalUSD > 0 {
		usd -= a.Maintenance.ExternalUSD
		out.USD = &usd
	}
	out.Tokens = int64(tokens) - a.Maintenance.ExternalToken
	out.Millis = int64(millis) - a.RoutingMS
	return &out
}

func baselines(cases []rule.Case) map[rule.Family]baseline {
	means := map[rule.Family]baseline{}
	for _, c := range cases {
		if c.Baseline == (rule.Baseline{}) {
			continue
		}
		m := means[c.Family]
		m.usd += c.Baseline.USD
		m.tokens += float64(c.Baseline.Tokens)
		m.millis += float64(c.Baseline.Millis)
		m.cases++
		means[c.Family] = m
	}
	for family, m := range means {
		n := float64(m.cases)
		means[family] = baseline{m.usd / n, m.tokens / n, m.millis / n, m.cases}
	}
	return means
}

// Decided is how a route ended, for a list of events.
func Decided(e ledger.Event) string {
	switch {
	case e.Void:
		return "void"
	case e.Wrong:
		return "wrong"
	}
	return e.Decision
}
