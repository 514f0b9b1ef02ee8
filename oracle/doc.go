// Package oracle decides whether a proposed collection may be trusted: it runs
// all of it over every visible and admission case, through the decision that
// the router uses (rule.Decide, Manifest.FitTrigger and FitExecutor), every
// program Policy.Repeats times.
//
// On a case of a family that the collection serves it wants the certified
// outcome or a fallback; a wrong outcome, two matches, a failing program or
// repeats that differ refuse. A rule of another family has to say no_match. A
// program that says anything but no_match where its guard is false is refused,
// although routing would never ask it. A share of each family's cases has to be
// covered, of the visible and of the hidden ones each. Probes are tasks that the
// host makes out of cases; a rule that matches one with the original's args has
// ignored what was changed.
//
// Cost: a rule's trigger is asked about every distinct task document, all
// probes of its own family and a bounded sample of the other families' probes
// (foreignAllowed where its guard allows them, foreignDenied where not). Only
// executors that a decision chose are run. Memory holds one byte per rule and
// document, and args of a rule's own cases up to maxArgsBytes.
//
// A refusal is a finding and stands in the Report. Where the host could not run
// a program nothing was found, and Check returns ErrUnavailable. The package
// never sees sealed cases, signs nothing and changes nothing.
package oracle

import (
	"context"
	"errors"

	"signalbox/rule"
)

// ErrUnavailable is returned when a program could not be run for a reason that
// isn't its own: no engine, or an environment that changed. It is no verdict.
var ErrUnavailable = errors.New("could not check")

// Programs runs programs of rules. Triggers returns one reply per task, in
// order. A reply carries a failure as a fact; FailureUnavailable and
// FailureEnvironment say that nothing is known of the program. Both methods are
// called concurrently, and return soon after ctx ends.
type Programs interface {
	Triggers(ctx context.Context, p rule.Program, tasks []rule.Document) []rule.TriggerReply
	Execute(ctx context.Context, p rule.Program, task rule.Document, args rule.Value, tree rule.Tree) rule.ExecutorReply
}
