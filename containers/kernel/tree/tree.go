// Package tree keeps the files of one call in a folder of the container: the
// public copy at /testbed, or a draft at /draft.
//
// Contract. Fill replaces whatever was there, refuses every path that
// rule.CheckPublicPath refuses before it writes anything, and leaves nothing
// where it returns an error. The folder belongs to this process alone, is empty
// at the start, and holds only what this package wrote, so no path can lead out
// of it. It is an index too: what it lists is what it wrote, and the folder is
// never read to find out.
package tree

import (
	"errors"
	"fmt"
	"io"
	"path"
	"slices"

	"golang.org/x/sys/unix"

	"signalbox/rule"
)

// Tree is a folder with the files of one call. It is a star.Files.
type Tree struct {
	folder int // descriptor
	mode   uint32
	paths  []string
	dirs   []string // in the order in which they were made
	made   map[string]bool
}

// Open returns the tree of an existing empty folder. Its files get mode.
func Open(folder string, mode uint32) (*Tree, error) {
	fd, err := unix.Open(folder, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("opening %q: %w", folder, err)
	}
	return &Tree{folder: fd, mode: mode, made: map[string]bool{}}, nil
}

// Close gives the folder's descriptor back.
func (t *Tree) Close() error { return unix.Close(t.folder) }

// Fill makes the folder hold exactly files.
func (t *Tree) Fill(files rule.Tree) error {
	if err := files.CheckPublic(); err != nil {
		return err
	}
	if err := t.Clear(); err != nil {
		return err
	}
	for _, p := range files.Paths() {
		if err := t.add(p, files[p]); err != nil {
			return errors.Join(fmt.Errorf("writing %q: %w", p, err), t.Clear())
		}
	}
	return nil
}

func (t *Tree) add(p string, data []byte) error {
	if err := t.makeFolders(path.Dir(p)); err != nil {
		return err
	}
	fd, err := unix.Openat(t.folder, p, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, t.mode)
	if err != nil {
		return err
	}
	t.paths = append(t.paths, p)
	err = writeAll(fd, data)
	if closing := unix.Close(fd); err == nil {
		err = closing
	}
	return err
}

// makeFolders makes dir and what is above it, as far as they are missing.
func (t *Tree) makeFolders(dir string) error {
	if dir == "." || t.made[dir] {
		return nil
	}
	if err := t.makeFolders(path.Dir(dir)); err != nil {
		return err
	}
	if err := unix.Mkdirat(t.folder, dir, 0o755); err != nil {
		return err
	}
	t.dirs, t.made[dir] = append(t.dirs, dir), true
	return nil
}

func writeAll(fd int, data []byte) error {
	for len(data) > 0 {
		n, err := unix.Write(fd, data)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return err
		}
		data = data[n:]
	}
	return nil
}

// Clear removes all that Fill wrote.
func (t *Tree) Clear() error {
	for _, p := range t.paths {
		if err := unix.Unlinkat(t.folder, p, 0); err != nil {
			return fmt.Errorf("removing %q: %w", p, err)
		}
	}
	t.paths = nil
	for _, dir := range slices.Backward(t.dirs) {
		if err := unix.Unlinkat(t.folder, dir, unix.AT_REMOVEDIR); err != nil {
			return fmt.Errorf("removing %q: %w", dir, err)
		}
	}
	t.dirs = nil
	clear(t.made)
	return nil
}

// Paths returns the paths of all files in byte order. It must not be changed.
func (t *Tree) Paths() []string { return t.paths }

// Read returns the bytes of a file, at most rule.MaxFileBytes of them.
func (t *Tree) Read(p string) ([]byte, error) {
	fd, err := unix.Openat(t.folder, p, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("opening %q: %w", p, err)
	}
	defer unix.Close(fd)
	data, err := io.ReadAll(io.LimitReader(reader(fd), rule.MaxFileBytes+1))
	if err != nil {
		return nil, fmt.Errorf("reading %q: %w", p, err)
	}
	if len(data) > rule.MaxFileBytes {
		return nil, fmt.Errorf("file %q has more than %d bytes", p, rule.MaxFileBytes)
	}
	return data, nil
}

// reader reads a descriptor without the runtime's poller, which costs system
// calls that the container need not allow.
type reader int

func (r reader) Read(p []byte) (int, error) {
	for {
		n, err := unix.Read(int(r), p)
		if err == unix.EINTR {
			continue
		}
		if n == 0 && err == nil && len(p) > 0 {
			return 0, io.EOF
		}
		return max(n, 0), err
	}
}
