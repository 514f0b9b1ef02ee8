package draft

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"signalbox/rule"
)

// Edit is one accepted change of one file. Before is nil where the edit made
// the file, After where it removed it. Undo marks one that takes another back.
type Edit struct {
	Path   string  `json:"path"`
	Before *string `json:"before"`
	After  *string `json:"after"`
	Undo   bool    `json:"undo,omitzero"`
}

const editKind = "edit"

// ErrChanged is returned by Undo for a file that was changed by another hand
// since its last edit.
var ErrChanged = errors.New("file was changed since")

// ErrNoHistory is returned by Undo where no edit is left to take back.
var ErrNoHistory = errors.New("no edit is left to undo")

// Write makes the file at p hold the given text; nil removes it. It returns
// after both the journal and the file are on disk.
func (d *Draft) Write(p string, after []byte) error {
	if err := rule.CheckPath(p); err != nil {
		return err
	}
	edit := Edit{Path: p, Before: textAt(d.tree, p), After: pointer(after)}
	if err := d.room(p, after); err != nil {
		return err
	}
	if err := d.journal.append(editKind, edit); err != nil {
		return err
	}
	d.edits = append(d.edits, edit)
	return d.apply(edit)
}

// Undo takes the last edit that stands back and returns the path.
func (d *Draft) Undo() (string, error) {
	if len(d.edits) == 0 {
		return "", ErrNoHistory
	}
	last := d.edits[len(d.edits)-1]
	if !same(textAt(d.tree, last.Path), last.After) {
		return "", fmt.Errorf("undoing the edit of %q: %w", last.Path, ErrChanged)
	}
	back := Edit{Path: last.Path, Before: last.After, After: last.Before, Undo: true}
	if err := d.journal.append(editKind, back); err != nil {
		return "", err
	}
	d.edits = d.edits[:len(d.edits)-1]
	return last.Path, d.apply(back)
}

// room refuses an edit that would take the draft over the limits of a source.
func (d *Draft) room(p string, after []byte) error {
	total := d.tree.Bytes() - len(d.tree[p]) + len(after)
	if total > rule.MaxSourceBytes {
		return fmt.Errorf("draft would have %d bytes: the limit is %d", total, rule.MaxSourceBytes)
	}
	if _, had := d.tree[p]; !had && len(d.tree) >= rule.MaxSourceFiles {
		return fmt.Errorf("draft has %d files: the limit is %d", len(d.tree), rule.MaxSourceFiles)
	}
	return nil
}

// apply brings tree and folder to where the edit leads.
func (d *Draft) apply(edit Edit) error {
	path := filepath.Join(d.dir, treeFolder, filepath.FromSlash(edit.Path))
	if edit.After == nil {
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("removing %q: %w", edit.Path, err)
		}
		delete(d.tree, edit.Path)
		return syncFolder(filepath.Dir(path))
	}
	if err := writeFile(path, []byte(*edit.After)); err != nil {
		return fmt.Errorf("writing %q: %w", edit.Path, err)
	}
	d.tree[edit.Path] = []byte(*edit.After)
	return nil
}

// recover rebuilds the undo history and finishes an edit that the journal has
// and the folder has not.
func (d *Draft) recover() error {
	var last *Edit
	for _, entry := range d.journal.entries {
		if entry.Kind != editKind {
			continue
		}
		var edit Edit
		if err := entry.Data.Decode(&edit); err != nil {
			return fmt.Errorf("%s line %d: %w", journalFile, entry.N, err)
		}
		if err := rule.CheckPath(edit.Path); err != nil {
			return fmt.Errorf("%s line %d: %w", journalFile, entry.N, err)
		}
		switch {
		case !edit.Undo:
			d.edits = append(d.edits, edit)
		case len(d.edits) > 0:
			d.edits = d.edits[:len(d.edits)-1]
		}
		last = &edit
	}
	if last == nil || !same(textAt(d.tree, last.Path), last.Before) || same(last.Before, last.After) {
		return nil
	}
	return d.apply(*last)
}

func textAt(tree rule.Tree, p string) *string {
	data, ok := tree[p]
	if !ok {
		return nil
	}
	return pointer(data)
}

func pointer(data []byte) *string {
	if data == nil {
		return nil
	}
	text := string(bytes.Clone(data))
	return &text
}

func same(a, b *string) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}
