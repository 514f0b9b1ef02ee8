package registry

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// The files of a home that this package owns.
const (
	registryFile = "registry.json"
	lockFile     = "registry.lock"
	ledgerFile   = "ledger.db"
	objectFolder = "objects"
	keyFolder    = "keys"
	saltFile     = "split.salt"
)

// remote names file systems on which locks or fsync can't be relied on.
var remote = map[int64]string{
	unix.NFS_SUPER_MAGIC:  "NFS",
	unix.SMB_SUPER_MAGIC:  "SMB",
	unix.CIFS_SUPER_MAGIC: "CIFS",
	unix.SMB2_SUPER_MAGIC: "SMB2",
	unix.FUSE_SUPER_MAGIC: "FUSE",
	unix.V9FS_MAGIC:       "9p",
	unix.AFS_SUPER_MAGIC:  "AFS",
	unix.CODA_SUPER_MAGIC: "Coda",
}

// checkHome refuses a home that others can write or that lies on a file system
// without dependable locks and fsync. Overlay is fine (its upper layer locks and
// syncs like the file system below, and the lock's inode is compared after
// locking) unless it is mounted volatile, which makes fsync a lie.
func checkHome(dir string, anyFileSystem bool) error {
	info, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%q: %w", dir, ErrNotInitialised)
	}
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%q is not a folder: %w", dir, ErrNotInitialised)
	}
	if err := checkOwner(dir, info, 0o022); err != nil {
		return err
	}
	if anyFileSystem {
		return nil
	}
	return checkFileSystem(dir)
}

func checkFileSystem(dir string) error {
	var stat unix.Statfs_t
	if err := unix.Statfs(dir, &stat); err != nil {
		return fmt.Errorf("looking at the file system of %q: %w", dir, err)
	}
	if name, ok := remote[int64(stat.Type)]; ok {
		return fmt.Errorf("%q lies on %s, whose locks and fsync can't be relied on: use a local disk", dir, name)
	}
	if int64(stat.Type) == unix.OVERLAYFS_SUPER_MAGIC && volatileMount(dir) {
		return fmt.Errorf("%q lies on an overlay that is mounted volatile, so nothing is ever synced: use a local disk", dir)
	}
	return nil
}

// volatileMount says whether the mount that dir lies on has the option volatile.
func volatileMount(dir string) bool {
	var stat unix.Stat_t
	if unix.Stat(dir, &stat) != nil {
		return false
	}
	device := fmt.Sprintf("%d:%d", unix.Major(stat.Dev), unix.Minor(stat.Dev))
	file, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return false
	}
	defer func() { _ = file.Close() }()
	return volatileIn(bufio.NewScanner(file), device)
}

func volatileIn(lines *bufio.Scanner, device string) bool {
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) > 2 && fields[2] == device && slices.Contains(strings.Split(fields[len(fields)-1], ","), "volatile") {
			return true
		}
	}
	return false
}

// checkOwner refuses a file of another user, or one with a forbidden mode bit.
func checkOwner(path string, info fs.FileInfo, forbidden fs.FileMode) error {
	if perm := info.Mode().Perm(); perm&forbidden != 0 {
		return fmt.Errorf("%q has mode %04o: take %04o away (chmod): %w", path, perm, perm&forbidden, ErrDamaged)
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && int(stat.Uid) != os.Geteuid() {
		return fmt.Errorf("%q belongs to user %d, this is user %d: %w", path, stat.Uid, os.Geteuid(), ErrDamaged)
	}
	return nil
}

// openPrivate opens a regular file that only its owner may read, without
// following a link.
func openPrivate(path string) (*os.File, fs.FileInfo, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, syscall.ELOOP) {
		return nil, nil, fmt.Errorf("%q is a symbolic link: %w", path, ErrDamaged)
	}
	if err != nil {
		return nil, nil, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%q is not a regular file: %w", path, ErrDamaged)
	}
	if err == nil {
		err = checkOwner(path, info, 0o077)
	}
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	return file, info, nil
}

// syncFolder makes the entries of a folder durable. rename alone doesn't.
func syncFolder(dir string) error {
	folder, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}

func (r *Registry) path(name string) string { return filepath.Join(r.dir, name) }
