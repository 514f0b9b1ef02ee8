package editor

import (
	"errors"

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
	made, err := e.missingFolders(where.dir())
	if err != nil {
		return err
	}
	if used.folders+made > e.limits.Files {
		return refuse("too_many_folders", "There would be %d directories: the limit is %d.", used.folders+made, e.limits.Files)
	}
	return nil
}

// measure adds what is at and below a folder. A folder below that went away
// meanwhile, or that no path may lead through, holds nothing of this tree.
func (t *tree) measure(used *usage, rel string, depth int) error {
	dir, err := t.folder(rel)
	if rel != "." && notInTree(err) {
		return nil
	}
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
		if depth <= 1 {
			continue
		}
		if err := t.measure(used, join(rel, name), depth-1); err != nil {
			return err
		}
	}
	return nil
}

func notInTree(err error) bool {
	for _, reason := range []error{unix.ENOENT, unix.ENOTDIR, unix.ELOOP, unix.EXDEV} {
		if errors.Is(err, reason) {
			return true
		}
	}
	return false
}

// missingFolders counts the folders that a path lacks.
func (e *Editor) missingFolders(rel string) (n int, err error) {
	for ; rel != "."; rel = at(rel).dir() {
		fd, err := e.tree.folder(rel)
		if err == nil {
			return n, unix.Close(fd)
		}
		if !errors.Is(err, unix.ENOENT) {
			return n, err
		}
		n++
	}
	return n, nil
}
