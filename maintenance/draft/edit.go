package draft

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"signalbox/editor"
	"signalbox/rule"
)

// Edit is one accepted change of one file, as the journal has it. Before is nil
// where the edit made the file, After where it removed it. Undo marks one that
// takes another back; the rest is as in editor.Change.
type Edit struct {
	Session string   `json:"session,omitzero"`
	Path    string   `json:"path"`
	Before  *string  `json:"before"`
	After   *string  `json:"after"`
	Mode    uint32   `json:"mode"`
	Folders []string `json:"folders,omitzero"`
	Undo    bool     `json:"undo,omitzero"`
}

const editKind = "edit"

// ErrChanged is returned by Undo and Apply for a file that isn't what it was
// after its last edit.
var ErrChanged = errors.New("file was changed since by another hand")

// ErrNoHistory is returned by Undo where no edit is left to take back.
var ErrNoHistory = errors.New("no edit is left to undo")

// Apply makes a change that an editor made on a copy of this draft. It returns
// after both the journal and the file are on disk. The editor isn't believed:
// the change has to fit what is here.
func (d *Draft) Apply(change editor.Change) error {
	if !d.journal.writable {
		return ErrInUse
	}
	return asError(fmt.Sprintf("changing %q", change.Path), d.editor.Apply(change))
}

// Undo takes the last edit that stands back, whoever made it, and returns the
// path. It restores bytes and mode.
func (d *Draft) Undo() (string, error) {
	if !d.journal.writable {
		return "", ErrInUse
	}
	last, ok := d.editor.Latest()
	if !ok {
		return "", ErrNoHistory
	}
	return last.Path, asError(fmt.Sprintf("undoing the edit of %q", last.Path), d.editor.Revert(last))
}

// Editor returns the editor of the draft's own files, for a program of this
// host. What it changes is in the journal. It is closed with the draft.
func (d *Draft) Editor() (*editor.Editor, error) {
	if !d.journal.writable {
		return nil, ErrInUse
	}
	return d.editor, nil
}

// asError returns what an editor refused as an error.
func asError(doing string, r editor.Result) error {
	switch {
	case r.OK:
		return nil
	case r.Code == "file_changed", r.Code == "missing":
		return fmt.Errorf("%s: %w", doing, ErrChanged)
	}
	return fmt.Errorf("%s: %s", doing, r.Text)
}

// keep writes a change to the journal before the tree shows it.
func (d *Draft) keep(change editor.Change) error {
	if err := d.journal.append(editKind, editOf(change)); err != nil {
		return err
	}
	if change.Removed {
		delete(d.tree, change.Path)
	} else {
		d.tree[change.Path] = slices.Clone(change.After)
	}
	return nil
}

// openEditor opens the editor on the draft's files with the history that the
// journal tells, after it has finished an edit that the journal has and the
// folder has not.
func (d *Draft) openEditor() error {
	var history []editor.Change
	for _, entry := range d.journal.entries {
		if entry.Kind != editKind {
			continue
		}
		change, err := changeIn(entry)
		if err != nil {
			return fmt.Errorf("%s line %d: %w", journalFile, entry.N, err)
		}
		history = append(history, change)
	}
	root := filepath.Join(d.dir, treeFolder)
	if n := len(history); n > 0 && d.journal.writable {
		if err := finish(root, history[n-1]); err != nil {
			return err
		}
	}
	var err error
	if d.editor, err = editor.Open(root, editor.Options{Keep: d.keep}); err != nil {
		return err
	}
	d.editor.Load(history)
	return nil
}

// finish makes a change that a crash may have cut short. Where the file isn't
// what it was before the change, it was made or doesn't matter any more.
func finish(root string, last editor.Change) error {
	e, err := editor.Open(root, editor.Options{})
	if err != nil {
		return err
	}
	defer e.Close()
	switch r := e.Apply(last); r.Code {
	case "", "file_changed", "exists", "missing", "no_change":
		return nil
	default:
		return asError(fmt.Sprintf("finishing the last edit of %q", last.Path), r)
	}
}

func editOf(c editor.Change) Edit {
	edit := Edit{Session: c.Session, Path: c.Path, Mode: c.Mode, Folders: c.Folders, Undo: c.Undo}
	if !c.Created {
		before := string(c.Before)
		edit.Before = &before
	}
	if !c.Removed {
		after := string(c.After)
		edit.After = &after
	}
	return edit
}

// changeIn returns the change that an entry tells of.
func changeIn(entry Entry) (editor.Change, error) {
	var edit Edit
	if err := entry.Data.Decode(&edit); err != nil {
		return editor.Change{}, err
	}
	if err := rule.CheckPath(edit.Path); err != nil {
		return editor.Change{}, err
	}
	if edit.Before == nil && edit.After == nil {
		return editor.Change{}, fmt.Errorf("an edit of %q from nothing to nothing", edit.Path)
	}
	c := editor.Change{Session: edit.Session, Path: edit.Path, Mode: edit.Mode, Folders: edit.Folders, Undo: edit.Undo}
	if edit.Before == nil {
		c.Created = true
	} else {
		c.Before = []byte(*edit.Before)
	}
	if edit.After == nil {
		c.Removed = true
	} else {
		c.After = []byte(*edit.After)
	}
	return c, nil
}
