package testbed

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"

	"signalbox/rule"
)

// ErrChanged is returned when a file that the outcome touches is no longer what
// the rule saw. Nothing was written then.
var ErrChanged = errors.New("file changed since the rule saw it")

// backupPrefix begins the names of the files that an apply keeps until it is
// through; the dot keeps them out of every public copy.
const backupPrefix = ".signalbox-"

// Apply writes the outcome's files below dir: all of them, or none. tree is the
// public copy that the rule saw. New text is first written beside each file and
// synced; the old file is kept under a hidden name until every change is in
// place, and put back if one of them can't be made.
func Apply(dir string, tree rule.Tree, files map[string]*string) (err error) {
	if err := checkOutcome(tree, files); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("opening the tree: %w", err)
	}
	defer root.Close()
	a := &applying{root: root, tree: tree, suffix: rand.Text()}
	if err := a.checkUnchanged(files); err != nil {
		return err
	}
	for _, p := range slices.Sorted(maps.Keys(files)) {
		if err := a.change(p, files[p]); err != nil {
			return errors.Join(fmt.Errorf("applying %q: %w", p, err), a.undo())
		}
	}
	return a.forget()
}

// applying is one apply on its way. undone holds what puts the tree back.
type applying struct {
	root    *os.Root
	tree    rule.Tree
	suffix  string
	undone  []func() error
	backups []string
}

func (a *applying) checkUnchanged(files map[string]*string) error {
	for _, p := range slices.Sorted(maps.Keys(files)) {
		if err := a.checkFolders(p); err != nil {
			return err
		}
		want, known := a.tree[p]
		info, err := a.root.Lstat(p)
		if errors.Is(err, fs.ErrNotExist) && !known {
			continue
		}
		if err != nil || !known || !info.Mode().IsRegular() {
			return fmt.Errorf("%q: %w", p, ErrChanged)
		}
		got, err := a.root.ReadFile(p)
		if err != nil {
			return fmt.Errorf("reading %q: %w", p, err)
		}
		if !bytes.Equal(got, want) {
			return fmt.Errorf("%q: %w", p, ErrChanged)
		}
	}
	return nil
}

// checkFolders refuses a path that goes through anything but folders.
func (a *applying) checkFolders(p string) error {
	for folder := path.Dir(p); folder != "."; folder = path.Dir(folder) {
		info, err := a.root.Lstat(folder)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil || !info.IsDir() {
			return fmt.Errorf("%q: %q is no folder of the tree: %w", p, folder, ErrChanged)
		}
	}
	return nil
}

// change puts one file's new text in place; nil deletes the file.
func (a *applying) change(p string, text *string) error {
	mode := fs.FileMode(0o644)
	info, err := a.root.Lstat(p)
	exists := err == nil
	if exists {
		mode = info.Mode().Perm()
	}
	staged := a.hidden(p, "new-")
	if text != nil {
		if err := a.stage(staged, *text, mode); err != nil {
			return err
		}
	}
	if exists {
		backup := a.hidden(p, "old-")
		if err := a.root.Rename(p, backup); err != nil {
			return err
		}
		a.backups = append(a.backups, backup)
		a.undone = append(a.undone, func() error { return a.root.Rename(backup, p) })
	}
	if text == nil {
		return nil
	}
	if err := a.root.Rename(staged, p); err != nil {
		return err
	}
	if !exists {
		a.undone = append(a.undone, func() error { return a.root.Remove(p) })
	}
	return nil
}

// stage writes a new file, synced, under a hidden name in its own folder.
func (a *applying) stage(name, text string, mode fs.FileMode) error {
	if err := a.root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	file, err := a.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	a.undone = append(a.undone, func() error { return removed(a.root.Remove(name)) })
	_, err = file.WriteString(text)
	return errors.Join(err, file.Chmod(mode), file.Sync(), file.Close())
}

func (a *applying) hidden(p, kind string) string {
	return path.Join(path.Dir(p), backupPrefix+kind+a.suffix+"-"+path.Base(p))
}

// undo puts back what was changed, last first.
func (a *applying) undo() (err error) {
	for _, step := range slices.Backward(a.undone) {
		err = errors.Join(err, step())
	}
	return err
}

// forget removes the old files, once all new ones are in place.
func (a *applying) forget() (err error) {
	for _, backup := range a.backups {
		err = errors.Join(err, a.root.Remove(backup))
	}
	return err
}

func removed(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
