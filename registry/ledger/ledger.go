// Package ledger keeps what happened, in SQLite: route events, maintenance
// attempts, reservations of what a model may cost, and the registry's
// high-water mark. It grants nothing, but limits are spent here.
//
// Everything that a method returned without an error is on disk (WAL mode,
// synchronous FULL), and several processes may use one ledger at once: check and
// change are one transaction that holds the write lock from its start. Events
// are never changed but for their late timings; what becomes of a route later (it
// was void, it was wrong) is an event of its own. Totals are kept as events come
// in, so a report costs the same after a million of them.
//
// A ledger that is missing is an error, never a fresh start: limits and the mark
// would start again with it. Nothing here reads the registry, calls a model or
// decides whether something may be tried again.
package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
)

// Errors that callers branch on.
var (
	// ErrMissing is returned when there is no ledger where one should be.
	ErrMissing = errors.New("ledger is missing")
	// ErrNewerSchema is returned when a later version of this program wrote the
	// ledger.
	ErrNewerSchema = errors.New("ledger has a newer schema")
	// ErrDamaged is returned when the file is no ledger of ours, or unsafe.
	ErrDamaged = errors.New("ledger is damaged")
	// ErrUnknown is returned when no event, attempt or open reservation has the
	// name that was asked for.
	ErrUnknown = errors.New("not in the ledger")
)

// Ledger is an open ledger. It is safe for concurrent use.
type Ledger struct {
	write *sql.DB // one connection: writers of this process queue here
	read  *sql.DB
	path  string
}

// readers bounds the connections that only read.
const readers = 4

// Create makes a new, empty ledger at path, which must not exist, and returns it
// open.
func Create(ctx context.Context, path string) (*Ledger, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("creating ledger: %w", err)
	}
	if err := file.Close(); err != nil {
		return nil, fmt.Errorf("creating ledger: %w", err)
	}
	ledger, err := connect(path)
	if err != nil {
		return nil, err
	}
	if err := ledger.change(ctx, install); err != nil {
		return nil, errors.Join(fmt.Errorf("creating ledger %q: %w", path, err), ledger.Close())
	}
	return ledger, nil
}

// Open returns the ledger at path. It returns ErrMissing, ErrNewerSchema or
// ErrDamaged where it is one of these.
func Open(ctx context.Context, path string) (*Ledger, error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("opening ledger %q: %w", path, ErrMissing)
	case err != nil:
		return nil, fmt.Errorf("opening ledger: %w", err)
	case !info.Mode().IsRegular() || info.Mode().Perm()&0o077 != 0:
		return nil, fmt.Errorf("opening ledger %q: mode %s, want a regular file with mode 0600: %w", path, info.Mode(), ErrDamaged)
	}
	ledger, err := connect(path)
	if err != nil {
		return nil, err
	}
	if err := ledger.upgrade(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("opening ledger %q: %w", path, err), ledger.Close())
	}
	return ledger, nil
}

func connect(path string) (*Ledger, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("opening ledger: %w", err)
	}
	write, err := sql.Open("sqlite", source(absolute, "_txlock=immediate"))
	if err != nil {
		return nil, fmt.Errorf("opening ledger: %v", err)
	}
	write.SetMaxOpenConns(1)
	read, err := sql.Open("sqlite", source(absolute, "_pragma=query_only(1)"))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("opening ledger: %v", err), write.Close())
	}
	read.SetMaxOpenConns(readers)
	read.SetMaxIdleConns(readers)
	return &Ledger{write: write, read: read, path: path}, nil
}

// source names the database for the driver. Every connection gets the pragmas;
// mode=rw keeps SQLite from making a file that isn't there.
func source(path, more string) string {
	query := "mode=rw&_pragma=busy_timeout(20000)&_pragma=journal_mode(wal)&_pragma=synchronous(full)&_pragma=foreign_keys(1)&" + more
	return (&url.URL{Scheme: "file", OmitHost: true, Path: path, RawQuery: query}).String()
}

// Close ends the use of the ledger. It is nil-safe.
func (l *Ledger) Close() error {
	if l == nil {
		return nil
	}
	if err := errors.Join(l.read.Close(), l.write.Close()); err != nil {
		return fmt.Errorf("closing ledger: %v", err)
	}
	return nil
}

// change runs do in one transaction that holds the write lock from its start.
func (l *Ledger) change(ctx context.Context, do func(context.Context, *sql.Tx) error) error {
	tx, err := l.write.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("writing ledger: %w", err)
	}
	if err := do(ctx, tx); err != nil {
		return errors.Join(err, ignoreDone(tx.Rollback()))
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("writing ledger: %w", err)
	}
	return nil
}

// ignoreDone drops the word that a cancelled transaction has ended already.
func ignoreDone(err error) error {
	if errors.Is(err, sql.ErrTxDone) {
		return nil
	}
	return err
}
