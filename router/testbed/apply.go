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
	"strings"

	"signalbox/rule"
)

// ErrChanged is returned when a file that the outcome touches is no longer what
// the rule saw. The tree is as it was then.
var ErrChanged = errors.New("file changed since the rule saw it")

// The hidden names that an apply works with; the dot keeps them out of every
// public copy. An old file is linked to its name before the new one takes its
// place, so there is no moment without either.
const (
	newPrefix = ".signalbox-new-"
	oldPrefix = ".signalbox-old-"
)

// Apply writes the outcome's files below dir: all of them, or none. tree is the
// public copy that the rule saw. New text is first written beside each file and
// synced; the old file keeps a second, hidden name until every change is in place
// and is still what the rule saw, and is put back if one of them can't be made.
// What a killed apply left under such names is an error that names it.
func Apply(dir string, tree rule.Tree, files map[string]*string) error {
	if err := checkOutcome(tree, files); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("opening the tree: %w", err)
	}
	defer func() { _ = root.Close() }()
	a := &applying{root: root, tree: tree, suffix: rand.Text()}
	paths := slices.Sorted(maps.Keys(files))
	for _, p := range paths {
		if err := errors.Join(a.checkUnchanged(p), a.checkLeftovers(p)); err != nil {
			return err
		}
	}
	for _, p := range paths {
		if err := a.change(p, files[p]); err != nil {
			return errors.Join(fmt.Errorf("applying %q: %w", p, err), a.undo())
		}
	}
	if err := a.checkBackups(); err != nil {
		return errors.Join(err, a.undo())
	}
	return a.forget()
}

// applying is one apply on its way. undone holds what puts the tree back, and
// backups which hidden file holds the old text of a path.
type applying struct {
	root    *os.Root
	tree    rule.Tree
	suffix  string
	undone  []func() error
	backups map[string]string
}

func (a *applying) checkUnchanged(p string) error {
	if err := a.checkFolders(p); err != nil {
		return err
	}
	want, known := a.tree[p]
	info, err := a.root.Lstat(p)
	if errors.Is(err, fs.ErrNotExist) && !known {
		return nil
	}
	if err != nil || !known || !info.Mode().IsRegular() {
		return fmt.Errorf("%q: %w", p, ErrChanged)
	}
	return a.checkText(p, p, want)
}

// checkText compares a file's bytes with what the rule saw of path p.
func (a *applying) checkText(p, name string, want []byte) error {
	got, err := a.root.ReadFile(name)
	if err != nil {
		return fmt.Errorf("reading %q: %w", p, err)
	}
	if !bytes.Equal(got, want) {
		return fmt.Errorf("%q: %w", p, ErrChanged)
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

// checkLeftovers refuses to go on beside the old text that a killed apply kept.
func (a *applying) checkLeftovers(p string) error {
	entries, err := fs.ReadDir(a.root.FS(), path.Dir(p))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), oldPrefix) && strings.HasSuffix(entry.Name(), "-"+path.Base(p)) {
			return fmt.Errorf("an apply that was cut off left the old text of %q in %q: compare the two and remove one", p, path.Join(path.Dir(p), entry.Name()))
		}
	}
	return err
}

// change puts one file's new text in place; nil deletes the file.
func (a *applying) change(p string, text *string) error {
	info, err := a.root.Lstat(p)
	exists, mode := err == nil, fs.FileMode(0o644)
	if exists {
		mode = info.Mode().Perm()
	}
	staged := a.hidden(newPrefix, p)
	if text != nil {
		if err := a.stage(staged, *text, mode); err != nil {
			return err
		}
	}
	if !exists {
		return a.place(staged, p)
	}
	backup := a.hidden(oldPrefix, p)
	if err := a.root.Link(p, backup); err != nil {
		return err
	}
	if a.backups == nil {
		a.backups = map[string]string{}
	}
	a.backups[p] = backup
	a.undone = append(a.undone, func() error { return a.root.Rename(backup, p) })
	if text == nil {
		return a.root.Remove(p)
	}
	return a.root.Rename(staged, p)
}

// place gives a new file its name, unless something took it meanwhile.
func (a *applying) place(staged, p string) error {
	if err := a.root.Link(staged, p); err != nil {
		return err
	}
	a.undone = append(a.undone, func() error { return a.root.Remove(p) })
	return a.root.Remove(staged)
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

func (a *applying) hidden(prefix, p string) string {
	return path.Join(path.Dir(p), prefix+a.suffix+"-"+path.Base(p))
}

// checkBackups refuses where a file was changed between the first look and its
// replacement: somebody's work is in the backup then.
func (a *applying) checkBackups() error {
	for _, p := range slices.Sorted(maps.Keys(a.backups)) {
		if err := a.checkText(p, a.backups[p], a.tree[p]); err != nil {
			return err
		}
	}
	return nil
}

// undo puts back what was changed, last first.
func (a *applying) undo() (err error) {
	for _, step := range slices.Backward(a.undone) {
		err = errors.Join(err, step())
	}
	return err
}

// forget removes the old files' hidden names, once all new ones are in place.
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
