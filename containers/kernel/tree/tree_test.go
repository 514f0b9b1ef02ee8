package tree

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"signalbox/rule"
)

func open(t testing.TB) (*Tree, string) {
	t.Helper()
	folder := t.TempDir()
	tree, err := Open(folder, 0o400)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tree.Close() })
	return tree, folder
}

// holds returns what lies in a folder.
func holds(t testing.TB, folder string) []string {
	t.Helper()
	var found []string
	if err := filepath.WalkDir(folder, func(p string, _ os.DirEntry, err error) error {
		if p != folder {
			found = append(found, strings.TrimPrefix(p, folder+"/"))
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return found
}

func TestFillAndRead(t *testing.T) {
	tree, folder := open(t)
	files := rule.Tree{"b": []byte("B"), "a/c/d": []byte{0, 0xff}, "a/e": nil, "a.b": bytes.Repeat([]byte("x"), rule.MaxFileBytes)}
	if err := tree.Fill(files); err != nil {
		t.Fatal(err)
	}
	if got := tree.Paths(); !slices.Equal(got, files.Paths()) {
		t.Errorf("paths are %q", got)
	}
	for p, want := range files {
		if got, err := tree.Read(p); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%q holds %d bytes, %v", p, len(got), err)
		}
	}
	if info, err := os.Stat(filepath.Join(folder, "b")); err != nil || info.Mode().Perm() != 0o400 {
		t.Errorf("mode: %v, %v", info, err)
	}
	if _, err := tree.Read("nothing"); err == nil {
		t.Error("a missing file was read")
	}
	if err := tree.Clear(); err != nil || len(holds(t, folder)) > 0 || len(tree.Paths()) > 0 {
		t.Errorf("after Clear: %v, %q", err, holds(t, folder))
	}
}

// TestFillRefusesWhole shows that nothing is left of a tree that can't be
// written, whether that is seen before or while it is.
func TestFillRefusesWhole(t *testing.T) {
	tree, folder := open(t)
	if err := tree.Fill(rule.Tree{"old": []byte("x")}); err != nil {
		t.Fatal(err)
	}
	if err := tree.Fill(rule.Tree{"fine": nil, "../out": nil}); err == nil {
		t.Error("a path that leads out was taken")
	}
	if got := holds(t, folder); !slices.Equal(got, []string{"old"}) {
		t.Errorf("a refused tree changed the folder: %q", got)
	}
	if err := os.WriteFile(filepath.Join(folder, "m"), []byte("not ours"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := tree.Fill(rule.Tree{"a/b": nil, "m": []byte("x"), "z": nil})
	if err == nil || !strings.Contains(err.Error(), `writing "m"`) {
		t.Errorf("a file in the way: %v", err)
	}
	if got := holds(t, folder); !slices.Equal(got, []string{"m"}) || len(tree.Paths()) > 0 {
		t.Errorf("the folder holds %q", got)
	}
}

// TestLinksAreNotFollowed puts links where files should go, as no other process
// can in a container.
func TestLinksAreNotFollowed(t *testing.T) {
	tree, folder := open(t)
	target := filepath.Join(t.TempDir(), "target")
	if err := os.Symlink(target, filepath.Join(folder, "a")); err != nil {
		t.Fatal(err)
	}
	if err := tree.Fill(rule.Tree{"a": []byte("x")}); err == nil {
		t.Error("a link was written through")
	}
	if _, err := os.Lstat(target); err == nil {
		t.Error("the link's target was made")
	}
	if err := os.WriteFile(target, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	if data, err := tree.Read("a"); err == nil {
		t.Errorf("a link was read: %q", data)
	}
}

func TestOpenRefuses(t *testing.T) {
	if _, err := Open(filepath.Join(t.TempDir(), "none"), 0o400); err == nil || !strings.Contains(err.Error(), "none") {
		t.Errorf("a missing folder: %v", err)
	}
}

// TestAnyTree fills a folder with one tree after another: it holds the last one,
// and in the end nothing.
func TestAnyTree(t *testing.T) {
	element := rapid.StringMatching(`[a-c]{1,2}`)
	rapid.Check(t, func(r *rapid.T) {
		tree, folder := open(t)
		for range rapid.IntRange(1, 3).Draw(r, "trees") {
			files := rule.Tree{}
			for range rapid.IntRange(0, 8).Draw(r, "files") {
				p := strings.Join(rapid.SliceOfN(element, 1, 4).Draw(r, "path"), "/")
				files[p] = rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(r, "data")
			}
			if files.CheckPublic() != nil {
				continue
			}
			if err := tree.Fill(files); err != nil {
				r.Fatal(err)
			}
			if !slices.Equal(tree.Paths(), files.Paths()) {
				r.Fatalf("paths are %q, want %q", tree.Paths(), files.Paths())
			}
			for p, want := range files {
				if got, err := tree.Read(p); err != nil || !bytes.Equal(got, want) {
					r.Fatalf("%q holds %q, %v", p, got, err)
				}
			}
		}
		if err := tree.Clear(); err != nil || len(holds(t, folder)) > 0 {
			r.Fatalf("after Clear: %v, %q", err, holds(t, folder))
		}
	})
}
