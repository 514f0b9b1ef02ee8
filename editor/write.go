package editor

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// createMode is the mode of new files, whatever the umask.
const createMode = 0o644

// The functions that change a file call ready after all that can take long or
// fail for want of space, and do nothing to the file where it returns an error.

// put writes data as a new file.
func (t *tree) put(where location, data []byte, mode uint32, ready func() error) error {
	dir, err := t.folder(where.dir())
	if err != nil {
		return err
	}
	defer unix.Close(dir)
	temporary, err := t.writeTemporary(dir, data, mode, nil)
	if err != nil {
		return err
	}
	defer t.discard(dir, temporary)
	if err := t.stillThere(where, dir); err != nil {
		return err
	}
	if err := ready(); err != nil {
		return err
	}
	if err := t.rename(dir, temporary, where.name(), unix.RENAME_NOREPLACE); err != nil {
		return err
	}
	if err := t.syncFolder(dir); err != nil {
		return takenBack(err, rename(dir, where.name(), temporary, unix.RENAME_NOREPLACE))
	}
	return nil
}

// takenBack returns why a step was taken back, or that it could not be.
func takenBack(why, back error) error {
	if back != nil {
		return fmt.Errorf("%w: %v, then %v", errUncertain, why, back)
	}
	return why
}

// swap replaces the file's bytes. New and old file change places in one step;
// then the old one must be the file that was read, or they change back.
func (t *tree) swap(where location, f *file, data []byte, ready func() error) error {
	temporary, err := t.writeTemporary(f.dir, data, f.mode(), &f.stat)
	if err != nil {
		return err
	}
	defer t.discard(f.dir, temporary)
	if err := t.stillThere(where, f.dir); err != nil {
		return err
	}
	if err := ready(); err != nil {
		return err
	}
	if err := t.rename(f.dir, temporary, f.name, unix.RENAME_EXCHANGE); err != nil {
		return err
	}
	err = t.sameFile(f, temporary)
	if err == nil {
		err = t.syncFolder(f.dir)
	}
	if err != nil {
		return takenBack(err, rename(f.dir, temporary, f.name, unix.RENAME_EXCHANGE))
	}
	return nil
}

// remove deletes the file by moving it aside first, as swap does.
func (t *tree) remove(where location, f *file, ready func() error) error {
	aside, err := claimName()
	if err != nil {
		return err
	}
	defer t.discard(f.dir, aside)
	if err := t.stillThere(where, f.dir); err != nil {
		return err
	}
	if err := ready(); err != nil {
		return err
	}
	if err := t.rename(f.dir, f.name, aside, unix.RENAME_NOREPLACE); err != nil {
		return err
	}
	err = t.sameFile(f, aside)
	if err == nil {
		err = t.syncFolder(f.dir)
	}
	if err != nil {
		return takenBack(err, rename(f.dir, aside, f.name, unix.RENAME_NOREPLACE))
	}
	return nil
}

// writeTemporary makes a synced file with a temporary name. It belongs to the
// owner of the file that it will replace, if there is one.
func (t *tree) writeTemporary(dir int, data []byte, mode uint32, owner *unix.Stat_t) (string, error) {
	name, err := claimName()
	if err != nil {
		return "", err
	}
	if err := t.fillTemporary(dir, name, data, mode, owner); err != nil {
		t.discard(dir, name)
		return "", err
	}
	return name, nil
}

func (t *tree) fillTemporary(dir int, name string, data []byte, mode uint32, owner *unix.Stat_t) error {
	if err := t.at("create"); err != nil {
		return err
	}
	fd, err := retry(func() (int, error) {
		return unix.Openat(dir, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	})
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if err := t.writeAll(fd, data); err != nil {
		return err
	}
	if err := t.chown(fd, owner); err != nil {
		return err
	}
	if err := t.at("chmod"); err != nil {
		return err
	}
	if err := unix.Fchmod(fd, mode); err != nil {
		return err
	}
	if err := t.at("sync"); err != nil {
		return err
	}
	return unix.Fsync(fd)
}

func (t *tree) writeAll(fd int, data []byte) error {
	for len(data) > 0 {
		if err := t.at("write"); err != nil {
			return err
		}
		n, err := retry(func() (int, error) { return unix.Write(fd, data[:min(len(data), 64<<10)]) })
		if err != nil {
			return err
		}
		data = data[n:]
	}
	return nil
}

func (t *tree) chown(fd int, owner *unix.Stat_t) error {
	var stat unix.Stat_t
	if owner == nil {
		return nil
	}
	if err := unix.Fstat(fd, &stat); err != nil {
		return err
	}
	if stat.Uid == owner.Uid && stat.Gid == owner.Gid {
		return nil
	}
	return unix.Fchown(fd, int(owner.Uid), int(owner.Gid))
}

func (t *tree) rename(dir int, from, to string, flags uint) error {
	if err := t.at("rename"); err != nil {
		return err
	}
	return rename(dir, from, to, flags)
}

func rename(dir int, from, to string, flags uint) error {
	for {
		err := unix.Renameat2(dir, from, dir, to, flags)
		if err != unix.EINTR {
			return err
		}
	}
}

func (t *tree) syncFolder(dir int) error {
	if err := t.at("sync folder"); err != nil {
		return err
	}
	return unix.Fsync(dir)
}

// stillThere says that the open folder is the one that the path names now:
// nothing is written into a folder that was moved away.
func (t *tree) stillThere(where location, dir int) error {
	now, err := t.folder(where.dir())
	if err != nil {
		return err
	}
	defer unix.Close(now)
	var held, found unix.Stat_t
	if err := errors.Join(unix.Fstat(dir, &held), unix.Fstat(now, &found)); err != nil {
		return err
	}
	if held.Ino != found.Ino || held.Dev != found.Dev {
		return errChanged
	}
	return nil
}

// sameFile says that the entry is the file that was read, and not written since.
func (t *tree) sameFile(f *file, name string) error {
	if err := t.at("compare"); err != nil {
		return err
	}
	now, err := lstat(f.dir, name)
	if err != nil {
		return fmt.Errorf("comparing: %w", err)
	}
	if now.Ino != f.stat.Ino || now.Dev != f.stat.Dev || now.Size != f.stat.Size || now.Mtim != f.stat.Mtim ||
		now.Mode != f.stat.Mode || now.Nlink != f.stat.Nlink {
		return errChanged
	}
	return nil
}
