package rule

import (
	"fmt"
	"io"
	"io/fs"
)

// ReadTree reads a folder that the operator trusts as a tree, within the limits
// of a rule's source. Anything that isn't a regular file or a folder, and any
// entry that isn't visible, is an error that names it: nothing is left out.
func ReadTree(folder fs.FS) (Tree, error) {
	tree := Tree{}
	total := 0
	err := fs.WalkDir(folder, ".", func(p string, entry fs.DirEntry, err error) error {
		if err != nil || p == "." {
			return err
		}
		if err := CheckPublicPath(p); err != nil {
			return err
		}
		if entry.IsDir() {
			return nil
		}
		if !entry.Type().IsRegular() {
			return fmt.Errorf("%q is no regular file", p)
		}
		data, err := readBounded(folder, p, MaxSourceBytes-total)
		if err != nil {
			return err
		}
		tree[p] = data
		total += len(data)
		if len(tree) > MaxSourceFiles {
			return fmt.Errorf("more than %d files", MaxSourceFiles)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return tree, nil
}

func readBounded(folder fs.FS, p string, most int) ([]byte, error) {
	file, err := folder.Open(p)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	data, err := io.ReadAll(io.LimitReader(file, int64(most)+1))
	if err != nil {
		return nil, err
	}
	if len(data) > most {
		return nil, fmt.Errorf("%q: the files have more than %d bytes", p, MaxSourceBytes)
	}
	return data, nil
}
