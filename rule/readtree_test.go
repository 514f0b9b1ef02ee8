package rule

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
)

func TestReadTree(t *testing.T) {
	folder := func(files map[string]string) fstest.MapFS {
		made := fstest.MapFS{}
		for p, text := range files {
			made[p] = &fstest.MapFile{Data: []byte(text), Mode: 0o644}
		}
		return made
	}
	many := func(n int) map[string]string {
		files := map[string]string{}
		for i := range n {
			files[fmt.Sprint("f", i)] = ""
		}
		return files
	}
	half := strings.Repeat("x", MaxSourceBytes/2)
	link := fstest.MapFS{"a": {Mode: fs.ModeSymlink, Data: []byte("/etc/passwd")}}
	for _, c := range []struct {
		name   string
		folder fs.FS
		want   string
	}{
		{"control", folder(map[string]string{"manifest.json": "{}", "tests/a.json": ""}), ""},
		{"empty", folder(nil), ""},
		{"files", folder(many(MaxSourceFiles)), ""},
		{"one file more", folder(many(MaxSourceFiles + 1)), "more than 64 files"},
		{"bytes", folder(map[string]string{"a": half, "b": half}), ""},
		{"one byte more", folder(map[string]string{"a": half, "b": half + "x"}), "more than 524288 bytes"},
		{"hidden file", folder(map[string]string{"a": "", ".git/config": ""}), `".git"`},
		{"vendor", folder(map[string]string{"lib/vendor/a": ""}), `"lib/vendor"`},
		{"link", link, `"a" is no regular file`},
		{"missing folder", subFolder(t, folder(nil), "none"), "not exist"},
	} {
		tree, err := ReadTree(c.folder)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
		if err != nil && tree != nil {
			t.Errorf("%s: a tree beside the error", c.name)
		}
	}
	tree, err := ReadTree(folder(map[string]string{"a": "1", "b/c": "2"}))
	if want := TreeOf(map[string]string{"a": "1", "b/c": "2"}); err != nil || tree.Digest() != want.Digest() {
		t.Errorf("read %v, %v", tree, err)
	}
}

func subFolder(t *testing.T, of fs.FS, dir string) fs.FS {
	t.Helper()
	sub, err := fs.Sub(of, dir)
	if err != nil {
		t.Fatal(err)
	}
	return sub
}
