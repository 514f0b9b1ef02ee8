package editor

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// everyCommand runs all commands at a path, and all must be refused.
func (b *bench) everyCommand(code, path string) {
	b.Helper()
	b.fails(code, "view", path)
	b.fails(code, "create", path, "file_text", "x")
	b.editsFail(code, path)
}

func (b *bench) editsFail(code, path string) {
	b.Helper()
	b.fails(code, "str_replace", path, "old_str", "secret", "new_str", "x")
	b.fails(code, "insert", path, "insert_line", 0, "new_str", "x")
}

var hostileCases = []conformanceCase{
	on("H1", func(b *bench) {
		b.put("a.txt", "")
		for given, want := range map[string]string{
			"a.txt":       " Maybe you meant /draft/a.txt?",
			"./a.txt":     " Maybe you meant /draft/a.txt?",
			"draft/a.txt": " Maybe you meant /draft/a.txt?",
			"none.txt":    "", "": "", "../outside/x.txt": "", "etc/hostname": "",
		} {
			got := b.fails("not_absolute", "view", given)
			if want := "The path " + given + " is not an absolute path, it should start with `/`." + want; got != want {
				b.Fatalf("got %q, want %q", got, want)
			}
		}
	}),
	on("H2", func(b *bench) {
		b.put("d/x", "")
		for _, p := range []string{"/draft/../outside.txt", "/draft/d/../../x", "/draft/..", "/draft/../outside/x.txt", "/draft/../root/d/x"} {
			b.everyCommand("outside", p)
		}
		there := b.fails("outside", "view", "/draft/../outside/x.txt")
		gone := b.fails("outside", "view", "/draft/../outside/y.txt")
		if strings.Replace(there, "x.txt", "y.txt", 1) != gone {
			b.Fatalf("the texts tell what exists: %q, %q", there, gone)
		}
	}),
	on("H3", func(b *bench) {
		for _, p := range []string{"/etc/hostname", "//etc/hostname", "/proc/self/environ", "/proc/self/root/etc/hostname", "/"} {
			b.fails("outside", "view", p)
			if p != "/" {
				b.fails("outside", "create", p, "file_text", "x")
				b.editsFail("outside", p)
			}
		}
	}),
	on("H4", func(b *bench) {
		for _, p := range []string{"/draft2.txt", "/draft-old/x", "/draftx", "/Draft/x", "/draft\u200b/x"} {
			b.everyCommand("outside", p)
		}
	}),
	on("H5", func(b *bench) {
		b.put("edited.txt", "a\n")
		b.ok("str_replace", "/draft/edited.txt", "old_str", "a", "new_str", "b")
		must(b.T, os.Remove(b.at("edited.txt")))
		for _, name := range []string{"edited.txt", "link"} {
			must(b.T, os.Symlink(b.outside+"/x.txt", b.at(name)))
			b.everyCommand("symlink", "/draft/"+name)
		}
		b.undoFails("symlink", "/draft/edited.txt")
	}),
	on("H6", func(b *bench) {
		must(b.T, os.Symlink(b.outside, b.at("link")))
		b.everyCommand("symlink", "/draft/link")
		b.everyCommand("symlink", "/draft/link/x.txt")
		for _, p := range []string{"/draft/link/new.txt", "/draft/link/new/new.txt"} {
			b.fails("symlink", "create", p, "file_text", "x")
		}
	}),
	on("H7", func(b *bench) {
		b.put("d/a.txt", "secret\n")
		must(b.T, os.Symlink("d/a.txt", b.at("file")))
		must(b.T, os.Symlink("d", b.at("folder")))
		b.everyCommand("symlink", "/draft/file")
		b.everyCommand("symlink", "/draft/folder/a.txt")
		b.ok("view", "/draft/d/a.txt")
	}),
	on("H8", func(b *bench) {
		must(b.T, os.Symlink("two", b.at("one")))
		must(b.T, os.Symlink("one", b.at("two")))
		b.everyCommand("symlink", "/draft/one")
		b.everyCommand("symlink", "/draft/two/x")
	}),
	on("H9", func(b *bench) {
		must(b.T, os.Link(b.outside+"/x.txt", b.at("hard.txt")))
		b.fails("hard_link", "view", "/draft/hard.txt")
		b.editsFail("hard_link", "/draft/hard.txt")
		b.fails("exists", "create", "/draft/hard.txt", "file_text", "x")
	}),
	on("H10", neverBlocks),
	on("H11", func(b *bench) {
		b.everyCommand("outside", "/dev/zero")
		must(b.T, os.Symlink("/dev/zero", b.at("zero")))
		b.everyCommand("symlink", "/draft/zero")
	}),
	on("H12", func(b *bench) {
		for _, p := range []string{"a\x00b", "a\nb", "a\x1b[31m", "a\x7f", `a\b`, `..\..\x`, "\u0000"} {
			got := b.fails("bad_path", "view", "/draft/"+p)
			b.lacks(got, "\x00", "\x1b", "\x7f")
			b.editsFail("bad_path", "/draft/"+p)
			b.fails("bad_path", "create", "/draft/"+p, "file_text", "x")
		}
		b.failsRaw("not_utf8", `{"command":"view","path":"/draft/`+"\xff"+`"}`)
		b.failsRaw("not_utf8", `{"command":"view","path":"/draft/\ud800"}`)
		b.fails("not_absolute", "view", `C:\draft\a.txt`)
		b.fails("bad_path", "create", "/draft/"+temporaryPrefix+"1-00", "file_text", "x")
	}),
	on("H13", hugeFiles),
	{"H14", foldersSwapped},
	on("H15", func(b *bench) {
		b.put("a.txt", "a\n")
		moved := b.root + ".moved"
		must(b.T, os.Rename(b.root, moved))
		must(b.T, os.Mkdir(b.root, 0o755))
		b.put("a.txt", "a\n")
		b.ok("str_replace", aFile, "old_str", "a", "new_str", "b")
		b.holds("a.txt", "a\n")
		if got, _ := os.ReadFile(moved + "/a.txt"); string(got) != "b\n" {
			b.Fatalf("the held tree holds %q", got)
		}
		must(b.T, os.RemoveAll(moved))
		b.fails("missing", "view", aFile)
		b.fails("missing", "create", "/draft/new.txt", "file_text", "x")
	}),
	on("H16", mountsBelow),
}

// neverBlocks looks at everything that a plain open could wait for.
func neverBlocks(b *bench) {
	must(b.T, unix.Mkfifo(b.at("fifo"), 0o644))
	must(b.T, unix.Mknod(b.at("socket"), unix.S_IFSOCK|0o666, 0))
	kinds := []string{"fifo", "socket"}
	if os.Getuid() == 0 {
		must(b.T, unix.Mknod(b.at("device"), unix.S_IFCHR|0o666, int(unix.Mkdev(1, 5))))
		kinds = append(kinds, "device")
	}
	for _, kind := range kinds {
		started := time.Now()
		p := "/draft/" + kind
		if got := b.fails("not_regular", "view", p); got != `cannot view "`+p+`": not a regular file or directory` {
			b.Fatalf("got %q", got)
		}
		b.editsFail("not_regular", p)
		b.fails("exists", "create", p, "file_text", "x")
		b.fails("missing", "view", p+"/x")
		if took := time.Since(started); took > time.Second {
			b.Fatalf("%s took %v", kind, took)
		}
	}
}

// hugeFiles holds a large, a sparse and a growing file against the limit.
func hugeFiles(b *bench) {
	b.put("large.txt", strings.Repeat("x", 11<<20))
	b.put("sparse.txt", "")
	must(b.T, os.Truncate(b.at("sparse.txt"), 1<<40))
	for _, p := range []string{"/draft/large.txt", "/draft/sparse.txt"} {
		b.fails("file_too_large", "view", p)
		b.editsFail("file_too_large", p)
	}
	b.put("growing.txt", "x\n")
	b.e.tree.fault = func(step string) error {
		if step == "read" {
			b.put("growing.txt", strings.Repeat("x", 1<<20))
		}
		return nil
	}
	got := b.e.Run("s", args(b, "command", "view", "path", "/draft/growing.txt"))
	b.e.tree.fault = nil
	b.refused(got, "file_too_large")
}

// foldersSwapped edits a file 10,000 times while its folder keeps turning into
// a link to the outside, where a file of the same name waits.
func foldersSwapped(t *testing.T) {
	b := newBenchIn(t, fastDir(t), Options{})
	b.put("d/x.txt", secretless)
	before := outsideState(t, b)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go swapFolder(b, stop, stopped)
	done, refusedCount := 0, 0
	for i := range 10_000 {
		calls := [][]byte{args(t, "command", "insert", "path", "/draft/d/x.txt", "insert_line", 0, "new_str", "the outside")}
		switch i % 10 {
		case 3:
			calls = append(calls, args(t, "command", "view", "path", "/draft/d/x.txt"))
		case 5:
			calls = append(calls, args(t, "command", "view", "path", "/draft/d"))
		case 7:
			calls = append(calls, args(t, "command", "create", "path", fmt.Sprintf("/draft/d/new/%d.txt", i%20), "file_text", "x"))
		}
		for _, call := range calls {
			got := b.e.Run("s", call)
			if strings.Contains(got.Text, strings.TrimSpace(secret)) {
				t.Fatalf("the outside was read: %s", got.Text)
			}
			if got.OK {
				done++
			} else {
				refusedCount++
			}
		}
		if i%50 == 0 {
			b.e.Run("s", args(t, "command", "str_replace", "path", "/draft/d/x.txt", "old_str", "absent"))
			for range 60 {
				b.e.Undo("s", "/draft/d/x.txt")
			}
		}
	}
	close(stop)
	<-stopped
	if after := outsideState(t, b); after != before {
		t.Fatalf("the outside changed:\n%s\nbecame\n%s", before, after)
	}
	if done == 0 || refusedCount == 0 {
		t.Fatalf("%d calls went through and %d were refused: nothing was raced", done, refusedCount)
	}
}

const secretless = "inside\n"

// swapFolder exchanges d for a link to the outside and back, until stop.
func swapFolder(b *bench, stop, stopped chan struct{}) {
	defer close(stopped)
	_ = os.Symlink(b.outside, b.at("link"))
	for {
		_ = unix.Renameat2(unix.AT_FDCWD, b.at("d"), unix.AT_FDCWD, b.at("link"), unix.RENAME_EXCHANGE)
		select {
		case <-stop:
			return
		default:
		}
	}
}

func outsideState(t *testing.T, b *bench) string {
	t.Helper()
	var all strings.Builder
	err := filepath.Walk(b.outside, func(p string, info os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		fmt.Fprintln(&all, p, info.Mode(), info.Size(), info.ModTime())
		return nil
	})
	must(t, err)
	data, err := os.ReadFile(b.outside + "/x.txt")
	must(t, err)
	return all.String() + string(data)
}

// mountsBelow mounts a folder and a file of the same file system into the tree.
func mountsBelow(b *bench) {
	needRoot(b.T)
	must(b.T, os.Mkdir(b.at("m"), 0o755))
	b.put("f.txt", "")
	b.put("a.txt", "a\n")
	for from, to := range map[string]string{b.outside: "m", b.outside + "/x.txt": "f.txt"} {
		if err := unix.Mount(from, b.at(to), "", unix.MS_BIND, ""); err != nil {
			b.Skipf("mounting is not possible here: %v", err)
		}
		b.Cleanup(func() { _ = unix.Unmount(b.at(to), unix.MNT_DETACH) })
	}
	b.everyCommand("mount", "/draft/m/x.txt")
	b.fails("mount", "view", "/draft/m")
	b.fails("mount", "create", "/draft/m/new.txt", "file_text", "x")
	b.fails("mount", "view", "/draft/f.txt")
	b.editsFail("mount", "/draft/f.txt")
	b.contains(b.view("/draft"), "d\t/draft/m/ (can't be listed)\n")
	b.ok("str_replace", aFile, "old_str", "a", "new_str", "aa")
}
