package containers

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"signalbox/rule"
	"signalbox/rule/frame"
)

// Residents keeps programs running between calls, by revision, environment and
// role. A program starts on first use; over the bound the one that was used
// least recently goes. It is safe for concurrent use; one program answers one
// call at a time.
//
// A call waits while all places are taken by programs at work. A program that
// was killed for what it did starts afresh at the next call.
type Residents struct {
	engine *Engine
	max    int

	mu      sync.Mutex
	closed  bool
	places  map[place]*resident
	leaving int           // taken out of places, still being removed
	clock   uint64        // counts uses
	changed chan struct{} // closed and renewed when a place may have come free
}

// place is what a resident is kept under.
type place struct {
	revision    rule.Digest
	environment rule.Digest
	role        rule.Role
}

// resident is one program, running or about to.
type resident struct {
	users int    // guarded by Residents.mu
	used  uint64 // guarded by Residents.mu

	turn chan struct{} // holds a token while somebody uses what follows
	cell *cell
	// epoch is the engine's when the cell was checked: a changed engine voids it.
	epoch uint64
	// refused is the program's own failure to load, which it would repeat.
	refused *ended
}

// Residents returns a table that keeps at most max programs running, one at
// least. Close it before the Engine.
func (e *Engine) Residents(limit int) *Residents {
	return &Residents{engine: e, max: max(1, limit), places: map[place]*resident{}, changed: make(chan struct{})}
}

// take returns the resident of a place with the caller's turn at it. The caller
// gives it back with leave.
func (r *Residents) take(ctx context.Context, p place) (*resident, error) {
	found, err := r.enter(ctx, p)
	if err != nil {
		return nil, err
	}
	select {
	case found.turn <- struct{}{}:
		if err := r.stillOpen(); err != nil {
			r.leave(found)
			return nil, err
		}
		return found, nil
	case <-ctx.Done():
		r.unuse(found)
		return nil, cancelled(ctx)
	}
}

// stillOpen keeps one who waited through Close from starting a program anew.
func (r *Residents) stillOpen() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return fmt.Errorf("residents are closed: %w", ErrUnavailable)
	}
	return nil
}

// leave ends a turn.
func (r *Residents) leave(s *resident) {
	<-s.turn
	r.unuse(s)
}

func (r *Residents) unuse(s *resident) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s.users--
	r.announce()
}

// announce wakes all who wait for a place. The caller holds mu.
func (r *Residents) announce() {
	close(r.changed)
	r.changed = make(chan struct{})
}

// enter counts the caller among the users of a place, which it makes where
// there is none, once there is room.
func (r *Residents) enter(ctx context.Context, p place) (*resident, error) {
	for {
		found, victim, wait, err := r.tryEnter(p)
		if err != nil || found != nil {
			return found, err
		}
		if victim != nil {
			r.evict(victim)
			continue
		}
		select {
		case <-wait:
		case <-ctx.Done():
			return nil, cancelled(ctx)
		}
	}
}

// tryEnter returns the place's resident, or the idle one that has to go first,
// or a channel that closes when to try again.
func (r *Residents) tryEnter(p place) (found, victim *resident, wait chan struct{}, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, nil, nil, fmt.Errorf("residents are closed: %w", ErrUnavailable)
	}
	r.clock++
	found = r.places[p]
	if found == nil && len(r.places)+r.leaving < r.max {
		found = &resident{turn: make(chan struct{}, 1)}
		r.places[p] = found
	}
	if found != nil {
		found.users++
		found.used = r.clock
		return found, nil, nil, nil
	}
	if at, ok := r.idlest(); ok {
		victim = r.places[at]
		delete(r.places, at)
		r.leaving++
		return nil, victim, nil, nil
	}
	return nil, nil, r.changed, nil
}

// idlest returns the place without users that was used longest ago.
func (r *Residents) idlest() (oldest place, ok bool) {
	for at, s := range r.places {
		if s.users == 0 && (!ok || s.used < r.places[oldest].used) {
			oldest, ok = at, true
		}
	}
	return oldest, ok
}

// evict removes a resident that tryEnter took out. What stays of its container
// is tried again when the engine is closed.
func (r *Residents) evict(victim *resident) {
	_ = victim.discard()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.leaving--
	r.announce()
}

// discard ends the program. The caller has the turn, or nobody else can.
func (s *resident) discard() error {
	if s.cell == nil {
		return nil
	}
	gone := s.cell
	s.cell = nil
	return gone.Close()
}

// ready makes sure that the program runs and is loaded. The caller has the turn.
func (r *Residents) ready(ctx context.Context, s *resident, program rule.Program, role rule.Role) error {
	epoch := r.engine.currentEpoch()
	if s.epoch != epoch {
		_ = s.discard()
		s.refused = nil
	}
	if s.refused != nil {
		return s.refused
	}
	if s.cell != nil {
		return nil
	}
	started, err := r.engine.start(ctx, program.Environment, role)
	if err != nil {
		return err
	}
	if err := started.load(ctx, program.Source.Tree()); err != nil {
		return errors.Join(r.refusal(s, err), started.Close())
	}
	s.cell, s.epoch = started, epoch
	return nil
}

// refusal remembers a source that the program itself refused. A deadline or a
// limit may be chance, so those are tried again.
func (r *Residents) refusal(s *resident, err error) error {
	end, ok := errors.AsType[*ended](err)
	if ok && (end.failure == rule.FailureCrash || end.failure == rule.FailureSchema) {
		s.refused = &ended{end.failure, "loading: " + end.detail}
		s.epoch = r.engine.currentEpoch()
		return s.refused
	}
	return err
}

func placeOf(program rule.Program, role rule.Role) place {
	return place{program.Member.Revision, program.Environment.Digest(), role}
}

// Trigger asks a program's trigger about one task.
func (r *Residents) Trigger(ctx context.Context, program rule.Program, task rule.Document) rule.TriggerReply {
	return r.Triggers(ctx, program, []rule.Document{task})[0]
}

// Execute runs a program's executor on a task that its trigger matched with
// args. A nil tree is none; an empty one is an empty folder.
func (r *Residents) Execute(ctx context.Context, program rule.Program, task rule.Document, args rule.Value, tree rule.Tree) rule.ExecutorReply {
	reply, err := r.execute(ctx, program, frame.Execute{Task: task, Args: args, Tree: tree != nil}, tree)
	if err != nil {
		failure, detail := failureOf(err)
		return rule.ExecutorReply{Failure: failure, Detail: detail}
	}
	return reply
}

func (r *Residents) execute(ctx context.Context, program rule.Program, call frame.Execute, tree rule.Tree) (rule.ExecutorReply, error) {
	body, err := rule.Canonical(call)
	if err != nil {
		return rule.ExecutorReply{}, &ended{rule.FailureSchema, "writing task: " + err.Error()}
	}
	s, err := r.take(ctx, placeOf(program, rule.RoleExecutor))
	if err != nil {
		return rule.ExecutorReply{}, err
	}
	defer r.leave(s)
	if err := r.ready(ctx, s, program, rule.RoleExecutor); err != nil {
		return rule.ExecutorReply{}, err
	}
	if tree != nil {
		if err := s.cell.sendTree(ctx, tree); err != nil {
			return rule.ExecutorReply{}, errors.Join(err, s.discard())
		}
	}
	got, err := s.cell.call(ctx, frame.KindExecute, body)
	if err != nil {
		return rule.ExecutorReply{}, errors.Join(err, s.discard())
	}
	if got.failed != nil {
		return rule.ExecutorReply{}, got.failed
	}
	reply, err := rule.ParseExecutorReply(got.body)
	if err != nil {
		return rule.ExecutorReply{}, errors.Join(&ended{rule.FailureSchema, err.Error()}, s.discard())
	}
	return reply, nil
}

// Close ends all programs and refuses further calls; calls under way finish
// first, within their deadlines. It returns the first removal that failed.
func (r *Residents) Close() error {
	r.mu.Lock()
	r.closed = true
	all := make([]*resident, 0, len(r.places))
	for _, s := range r.places {
		all = append(all, s)
	}
	clear(r.places)
	r.announce()
	r.mu.Unlock()
	errs := make([]error, len(all))
	inParallel(len(all), startsAtOnce, func(i int) {
		all[i].turn <- struct{}{}
		errs[i] = all[i].discard()
		<-all[i].turn
	})
	return errors.Join(errs...)
}
