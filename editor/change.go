package editor

import (
	"bytes"
	"fmt"
)

// Change is what one call changed, as data: enough to make the change again
// elsewhere (Apply), to take it back (Revert), and, in the order in which they
// were made, to restore the history of an editor (Load). A caller that stores
// changes appends all of them, also those of an undo.
type Change struct {
	Session string `json:"session,omitzero"`
	Path    string `json:"path"` // relative to the root
	Before  []byte `json:"before,omitzero"`
	After   []byte `json:"after,omitzero"`
	// Created says that there was no file before, Removed that there is none
	// after; Before or After is then empty.
	Created bool `json:"created,omitzero"`
	Removed bool `json:"removed,omitzero"`
	// Mode is the file's mode, which an edit never changes.
	Mode uint32 `json:"mode"`
	// Folders were made for a created file, or removed with it.
	Folders []string `json:"folders,omitzero"`
	// Undo says that this takes back the latest change of this session and path.
	Undo bool `json:"undo,omitzero"`
}

// inverse returns the change that takes c back.
func (c Change) inverse() Change {
	c.Before, c.After = c.After, c.Before
	c.Created, c.Removed = c.Removed, c.Created
	return c
}

// undone returns the change that takes c back and says so to a history: what
// undoes an undo is the change that stood before.
func (c Change) undone() Change {
	c = c.inverse()
	c.Undo = !c.Undo
	return c
}

// Apply makes a change that another editor made on a copy of this tree: the
// host does so with what an editor in a container answers, whose word it
// needn't trust. Path, contents and quotas are checked as for a call, and the
// file must stand as Before says. The change in the result has this tree's
// mode, and is the one to store; Undo is taken over, and pops the history.
func (e *Editor) Apply(change Change) Result {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.carryOut(change, false, fmt.Sprintf("The change of %s has been applied.", at(change.Path).shown))
}

// Revert takes a stored change back, if the file still stands as it left it.
func (e *Editor) Revert(change Change) Result {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.revert(change)
}

func (e *Editor) revert(change Change) Result {
	inverse := change.inverse()
	inverse.Undo = true
	return e.carryOut(inverse, true, fmt.Sprintf("Last edit to %s undone successfully.", at(change.Path).shown))
}

func (e *Editor) carryOut(change Change, sameMode bool, text string) Result {
	where := at(change.Path)
	made, err := e.apply(change, sameMode)
	if err != nil {
		return refused(where.shown, false, explain(where, "apply", err))
	}
	return Result{OK: true, Text: text, Path: where.shown, Change: made}
}

// apply brings the file from Before to After. sameMode says that its mode must be
// the change's too.
func (e *Editor) apply(change Change, sameMode bool) (*Change, error) {
	if err := e.checkRelative(change.Path); err != nil {
		return nil, err
	}
	if _, err := parseText(change.After); err != nil {
		return nil, err
	}
	if change.Created {
		change.Mode &= 0o777
		return e.createFile(change)
	}
	f, err := e.tree.read(at(change.Path), e.limits.FileBytes)
	if err != nil {
		return nil, err
	}
	defer f.close()
	if !bytes.Equal(f.data, change.Before) || sameMode && f.mode() != change.Mode {
		return nil, errChanged
	}
	if change.Removed {
		return e.removeFile(change, f)
	}
	change.Folders = nil
	return e.write(change, f)
}

// removeFile removes a file, and of the folders those that are left empty.
func (e *Editor) removeFile(change Change, f *file) (*Change, error) {
	for _, folder := range change.Folders {
		if err := e.checkRelative(folder); err != nil {
			return nil, err
		}
	}
	where := at(change.Path)
	change.Before, change.After, change.Mode = f.data, nil, f.mode()
	made, err := e.commit(change, func(ready func() error) error { return e.tree.remove(where, f, ready) })
	if err != nil {
		return nil, err
	}
	e.tree.removeFolders(change.Folders)
	return made, nil
}
