package editor

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"golang.org/x/sys/unix"
)

// create makes a file, and the folders that lead to it.
func (e *Editor) create(c call, where location) (string, *Change, error) {
	change, err := e.createFile(Change{Session: c.session, Path: where.rel, After: []byte(*c.FileText), Mode: createMode})
	if err != nil {
		return "", nil, err
	}
	text := fmt.Sprintf("New file created successfully at: %s", where.shown)
	if n := len(change.Folders); n > 0 {
		text += fmt.Sprintf("\nNOTE: made the directory %s for it.", shownPath(path.Join(Root, change.Folders[n-1])))
	}
	return text, change, nil
}

// createFile is create without words. Folders that it made are removed again
// where it can't finish.
func (e *Editor) createFile(change Change) (*Change, error) {
	where := at(change.Path)
	if where.rel == "." {
		return nil, exists(where)
	}
	if err := e.checkFree(where); err != nil {
		return nil, err
	}
	if err := e.checkQuota(where, 0, int64(len(change.After)), true); err != nil {
		return nil, err
	}
	folders, err := e.makeFolders(where.dir())
	var made *Change
	if err == nil {
		change.Before, change.Created, change.Removed, change.Folders = nil, true, false, folders
		made, err = e.commit(change, func(ready func() error) error { return e.tree.put(where, change.After, change.Mode, ready) })
	}
	if err != nil {
		e.tree.removeFolders(folders)
		return nil, err
	}
	return made, nil
}

// checkFree refuses a place that is taken, by whatever; a missing folder on the
// way is no reason.
func (e *Editor) checkFree(where location) error {
	dir, err := e.tree.folder(where.dir())
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	if err != nil {
		return err
	}
	defer unix.Close(dir)
	stat, err := lstat(dir, where.name())
	switch {
	case errors.Is(err, unix.ENOENT):
		return nil
	case err != nil:
		return err
	case stat.Mode&unix.S_IFMT == unix.S_IFLNK:
		return unix.ELOOP
	}
	return exists(where)
}

// makeFolders makes what is missing of a folder's path and returns it, the
// outermost first.
func (e *Editor) makeFolders(rel string) (made []string, err error) {
	if rel == "." {
		return nil, nil
	}
	elements := strings.Split(rel, "/")
	for i := range elements {
		folder := strings.Join(elements[:i+1], "/")
		fresh, err := e.tree.makeFolder(at(folder))
		if fresh {
			made = append(made, folder)
		}
		if err != nil {
			return made, err
		}
	}
	return made, nil
}

// makeFolder makes one folder with mode 0755 where there is none.
func (t *tree) makeFolder(where location) (fresh bool, err error) {
	if fd, err := t.folder(where.rel); !errors.Is(err, unix.ENOENT) {
		if err == nil {
			err = unix.Close(fd)
		}
		return false, err
	}
	parent, err := t.folder(where.dir())
	if err != nil {
		return false, err
	}
	defer unix.Close(parent)
	if err := t.at("make folder"); err != nil {
		return false, err
	}
	err = unix.Mkdirat(parent, where.name(), 0o755)
	if err != nil && !errors.Is(err, unix.EEXIST) {
		return false, err
	}
	fresh = err == nil
	if fresh {
		// With a strict umask it can't be opened before. Kernels without the call
		// have the one below.
		_ = unix.Fchmodat(parent, where.name(), 0o755, unix.AT_SYMLINK_NOFOLLOW)
	}
	fd, err := t.folder(where.rel)
	if err != nil {
		return fresh, err
	}
	defer unix.Close(fd)
	if fresh {
		if err := unix.Fchmod(fd, 0o755); err != nil {
			return fresh, err
		}
	}
	return fresh, t.syncFolder(parent)
}

// removeFolders removes folders that were made, the innermost first, as far as
// they are empty.
func (t *tree) removeFolders(made []string) {
	for i := len(made) - 1; i >= 0; i-- {
		where := at(made[i])
		parent, err := t.resolve(t.fd, where.dir(), folderFlags)
		if err != nil {
			return
		}
		err = unix.Unlinkat(parent, where.name(), unix.AT_REMOVEDIR)
		_ = unix.Close(parent)
		if err != nil {
			return
		}
	}
}
