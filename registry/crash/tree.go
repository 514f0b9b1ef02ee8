package main

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// node is a file or a folder of a file system in memory.
type node struct {
	folder  bool
	mode    fs.FileMode
	data    []byte      // never changed in place
	entries map[int]int // name → node, by number
}

// disk is a file system in memory. Node 0 is its root; names are numbered, so that
// an operation can be applied to any state.
type disk struct {
	nodes []node
	names *[]string
}

func newDisk() *disk {
	return &disk{nodes: []node{{folder: true, mode: 0o700, entries: map[int]int{}}}, names: &[]string{}}
}

func (d *disk) clone() *disk {
	copied := &disk{nodes: slices.Clone(d.nodes), names: d.names}
	for i := range copied.nodes {
		copied.nodes[i].entries = maps.Clone(copied.nodes[i].entries)
	}
	return copied
}

func (d *disk) name(text string) int {
	if i := slices.Index(*d.names, text); i >= 0 {
		return i
	}
	*d.names = append(*d.names, text)
	return len(*d.names) - 1
}

// place splits a path below the root into its folder and its name, and returns
// the node that is there, -1 where there is none.
func (d *disk) place(path string) (folder, name, found int, err error) {
	elements := strings.Split(strings.Trim(path, "/"), "/")
	for i, element := range elements {
		name = d.name(element)
		at, ok := d.nodes[folder].entries[name]
		switch {
		case i == len(elements)-1 && ok:
			return folder, name, at, nil
		case i == len(elements)-1:
			return folder, name, -1, nil
		case !ok:
			return 0, 0, 0, fmt.Errorf("no folder %q in %q", element, path)
		}
		folder = at
	}
	return folder, name, -1, nil
}

// load puts a folder of the host into the disk.
func (d *disk) load(from string) error {
	return filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || path == from {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		made := node{folder: entry.IsDir(), mode: info.Mode().Perm()}
		if made.folder {
			made.entries = map[int]int{}
		} else if made.data, err = os.ReadFile(path); err != nil {
			return err
		}
		folder, name, _, err := d.place(strings.TrimPrefix(path, from))
		if err != nil {
			return err
		}
		d.nodes = append(d.nodes, made)
		d.nodes[folder].entries[name] = len(d.nodes) - 1
		return nil
	})
}

// walk visits every node that has a path, folders before what is in them.
func (d *disk) walk(at int, path string, visit func(path string, n node) error) error {
	for _, name := range slices.Sorted(maps.Keys(d.nodes[at].entries)) {
		child := d.nodes[at].entries[name]
		below := path + "/" + (*d.names)[name]
		if err := visit(below, d.nodes[child]); err != nil {
			return err
		}
		if d.nodes[child].folder {
			if err := d.walk(child, below, visit); err != nil {
				return err
			}
		}
	}
	return nil
}

// digest is equal for equal disks.
func (d *disk) digest() [32]byte {
	sum := sha256.New()
	_ = d.walk(0, "", func(path string, n node) error {
		fmt.Fprintf(sum, "%q %v %d\n", path, n.mode, len(n.data))
		sum.Write(n.data)
		return nil
	})
	return [32]byte(sum.Sum(nil))
}

// save writes the disk into a folder of the host.
func (d *disk) save(to string) error {
	return d.walk(0, "", func(path string, n node) error {
		if n.folder {
			return os.Mkdir(to+path, n.mode)
		}
		return os.WriteFile(to+path, n.data, n.mode)
	})
}
