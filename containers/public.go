package containers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"

	"golang.org/x/sys/unix"

	"signalbox/rule"
)

// maxEntries bounds how many names of a tree are looked at, hidden and special
// ones included.
const maxEntries = 100_000

// resolve keeps every open beneath the folder that it starts from, on its file
// system, and from following anything.
const resolve = unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS | unix.RESOLVE_NO_XDEV

// PublicCopy returns the part of a folder that an executor may see: regular
// files with one name, at paths without hidden elements, node_modules or vendor.
// Symlinks, hard links, devices, sockets and FIFOs are left out.
//
// It is an error, and there is no copy, where the tree is over a limit (each is
// named), has a path that a rule can't be given, crosses into another mount, or
// changes while it is read; and where Linux lacks openat2. The copy keeps a
// tree's own tricks out. It finds no secrets, and it doesn't promise a
// consistent picture of a folder that others change on purpose meanwhile.
func PublicCopy(ctx context.Context, dir string) (rule.Tree, error) {
	return copyPublic(ctx, dir, unix.Openat2)
}

type openat2 func(folder int, name string, how *unix.OpenHow) (int, error)

func copyPublic(ctx context.Context, dir string, open openat2) (rule.Tree, error) {
	root, err := os.OpenFile(dir, os.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("copying tree: %w", err)
	}
	defer root.Close()
	c := copier{ctx: ctx, open: open, tree: rule.Tree{}}
	if err := c.folder(root, ""); err != nil {
		return nil, fmt.Errorf("copying tree %q: %w", dir, err)
	}
	if err := c.tree.CheckPublic(); err != nil {
		return nil, fmt.Errorf("copying tree %q: %w", dir, err)
	}
	return c.tree, nil
}

// copier is one walk over a tree.
type copier struct {
	ctx     context.Context
	open    openat2
	tree    rule.Tree
	entries int
	bytes   int64
}

// folder copies what is in an open folder whose path in the tree is at.
func (c *copier) folder(folder *os.File, at string) error {
	names, err := c.names(folder, at)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := c.ctx.Err(); err != nil {
			return err
		}
		if !rule.Visible(name) {
			continue
		}
		if err := c.entry(folder, name, path.Join(at, name)); err != nil {
			return err
		}
	}
	return nil
}

// names lists a folder in byte order, in bounded pieces.
func (c *copier) names(folder *os.File, at string) ([]string, error) {
	var names []string
	for {
		some, err := folder.Readdirnames(1_000)
		c.entries += len(some)
		names = append(names, some...)
		if c.entries > maxEntries {
			return nil, fmt.Errorf("tree has more than %d entries", maxEntries)
		}
		if errors.Is(err, io.EOF) {
			slices.Sort(names)
			return names, nil
		}
		if err != nil {
			return nil, fmt.Errorf("listing %q: %w", at, err)
		}
	}
}

// entry copies one name of a folder, or leaves it out where the filter says so.
// Its kind is asked before it is opened, since opening a device can act.
func (c *copier) entry(folder *os.File, name, at string) error {
	var before unix.Stat_t
	if err := unix.Fstatat(int(folder.Fd()), name, &before, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return fmt.Errorf("looking at %q: %w", at, err)
	}
	kind := before.Mode & unix.S_IFMT
	if kind != unix.S_IFDIR && (kind != unix.S_IFREG || before.Nlink != 1) {
		return nil
	}
	if err := rule.CheckPath(at); err != nil {
		return err
	}
	opened, err := c.openBeneath(folder, name, at)
	if err != nil {
		return err
	}
	defer opened.Close()
	var now unix.Stat_t
	if err := unix.Fstat(int(opened.Fd()), &now); err != nil {
		return fmt.Errorf("looking at %q: %w", at, err)
	}
	if now.Mode&unix.S_IFMT != kind || now.Ino != before.Ino || now.Dev != before.Dev {
		return fmt.Errorf("file %q was replaced while the tree was copied", at)
	}
	if kind == unix.S_IFDIR {
		return c.folder(opened, at)
	}
	return c.file(opened, at, now)
}

func (c *copier) openBeneath(folder *os.File, name, at string) (*os.File, error) {
	how := unix.OpenHow{
		Flags:   unix.O_RDONLY | unix.O_NONBLOCK | unix.O_NOFOLLOW | unix.O_NOCTTY | unix.O_CLOEXEC,
		Resolve: resolve,
	}
	fd, err := c.open(int(folder.Fd()), name, &how)
	for err == unix.EINTR || err == unix.EAGAIN {
		if c.ctx.Err() != nil {
			return nil, c.ctx.Err()
		}
		fd, err = c.open(int(folder.Fd()), name, &how)
	}
	switch {
	case err == unix.ENOSYS:
		return nil, fmt.Errorf("opening %q: this Linux has no openat2, without which a tree can't be read safely", at)
	case err == unix.EXDEV:
		return nil, fmt.Errorf("path %q is on another mount: only one file system is copied", at)
	case err != nil:
		return nil, fmt.Errorf("opening %q: %w", at, err)
	}
	return os.NewFile(uintptr(fd), at), nil
}

// file copies an open regular file that was seen as before.
func (c *copier) file(opened *os.File, at string, before unix.Stat_t) error {
	if before.Nlink != 1 {
		return fmt.Errorf("file %q got another name while the tree was copied", at)
	}
	if err := c.room(at, before.Size); err != nil {
		return err
	}
	// One byte more than its size shows that it grew.
	data, err := io.ReadAll(io.LimitReader(opened, before.Size+1))
	if err != nil {
		return fmt.Errorf("reading %q: %w", at, err)
	}
	var after unix.Stat_t
	if err := unix.Fstat(int(opened.Fd()), &after); err != nil {
		return fmt.Errorf("looking at %q: %w", at, err)
	}
	if int64(len(data)) != before.Size || after.Size != before.Size || after.Mtim != before.Mtim || after.Ctim != before.Ctim {
		return fmt.Errorf("file %q changed while it was read", at)
	}
	c.tree[at] = data
	return nil
}

// room counts a file and refuses one over a limit before it is read.
func (c *copier) room(at string, size int64) error {
	c.bytes += size
	switch {
	case size > rule.MaxFileBytes:
		return fmt.Errorf("file %q has %d bytes: the limit is %d bytes", at, size, rule.MaxFileBytes)
	case len(c.tree) >= rule.MaxTreeFiles:
		return fmt.Errorf("tree has more than %d files", rule.MaxTreeFiles)
	case c.bytes > rule.MaxTreeBytes:
		return fmt.Errorf("tree has more than %d bytes", rule.MaxTreeBytes)
	}
	return nil
}
