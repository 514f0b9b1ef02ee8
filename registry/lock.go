package registry

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/gofrs/flock"
)

// How long a writer waits for the lock unless Options say otherwise, and how
// often it looks.
const (
	defaultLockTimeout = 10 * time.Second
	lockPoll           = 10 * time.Millisecond
)

// lock takes the writers' lock: this process's turn first, then the flock on
// registry.lock. That file is never renamed or removed, so its inode is compared
// after locking: a lock on a file that is no longer there protects nothing.
func (r *Registry) lock(ctx context.Context) (unlock func(), err error) {
	waiting, cancel := context.WithTimeout(ctx, r.lockTimeout)
	defer cancel()
	select {
	case r.turn <- struct{}{}:
	case <-waiting.Done():
		return nil, r.lockedOut(ctx)
	}
	release := func() { <-r.turn }
	for {
		held, err := r.tryLock()
		if err != nil {
			release()
			return nil, fmt.Errorf("locking registry: %w", err)
		}
		if held != nil {
			return func() { _ = held.Close(); release() }, nil
		}
		select {
		case <-time.After(lockPoll):
		case <-waiting.Done():
			release()
			return nil, r.lockedOut(ctx)
		}
	}
}

func (r *Registry) lockedOut(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("locking registry: %w", err)
	}
	return fmt.Errorf("locking registry: %w: waited %v for %q", ErrLocked, r.lockTimeout, r.path(lockFile))
}

// tryLock returns the lock, or nil where another one has it at present.
func (r *Registry) tryLock() (*flock.Flock, error) {
	path := r.path(lockFile)
	lock := flock.New(path, flock.SetFlag(os.O_RDWR|syscall.O_NOFOLLOW|syscall.O_NONBLOCK))
	got, err := lock.TryLock()
	switch {
	case errors.Is(err, syscall.EINTR):
		return nil, lock.Close()
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%q is missing, though signalbox never removes it: %w", path, ErrDamaged)
	case errors.Is(err, syscall.ELOOP), errors.Is(err, syscall.EISDIR):
		return nil, fmt.Errorf("%q is not a regular file: %w", path, ErrDamaged)
	case err != nil:
		return nil, errors.Join(err, lock.Close())
	case !got:
		return nil, lock.Close()
	}
	same, err := sameFile(lock, path)
	if err != nil || !same {
		return nil, errors.Join(err, lock.Close())
	}
	return lock, nil
}

// sameFile says whether the locked file is the one at its path, and a regular
// one of ours.
func sameFile(lock *flock.Flock, path string) (bool, error) {
	held, err := lock.Stat()
	if err != nil {
		return false, err
	}
	now, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if !held.Mode().IsRegular() {
		return false, fmt.Errorf("%q is not a regular file: %w", path, ErrDamaged)
	}
	return os.SameFile(held, now), checkOwner(path, held, 0o077)
}
