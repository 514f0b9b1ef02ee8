package router

import (
	"context"
	"errors"
	"fmt"

	"signalbox/rule"
)

// Authority says what may answer. Current is asked at the start of a route and
// costs little where nothing changed; its error is a *Refusal where the router
// has to fall back. Still is asked at the moment of the answer.
type Authority interface {
	Current(ctx context.Context) (*Authorised, error)
	Still(ctx context.Context, a *Authorised) bool
}

// Authorised is one active and proven collection. It is immutable, so that one
// route never sees two generations.
type Authorised struct {
	Programs   []rule.Program
	Proof      rule.Digest
	Generation rule.Generation

	guards []rule.Matcher
}

// NewAuthorised prepares a collection for routing.
func NewAuthorised(programs []rule.Program, proof rule.Digest, generation rule.Generation) (*Authorised, error) {
	a := &Authorised{Programs: programs, Proof: proof, Generation: generation}
	for _, p := range programs {
		matcher, err := p.Manifest.Guard.Matcher()
		if err != nil {
			return nil, fmt.Errorf("preparing rule %q: %w", p.Member.Rule, err)
		}
		a.guards = append(a.guards, matcher)
	}
	return a, nil
}

// Refusal is returned by an Authority when nothing may answer.
type Refusal struct {
	Reason rule.Reason
	Detail string
}

func (r *Refusal) Error() string { return fmt.Sprintf("%s: %s", r.Reason, r.Detail) }

// refusal returns what err means for a route. What isn't a Refusal prevents the
// check of what may answer: nothing is proven then.
func refusal(err error) (rule.Reason, string) {
	var r *Refusal
	if errors.As(err, &r) {
		return r.Reason, r.Detail
	}
	return rule.ReasonUnproven, err.Error()
}
