package draft

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"signalbox/editor"
	"signalbox/rule"
)

// tempPrefix begins the names of files that are being written; a tree ignores
// what a crash left of them.
const tempPrefix = ".writing-"

// writeFile puts data at path by way of a synced temporary file and syncs the
// folder.
func writeFile(path string, data []byte) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	temp := filepath.Join(dir, tempPrefix+filepath.Base(path))
	file, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	err = errors.Join(err, file.Sync(), file.Close())
	if err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		os.Remove(temp)
		return err
	}
	return syncFolder(dir)
}

func syncFolder(dir string) error {
	file, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}

func writeJSON(path string, v any) error {
	data, err := rule.Canonical(v)
	if err != nil {
		return err
	}
	return writeFile(path, append(data, '\n'))
}

// readTree returns the regular files below dir. Anything else there is an
// error: nothing of ours puts it there.
func readTree(dir string) (rule.Tree, error) {
	tree := rule.Tree{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		if strings.HasPrefix(entry.Name(), tempPrefix) || editor.IsTemporary(entry.Name()) {
			return nil
		}
		relative, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		p := filepath.ToSlash(relative)
		if !entry.Type().IsRegular() {
			return fmt.Errorf("%q is not a regular file", p)
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if info.Size() > rule.MaxSourceBytes || len(tree) >= rule.MaxSourceFiles {
			return fmt.Errorf("%q takes the draft over %d files or %d bytes", p, rule.MaxSourceFiles, rule.MaxSourceBytes)
		}
		tree[p], err = os.ReadFile(path)
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return tree, nil
	}
	return tree, err
}

// Feedback returns what earlier checks of the draft said, oldest first.
func (d *Draft) Feedback() ([]string, error) {
	data, err := os.ReadFile(filepath.Join(d.dir, feedbackFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading feedback: %w", err)
	}
	var all []string
	if err := rule.Decode(data, &all); err != nil {
		return nil, fmt.Errorf("reading feedback: %w", err)
	}
	return all, nil
}

// maxFeedback bounds how much is kept; the oldest goes first.
const maxFeedback = 20

// AddFeedback keeps what a check of the draft said, for a later attempt.
func (d *Draft) AddFeedback(text string) error {
	all, err := d.Feedback()
	if err != nil {
		return err
	}
	all = append(all, text)
	all = all[max(0, len(all)-maxFeedback):]
	return writeJSON(filepath.Join(d.dir, feedbackFile), all)
}

// AddRequest keeps a request for the maintainer and returns its number.
func (d *Draft) AddRequest(request any) (int, error) {
	n := 1
	for _, entry := range d.journal.entries {
		if entry.Kind == requestKind {
			n++
		}
	}
	name := filepath.Join(d.dir, "requests", fmt.Sprintf("%03d.json", n))
	if err := writeJSON(name, request); err != nil {
		return 0, fmt.Errorf("writing request: %w", err)
	}
	return n, d.journal.append(requestKind, request)
}

const requestKind = "request"
