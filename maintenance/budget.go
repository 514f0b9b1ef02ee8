package maintenance

import (
	"fmt"

	"signalbox/maintenance/gateway"
	"signalbox/registry/ledger"
)

// Purchase says what is left of a budget. Attempts is how many whole attempts
// it surely pays for, Calls how many calls of the model at most. Tightest is
// the resource that runs out first, and Short says what one attempt lacks.
type Purchase struct {
	Attempts int64
	Calls    int64
	Tightest ledger.Resource
	Short    []Shortage
}

// Shortage is a resource of which less is left than one attempt may need.
type Shortage struct {
	Resource ledger.Resource
	Left     int64
	Need     int64
}

// unlimited stands for a purchase that no limit bounds.
const unlimited = 1 << 40

// Afford returns what the budgets of an endpoint's kind can buy: an attempt is
// reckoned at its bounds, since nobody knows before how much of them it uses.
func Afford(budgets []ledger.Budget, endpoint gateway.Endpoint, bounds Bounds) Purchase {
	need := Need(endpoint, bounds)
	p := Purchase{Attempts: unlimited, Calls: unlimited}
	for _, b := range budgets {
		if b.Unlimited || b.Kind != endpoint.Kind() || need[b.Resource] == 0 {
			continue
		}
		left := max(0, b.Limit-b.Used)
		if left < need[b.Resource] {
			p.Short = append(p.Short, Shortage{b.Resource, left, need[b.Resource]})
		}
		if n := left / need[b.Resource]; n < p.Attempts {
			p.Attempts, p.Tightest = n, b.Resource
		}
		if b.Resource == ledger.Calls {
			p.Calls = left
		}
	}
	return p
}

// Need returns the most that one attempt with these bounds can spend.
func Need(endpoint gateway.Endpoint, bounds Bounds) ledger.Amounts {
	bounds, endpoint = bounds.withDefaults(endpoint.Kind()), endpointDefaults(endpoint)
	calls := int64(bounds.Calls)
	completion := min(calls*endpoint.MaxCompletion, bounds.Tokens)
	need := ledger.Amounts{
		ledger.Calls:            calls,
		ledger.PromptTokens:     bounds.Tokens,
		ledger.CompletionTokens: completion,
		ledger.Operations:       min(calls, int64(bounds.Operations)),
		ledger.Validations:      min(calls, int64(bounds.Validations)),
		ledger.Attempts:         1,
		ledger.WallMillis:       bounds.Wall.Milliseconds(),
	}
	if cost := endpoint.Price.Cost(bounds.Tokens, completion); cost > 0 {
		need[ledger.MicroUSD] = cost
	}
	return need
}

// String says it in one sentence for an operator.
func (p Purchase) String() string {
	switch {
	case p.Attempts == unlimited:
		return "the budget has no limit for this endpoint"
	case p.Attempts > 0:
		return fmt.Sprintf("the budget pays for %d whole attempts; %s runs out first", p.Attempts, p.Tightest)
	}
	s := p.Short[0]
	return fmt.Sprintf("the budget doesn't pay for one whole attempt: %d of %s are left and one may need %d: `signalbox budget set %s N --kind external` raises it",
		s.Left, s.Resource, s.Need, s.Resource)
}
