package editor

import (
	"errors"
	"fmt"
	"strings"

	"golang.org/x/sys/unix"
)

// newWalk returns the resolver for kernels (or sandboxes) without openat2: it
// opens one element after another, refuses links at each, and compares the
// mount of each with the root's. Where the kernel can't name mounts there is no
// safe way left, and nothing is opened at all.
func newWalk(root int) (resolver, error) {
	mount, err := mountOf(root)
	if err != nil {
		return nil, fmt.Errorf("openat2 is not available, and neither is the mount of a file: %w", err)
	}
	return func(dir int, rel string, flags int) (int, error) { return walk(mount, dir, rel, flags) }, nil
}

// walk opens rel beneath dir.
func walk(mount uint64, dir int, rel string, flags int) (int, error) {
	elements := strings.Split(rel, "/")
	current := dir
	for i, element := range elements {
		want := folderFlags
		if i == len(elements)-1 {
			want = flags
		}
		next, err := step(mount, current, element, want)
		if current != dir {
			_ = unix.Close(current)
		}
		if err != nil {
			return -1, err
		}
		current = next
	}
	return current, nil
}

// step opens one entry of a folder. What lstat saw and what was opened must be
// the same entry, in the root's mount.
func step(mount uint64, dir int, element string, flags int) (int, error) {
	if element == ".." || element == "" {
		return -1, unix.EXDEV
	}
	before, err := lstat(dir, element)
	if err != nil {
		return -1, err
	}
	if before.Mode&unix.S_IFMT == unix.S_IFLNK {
		return -1, unix.ELOOP
	}
	fd, err := retry(func() (int, error) { return unix.Openat(dir, element, flags|unix.O_NOFOLLOW, 0) })
	if err != nil {
		return -1, err
	}
	if err := sameEntry(mount, fd, before); err != nil {
		_ = unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

func sameEntry(mount uint64, fd int, before unix.Stat_t) error {
	found, err := mountOf(fd)
	if err != nil {
		return err
	}
	if found != mount {
		return unix.EXDEV
	}
	var after unix.Stat_t
	if err := unix.Fstat(fd, &after); err != nil {
		return err
	}
	if after.Ino != before.Ino || after.Dev != before.Dev {
		return errChanged
	}
	return nil
}

// mountOf names the mount that an open file is in.
func mountOf(fd int) (uint64, error) {
	var stat unix.Statx_t
	if err := unix.Statx(fd, "", unix.AT_EMPTY_PATH, unix.STATX_MNT_ID, &stat); err != nil {
		return 0, err
	}
	if stat.Mask&unix.STATX_MNT_ID == 0 {
		return 0, errors.New("the kernel doesn't name mounts")
	}
	return stat.Mnt_id, nil
}
