package containers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"signalbox/rule"
)

// plant makes files under a new folder.
func plant(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestPublicCopyFilter plants one of each thing that must stay outside beside
// files that must be copied.
func TestPublicCopyFilter(t *testing.T) {
	dir := plant(t, map[string]string{
		"a.txt": "a", "deep/er/b.txt": "b", "empty": "", "UPPER.md": "u", "ünï.txt": "é",
		".env": "secret", "deep/.git/config": "secret", ".hidden/x": "secret",
		"node_modules/m/index.js": "m", "deep/vendor/v.go": "v", "vendor/w.go": "w",
		"linked": "two names",
	})
	must(t, os.Symlink("/etc/passwd", filepath.Join(dir, "passwd")))
	must(t, os.Symlink("/etc", filepath.Join(dir, "etc")))
	must(t, os.Symlink("..", filepath.Join(dir, "deep", "loop")))
	must(t, os.Symlink("a.txt", filepath.Join(dir, "inside")))
	must(t, os.Link(filepath.Join(dir, "linked"), filepath.Join(dir, "linked too")))
	must(t, unix.Mkfifo(filepath.Join(dir, "fifo"), 0o644))
	listener, err := net.Listen("unix", filepath.Join(dir, "socket"))
	must(t, err)
	defer listener.Close()
	if err := unix.Mknod(filepath.Join(dir, "null"), unix.S_IFCHR|0o666, int(unix.Mkdev(1, 3))); err != nil {
		t.Logf("no device planted: %v", err)
	}
	tree, err := PublicCopy(t.Context(), dir)
	must(t, err)
	if got, want := tree.Paths(), []string{"UPPER.md", "a.txt", "deep/er/b.txt", "empty", "ünï.txt"}; !slices.Equal(got, want) {
		t.Errorf("copied %q, want %q", got, want)
	}
	if string(tree["deep/er/b.txt"]) != "b" {
		t.Errorf("deep/er/b.txt is %q", tree["deep/er/b.txt"])
	}
}

func TestPublicCopyEmptyFolder(t *testing.T) {
	tree, err := PublicCopy(t.Context(), t.TempDir())
	if err != nil || tree == nil || len(tree) != 0 {
		t.Errorf("tree = %v, err = %v; want an empty tree", tree, err)
	}
}

// TestPublicCopyLimits runs each limit over by one, beside the largest tree that
// is within it.
func TestPublicCopyLimits(t *testing.T) {
	many := func(n int) map[string]string {
		files := map[string]string{}
		for i := range n {
			files[fmt.Sprintf("d%d/f%d", i%10, i)] = ""
		}
		return files
	}
	large := func(n, size int) map[string]string {
		files := map[string]string{}
		for i := range n {
			files[fmt.Sprintf("f%d", i)] = strings.Repeat("x", size)
		}
		return files
	}
	for _, c := range []struct {
		name     string
		in, over map[string]string
		want     string
	}{
		{"files", many(rule.MaxTreeFiles), many(rule.MaxTreeFiles + 1), fmt.Sprintf("more than %d files", rule.MaxTreeFiles)},
		{"file bytes", large(1, rule.MaxFileBytes), large(1, rule.MaxFileBytes+1), fmt.Sprintf("limit is %d bytes", rule.MaxFileBytes)},
		{"tree bytes", large(4, rule.MaxFileBytes), large(5, rule.MaxFileBytes), fmt.Sprintf("more than %d bytes", rule.MaxTreeBytes)},
		{"depth", map[string]string{strings.Repeat("d/", rule.MaxPathDepth-1) + "f": ""},
			map[string]string{strings.Repeat("d/", rule.MaxPathDepth) + "f": ""}, fmt.Sprintf("deeper than %d", rule.MaxPathDepth)},
		{"name", map[string]string{strings.Repeat("n", rule.MaxNameLength): ""},
			map[string]string{strings.Repeat("n", 255): ""}, fmt.Sprintf("longer than %d bytes", rule.MaxNameLength)},
		{"path", map[string]string{strings.Repeat(strings.Repeat("p", 150)+"/", 3) + "f": ""},
			map[string]string{strings.Repeat(strings.Repeat("p", 150)+"/", 4) + "f": ""}, fmt.Sprintf("longer than %d bytes", rule.MaxPathBytes)},
		{"newline", map[string]string{"a b": ""}, map[string]string{"a\nb": ""}, "control characters"},
		{"encoding", map[string]string{"é": ""}, map[string]string{"\xff": ""}, "not UTF-8"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tree, err := PublicCopy(t.Context(), plant(t, c.in))
			if err != nil || len(tree) != len(c.in) {
				t.Errorf("control: %d files, %v", len(tree), err)
			}
			tree, err = PublicCopy(t.Context(), plant(t, c.over))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("over: err = %v, want %q", err, c.want)
			}
			if tree != nil {
				t.Errorf("over: a copy of %d files", len(tree))
			}
		})
	}
}

func TestPublicCopyEntryLimit(t *testing.T) {
	c := copier{ctx: t.Context(), open: unix.Openat2, tree: rule.Tree{}, entries: maxEntries - 2}
	dir := plant(t, map[string]string{".a": "", ".b": "", ".c": ""})
	root, err := os.Open(dir)
	must(t, err)
	defer root.Close()
	if err := c.folder(root, ""); err == nil || !strings.Contains(err.Error(), "entries") {
		t.Errorf("err = %v, want the limit on entries", err)
	}
}

// TestPublicCopyRaces changes the tree between the copier's steps, through its
// own open.
func TestPublicCopyRaces(t *testing.T) {
	files := map[string]string{"a": "first", "dir/b": "second"}
	for _, c := range []struct {
		name, want string
		change     func(t *testing.T, dir string)
	}{
		{"nothing", "", func(*testing.T, string) {}},
		{"grows", "changed while it was read", func(t *testing.T, dir string) {
			f, err := os.OpenFile(filepath.Join(dir, "a"), os.O_APPEND|os.O_WRONLY, 0)
			must(t, err)
			defer f.Close()
			_, err = f.WriteString("more")
			must(t, err)
		}},
		{"becomes a link", "", func(t *testing.T, dir string) {
			must(t, os.Remove(filepath.Join(dir, "a")))
			must(t, os.Symlink("/etc/passwd", filepath.Join(dir, "a")))
		}},
		{"is replaced", "replaced", func(t *testing.T, dir string) {
			must(t, os.WriteFile(filepath.Join(dir, "new"), []byte("new"), 0o644))
			must(t, os.Rename(filepath.Join(dir, "new"), filepath.Join(dir, "a")))
		}},
		{"folder becomes a link", "", func(t *testing.T, dir string) {
			must(t, os.RemoveAll(filepath.Join(dir, "dir")))
			must(t, os.Symlink("/etc", filepath.Join(dir, "dir")))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := plant(t, files)
			step := 0
			grown := c.name == "grows"
			tree, err := copyPublic(t.Context(), dir, func(folder int, name string, how *unix.OpenHow) (int, error) {
				step++
				target := map[bool]string{true: "dir", false: "a"}[strings.HasPrefix(c.name, "folder")]
				if name == target && !grown {
					c.change(t, dir)
				}
				fd, err := unix.Openat2(folder, name, how)
				return fd, err
			})
			switch {
			case c.name == "nothing":
				if err != nil || len(tree) != 2 {
					t.Errorf("control: %v, %v", tree, err)
				}
			case grown:
				before := unix.Stat_t{Mode: unix.S_IFREG, Nlink: 1, Size: 5}
				opened, openErr := os.Open(filepath.Join(dir, "a"))
				must(t, openErr)
				defer opened.Close()
				must(t, unix.Fstat(int(opened.Fd()), &before))
				c.change(t, dir)
				err = (&copier{tree: rule.Tree{}}).file(opened, "a", before)
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("err = %v, want %q", err, c.want)
				}
			case err == nil || tree != nil || !strings.Contains(err.Error(), c.want):
				t.Errorf("tree = %v, err = %v, want %q", tree, err, c.want)
			case step == 0:
				t.Error("nothing was opened")
			}
			if bytes.Contains([]byte(fmt.Sprint(tree)), []byte("root:")) {
				t.Error("the link was followed")
			}
		})
	}
}

func TestPublicCopyWithoutOpenat2(t *testing.T) {
	dir := plant(t, map[string]string{"a": ""})
	tree, err := copyPublic(t.Context(), dir, func(int, string, *unix.OpenHow) (int, error) { return -1, unix.ENOSYS })
	if err == nil || tree != nil || !strings.Contains(err.Error(), "openat2") {
		t.Errorf("tree = %v, err = %v; want a refusal that names openat2", tree, err)
	}
}

func TestPublicCopySubmount(t *testing.T) {
	dir := plant(t, map[string]string{"a": "", "sub/b": ""})
	sub := filepath.Join(dir, "sub")
	if err := unix.Mount("tmpfs", sub, "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("mounting needs more rights: %v", err)
	}
	defer unix.Unmount(sub, unix.MNT_DETACH)
	must(t, os.WriteFile(filepath.Join(sub, "inside"), nil, 0o644))
	if tree, err := PublicCopy(t.Context(), dir); err == nil || !strings.Contains(err.Error(), "another mount") {
		t.Errorf("tree = %v, err = %v; want a refusal of the mount", tree, err)
	}
}

func TestPublicCopyMissingAndCancelled(t *testing.T) {
	if _, err := PublicCopy(t.Context(), filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing folder: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := PublicCopy(ctx, plant(t, map[string]string{"a": ""})); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestPublicCopyLaw: whatever the names, the copy is exactly the planted files
// that are visible, byte for byte.
func TestPublicCopyLaw(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		element := rapid.SampledFrom([]string{"a", "b", "C", ".git", "vendor", "node_modules", "..x", "x.", "é"})
		files := rapid.MapOfN(rapid.Custom(func(rt *rapid.T) string {
			return strings.Join(rapid.SliceOfN(element, 1, 4).Draw(rt, "path"), "/") + "/f"
		}), rapid.String(), 0, 8).Draw(rt, "files")
		dir, err := os.MkdirTemp("", "public")
		if err != nil {
			rt.Fatal(err)
		}
		defer os.RemoveAll(dir)
		want := rule.Tree{}
		for name, text := range files {
			os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755)
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				rt.Fatal(err)
			}
			if rule.Visible(name) {
				want[name] = []byte(text)
			}
		}
		got, err := PublicCopy(context.Background(), dir)
		if err != nil || got.Digest() != want.Digest() {
			rt.Fatalf("copy %v, err %v, want %v", got.Paths(), err, want.Paths())
		}
	})
}
