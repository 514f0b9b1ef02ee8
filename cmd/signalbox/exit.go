package main

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"signalbox/containers"
	"signalbox/maintenance"
	"signalbox/maintenance/draft"
	"signalbox/oracle"
	"signalbox/proofs"
	"signalbox/registry"
	"signalbox/registry/ledger"
	"signalbox/router"
	"signalbox/router/testbed"
	"signalbox/rule"
)

// The exit codes of design.md §8.
const (
	exitDone      = 0
	exitError     = 1
	exitUsage     = 2
	exitFallback  = 3
	exitRefused   = 4
	exitUnchecked = 5
)

// coded is an error with the exit code that it ends the program with. A silent
// one has been printed already, as the command's result.
type coded struct {
	code   int
	err    error
	silent bool
}

func (c *coded) Error() string { return c.err.Error() }
func (c *coded) Unwrap() error { return c.err }

func usageError(format string, args ...any) error {
	return &coded{code: exitUsage, err: fmt.Errorf(format, args...)}
}

func refusedError(format string, args ...any) error {
	return &coded{code: exitRefused, err: fmt.Errorf(format, args...)}
}

// alone says whether err is nothing but a silent result.
func alone(err error) bool {
	_, ok := err.(*coded)
	return ok
}

// resultWas ends the program with code; what there is to say is on stdout.
func resultWas(code int, what string) error {
	return &coded{code: code, err: errors.New(what), silent: true}
}

// report prints err for a person and returns the exit code.
func report(err error, stderr io.Writer) int {
	if err == nil {
		return exitDone
	}
	code := codeOf(err)
	var c *coded
	if errors.As(err, &c) && c.silent && alone(err) {
		return code
	}
	fmt.Fprintf(stderr, "signalbox: %v\n", err)
	if hint := hintFor(err); hint != "" {
		fmt.Fprintf(stderr, "signalbox: %s\n", hint)
	}
	return code
}

// refusals and unchecked are the errors that end the program with their codes.
var (
	refusals  = []error{registry.ErrRuleLocked, registry.ErrRolledBack, proofs.ErrBad, testbed.ErrChanged, maintenance.ErrRefused, draft.ErrChanged}
	unchecked = []error{containers.ErrUnavailable, oracle.ErrUnavailable, registry.ErrLocked, draft.ErrInUse, router.ErrNotRecorded}
)

func codeOf(err error) int {
	var c *coded
	var conflict *registry.ConflictError
	var stale *registry.StaleError
	var limit *ledger.LimitError
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &c):
		return c.code
	case errors.As(err, &stale) && stale.Reason == rule.ReasonSandboxUnavailable:
		return exitUnchecked
	case errors.As(err, &conflict), errors.As(err, &stale), errors.As(err, &limit), isAny(err, refusals):
		return exitRefused
	case isAny(err, unchecked):
		return exitUnchecked
	}
	return exitError
}

func isAny(err error, known []error) bool {
	return slices.ContainsFunc(known, func(k error) bool { return errors.Is(err, k) })
}

// hintFor says what to do next about an error, "" where it says so itself.
func hintFor(err error) string {
	switch {
	case errors.Is(err, containers.ErrUnavailable):
		return "signalbox doctor says what the container engine lacks"
	case errors.Is(err, registry.ErrDamaged):
		return "nothing was repaired; restore the named file from a backup"
	case errors.Is(err, registry.ErrLocked):
		return "another signalbox is writing; try again, or wait longer with --lock-timeout"
	}
	return ""
}
