package objects

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"
	"golang.org/x/sys/unix"

	"signalbox/rule"
)

// pendingFolder holds objects that are being written. Its writers share a lock
// on it, so that whoever can take it alone knows that nobody is writing.
const pendingFolder = "pending"

func (s *Store) pending() string { return filepath.Join(s.dir, pendingFolder) }

// write makes the object appear at path whole or not at all. What was written is
// read back before the rename.
func (s *Store) write(path string, data []byte) error {
	folder := filepath.Dir(path)
	if err := makeFolder(folder); err != nil {
		return err
	}
	unlock, err := s.lockPending(unix.LOCK_SH)
	if err != nil {
		return err
	}
	defer unlock()
	pending, err := renameio.NewPendingFile(path, renameio.WithTempDir(s.pending()), renameio.WithStaticPermissions(0o400))
	if err != nil {
		return err
	}
	defer func() { _ = pending.Cleanup() }()
	if _, err := pending.Write(data); err != nil {
		return err
	}
	written, err := os.ReadFile(pending.Name())
	if err != nil {
		return err
	}
	if rule.DigestOf(written) != rule.DigestOf(data) {
		return fmt.Errorf("the disk gave back other bytes than were written to %q", pending.Name())
	}
	if err := pending.CloseAtomicallyReplace(); err != nil {
		return err
	}
	return syncFolder(folder)
}

// lockPending locks the folder of pending files, and makes it where it isn't
// there yet. The lock ends with the process.
func (s *Store) lockPending(how int) (unlock func(), err error) {
	folder, err := os.Open(s.pending())
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.Mkdir(s.pending(), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		folder, err = os.Open(s.pending())
	}
	if err != nil {
		return nil, err
	}
	for {
		err = unix.Flock(int(folder.Fd()), how)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if err != nil {
		return nil, errors.Join(err, folder.Close())
	}
	return func() { _ = folder.Close() }, nil
}

// Sweep removes what killed writers left half written. While someone writes it
// leaves everything for the next time.
func (s *Store) Sweep() error {
	unlock, err := s.lockPending(unix.LOCK_EX | unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("sweeping objects: %w", err)
	}
	defer unlock()
	left, err := os.ReadDir(s.pending())
	if err != nil {
		return fmt.Errorf("sweeping objects: %w", err)
	}
	for _, entry := range left {
		if err := os.Remove(filepath.Join(s.pending(), entry.Name())); err != nil {
			return fmt.Errorf("sweeping objects: %w", err)
		}
	}
	return nil
}

// strayPending hands each file of the pending folder that no living writer has
// to stray.
func (s *Store) strayPending(stray func(path string)) error {
	if _, err := os.Lstat(s.pending()); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	unlock, err := s.lockPending(unix.LOCK_EX | unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("listing objects: %w", err)
	}
	defer unlock()
	left, err := os.ReadDir(s.pending())
	if err != nil {
		return fmt.Errorf("listing objects: %w", err)
	}
	for _, entry := range left {
		stray(filepath.Join(s.pending(), entry.Name()))
	}
	return nil
}
