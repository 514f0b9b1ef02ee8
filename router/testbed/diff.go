// Package testbed brings an outcome's files to the caller's tree: as a unified
// diff that changes nothing, or by applying it, all or nothing.
//
// The tree is opened once and every path stays beneath it; no path may go
// through a symbolic link. A file that changed since the public copy was made
// is refused before anything is written, and one that changes while the others
// are written is put back. A hostile process that changes the tree at the same
// time is out of scope, as it is for the public copy.
package testbed

import (
	"bytes"
	"fmt"
	"maps"
	"slices"

	"github.com/rogpeppe/go-internal/diff"

	"signalbox/rule"
)

// Diff returns the outcome's files as a unified diff, in git's form, against the
// tree that the rule saw, in order of their paths. Equal files give nothing.
func Diff(tree rule.Tree, files map[string]*string) []byte {
	var out bytes.Buffer
	for _, path := range slices.Sorted(maps.Keys(files)) {
		before, existed := tree[path]
		var after []byte
		if files[path] != nil {
			after = []byte(*files[path])
		}
		switch {
		case !existed && files[path] == nil, existed && files[path] != nil && bytes.Equal(before, after):
		case !existed:
			fmt.Fprintf(&out, "diff --git a/%s b/%s\nnew file mode 100644\n%s", path, path, hunks("/dev/null", nil, "b/"+path, after))
		case files[path] == nil:
			fmt.Fprintf(&out, "diff --git a/%s b/%s\ndeleted file mode 100644\n%s", path, path, hunks("a/"+path, before, "/dev/null", nil))
		default:
			fmt.Fprintf(&out, "diff --git a/%s b/%s\n%s", path, path, hunks("a/"+path, before, "b/"+path, after))
		}
	}
	return out.Bytes()
}

// hunks returns one file's changed lines, without the "diff a b" line that the
// library puts first.
func hunks(oldName string, before []byte, newName string, after []byte) []byte {
	text := diff.Diff(oldName, before, newName, after)
	if _, rest, ok := bytes.Cut(text, []byte("\n")); ok && bytes.HasPrefix(text, []byte("diff ")) {
		return rest
	}
	return text
}

// checkOutcome refuses a deletion of what isn't there, which would hide a
// mistake of the rule.
func checkOutcome(tree rule.Tree, files map[string]*string) error {
	for _, path := range slices.Sorted(maps.Keys(files)) {
		if err := rule.CheckPublicPath(path); err != nil {
			return err
		}
		if _, exists := tree[path]; files[path] == nil && !exists {
			return fmt.Errorf("the outcome deletes %q, which the tree doesn't have", path)
		}
	}
	return nil
}
