package editor

import (
	"errors"
	"fmt"
	"io"

	"golang.org/x/sys/unix"
)

// tree is a folder that stays open. All names below it are resolved from there
// and never through a link, a mount or "..".
type tree struct {
	fd      int
	resolve resolver

	// fault stands before every system call that can fail; tests make it fail
	// there. It is nil otherwise.
	fault func(step string) error
}

// resolver opens rel, a clean relative path, beneath the folder dir.
type resolver func(dir int, rel string, flags int) (int, error)

// Neither kind follows a link: resolvers refuse those. O_NOFOLLOW is left out for
// folders because with it a link is reported as a file.
const (
	folderFlags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_CLOEXEC
	fileFlags   = unix.O_RDONLY | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_NOCTTY | unix.O_CLOEXEC
)

// openTree holds the folder and chooses how names are resolved below it.
func openTree(root string) (*tree, error) {
	fd, err := retry(func() (int, error) {
		return unix.Open(root, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	})
	if err != nil {
		return nil, err
	}
	resolve, err := chooseResolver(fd)
	if err != nil {
		_ = unix.Close(fd)
		return nil, err
	}
	return &tree{fd: fd, resolve: resolve}, nil
}

// chooseResolver returns openat2 where the kernel has it and lets us use it,
// and the walk otherwise.
func chooseResolver(fd int) (resolver, error) {
	probe, err := openat2(fd, ".", folderFlags)
	if err == nil {
		return openat2, unix.Close(probe)
	}
	if !errors.Is(err, unix.ENOSYS) && !errors.Is(err, unix.EPERM) {
		return nil, err
	}
	return newWalk(fd)
}

// openat2 resolves in the kernel. A resolution that loses a race is tried
// again a few times, then given up.
func openat2(dir int, rel string, flags int) (fd int, err error) {
	how := unix.OpenHow{
		Flags:   uint64(flags),
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS | unix.RESOLVE_NO_XDEV,
	}
	for range 10 {
		fd, err = retry(func() (int, error) { return unix.Openat2(dir, rel, &how) })
		if !errors.Is(err, unix.EAGAIN) {
			break
		}
	}
	return fd, err
}

// retry calls again what a signal interrupted.
func retry(open func() (int, error)) (int, error) {
	for {
		n, err := open()
		if err != unix.EINTR {
			return n, err
		}
	}
}

// at runs the fault hook of a step.
func (t *tree) at(step string) error {
	if t.fault == nil {
		return nil
	}
	return t.fault(step)
}

// folder opens the folder at rel.
func (t *tree) folder(rel string) (int, error) {
	if err := t.at("open folder"); err != nil {
		return -1, err
	}
	return t.resolve(t.fd, rel, folderFlags)
}

// same says whether both are one folder.
func (t *tree) same(other *tree) bool {
	var mine, theirs unix.Stat_t
	err := errors.Join(unix.Fstat(t.fd, &mine), unix.Fstat(other.fd, &theirs))
	return err == nil && mine.Dev == theirs.Dev && mine.Ino == theirs.Ino
}

// has says whether there is an entry at rel, of whatever kind.
func (t *tree) has(rel string) bool {
	where := at(rel)
	parent, err := t.folder(where.dir())
	if err != nil {
		return false
	}
	defer unix.Close(parent)
	_, err = lstat(parent, where.name())
	return err == nil
}

// lstat describes an entry without opening it.
func lstat(dir int, name string) (unix.Stat_t, error) {
	var stat unix.Stat_t
	err := unix.Fstatat(dir, name, &stat, unix.AT_SYMLINK_NOFOLLOW)
	return stat, err
}

// file is a regular file as it was read, and the open folder that it is in.
type file struct {
	dir  int
	name string
	stat unix.Stat_t
	data []byte
}

// mode returns the permission bits, with those for setuid and the like.
func (f *file) mode() uint32 { return f.stat.Mode & 0o7777 }

func (f *file) close() { _ = unix.Close(f.dir) }

// read returns the file at a place, or unix.EISDIR where that is a folder. The
// entry's kind is looked at before it is opened: opening a device can do
// things, and a link is never opened at all.
func (t *tree) read(where location, limit int64) (*file, error) {
	if where.rel == "." {
		return nil, unix.EISDIR
	}
	dir, err := t.folder(where.dir())
	if err != nil {
		return nil, err
	}
	f := &file{dir: dir, name: where.name()}
	if err := t.fill(f, limit); err != nil {
		f.close()
		return nil, err
	}
	return f, nil
}

func (t *tree) fill(f *file, limit int64) error {
	stat, err := lstat(f.dir, f.name)
	if err != nil {
		return err
	}
	if err := checkKind(stat, limit); err != nil {
		return err
	}
	if err := t.at("open"); err != nil {
		return err
	}
	fd, err := t.resolve(f.dir, f.name, fileFlags)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if err := unix.Fstat(fd, &f.stat); err != nil {
		return err
	}
	if err := checkKind(f.stat, limit); err != nil {
		return err
	}
	f.data, err = t.readAll(fd, f.stat.Size, limit)
	return err
}

// checkKind refuses all but regular files with one name and a size in bounds.
func checkKind(stat unix.Stat_t, limit int64) error {
	switch kind := stat.Mode & unix.S_IFMT; {
	case kind == unix.S_IFDIR:
		return unix.EISDIR
	case kind == unix.S_IFLNK:
		return unix.ELOOP
	case kind != unix.S_IFREG:
		return errNotRegular
	case stat.Nlink != 1:
		return errHardLink
	case stat.Size > limit:
		return errTooLarge
	}
	return nil
}

// readAll reads to the end, but never more than one byte past the limit: a file
// can grow while it is read.
func (t *tree) readAll(fd int, size, limit int64) ([]byte, error) {
	if err := t.at("read"); err != nil {
		return nil, err
	}
	reader := io.LimitReader(fdReader(fd), limit+1)
	data := make([]byte, 0, size+1)
	for {
		n, err := reader.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		switch {
		case int64(len(data)) > limit:
			return nil, errTooLarge
		case err == io.EOF:
			return data, nil
		case err != nil:
			return nil, err
		}
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
	}
}

// fdReader reads from a descriptor.
type fdReader int

func (fd fdReader) Read(p []byte) (int, error) {
	n, err := retry(func() (int, error) { return unix.Read(int(fd), p) })
	if err != nil {
		return 0, fmt.Errorf("reading: %w", err)
	}
	if n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

// names returns the names in an open folder, unsorted; more than max of them is
// an error.
func names(dir int, max int) ([]string, error) {
	var all []string
	buffer := make([]byte, 32<<10)
	for {
		n, err := retry(func() (int, error) { return unix.ReadDirent(dir, buffer) })
		if err != nil {
			return nil, err
		}
		if n == 0 {
			return all, nil
		}
		_, _, all = unix.ParseDirent(buffer[:n], -1, all)
		if len(all) > max {
			return nil, refuse("too_many_files", "A folder of the draft has more than %d entries.", max)
		}
	}
}
