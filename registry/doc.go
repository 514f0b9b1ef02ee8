// Package registry is the authority of a workspace: which rules and revisions
// there are, which cases were certified, in which environments programs run, and
// which proven collection may answer.
//
// All of it hangs on one small file, registry.json, which names big things by
// digest. A commit is one rename of that file. Writers take a lock with a
// deadline, read again under it and check everything once more; readers take no
// lock and get an immutable Snapshot of one serial. Every commit counts the
// serial up and binds the digest of the file before it; the ledger keeps the
// highest one that was acknowledged, so that an older registry put back, or
// another one with the same number, is refused by name. A registry exactly one
// ahead of that mark, with the right predecessor, is a crash between the two and
// is accepted.
//
// The generation counts what routing depends on. Activate takes only a
// proofs.Verified whose base is the generation of that moment, and commits the
// next one; Authorise compares every binding of the proof again, so whatever
// changed since then makes the proof stale and routing falls back.
//
// The suite's digest covers the cases, not who may see them: which cases are
// visible stands in a list beside the suite. So revealing a hidden case to an
// author is a fact for good, but makes no proof stale.
//
// A damaged file is an error with its path and digest. Nothing is repaired or
// guessed here, no program is run, and no model is asked. The host's file system
// is trusted not to be changed by others while it's in use; what a crash or a
// restored backup does to it is not.
package registry

import (
	"errors"
	"fmt"
	"time"

	"signalbox/rule"
)

// Errors that callers branch on.
var (
	// ErrNotInitialised is returned when there is no workspace at the path.
	ErrNotInitialised = errors.New("no signalbox home here: run signalbox init")
	// ErrNewerSchema is returned when a later version of this program wrote the
	// registry or the ledger.
	ErrNewerSchema = errors.New("written by a newer signalbox")
	// ErrDamaged is returned when a file of the workspace is missing, unsafe or
	// not what its digest says.
	ErrDamaged = errors.New("damaged")
	// ErrLocked is returned when another writer held the lock until the deadline.
	ErrLocked = errors.New("another writer holds the lock")
	// ErrRolledBack is returned when the registry is not the one that the ledger
	// saw last: an older one, or another one with its number, was put in place.
	ErrRolledBack = errors.New("not the registry that was committed last")
	// ErrRuleLocked is returned when maintenance would change a locked rule.
	ErrRuleLocked = errors.New("rule is locked")
	// ErrUnknown is returned when the registry has no rule, revision, case or
	// collection of that name.
	ErrUnknown = errors.New("not in the registry")
)

// ConflictError is returned when the registry moved on from the serial that a
// change was made for. Nothing was changed.
type ConflictError struct{ Want, Got rule.Serial }

func (e *ConflictError) Error() string {
	return fmt.Sprintf("the registry is at serial %d (after %s), the change was made for %d (after %s): look again and repeat it",
		e.Got.N, e.Got.Prev.Short(), e.Want.N, e.Want.Prev.Short())
}

// StaleError is returned when the active collection may not answer, or a proof
// can't be activated. Reason is ReasonUnproven, ReasonProofStale,
// ReasonEnvironmentChanged or ReasonSandboxUnavailable; What names the part that
// differs, Want what the proof binds and Got what there is.
type StaleError struct {
	Reason          rule.Reason
	What, Want, Got string
}

func (e *StaleError) Error() string {
	if e.Want == "" && e.Got == "" {
		return fmt.Sprintf("%s: %s", e.Reason, e.What)
	}
	return fmt.Sprintf("%s: %s: the proof has %s, there is %s", e.Reason, e.What, e.Want, e.Got)
}

// Change says who changes the registry and why. Base, where it isn't zero, is
// the serial that the decision rests on: the change is refused with a
// ConflictError if the registry has moved. Maintenance marks changes that come
// from the bounded model loop, which may not touch locked rules.
type Change struct {
	Who, Why    string
	Base        rule.Serial
	Maintenance bool
}

// maxWord bounds Who and Why, in bytes.
const maxWord = 500

func (c Change) check() error {
	if c.Who == "" {
		return fmt.Errorf("who makes the change is missing")
	}
	if len(c.Who) > maxWord || len(c.Why) > maxWord {
		return fmt.Errorf("who or why is longer than %d bytes", maxWord)
	}
	return nil
}

// now is the time of a commit. Ordering never depends on it.
func now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }
