package main

import (
	"os"
	"path/filepath"
	"testing"
)

func hexed(text string) string {
	const digits = "0123456789abcdef"
	out := `"`
	for _, b := range []byte(text) {
		out += `\x` + string(digits[b>>4]) + string(digits[b&15])
	}
	return out + `"`
}

// replacing is a log of a write to a temporary file that is renamed over "a".
func replacing(t *testing.T, syncs ...string) recording {
	t.Helper()
	stage := t.TempDir()
	must(t, os.WriteFile(filepath.Join(stage, "a"), []byte("old"), 0o600))
	path := func(name string) string { return hexed(filepath.Join(stage, name)) }
	r := &recorder{stage: stage, live: newDisk(), files: map[string]int{}, offsets: map[string]int{}}
	must(t, r.live.load(stage))
	r.base = r.live.clone()
	sync := func(what string) {
		for _, s := range syncs {
			if s == what {
				must(t, r.line(map[string]string{"file": "7 fsync(3)   = 0", "folder": "7 fsync(4)   = 0"}[what]))
			}
		}
	}
	must(t, r.line("7 openat(AT_FDCWD, "+path("b")+", O_RDWR|O_CREAT|O_EXCL, 0600) = 3"))
	must(t, r.line("7 write(3, "+hexed("new")+", 3)   = 3"))
	sync("file")
	must(t, r.line("7 openat(AT_FDCWD, "+hexed(stage)+", O_RDONLY) = 4"))
	must(t, r.line("7 renameat(AT_FDCWD, "+path("b")+", AT_FDCWD, "+path("a")+") = 0"))
	sync("folder")
	return recording{r.base, r.ops}
}

// contents are what "a" may hold after a crash, and after one at the very end.
func contents(t *testing.T, r recording) (any, atEnd map[string]bool) {
	t.Helper()
	any, atEnd = map[string]bool{}, map[string]bool{}
	r.states(func(d *disk, done bool) {
		_, _, found, err := d.place("a")
		must(t, err)
		text := "none"
		if found >= 0 {
			text = string(d.nodes[found].data)
		}
		any[text] = true
		if done {
			atEnd[text] = true
		}
	})
	return any, atEnd
}

func TestStatesOfAReplacement(t *testing.T) {
	for name, c := range map[string]struct {
		syncs        []string
		empty, stale bool
	}{
		"no sync":     {nil, true, true},
		"file only":   {[]string{"file"}, false, true},
		"folder only": {[]string{"folder"}, true, false},
		"both":        {[]string{"file", "folder"}, false, false},
	} {
		any, atEnd := contents(t, replacing(t, c.syncs...))
		if !any["old"] || !any["new"] || any["none"] {
			t.Errorf("%s: %v, want old and new among them", name, any)
		}
		if any[""] != c.empty || atEnd["old"] != c.stale {
			t.Errorf("%s: empty %v, old at the end %v: want %v, %v", name, any[""], atEnd["old"], c.empty, c.stale)
		}
	}
}

func TestTornWrite(t *testing.T) {
	any, _ := contents(t, replacing(t))
	if !any["new"] {
		t.Fatal("no state with the whole write")
	}
	r := replacing(t)
	torn, ok := r.torn(2)
	if !ok || string(torn.nodes[len(torn.nodes)-1].data) != "n" {
		t.Errorf("torn: %v", ok)
	}
	if _, ok := r.torn(1); ok {
		t.Error("making a file can't be torn")
	}
}

func TestRecorderRefusesWhatItDoesNotKnow(t *testing.T) {
	r := &recorder{stage: "/s", live: newDisk(), base: newDisk(), files: map[string]int{}, offsets: map[string]int{}}
	for _, line := range []string{
		"7 linkat(AT_FDCWD, \"\", AT_FDCWD, \"\", 0) = 0",
		"7 fsync(3 <unfinished ...>",
		"7 mkdirat(AT_FDCWD, " + hexed("/s/no/folder") + ", 0700) = 0",
	} {
		if err := r.line(line); err == nil {
			t.Errorf("%s: want an error", line)
		}
	}
	for _, line := range []string{"7 unlinkat(AT_FDCWD, \"\", 0) = -1 ENOENT (no)", "7 +++ exited with 0 +++", "7 write(1, \"\\x41\", 1) = 1"} {
		if err := r.line(line); err != nil || len(r.ops) > 0 {
			t.Errorf("%s: %v, %d operations", line, err, len(r.ops))
		}
	}
}

func TestLosses(t *testing.T) {
	for n, want := range map[int]int{0: 1, 1: 2, 3: 8, mostPending: 1 << mostPending, mostPending + 1: 2*(mostPending+1) + 2} {
		if got := len(losses(n)); got != want {
			t.Errorf("%d pending: %d combinations, want %d", n, got, want)
		}
	}
}

func TestDiskRoundTrip(t *testing.T) {
	from, to := t.TempDir(), t.TempDir()
	must(t, os.Mkdir(filepath.Join(from, "d"), 0o700))
	must(t, os.WriteFile(filepath.Join(from, "d", "x"), []byte("1"), 0o400))
	first, second := newDisk(), newDisk()
	must(t, first.load(from))
	must(t, first.save(to))
	must(t, second.load(to))
	if first.digest() != second.digest() {
		t.Error("another disk came back")
	}
	must(t, os.Chmod(filepath.Join(to, "d", "x"), 0o600))
	third := newDisk()
	must(t, third.load(to))
	if third.digest() == first.digest() {
		t.Error("the digest doesn't see a mode")
	}
}

func TestRecorderFollowsFoldersAndOffsets(t *testing.T) {
	stage := t.TempDir()
	r := &recorder{stage: stage, live: newDisk(), files: map[string]int{}, offsets: map[string]int{}}
	r.base = r.live.clone()
	path := func(name string) string { return hexed(filepath.Join(stage, name)) }
	for _, line := range []string{
		"7 mkdirat(AT_FDCWD, " + path("d") + ", 0700)   = 0",
		"7 open(" + path("d/x") + ", O_RDWR|O_CREAT, 0600) = 5",
		"7 write(5, " + hexed("ab") + ", 2) = 2",
		"7 write(5, " + hexed("c") + ", 1) = 1",
		"7 pwrite64(5, " + hexed("z") + ", 1, 4) = 1",
		"7 ftruncate(5, 4) = 0",
		"7 fchmod(5, 0400) = 0",
		"7 rename(" + path("d") + ", " + path("e") + ") = 0",
		"7 open(" + path("e/y") + ", O_RDWR|O_CREAT, 0600) = 6",
		"7 unlink(" + path("e/y") + ") = 0",
	} {
		must(t, r.line(line))
	}
	out := t.TempDir()
	must(t, r.live.save(out))
	data, err := os.ReadFile(filepath.Join(out, "e", "x"))
	if err != nil || string(data) != "abc\x00" {
		t.Errorf("e/x holds %q, %v", data, err)
	}
	if _, err := os.Lstat(filepath.Join(out, "e", "y")); !os.IsNotExist(err) {
		t.Errorf("e/y: %v", err)
	}
}
