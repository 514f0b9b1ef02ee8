package editor

import (
	"golang.org/x/sys/unix"
	"signalbox/rule"
)

// usage is what a tree holds.
type usage struct {
	files, folders int
	bytes          int64
}

// checkQuota refuses a file that grows from before to after bytes where that
// takes it, or the tree, over a limit. Shrinking is always allowed.
func (e *Editor) checkQuota(where location, before, after int64, fresh bool) error {
	if after > e.limits.FileBytes {
		return refuse("file_too_large", "The file %s would have %d bytes: the limit is %d.", where.shown, after, e.limits.FileBytes)
	}
	if !fresh && after <= before {
		return nil
	}
	var used usage
	if err := e.tree.measure(&used, ".", rule.MaxPathDepth); err != nil {
		return err
	}
	if total := used.bytes - before + after; total > e.limits.TreeBytes {
		return refuse("tree_too_large", "All files together would have %d bytes: the limit is %d.", total, e.limits.TreeBytes)
	}
	if !fresh {
		return nil
	}
	if used.files+1 > e.limits.Files {
		return refuse("too_many_files", "There are %d files already: the limit is %d.", used.files, e.limits.Files)
	}
	if made := e.missingFolders(where.dir()); used.folders+made > e.limits.Files {
		return refuse("too_many_folders", "There would be %d directories: the limit is %d.", used.folders+made, e.limits.Files)
	}
	return nil
}

// measure adds what is at and below a folder.
func (t *tree) measure(used *usage, rel string, depth int) error {
	dir, err := t.folder(rel)
	if err != nil {
		return err
	}
	defer unix.Close(dir)
	entries, err := names(dir, maxEntries)
	if err != nil {
		return err
	}
	for _, name := range entries {
		stat, err := lstat(dir, name)
		if err != nil || IsTemporary(name) {
			continue
		}
		if stat.Mode&unix.S_IFMT != unix.S_IFDIR {
			used.files++
			used.bytes += stat.Size
			continue
		}
		used.folders++
		if depth > 1 {
			_ = t.measure(used, join(rel, name), depth-1)
		}
	}
	return nil
}

// missingFolders counts the folders that a path lacks.
func (e *Editor) missingFolders(rel string) (n int) {
	for rel != "." && !e.tree.has(rel) {
		n++
		rel = at(rel).dir()
	}
	return n
}
