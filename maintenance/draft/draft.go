package draft

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"signalbox/editor"
	"signalbox/rule"
)

// Identity is what the host fixes about a draft. A model can't change it.
type Identity struct {
	Attempt     string      `json:"attempt"`
	Family      rule.Family `json:"family"`
	Rule        rule.Name   `json:"rule"`
	Environment string      `json:"environment"`
	Parent      rule.Digest `json:"parent,omitzero"`
	SourceCases []string    `json:"source_cases"`
	Resumes     string      `json:"resumes,omitzero"`
}

// The files of a draft's folder.
const (
	folder       = "drafts"
	identityFile = "draft.json"
	journalFile  = "journal.jsonl"
	feedbackFile = "feedback.json"
	treeFolder   = "tree"
)

var attemptPattern = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,62}$`)

// Draft is one attempt's draft. It is used by one goroutine at a time, and
// changed by one process at a time: what others open meanwhile is read only.
type Draft struct {
	identity Identity
	dir      string
	tree     rule.Tree // as the journal leads to
	journal  *journal
	editor   *editor.Editor
}

// Create makes the folder of a new attempt, with the tree as its first state.
func Create(home string, identity Identity, tree rule.Tree) (*Draft, error) {
	dir, err := dirOf(home, identity.Attempt)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return nil, fmt.Errorf("creating draft: %w", err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, fmt.Errorf("creating draft %q: %w", identity.Attempt, err)
	}
	if err := os.Mkdir(filepath.Join(dir, treeFolder), 0o700); err != nil {
		return nil, fmt.Errorf("creating draft %q: %w", identity.Attempt, err)
	}
	for p, data := range tree {
		if err := writeFile(filepath.Join(dir, treeFolder, filepath.FromSlash(p)), data); err != nil {
			return nil, fmt.Errorf("creating draft %q: %w", identity.Attempt, err)
		}
	}
	if err := writeJSON(filepath.Join(dir, identityFile), identity); err != nil {
		return nil, fmt.Errorf("creating draft %q: %w", identity.Attempt, err)
	}
	if err := syncFolder(filepath.Dir(dir)); err != nil {
		return nil, fmt.Errorf("creating draft %q: %w", identity.Attempt, err)
	}
	return Open(home, identity.Attempt)
}

// Open reads an attempt's draft as it stands on disk.
func Open(home, attempt string) (*Draft, error) {
	dir, err := dirOf(home, attempt)
	if err != nil {
		return nil, err
	}
	d := &Draft{dir: dir}
	data, err := os.ReadFile(filepath.Join(dir, identityFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("no draft %q: `signalbox drafts list` shows them: %w", attempt, fs.ErrNotExist)
	}
	if err != nil {
		return nil, fmt.Errorf("reading draft %q: %w", attempt, err)
	}
	if err := rule.Decode(data, &d.identity); err != nil {
		return nil, fmt.Errorf("reading draft %q: %s: %w", attempt, identityFile, err)
	}
	if d.journal, err = openJournal(filepath.Join(dir, journalFile)); err != nil {
		return nil, fmt.Errorf("reading draft %q: %w", attempt, err)
	}
	err = d.openEditor()
	if err == nil {
		d.tree, err = readTree(filepath.Join(dir, treeFolder))
	}
	if err != nil {
		return nil, fmt.Errorf("reading draft %q: %w", attempt, errors.Join(err, d.Close()))
	}
	return d, nil
}

// List returns the attempts that have a draft, oldest name first.
func List(home string) ([]Identity, error) {
	entries, err := os.ReadDir(filepath.Join(home, folder))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("listing drafts: %w", err)
	}
	var all []Identity
	for _, entry := range entries {
		data, err := os.ReadFile(filepath.Join(home, folder, entry.Name(), identityFile))
		if errors.Is(err, fs.ErrNotExist) {
			continue // a crash before the draft began
		}
		if err != nil {
			return nil, fmt.Errorf("listing drafts: %w", err)
		}
		var identity Identity
		if err := rule.Decode(data, &identity); err != nil {
			return nil, fmt.Errorf("listing drafts: %q: %w", entry.Name(), err)
		}
		all = append(all, identity)
	}
	return all, nil
}

// Discard removes an attempt's draft for good.
func Discard(home, attempt string) error {
	d, err := Open(home, attempt)
	if err != nil {
		return err
	}
	defer d.Close()
	if !d.journal.writable {
		return fmt.Errorf("discarding draft %q: %w", attempt, ErrInUse)
	}
	if err := os.RemoveAll(d.dir); err != nil {
		return fmt.Errorf("discarding draft %q: %w", attempt, err)
	}
	return syncFolder(filepath.Dir(d.dir))
}

// Close lets the draft go. Everything is on disk already.
func (d *Draft) Close() error {
	var err error
	if d.editor != nil {
		err = d.editor.Close()
	}
	return errors.Join(err, d.journal.close())
}

// Identity returns what the host fixed.
func (d *Draft) Identity() Identity { return d.identity }

// Tree returns the files as they stand. The map is the caller's own.
func (d *Draft) Tree() rule.Tree {
	tree := make(rule.Tree, len(d.tree))
	for p, data := range d.tree {
		tree[p] = slices.Clone(data)
	}
	return tree
}

// Manifest returns the text of manifest.json as it stands.
func (d *Draft) Manifest() string { return string(d.tree[rule.ManifestFile]) }

// Fixed returns an error that names the first thing in the manifest that the
// host had fixed and somebody changed.
func (i Identity) Fixed(m rule.Manifest) error {
	switch {
	case m.Name != i.Rule:
		return fmt.Errorf("name is %q, but this draft is of rule %q", m.Name, i.Rule)
	case m.Family != i.Family:
		return fmt.Errorf("family is %q, but this draft is for %q", m.Family, i.Family)
	case m.Environment != i.Environment:
		return fmt.Errorf("environment is %q, but this draft has %q", m.Environment, i.Environment)
	case m.Parent != i.Parent:
		return fmt.Errorf("parent is %q, but this draft began from %q", m.Parent, i.Parent)
	case !slices.Equal(m.SourceCases, i.SourceCases):
		return errors.New("source_cases differ from those that this draft was given")
	}
	return nil
}

// Text returns a manifest as it stands in a draft: indented, so that a line of
// it can be edited.
func Text(m rule.Manifest) ([]byte, error) {
	data, err := rule.Canonical(m)
	if err != nil {
		return nil, err
	}
	text := jsontext.Value(data)
	if err := text.Indent(jsontext.WithIndent("  ")); err != nil {
		return nil, fmt.Errorf("writing %s: %w", rule.ManifestFile, err)
	}
	return append(text, '\n'), nil
}

func dirOf(home, attempt string) (string, error) {
	if !attemptPattern.MatchString(attempt) {
		return "", fmt.Errorf("attempt %q: want lower-case letters, digits and dashes", attempt)
	}
	return filepath.Join(home, folder, attempt), nil
}
