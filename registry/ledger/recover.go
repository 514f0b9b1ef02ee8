package ledger

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Recover looks for what a crash or a restart of the machine left open: a
// reservation whose process is gone becomes uncertain, an attempt whose process
// is gone is closed with the stop reason given. What living processes hold stays
// as it is. It returns how many of each it changed.
func (l *Ledger) Recover(ctx context.Context, stop string) (reservations, attempts int, err error) {
	err = l.change(ctx, func(ctx context.Context, tx *sql.Tx) error {
		lost, err := orphans(ctx, tx, `SELECT id, owner FROM reservations WHERE state = 'reserved'`)
		if err != nil {
			return err
		}
		for _, id := range lost {
			if err := closeIn(ctx, tx, id, Uncertain, nil); err != nil {
				return err
			}
		}
		ended, err := orphans(ctx, tx, `SELECT seq, owner FROM attempts WHERE state = 'open'`)
		if err != nil {
			return err
		}
		for _, seq := range ended {
			_, err := tx.ExecContext(ctx, `UPDATE attempts SET state = 'closed', stop = ?, closed = ? WHERE seq = ?`, stop, time.Now().UnixMicro(), seq)
			if err != nil {
				return fmt.Errorf("closing an attempt that a crash left open: %w", err)
			}
		}
		reservations, attempts = len(lost), len(ended)
		return nil
	})
	return reservations, attempts, err
}

// orphans returns the numbers of the rows whose owner doesn't run any more.
func orphans(ctx context.Context, tx *sql.Tx, query string) ([]int64, error) {
	rows, err := tx.QueryContext(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("looking for what a crash left open: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var lost []int64
	for rows.Next() {
		var id int64
		var owner string
		if err := rows.Scan(&id, &owner); err != nil {
			return nil, fmt.Errorf("looking for what a crash left open: %w", err)
		}
		if !alive(owner) {
			lost = append(lost, id)
		}
	}
	return lost, rows.Err()
}

// OpenReservations returns the reservations that are reserved or uncertain, the
// latest first.
func (l *Ledger) OpenReservations(ctx context.Context) ([]Reservation, error) {
	rows, err := l.read.QueryContext(ctx, `SELECT id, kind, attempt, purpose, state, opened, closed FROM reservations
		WHERE state IN ('reserved', 'uncertain') ORDER BY id DESC`)
	if err != nil {
		return nil, fmt.Errorf("reading reservations: %w", err)
	}
	open, err := collect(rows, scanReservation)
	if err != nil {
		return nil, err
	}
	for i := range open {
		if open[i].Reserved, open[i].Charged, err = chargesOf(ctx, l.read, open[i].ID); err != nil {
			return nil, err
		}
	}
	return open, nil
}

func scanReservation(row interface{ Scan(...any) error }) (Reservation, error) {
	var r Reservation
	var opened, closed int64
	if err := row.Scan(&r.ID, &r.Kind, &r.Attempt, &r.Purpose, &r.State, &opened, &closed); err != nil {
		return Reservation{}, fmt.Errorf("reading reservation: %w", err)
	}
	r.Opened = time.UnixMicro(opened).UTC()
	if closed > 0 {
		r.Closed = time.UnixMicro(closed).UTC()
	}
	return r, nil
}

func chargesOf(ctx context.Context, from interface {
	QueryContext(context.Context, string, ...any) (*sql.Rows, error)
}, id int64) (reserved, charged Amounts, err error) {
	rows, err := from.QueryContext(ctx, `SELECT resource, reserved, charged FROM charges WHERE reservation = ?`, id)
	if err != nil {
		return nil, nil, fmt.Errorf("reading charges: %w", err)
	}
	defer func() { _ = rows.Close() }()
	reserved, charged = Amounts{}, Amounts{}
	for rows.Next() {
		var resource Resource
		var held, paid int64
		if err := rows.Scan(&resource, &held, &paid); err != nil {
			return nil, nil, fmt.Errorf("reading charges: %w", err)
		}
		reserved[resource], charged[resource] = held, paid
	}
	return reserved, charged, rows.Err()
}

// thisProcess names this process so that no later one is taken for it: boot,
// number and start time.
var thisProcess = sync.OnceValue(func() string { return processName(os.Getpid()) })

func processName(pid int) string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		boot = []byte("unknown")
	}
	return strings.TrimSpace(string(boot)) + ":" + strconv.Itoa(pid) + ":" + startTime(pid)
}

// startTime returns field 22 of a process's stat line, "" where it has ended.
func startTime(pid int) string {
	line, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return ""
	}
	_, rest, _ := strings.Cut(string(line), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 20 || fields[0] == "Z" || fields[0] == "X" {
		return ""
	}
	return fields[19]
}

func alive(owner string) bool {
	parts := strings.Split(owner, ":")
	if len(parts) != 3 {
		return false
	}
	pid, err := strconv.Atoi(parts[1])
	return err == nil && parts[2] != "" && processName(pid) == owner
}
