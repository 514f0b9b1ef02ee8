package maintenance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"signalbox/maintenance/draft"
	"signalbox/maintenance/gateway"
	"signalbox/registry/ledger"
	"signalbox/rule"
)

// ErrRefused is returned for an attempt that may not begin: a locked rule, a
// family without cases, a draft that can't be resumed.
var ErrRefused = errors.New("maintenance refused")

func refused(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrRefused}, args...)...)
}

// Maintain makes one bounded attempt. It returns what came of it; the error
// says that the attempt could not begin (ErrRefused among others) or that the
// host could not go on, and then the attempt, where it has an ID, is closed as
// cancelled all the same.
func Maintain(ctx context.Context, d Deps, o Options) (Attempt, error) {
	started := time.Now()
	o.Bounds, o.Endpoint = o.Bounds.withDefaults(o.Endpoint.Kind()), endpointDefaults(o.Endpoint)
	resumed, feedback, err := resume(d.Home, &o)
	if err != nil {
		return Attempt{}, err
	}
	view, err := d.Workspace.View(ctx)
	if err != nil {
		return Attempt{}, err
	}
	if err := ready(view, o.Family); err != nil {
		return Attempt{}, err
	}
	if done, err := d.answered(ctx, view, o.Family); err != nil || done {
		return Attempt{Family: o.Family, Skipped: done, Why: "the active rules answer all of its cases"}, err
	}
	identity, tree, err := begin(view, o, resumed)
	if err != nil {
		return Attempt{}, err
	}
	s := &session{deps: d, endpoint: o.Endpoint, bounds: o.Bounds, view: view, environment: environmentOf(view, identity.Rule)}
	if identity.Attempt, err = claim(ctx, d, o, identity); err != nil {
		return Attempt{}, err
	}
	stopping := s.begin(ctx, identity, tree, feedback)
	return s.finish(ctx, identity, started, stopping)
}

// resume opens the draft that an attempt continues, with what was said of it.
func resume(home string, o *Options) (*draft.Draft, []string, error) {
	if o.Resume == "" {
		return nil, nil, nil
	}
	old, err := draft.Open(home, o.Resume)
	if err != nil {
		return nil, nil, err
	}
	defer old.Close()
	if o.Family == "" {
		o.Family = old.Identity().Family
	}
	if old.Identity().Family != o.Family {
		return nil, nil, refused("attempt %q was for family %q, not %q", o.Resume, old.Identity().Family, o.Family)
	}
	feedback, err := old.Feedback()
	return old, feedback, err
}

// ready says whether a family's cases let an attempt succeed at all.
func ready(view View, family rule.Family) error {
	positive, held := 0, 0
	for _, c := range view.Cases {
		if c.Family != family || c.Fallback {
			continue
		}
		if c.Part == rule.VisiblePart {
			positive++
		} else {
			held++
		}
	}
	switch {
	case positive == 0:
		return refused("family %q has no visible case with an outcome: `signalbox families` shows what there is", family)
	case held == 0 && !view.Policy.AllowUnheld:
		return refused("family %q has too few cases to hold some back: allow it with --allow-unheld, or ingest more", family)
	}
	return nil
}

func environmentOf(view View, name rule.Name) rule.Environment {
	for _, p := range view.Active {
		if p.Member.Rule == name {
			return p.Environment
		}
	}
	return view.Environment
}

// claimTries bounds how often another process may be first.
const claimTries = 20

// claim opens an attempt in the ledger under the next free number.
func claim(ctx context.Context, d Deps, o Options, identity draft.Identity) (string, error) {
	var opening error
	for range claimTries {
		attempts, err := d.Ledger.Attempts(ctx)
		if err != nil {
			return "", err
		}
		if opening != nil && !slices.ContainsFunc(attempts, func(a ledger.Attempt) bool { return a.ID == identity.Attempt }) {
			return "", opening // it wasn't for the number
		}
		identity.Attempt = nextID(attempts)
		opening = d.Ledger.OpenAttempt(ctx, ledger.Attempt{
			ID: identity.Attempt, Family: identity.Family, Model: o.Endpoint.Model, Kind: o.Endpoint.Kind(), Open: true, Detail: "{}",
		})
		if opening == nil {
			return identity.Attempt, nil
		}
	}
	return "", opening
}

// nextID counts attempts: the same workspace always gives the same names.
func nextID(attempts []ledger.Attempt) string {
	last := 0
	for _, a := range attempts {
		if n, err := strconv.Atoi(strings.TrimPrefix(a.ID, "a")); err == nil {
			last = max(last, n)
		}
	}
	return fmt.Sprintf("a%04d", last+1)
}

// begin sets the attempt up and runs it until it stops.
func (s *session) begin(ctx context.Context, identity draft.Identity, tree rule.Tree, feedback []string) (err error) {
	hold := ledger.Amounts{ledger.Attempts: 1, ledger.WallMillis: s.bounds.Wall.Milliseconds()}
	id, err := s.deps.Ledger.Reserve(ctx, s.endpoint.Kind(), identity.Attempt, "attempt", hold)
	var limit *ledger.LimitError
	if errors.As(err, &limit) {
		return limited(limit)
	}
	if err != nil {
		return err
	}
	started := time.Now()
	defer func() {
		keep, cancel := lasting(ctx)
		defer cancel()
		spent := ledger.Amounts{ledger.Attempts: 1, ledger.WallMillis: time.Since(started).Milliseconds()}
		err = also(err, s.deps.Ledger.Settle(keep, id, spent))
	}()
	ctx, cancel := context.WithTimeout(ctx, s.bounds.Wall)
	defer cancel()
	if s.draft, err = draft.Create(s.deps.Home, identity, tree); err != nil {
		return err
	}
	defer func() { err = also(also(err, s.stopEditor()), s.draft.Close()) }()
	if err := s.prepare(feedback); err != nil {
		return err
	}
	err = s.run(ctx)
	if ctx.Err() != nil && !errors.As(err, new(*stopped)) {
		return stop(StopCancelled, "the attempt was cancelled or its time is used up: "+err.Error())
	}
	return err
}

// prepare makes the gateway and the first messages.
func (s *session) prepare(feedback []string) (err error) {
	offered, err := tools()
	if err != nil {
		return err
	}
	if s.gateway, err = gateway.New(s.endpoint, offered, s.deps.Ledger); err != nil {
		return err
	}
	s.progress = newProgress(s.bounds.Idle, s.draft.Tree().Digest())
	for _, c := range s.view.Cases {
		if c.Family == s.draft.Identity().Family && c.Part == rule.AdmissionPart {
			s.hidden++
		}
	}
	for _, text := range feedback {
		if err := s.draft.AddFeedback(text); err != nil {
			return err
		}
	}
	if s.messages, err = opening(s.view, s.draft, feedback, s.left()); err != nil {
		return err
	}
	return s.draft.Record("opening", s.messages)
}

// finish closes the attempt with its stop reason, also for a caller that has
// gone.
func (s *session) finish(ctx context.Context, identity draft.Identity, started time.Time, stopping error) (Attempt, error) {
	a := Attempt{
		ID: identity.Attempt, Family: identity.Family, Rule: identity.Rule, Stop: StopCancelled,
		Proof: s.proof, Counts: s.counts, Took: time.Since(started),
	}
	if s.draft != nil {
		a.Draft = s.draft.Tree().Digest()
	}
	var end *stopped
	if errors.As(stopping, &end) {
		a.Stop, a.Why = end.reason, end.why
	} else if stopping != nil {
		a.Why = stopping.Error()
	}
	if stopping == error(end) {
		stopping = nil
	}
	detail, err := rule.ValueOf(a)
	if err != nil {
		return a, err
	}
	keep, cancel := lasting(ctx)
	defer cancel()
	return a, errors.Join(stopping, s.deps.Ledger.CloseAttempt(keep, a.ID, string(a.Stop), detail))
}

// also adds what went wrong afterwards to a reason to stop.
func also(err, after error) error {
	if after == nil {
		return err
	}
	return errors.Join(err, after)
}

// closing bounds what is written after the caller has given up.
const closing = 10 * time.Second

// lasting returns a context for what has to be written down although the caller
// may have gone: otherwise a cancelled attempt would look like a crashed one.
func lasting(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), closing)
}
