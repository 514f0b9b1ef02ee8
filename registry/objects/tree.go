package objects

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"signalbox/rule"
)

// PutTree stores every file of the tree and then the table that names them. The
// digest is the tree's own.
func (s *Store) PutTree(tree rule.Tree) (rule.Digest, error) {
	table := make(map[string]rule.Digest, len(tree))
	for _, path := range tree.Paths() {
		digest, err := s.Put(tree[path])
		if err != nil {
			return "", fmt.Errorf("storing file %q of a tree: %w", path, err)
		}
		table[path] = digest
	}
	data, err := rule.Canonical(table)
	if err != nil {
		return "", err
	}
	return s.Put(data)
}

// GetTree returns the tree that the digest names, every file of it hashed
// again.
func (s *Store) GetTree(digest rule.Digest) (rule.Tree, error) {
	data, err := s.Get(digest)
	if err != nil {
		return nil, fmt.Errorf("reading tree: %w", err)
	}
	var table map[string]rule.Digest
	if err := rule.Decode(data, &table); err != nil {
		return nil, fmt.Errorf("reading tree %s: not a table of files: %v", digest, err)
	}
	tree := make(rule.Tree, len(table))
	for path, file := range table {
		if err := rule.CheckPath(path); err != nil {
			return nil, fmt.Errorf("reading tree %s: %w", digest, err)
		}
		if tree[path], err = s.Get(file); err != nil {
			return nil, fmt.Errorf("reading file %q of a tree: %w", path, err)
		}
	}
	return tree, nil
}

// Each calls visit with the digest of every object, in order, and stops at its
// first error. A file that is no object (what a crash left half written, or
// anything else) is handed to stray by its path.
func (s *Store) Each(visit func(rule.Digest) error, stray func(path string)) error {
	if err := s.strayPending(stray); err != nil {
		return err
	}
	root := filepath.Join(s.dir, "sha256")
	return filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("listing objects: %w", err)
		}
		if entry.IsDir() {
			return nil
		}
		relative, err := filepath.Rel(root, path)
		if err != nil {
			return fmt.Errorf("listing objects: %w", err)
		}
		digest, err := rule.ParseDigest("sha256:" + strings.Replace(relative, string(os.PathSeparator), "", 1))
		if err != nil || s.Path(digest) != path {
			stray(path)
			return nil
		}
		return visit(digest)
	})
}
