package registry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/google/renameio/v2"

	"signalbox/registry/ledger"
	"signalbox/rule"
)

// loaded is registry.json as it was read once.
type loaded struct {
	state    *State
	raw      []byte
	digest   rule.Digest
	from     int // the schema that it was written in
	identity Identity
	file     *os.File
	mark     ledger.Mark
}

// How often a reader looks again when writers are quicker than it is.
const (
	readAttempts = 50
	readPause    = 2 * time.Millisecond
)

// read returns the registry as it stands, compared with the high-water mark. The
// mark is read first: a registry only moves forward, so one that is older than
// an earlier mark was put back.
func (r *Registry) read(ctx context.Context) (*loaded, error) {
	for attempt := 0; ; attempt++ {
		mark, err := r.ledger.Mark(ctx)
		if err != nil {
			return nil, err
		}
		now, err := r.load()
		if err != nil {
			return nil, fmt.Errorf("reading registry %q: %w", r.path(registryFile), err)
		}
		now.mark = mark
		err = now.against(mark)
		if err == nil {
			return now, nil
		}
		_ = now.file.Close()
		if now.state.Serial.N <= mark.Serial || attempt == readAttempts {
			return nil, fmt.Errorf("reading registry %q: %w", r.path(registryFile), err)
		}
		time.Sleep(readPause)
	}
}

// load reads and checks the file, and leaves it open.
func (r *Registry) load() (*loaded, error) {
	file, info, err := openPrivate(r.path(registryFile))
	if err != nil {
		return nil, err
	}
	raw, err := io.ReadAll(io.LimitReader(file, maxRegistry+1))
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	state, from, err := parseState(raw)
	if err != nil {
		err = fmt.Errorf("%w (its bytes have digest %s)", err, rule.DigestOf(raw))
		return nil, errors.Join(err, file.Close())
	}
	return &loaded{state: state, raw: raw, digest: rule.DigestOf(raw), from: from, identity: identityOf(info), file: file}, nil
}

// against compares the registry with a mark that was read before it.
func (l *loaded) against(mark ledger.Mark) error {
	serial := l.state.Serial
	switch {
	case serial.N == mark.Serial && l.digest == mark.Digest:
		return nil
	case serial.N == mark.Serial+1 && serial.Prev == mark.Digest:
		return nil
	case serial.N < mark.Serial:
		return fmt.Errorf("%w: it has serial %d, the ledger has seen %d: an older file was put back", ErrRolledBack, serial.N, mark.Serial)
	case serial.N == mark.Serial:
		return fmt.Errorf("%w: serial %d has digest %s here and %s in the ledger: another file took its place", ErrRolledBack, serial.N, l.digest, mark.Digest)
	case serial.N == mark.Serial+1:
		return fmt.Errorf("%w: serial %d comes after %s, the ledger has seen %s", ErrRolledBack, serial.N, serial.Prev, mark.Digest)
	}
	return fmt.Errorf("%w: it has serial %d, the ledger has only seen %d: an older ledger was put back", ErrRolledBack, serial.N, mark.Serial)
}

// errUnchanged is what an edit returns when there is nothing to commit.
var errUnchanged = errors.New("nothing to commit")

// commit makes one change: lock, read again, edit a copy, write it and raise the
// mark. What names the change in the log.
func (r *Registry) commit(ctx context.Context, change Change, what string, edit func(*State) error) error {
	if err := change.check(); err != nil {
		return err
	}
	unlock, err := r.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	was, err := r.settled(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = was.file.Close() }()
	if change.Base != (rule.Serial{}) && change.Base != was.state.Serial {
		return &ConflictError{Want: change.Base, Got: was.state.Serial}
	}
	next, _, err := parseState(was.raw)
	if err != nil {
		return err
	}
	if err := edit(next); err != nil {
		if errors.Is(err, errUnchanged) {
			return nil
		}
		return err
	}
	next.Serial = rule.Serial{N: was.state.Serial.N + 1, Prev: was.digest}
	next.Log = keepLast(append(next.Log, Commit{Serial: next.Serial.N, When: now(), Who: change.Who, What: what, Why: change.Why}), maxLog)
	return r.replace(ctx, was, next)
}

// settled reads the registry under the lock, sweeps what a crash left beside it,
// and raises a mark that a crash left behind, so that a commit is never two ahead.
func (r *Registry) settled(ctx context.Context) (*loaded, error) {
	if err := r.sweep(); err != nil {
		return nil, fmt.Errorf("sweeping %q: %w", r.dir, err)
	}
	was, err := r.read(ctx)
	if err != nil {
		return nil, err
	}
	if was.mark.Serial == was.state.Serial.N {
		return was, nil
	}
	if err := syncFolder(r.dir); err != nil {
		return nil, errors.Join(err, was.file.Close())
	}
	if err := r.ledger.Raise(ctx, ledger.Mark{Serial: was.state.Serial.N, Digest: was.digest}); err != nil {
		return nil, errors.Join(err, was.file.Close())
	}
	return was, nil
}

// sweep removes temporary files of writers that were killed, objects too. The lock is held.
func (r *Registry) sweep() error {
	left, err := filepath.Glob(filepath.Join(globEscape(r.dir), "."+registryFile+"[0-9]*"))
	if err != nil {
		return err
	}
	for _, path := range left {
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	return r.objects.Sweep()
}

// replace puts the next state in place of the one that was read.
func (r *Registry) replace(ctx context.Context, was *loaded, next *State) error {
	data, err := next.encode()
	if err != nil {
		return err
	}
	if _, _, err := parseState(data); err != nil {
		return fmt.Errorf("committing registry: the new state isn't sound: %w", err)
	}
	if was.from < Schema {
		if err := r.keepOld(was); err != nil {
			return fmt.Errorf("keeping the registry of schema %d: %w", was.from, err)
		}
	}
	if err := r.write(data, was.digest); err != nil {
		return fmt.Errorf("committing registry: %w", err)
	}
	if err := r.finish(ctx, ledger.Mark{Serial: next.Serial.N, Digest: rule.DigestOf(data)}); err != nil {
		return fmt.Errorf("serial %d is in place but not acknowledged: %w", next.Serial.N, err)
	}
	return nil
}

// keepOld keeps a file of an older schema beside the new one.
func (r *Registry) keepOld(was *loaded) error {
	path := r.path(fmt.Sprintf("%s.schema%d", registryFile, was.from))
	if data, err := os.ReadFile(path); err == nil && rule.DigestOf(data) == was.digest {
		return nil
	}
	return renameio.WriteFile(path, was.raw, 0o600, renameio.WithTempDir(r.dir), renameio.WithStaticPermissions(0o600))
}

// write makes data the registry, if the registry still is what was read. What
// was written is read back before the rename.
func (r *Registry) write(data []byte, was rule.Digest) error {
	if err := r.atStep("begin"); err != nil {
		return err
	}
	path := r.path(registryFile)
	pending, err := renameio.NewPendingFile(path, renameio.WithTempDir(r.dir), renameio.WithStaticPermissions(0o600))
	if err != nil {
		return err
	}
	defer func() { _ = pending.Cleanup() }()
	if err := r.atStep("created"); err != nil {
		return err
	}
	if _, err := pending.Write(data); err != nil {
		return err
	}
	if err := errors.Join(r.atStep("written"), pending.Sync()); err != nil {
		return err
	}
	written, err := os.ReadFile(pending.Name())
	if err != nil {
		return err
	}
	if rule.DigestOf(written) != rule.DigestOf(data) {
		return fmt.Errorf("the disk gave back other bytes than were written to %q", pending.Name())
	}
	if err := r.atStep("synced"); err != nil {
		return err
	}
	if err := r.fence(was); err != nil {
		return err
	}
	return pending.CloseAtomicallyReplace()
}

// fence refuses to replace a registry that someone changed without the lock.
func (r *Registry) fence(was rule.Digest) error {
	now, err := r.load()
	if err != nil {
		return err
	}
	_ = now.file.Close()
	if now.digest != was {
		return fmt.Errorf("the registry changed while it was locked: %w", &ConflictError{Want: rule.Serial{Prev: was}, Got: now.state.Serial})
	}
	return nil
}

// finish makes the rename durable and raises the mark.
func (r *Registry) finish(ctx context.Context, mark ledger.Mark) error {
	if err := errors.Join(r.atStep("renamed"), syncFolder(r.dir)); err != nil {
		return err
	}
	if err := r.atStep("durable"); err != nil {
		return err
	}
	// A change that is in place is acknowledged even if its caller has gone.
	if err := r.ledger.Raise(context.WithoutCancel(ctx), mark); err != nil {
		return err
	}
	return r.atStep("marked")
}
