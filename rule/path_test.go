package rule

import (
	"fmt"
	"strings"
	"testing"
)

func TestCheckPublicPath(t *testing.T) {
	deep := strings.Repeat("d/", MaxPathDepth-1)
	long := strings.Repeat(strings.Repeat("p", 100)+"/", 5) + "p"
	for _, c := range []struct{ path, want string }{ // want "" where it is taken
		{"a", ""}, {"a/b.txt", ""}, {"a b/ü.txt", ""}, {"…", ""}, {"a..b", ""}, {"a/b..", ""}, {"-rf", ""}, {"a:b", ""}, {"vendor2/x", ""}, {"a.node_modules", ""},
		{"", "clean relative"}, {".", "clean relative"}, {"..", "clean relative"}, {"/", "clean relative"}, {"/etc/passwd", "clean relative"},
		{"../x", "clean relative"}, {"a/../b", "clean relative"}, {"a/../../b", "clean relative"}, {"a//b", "clean relative"}, {"a/", "clean relative"},
		{"./a", "clean relative"}, {"a/.", "clean relative"},
		{"a\x00b", "control"}, {"a\nb", "control"}, {"a\x1b[2Jb", "control"}, {"a\x7f", "control"}, {"a\u009bm", "control"}, {`a\b`, "backslashes"}, {`..\x`, "backslashes"},
		{"a\xff", "UTF-8"},
		{".env", "hidden"}, {"a/.git/config", "hidden"}, {".a/b", "hidden"}, {"..a", "hidden"}, {"node_modules/x", "hidden"}, {"a/vendor/x", "hidden"}, {"vendor", "hidden"},
		{deep + "f", ""}, {deep + "d/f", "deeper than 32"},
		{strings.Repeat("n", MaxNameLength), ""}, {strings.Repeat("n", MaxNameLength+1), "longer than 200"},
		{long, ""}, {long + strings.Repeat("p", MaxPathBytes-len(long)), ""}, {long + strings.Repeat("p", MaxPathBytes-len(long)+1), "longer than 512"},
	} {
		if c.want == "longer than 512" && len(c.path) != MaxPathBytes+1 {
			t.Fatalf("the path has %d bytes", len(c.path))
		}
		err := CheckPublicPath(c.path)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("CheckPublicPath(%.60q) = %v, want %q", c.path, err, c.want)
		}
	}
}

func TestVisibleIsOnlyAboutVisibility(t *testing.T) {
	if err := CheckPath(".git/vendor"); err != nil {
		t.Errorf("CheckPath speaks of visibility: %v", err)
	}
	if Visible(".git") || !Visible("git") {
		t.Error("Visible(.git), or not Visible(git)")
	}
}

// TestTreeLimits: each limit fires one past it, and not at it.
func TestTreeLimits(t *testing.T) {
	files := func(n, size int) Tree {
		tree := Tree{}
		for i := range n {
			tree[fmt.Sprintf("f%d", i)] = make([]byte, size)
		}
		return tree
	}
	for _, c := range []struct {
		name string
		tree Tree
		want string
	}{
		{"nil", nil, ""},
		{"files", files(MaxTreeFiles, 0), ""},
		{"one file more", files(MaxTreeFiles+1, 0), "limit is 2000 files"},
		{"file size", files(1, MaxFileBytes), ""},
		{"one byte more", files(1, MaxFileBytes+1), "limit is 4194304 bytes"},
		{"tree size", files(MaxTreeBytes/MaxFileBytes, MaxFileBytes), ""},
		{"one byte more in all", Tree{"a": make([]byte, 1), "b": make([]byte, MaxTreeBytes)}, "limit is 16777216 bytes"},
		{"hidden", Tree{"a": nil, "b/.c": nil}, "hidden"},
		{"file and folder", Tree{"a": nil, "a/b": nil}, `"a" is a file too`},
		{"file and folder, deeper", Tree{"x/a": nil, "x/a/b/c": nil}, `"x/a" is a file too`},
		{"only alike", Tree{"a": nil, "a.b": nil, "a b/c": nil, "ab/c": nil}, ""},
	} {
		err := c.tree.CheckPublic()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

func TestTreePathsInByteOrder(t *testing.T) {
	tree := TreeOf(map[string]string{"b": "1", "a/b": "22", "Z": "", "ü": "", "a.b": ""})
	if got := strings.Join(tree.Paths(), " "); got != "Z a.b a/b b ü" {
		t.Errorf("paths %s", got)
	}
	if tree.Bytes() != 3 {
		t.Errorf("%d bytes, want 3", tree.Bytes())
	}
}
