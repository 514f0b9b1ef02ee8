package testbed

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"signalbox/rule"
)

func text(s string) *string { return &s }

// folder writes files below a new folder and returns it with its tree.
func folder(t *testing.T, files map[string]string) (string, rule.Tree) {
	t.Helper()
	dir := t.TempDir()
	for p, s := range files {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(p)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, p), []byte(s), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir, rule.TreeOf(files)
}

// state returns every file below dir, hidden ones too.
func state(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(p)
		name, _ := filepath.Rel(dir, p)
		files[name] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func equal(a, b map[string]string) bool {
	if len(a) != len(b) {
		return false
	}
	for k, v := range a {
		if w, ok := b[k]; !ok || v != w {
			return false
		}
	}
	return true
}

func TestDiff(t *testing.T) {
	tree := rule.TreeOf(map[string]string{"a.txt": "1\n2\n3\n", "gone.txt": "x\n", "same.txt": "s\n"})
	got := string(Diff(tree, map[string]*string{"a.txt": text("1\ntwo\n3\n"), "gone.txt": nil, "new/n.txt": text("n\n"), "same.txt": text("s\n")}))
	for _, want := range []string{
		"--- a/a.txt\n+++ b/a.txt\n", "-2\n+two\n", "--- a/gone.txt\n+++ /dev/null\n", "--- /dev/null\n+++ b/new/n.txt\n", "+n\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("diff lacks %q:\n%s", want, got)
		}
	}
	if strings.Contains(got, "same.txt") {
		t.Errorf("diff says too much:\n%s", got)
	}
}

// TestDiffIsAPatch has git apply what Diff writes, empty files included.
func TestDiffIsAPatch(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git isn't there")
	}
	dir, tree := folder(t, map[string]string{"a.txt": "1\n2\n3", "gone.txt": "x\n", "empty": "", "d/e.txt": "e\n"})
	files := map[string]*string{"a.txt": text("1\nzwei\n3"), "gone.txt": nil, "empty": nil, "made": text(""), "n/new.txt": text("no newline"), "d/e.txt": text("")}
	patch := filepath.Join(t.TempDir(), "p.patch")
	if err := os.WriteFile(patch, Diff(tree, files), 0o600); err != nil {
		t.Fatal(err)
	}
	apply := exec.Command(git, "apply", patch)
	apply.Dir = dir
	if out, err := apply.CombinedOutput(); err != nil {
		t.Fatalf("git apply: %v\n%s", err, out)
	}
	want := map[string]string{"a.txt": "1\nzwei\n3", "made": "", "n/new.txt": "no newline", "d/e.txt": ""}
	if got := state(t, dir); !equal(got, want) {
		t.Errorf("tree is %v, want %v", got, want)
	}
}

// TestApplyNamesLeftovers stands in for an apply that was killed half way.
func TestApplyNamesLeftovers(t *testing.T) {
	dir, tree := folder(t, map[string]string{"a.txt": "1\n", "b.txt": "1\n"})
	left := filepath.Join(dir, oldPrefix+"XYZ-a.txt")
	if err := os.WriteFile(left, []byte("0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Apply(dir, tree, map[string]*string{"a.txt": text("2\n")}); err == nil || !strings.Contains(err.Error(), oldPrefix) {
		t.Errorf("error %v, want one that names the old text", err)
	}
	if err := Apply(dir, tree, map[string]*string{"b.txt": text("2\n")}); err != nil {
		t.Errorf("control: %v", err)
	}
}

// TestApplyKeepsALateChange changes a file after the first look.
func TestApplyKeepsALateChange(t *testing.T) {
	dir, tree := folder(t, map[string]string{"a.txt": "1\n"})
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	a := &applying{root: root, tree: tree, suffix: "S"}
	if err := a.checkUnchanged("a.txt"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("somebody's\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := a.change("a.txt", text("2\n")); err != nil {
		t.Fatal(err)
	}
	if err := a.checkBackups(); !errors.Is(err, ErrChanged) {
		t.Fatalf("error %v, want ErrChanged", err)
	}
	if err := a.undo(); err != nil {
		t.Fatal(err)
	}
	if got := state(t, dir); !equal(got, map[string]string{"a.txt": "somebody's\n"}) {
		t.Errorf("tree is %v", got)
	}
}

func TestApply(t *testing.T) {
	dir, tree := folder(t, map[string]string{"a.txt": "1\n", "b/c.txt": "c\n", "keep.txt": "k\n"})
	if err := os.Chmod(filepath.Join(dir, "a.txt"), 0o755); err != nil {
		t.Fatal(err)
	}
	err := Apply(dir, tree, map[string]*string{"a.txt": text("2\n"), "b/c.txt": nil, "n/m/new.txt": text("new\n")})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"a.txt": "2\n", "keep.txt": "k\n", "n/m/new.txt": "new\n"}
	if got := state(t, dir); !equal(got, want) {
		t.Errorf("tree is %v, want %v", got, want)
	}
	if info, _ := os.Stat(filepath.Join(dir, "a.txt")); info.Mode().Perm() != 0o755 {
		t.Errorf("mode %v, want 0755", info.Mode())
	}
}

func TestApplyRefusesWhatChanged(t *testing.T) {
	outside := t.TempDir()
	for name, spoil := range map[string]func(dir string) error{
		"other text":   func(dir string) error { return os.WriteFile(filepath.Join(dir, "z.txt"), []byte("other"), 0o644) },
		"gone":         func(dir string) error { return os.Remove(filepath.Join(dir, "z.txt")) },
		"link":         func(dir string) error { return relink(filepath.Join(dir, "z.txt"), "/etc/hostname") },
		"folder link":  func(dir string) error { return relink(filepath.Join(dir, "d"), outside) },
		"appeared":     func(dir string) error { return os.WriteFile(filepath.Join(dir, "new.txt"), nil, 0o644) },
		"file as path": func(dir string) error { return relinkFile(filepath.Join(dir, "d")) },
	} {
		t.Run(name, func(t *testing.T) {
			dir, tree := folder(t, map[string]string{"a.txt": "1\n", "z.txt": "z\n", "d/e.txt": "e\n"})
			if err := spoil(dir); err != nil {
				t.Fatal(err)
			}
			before := state(t, dir)
			err := Apply(dir, tree, map[string]*string{"a.txt": text("2\n"), "z.txt": text("y\n"), "d/e.txt": text("f\n"), "new.txt": text("n")})
			if !errors.Is(err, ErrChanged) {
				t.Errorf("error %v, want ErrChanged", err)
			}
			if got := state(t, dir); !equal(got, before) {
				t.Errorf("tree is %v, was %v", got, before)
			}
		})
	}
}

func relink(path, target string) error {
	if err := os.RemoveAll(path); err != nil {
		return err
	}
	return os.Symlink(target, path)
}

func relinkFile(path string) error {
	if err := os.RemoveAll(path); err != nil {
		return err
	}
	return os.WriteFile(path, nil, 0o644)
}

func TestApplyRefusesBadOutcomes(t *testing.T) {
	dir, tree := folder(t, map[string]string{"a.txt": "1\n"})
	for _, files := range []map[string]*string{
		{"../x": text("")}, {"/etc/x": text("")}, {".hidden": text("")}, {"absent.txt": nil}, {"vendor/x": text("")},
	} {
		if err := Apply(dir, tree, files); err == nil {
			t.Errorf("applied %v", files)
		}
	}
	if got := state(t, dir); !equal(got, map[string]string{"a.txt": "1\n"}) {
		t.Errorf("tree is %v", got)
	}
}

// TestApplyPutsBack fills the disk in the middle of an apply.
func TestApplyPutsBack(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("mounting a small disk needs root")
	}
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("mounting a small disk: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, 0) })
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	tree := rule.TreeOf(map[string]string{"a.txt": "1\n"})
	big := strings.Repeat("x", 1<<20)
	if err := Apply(dir, tree, map[string]*string{"a.txt": text("2\n"), "big.txt": &big}); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("error %v, want ENOSPC", err)
	}
	if got := state(t, dir); !equal(got, map[string]string{"a.txt": "1\n"}) {
		t.Errorf("tree is not as before: %d files", len(got))
	}
	if err := Apply(dir, tree, map[string]*string{"a.txt": text("2\n")}); err != nil {
		t.Errorf("control: %v", err)
	}
}
