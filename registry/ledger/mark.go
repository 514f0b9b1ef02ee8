package ledger

import (
	"context"
	"database/sql"
	"fmt"

	"signalbox/rule"
)

// Mark is the highest serial that the registry has acknowledged, with the digest
// of the registry file that has it. The zero Mark says that there was none yet.
type Mark struct {
	Serial uint64
	Digest rule.Digest
}

// Mark returns the high-water mark.
func (l *Ledger) Mark(ctx context.Context) (Mark, error) {
	var mark Mark
	err := l.read.QueryRowContext(ctx, `SELECT serial, digest FROM mark`).Scan(&mark.Serial, &mark.Digest)
	if err != nil {
		return Mark{}, fmt.Errorf("reading the high-water mark from ledger %q: %w", l.path, err)
	}
	return mark, nil
}

// Raise moves the mark to a higher serial. Repeating the mark is fine; a lower
// serial, or the same with another digest, is an error and changes nothing.
func (l *Ledger) Raise(ctx context.Context, to Mark) error {
	return l.change(ctx, func(ctx context.Context, tx *sql.Tx) error {
		var now Mark
		if err := tx.QueryRowContext(ctx, `SELECT serial, digest FROM mark`).Scan(&now.Serial, &now.Digest); err != nil {
			return fmt.Errorf("raising the high-water mark: %w", err)
		}
		if now == to {
			return nil
		}
		if to.Serial <= now.Serial {
			return fmt.Errorf("raising the high-water mark: serial %d (%s) isn't above %d (%s)",
				to.Serial, to.Digest.Short(), now.Serial, now.Digest.Short())
		}
		_, err := tx.ExecContext(ctx, `UPDATE mark SET serial = ?, digest = ?`, to.Serial, string(to.Digest))
		return err
	})
}
