package editor

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// maxEntries bounds what is read of one folder.
const maxEntries = 100_000

// row is one entry of a listing.
type row struct {
	kind, path, note string
}

// list lists a folder two levels deep. Links are named and not followed.
func (e *Editor) list(where location) (string, error) {
	l := lister{tree: e.tree}
	l.rows = append(l.rows, row{kind: "d", path: strings.TrimSuffix(where.shown, "/") + "/"})
	if err := l.visit(where.rel, where.shown, 1); err != nil {
		return "", err
	}
	slices.SortFunc(l.rows, func(a, b row) int { return strings.Compare(a.path, b.path) })
	return l.render(where, e.limits.ResultChars), nil
}

type lister struct {
	tree   *tree
	rows   []row
	hidden int
}

func (l *lister) visit(rel, shown string, depth int) error {
	dir, err := l.tree.folder(rel)
	if err != nil {
		return err
	}
	defer unix.Close(dir)
	entries, err := names(dir, maxEntries)
	if err != nil {
		return err
	}
	for _, name := range entries {
		if IsTemporary(name) {
			continue
		}
		if strings.HasPrefix(name, ".") || name == "node_modules" || name == "__pycache__" {
			l.hidden++
			continue
		}
		if err := l.add(dir, rel, shown, name, depth); err != nil {
			return err
		}
	}
	return nil
}

// add lists one entry and, above the second level, what is in it. An entry that
// went away meanwhile isn't there.
func (l *lister) add(dir int, rel, shown, name string, depth int) error {
	stat, err := lstat(dir, name)
	if err != nil {
		return nil
	}
	entry := row{kind: "?", path: path.Join(shown, name)}
	switch stat.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		entry.kind = "f"
	case unix.S_IFLNK:
		entry.note = " -> symlink (not followed)"
	case unix.S_IFDIR:
		entry.kind, entry.path = "d", entry.path+"/"
	default:
		entry.note = " (not a regular file)"
	}
	l.rows = append(l.rows, entry)
	if entry.kind != "d" || depth >= 2 {
		return nil
	}
	if err := l.visit(join(rel, name), path.Join(shown, name), depth+1); err != nil {
		l.rows[len(l.rows)-1].note = " (can't be listed)"
	}
	return nil
}

func (l *lister) render(where location, limit int) string {
	heading := fmt.Sprintf("Here're the files and directories up to 2 levels deep in %s, excluding hidden items, node_modules, and Python cache directories:\n", where.shown)
	hidden := ""
	if l.hidden > 0 {
		hidden = fmt.Sprintf("NOTE: %d hidden or excluded items are not listed.\n", l.hidden)
	}
	rows := make([]string, 0, len(l.rows))
	for _, r := range l.rows {
		rows = append(rows, r.kind+"\t"+printable(r.path)+r.note+"\n")
	}
	budget := limit - utf8.RuneCountInString(heading+hidden)
	if fits(rows, budget) {
		return heading + strings.Join(rows, "") + hidden
	}
	budget -= maxNotice
	n := 0
	for n < len(rows) && fits(rows[n:n+1], budget) {
		budget -= utf8.RuneCountInString(rows[n])
		n++
	}
	return fmt.Sprintf("%s%s%s<response clipped><NOTE>To save on context only the first %d of %d entries have been shown to you. You should retry this tool with a directory further down.</NOTE>",
		heading, strings.Join(rows[:n], ""), hidden, n, len(rows))
}
