package router

import (
	"context"
	"errors"
	"sync"

	"signalbox/registry"
	"signalbox/rule"
)

// RegistryAuthority is the Authority over a workspace's registry. What was
// authorised is kept for as long as registry.json is the same file, so a route
// in between pays one stat.
type RegistryAuthority struct {
	registry *registry.Registry
	check    registry.EnvironmentChecker

	mu       sync.Mutex
	current  *Authorised
	snapshot *registry.Snapshot // keeps the file open that identity is of
}

// NewRegistryAuthority returns the authority of a workspace. check says whether
// an environment is still what a proof bound.
func NewRegistryAuthority(r *registry.Registry, check registry.EnvironmentChecker) *RegistryAuthority {
	return &RegistryAuthority{registry: r, check: check}
}

// Current returns what may answer now.
func (a *RegistryAuthority) Current(ctx context.Context) (*Authorised, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	identity, err := a.registry.Stat()
	if err != nil {
		return nil, err
	}
	if a.current != nil && a.snapshot.Identity() == identity {
		return a.current, nil
	}
	a.current, a.snapshot = nil, nil
	snapshot, err := a.registry.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	authorised, err := authorise(ctx, snapshot, a.check)
	if err != nil {
		return nil, err
	}
	a.current, a.snapshot = authorised, snapshot
	return authorised, nil
}

// Still says whether what was authorised is so at this moment. A commit that
// changed nothing of it (a proposal, a lock) leaves it so.
func (a *RegistryAuthority) Still(ctx context.Context, was *Authorised) bool {
	now, err := a.Current(ctx)
	return err == nil && now.Generation == was.Generation && now.Proof == was.Proof
}

func authorise(ctx context.Context, snapshot *registry.Snapshot, check registry.EnvironmentChecker) (*Authorised, error) {
	active, err := snapshot.Authorise(ctx, check)
	var stale *registry.StaleError
	if errors.As(err, &stale) {
		return nil, &Refusal{Reason: stale.Reason, Detail: stale.Error()}
	}
	if errors.Is(err, registry.ErrDamaged) {
		return nil, &Refusal{Reason: rule.ReasonUnproven, Detail: err.Error()}
	}
	if err != nil {
		return nil, err
	}
	return NewAuthorised(active.Programs, active.Proof, active.Generation)
}
