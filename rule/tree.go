package rule

import (
	"fmt"
	"maps"
	"slices"
)

// Tree is a tree of regular files: clean relative path → bytes. Modes, owners
// and times are not part of it. The bytes of a Tree are never changed in place.
type Tree map[string][]byte

// TreeOf returns a tree with the given texts.
func TreeOf(texts map[string]string) Tree {
	tree := make(Tree, len(texts))
	for p, text := range texts {
		tree[p] = []byte(text)
	}
	return tree
}

// Paths returns the tree's paths in byte order.
func (t Tree) Paths() []string { return slices.Sorted(maps.Keys(t)) }

// Bytes returns how many bytes all files hold together.
func (t Tree) Bytes() (total int) {
	for _, data := range t {
		total += len(data)
	}
	return total
}

// Digest names the tree: the digest of the canonical JSON object path → digest
// of the file.
func (t Tree) Digest() Digest {
	digest, err := DigestJSON(t.files())
	if err != nil {
		return ""
	}
	return digest
}

func (t Tree) files() map[string]Digest {
	files := make(map[string]Digest, len(t))
	for p, data := range t {
		files[p] = DigestOf(data)
	}
	return files
}

// CheckPublic returns the first reason, in path order, why the tree can't be a
// public copy.
func (t Tree) CheckPublic() error {
	if len(t) > MaxTreeFiles {
		return fmt.Errorf("tree has %d files: the limit is %d files", len(t), MaxTreeFiles)
	}
	if total := t.Bytes(); total > MaxTreeBytes {
		return fmt.Errorf("tree has %d bytes: the limit is %d bytes", total, MaxTreeBytes)
	}
	for _, p := range t.Paths() {
		if err := CheckPublicPath(p); err != nil {
			return err
		}
		if len(t[p]) > MaxFileBytes {
			return fmt.Errorf("file %q has %d bytes: the limit is %d bytes", p, len(t[p]), MaxFileBytes)
		}
	}
	return t.checkFolders()
}

// checkFolders refuses a path that is both a file and a folder.
func (t Tree) checkFolders() error {
	for _, p := range t.Paths() {
		for i, c := range p {
			if c != '/' {
				continue
			}
			if _, taken := t[p[:i]]; taken {
				return fmt.Errorf("path %q: %q is a file too", p, p[:i])
			}
		}
	}
	return nil
}
