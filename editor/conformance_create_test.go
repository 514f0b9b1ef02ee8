package editor

import (
	"os"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

var createCases = []conformanceCase{
	on("C1", func(b *bench) {
		for _, mask := range []int{0o077, 0o000, 0o777} {
			old := unix.Umask(mask)
			got := b.ok("create", "/draft/d/a.txt", "file_text", "hi")
			unix.Umask(old)
			b.contains(got.Text, "New file created successfully at: /draft/d/a.txt")
			b.holds("d/a.txt", "hi")
			for name, want := range map[string]os.FileMode{"d/a.txt": 0o644, "d": 0o755 | os.ModeDir} {
				if info, err := os.Stat(b.at(name)); err != nil || info.Mode() != want {
					b.Fatalf("%s: mode %v (%v), want %v", name, info.Mode(), err, want)
				}
			}
			must(b.T, os.RemoveAll(b.at("d")))
		}
		if got := b.ok("create", "/draft/a.txt", "file_text", "hi").Text; got != "New file created successfully at: /draft/a.txt" {
			b.Fatalf("got %q", got)
		}
	}),
	on("C2", func(b *bench) {
		b.ok("create", "/draft/a.txt", "file_text", "")
		b.holds("a.txt", "")
	}),
	on("C3", func(b *bench) {
		want := "Parameter `file_text` is required for command: create"
		for _, got := range []string{
			b.fails("missing_parameter", "create", "/draft/a.txt"),
			b.fails("missing_parameter", "create", "/draft/a.txt", "file_text", nil),
		} {
			if got != want {
				b.Fatalf("got %q, want %q", got, want)
			}
		}
		b.absent("a.txt")
	}),
	on("C4", func(b *bench) {
		b.put("d/a.txt", "old")
		for _, p := range []string{"/draft/d/a.txt", "/draft/d", "/draft"} {
			got := b.fails("exists", "create", p, "file_text", "new")
			if want := "File already exists at: " + p + ". Cannot overwrite files using command `create`."; got != want {
				b.Fatalf("got %q, want %q", got, want)
			}
		}
	}),
	with("C5", Options{Depth: 4, Files: 5}, func(b *bench) {
		got := b.ok("create", "/draft/p/q/a.txt", "file_text", "x")
		b.contains(got.Text, "New file created successfully at: /draft/p/q/a.txt", "made the directory /draft/p/q")
		b.holds("p/q/a.txt", "x")
		b.fails("path_too_deep", "create", "/draft/1/2/3/4/a.txt", "file_text", "x")
		b.ok("create", "/draft/1/2/3/a.txt", "file_text", "x")
		b.fails("too_many_folders", "create", "/draft/more/a.txt", "file_text", "x")
		b.absent("more")
		b.fails("not_directory", "create", "/draft/p/q/a.txt/b.txt", "file_text", "x")
	}),
	on("C6", func(b *bench) {
		for _, p := range []string{"/draft/d/", "/draft/d//"} {
			b.fails("bad_path", "create", p, "file_text", "x")
		}
		b.absent("d")
	}),
	on("C7", func(b *bench) {
		must(b.T, os.Symlink(b.at("nowhere"), b.at("in")))
		must(b.T, os.Symlink(b.outside+"/nowhere", b.at("out")))
		for _, p := range []string{"/draft/in", "/draft/out"} {
			b.fails("symlink", "create", p, "file_text", "x")
		}
		b.absent("nowhere")
		if _, err := os.Lstat(b.outside + "/nowhere"); err == nil {
			b.Fatal("written through a link")
		}
	}),
	on("C8", func(b *bench) {
		for _, text := range []string{`\ud800`, `a\udc00b`, `\ud800\u0041`, "raw \xff"} {
			b.failsRaw("not_utf8", `{"command":"create","path":"/draft/a.txt","file_text":"`+text+`"}`)
		}
		b.absent("a.txt")
		b.e.Run("s", []byte(`{"command":"create","path":"/draft/a.txt","file_text":"\ud83d\ude00"}`))
		b.holds("a.txt", "😀")
	}),
	on("C9", func(b *bench) {
		b.failsRaw("nul", `{"command":"create","path":"/draft/a.txt","file_text":"a\u0000b"}`)
		b.absent("a.txt")
	}),
	with("C10", Options{FileBytes: 100, TreeBytes: 250, Files: 4}, func(b *bench) {
		b.fails("file_too_large", "create", "/draft/d/a.txt", "file_text", strings.Repeat("x", 101))
		b.absent("d")
		b.ok("create", "/draft/a.txt", "file_text", strings.Repeat("x", 100))
		b.ok("create", "/draft/b.txt", "file_text", strings.Repeat("x", 100))
		b.fails("tree_too_large", "create", "/draft/c.txt", "file_text", strings.Repeat("x", 51))
		b.fails("tree_too_large", "create", "/draft/e/c.txt", "file_text", strings.Repeat("x", 51))
		b.absent("e")
		b.ok("create", "/draft/c.txt", "file_text", strings.Repeat("x", 50))
		b.fails("tree_too_large", "insert", "/draft/c.txt", "insert_line", 0, "new_str", "more")
		b.ok("str_replace", "/draft/a.txt", "old_str", strings.Repeat("x", 100))
		b.ok("create", "/draft/d.txt", "file_text", "x")
		b.fails("too_many_files", "create", "/draft/e.txt", "file_text", "x")
	}),
	on("C11", func(b *bench) {
		b.ok("create", "/draft/p/a.txt", "file_text", "hi")
		b.undo("/draft/p/a.txt")
		b.absent("p")
		b.undoFails("no_history", "/draft/p/a.txt")
	}),
	{"C12", createRace},
	on("C13", func(b *bench) {
		b.fails("bad_path", "create", "/draft/"+strings.Repeat("n", 300), "file_text", "x")
		b.fails("bad_path", "create", "/draft/"+strings.Repeat("abcdefg/", 4)+strings.Repeat("é", 2_500), "file_text", "x")
		if got := b.fails("path_too_deep", "create", "/draft"+strings.Repeat("/abcdefg", 600), "file_text", "x"); len(got) > 600 {
			b.Fatalf("a message of %d bytes", len(got))
		}
		b.ok("create", "/draft/"+strings.Repeat("n", 200), "file_text", "x")
	}),
}

// createRace lets two editors make the same file many times: one wins, and it
// is the winner's text that stands.
func createRace(t *testing.T) {
	b := newBench(t, Options{})
	editors := []*recorded{b.e, b.open(Options{})}
	for range 20 {
		results := make([]Result, len(editors))
		var wait sync.WaitGroup
		for i, e := range editors {
			wait.Go(func() {
				results[i] = e.Run("s", args(t, "command", "create", "path", "/draft/d/a.txt", "file_text", string(rune('a'+i))))
			})
		}
		wait.Wait()
		winner := 0
		if results[1].OK {
			winner = 1
		}
		if !results[winner].OK || results[1-winner].OK {
			t.Fatalf("want exactly one winner: %+v", results)
		}
		if loser := results[1-winner]; loser.Code != "exists" && loser.Code != "missing" && loser.Code != "file_changed" {
			t.Fatalf("the loser is told %q", loser.Code)
		}
		b.holds("d/a.txt", string(rune('a'+winner)))
		b.tidy()
		must(t, os.RemoveAll(b.at("d")))
	}
}
