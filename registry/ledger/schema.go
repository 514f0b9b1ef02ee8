package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"modernc.org/sqlite"
)

// schemaVersion is the layout that this program writes and reads. application is
// SQLite's own field for whose file it is ("SGBX").
const (
	schemaVersion = 1
	application   = 0x53474258
)

// tables is the layout of version 1. Times are microseconds since 1970 UTC, days
// are YYYY-MM-DD in UTC, money is millionths of a US dollar.
const tables = `
CREATE TABLE mark (
	id INTEGER PRIMARY KEY CHECK (id = 1),
	serial INTEGER NOT NULL,
	digest TEXT NOT NULL
) STRICT;
CREATE TABLE routes (
	seq INTEGER PRIMARY KEY,
	time INTEGER NOT NULL,
	route_id TEXT NOT NULL UNIQUE,
	task TEXT NOT NULL,
	decision TEXT NOT NULL,
	reason TEXT NOT NULL,
	rule TEXT NOT NULL,
	family TEXT NOT NULL,
	revision TEXT NOT NULL,
	generation INTEGER NOT NULL,
	proof TEXT NOT NULL,
	elapsed INTEGER NOT NULL,
	late INTEGER NOT NULL DEFAULT 0,
	detail TEXT NOT NULL
) STRICT;
CREATE TABLE aftermath (
	seq INTEGER PRIMARY KEY,
	route_id TEXT NOT NULL,
	kind TEXT NOT NULL CHECK (kind IN ('void', 'wrong')),
	time INTEGER NOT NULL,
	detail TEXT NOT NULL,
	UNIQUE (route_id, kind)
) STRICT;
CREATE TABLE totals (
	day TEXT NOT NULL,
	family TEXT NOT NULL,
	rule TEXT NOT NULL,
	reason TEXT NOT NULL,
	routes INTEGER NOT NULL,
	wrong INTEGER NOT NULL,
	micros INTEGER NOT NULL,
	PRIMARY KEY (day, family, rule, reason)
) STRICT, WITHOUT ROWID;
CREATE TABLE attempts (
	seq INTEGER PRIMARY KEY,
	id TEXT NOT NULL UNIQUE,
	family TEXT NOT NULL,
	model TEXT NOT NULL,
	kind TEXT NOT NULL,
	owner TEXT NOT NULL,
	state TEXT NOT NULL CHECK (state IN ('open', 'closed')),
	stop TEXT NOT NULL,
	opened INTEGER NOT NULL,
	closed INTEGER NOT NULL,
	detail TEXT NOT NULL
) STRICT;
CREATE TABLE reservations (
	id INTEGER PRIMARY KEY,
	kind TEXT NOT NULL,
	attempt TEXT NOT NULL,
	purpose TEXT NOT NULL,
	owner TEXT NOT NULL,
	state TEXT NOT NULL CHECK (state IN ('reserved', 'settled', 'released', 'uncertain')),
	opened INTEGER NOT NULL,
	closed INTEGER NOT NULL
) STRICT;
CREATE INDEX reservations_attempt ON reservations (attempt);
CREATE INDEX reservations_open ON reservations (state) WHERE state IN ('reserved', 'uncertain');
CREATE TABLE charges (
	reservation INTEGER NOT NULL REFERENCES reservations (id),
	resource TEXT NOT NULL,
	reserved INTEGER NOT NULL,
	charged INTEGER NOT NULL,
	PRIMARY KEY (reservation, resource)
) STRICT, WITHOUT ROWID;
CREATE TABLE budgets (
	kind TEXT NOT NULL,
	resource TEXT NOT NULL,
	maximum INTEGER,
	used INTEGER NOT NULL,
	PRIMARY KEY (kind, resource)
) STRICT, WITHOUT ROWID;
CREATE TABLE limit_changes (
	seq INTEGER PRIMARY KEY,
	time INTEGER NOT NULL,
	kind TEXT NOT NULL,
	resource TEXT NOT NULL,
	old INTEGER,
	new INTEGER,
	who TEXT NOT NULL,
	why TEXT NOT NULL
) STRICT;
`

// install makes the tables and the budgets: nothing for an external endpoint,
// no limit but money for the built-in author.
func install(ctx context.Context, tx *sql.Tx) error {
	identity := fmt.Sprintf("PRAGMA user_version = %d; PRAGMA application_id = %d;", schemaVersion, application)
	if _, err := tx.ExecContext(ctx, tables+identity); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `INSERT INTO mark VALUES (1, 0, '')`); err != nil {
		return err
	}
	for _, kind := range kinds {
		for _, resource := range resources {
			maximum := sql.NullInt64{Valid: kind == External || resource == MicroUSD}
			if _, err := tx.ExecContext(ctx, `INSERT INTO budgets VALUES (?, ?, ?, 0)`, kind, resource, maximum); err != nil {
				return err
			}
		}
	}
	return nil
}

// migrations[n] turns version n into n+1. Version 1 is the first.
var migrations = map[int]func(context.Context, *sql.Tx) error{}

// upgrade refuses what isn't ours or is newer, and brings an older layout up to
// date in one transaction.
func (l *Ledger) upgrade(ctx context.Context) error {
	version, err := l.identity(ctx)
	if err != nil {
		return err
	}
	if version == schemaVersion {
		return nil
	}
	return l.change(ctx, func(ctx context.Context, tx *sql.Tx) error {
		for ; version < schemaVersion; version++ {
			migrate, ok := migrations[version]
			if !ok {
				return fmt.Errorf("schema %d can't be brought to %d: %w", version, schemaVersion, ErrDamaged)
			}
			if err := migrate(ctx, tx); err != nil {
				return fmt.Errorf("migrating from schema %d: %w", version, err)
			}
		}
		_, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", schemaVersion))
		return err
	})
}

// identity reads whose file it is and its version. The first read of a
// connection tells whether the file is a database at all.
func (l *Ledger) identity(ctx context.Context) (version int, err error) {
	var owner int
	if err := l.read.QueryRowContext(ctx, "PRAGMA application_id").Scan(&owner); err != nil {
		return 0, unreadable(err)
	}
	if owner != application {
		return 0, fmt.Errorf("application id %#x, want %#x: %w", owner, application, ErrDamaged)
	}
	if err := l.read.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return 0, unreadable(err)
	}
	if version > schemaVersion {
		return 0, fmt.Errorf("schema %d, this program knows %d: %w", version, schemaVersion, ErrNewerSchema)
	}
	return version, nil
}

// unreadable tells a damaged file from one that can't be used at present: a
// read-only disk, no room, another program's lock.
func unreadable(err error) error {
	var failure *sqlite.Error
	if errors.As(err, &failure) {
		switch failure.Code() & 0xff {
		case sqliteCorrupt, sqliteNotADatabase:
			return fmt.Errorf("%w: %v", ErrDamaged, err)
		case sqliteCannotOpen, sqliteReadOnly:
			return fmt.Errorf("%v: is its disk read-only or full?", err)
		}
	}
	return err
}

// SQLite's primary result codes that unreadable tells apart.
const (
	sqliteReadOnly     = 8
	sqliteCorrupt      = 11
	sqliteCannotOpen   = 14
	sqliteNotADatabase = 26
)

// Check has SQLite verify the whole file, and compares the budgets with the
// reservations that they were spent on. It is slow on a large ledger.
func (l *Ledger) Check(ctx context.Context) error {
	var verdict string
	if err := l.read.QueryRowContext(ctx, "PRAGMA integrity_check(1)").Scan(&verdict); err != nil {
		return fmt.Errorf("checking ledger %q: %w: %v", l.path, ErrDamaged, err)
	}
	if verdict != "ok" {
		return fmt.Errorf("checking ledger %q: %w: %s", l.path, ErrDamaged, verdict)
	}
	return l.checkBudgets(ctx)
}

// checkBudgets compares every budget with what its reservations are charged.
func (l *Ledger) checkBudgets(ctx context.Context) error {
	var kind, resource string
	var used, charged int64
	err := l.read.QueryRowContext(ctx, `
		SELECT b.kind, b.resource, b.used, coalesce((SELECT sum(c.charged) FROM charges c
			JOIN reservations r ON r.id = c.reservation
			WHERE r.kind = b.kind AND c.resource = b.resource), 0) AS charged
		FROM budgets b WHERE b.used <> charged LIMIT 1`).Scan(&kind, &resource, &used, &charged)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil
	case err != nil:
		return fmt.Errorf("checking ledger: %w", err)
	}
	return fmt.Errorf("checking ledger %q: %w: budget %s of %s says %d, its reservations %d", l.path, ErrDamaged, resource, kind, used, charged)
}
