package editor

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"unicode/utf8"
)

const tenLines = "/draft/ten.txt"

func ten(b *bench) { b.put("ten.txt", lines(10)) }

var viewCases = []conformanceCase{
	on("V1", func(b *bench) {
		b.put("a.txt", "x\ny\n")
		got := b.ok("view", "/draft/a.txt").Text
		want := "Here's the content of /draft/a.txt with line numbers (which has a total of 2 lines):\n     1  x\n     2  y\n"
		if got != want {
			b.Fatalf("got %q, want %q", got, want)
		}
	}),
	on("V2", func(b *bench) {
		b.put("a.txt", "x\ny")
		b.shows("     1  x\n     2  y\nNOTE: no newline at end of file.\n", "/draft/a.txt")
		b.shows("     1  x\n", "/draft/a.txt", "view_range", []int{1, 1})
	}),
	on("V3", func(b *bench) {
		b.put("a.txt", "")
		for _, r := range []any{nil, []int{1, -1}, []int{1, 1}} {
			b.shows("     1  \n", "/draft/a.txt", "view_range", r)
		}
		b.contains(b.fails("bad_range", "view", "/draft/a.txt", "view_range", []int{2, 2}), "[1, 1]")
	}),
	on("V4", func(b *bench) {
		ten(b)
		b.shows(rows(2, 4), tenLines, "view_range", []int{2, 4})
		b.shows(rows(9, 10), tenLines, "view_range", []int{9, -1})
		b.shows(rows(10, 10), tenLines, "view_range", []int{10, 10})
		b.contains(b.ok("view", tenLines, "view_range", []int{9, -1}).Text, "(which has a total of 10 lines) with view_range=[9, -1]:\n")
	}),
	on("V5", func(b *bench) {
		ten(b)
		for _, r := range [][]int{{11, -1}, {11, 11}} {
			got := b.fails("bad_range", "view", tenLines, "view_range", r)
			b.contains(got, fmt.Sprintf("Invalid `view_range`: [11, %d]. Its first element `11` should be within the range of lines of the file: [1, 10]", r[1]))
		}
	}),
	on("V6", func(b *bench) {
		ten(b)
		b.shows("NOTE: We only show up to 10 since there're only 10 lines in this file.\n"+rows(8, 10), tenLines, "view_range", []int{8, 99})
	}),
	on("V7", func(b *bench) {
		ten(b)
		for _, r := range [][]int{{0, 2}, {-1, 2}, {4, 2}, {1, -2}, {3}, {1, 2, 3}} {
			b.contains(b.fails("bad_range", "view", tenLines, "view_range", r), "Invalid `view_range`")
		}
		b.contains(b.fails("bad_range", "view", tenLines, "view_range", []int{4, 2}), "Its second element `2`")
		b.shows(rows(4, 5), tenLines, "view_range", []int{4, 5})
	}),
	on("V8", func(b *bench) {
		ten(b)
		b.shows(rows(1, 10), tenLines, "view_range", []int{})
	}),
	on("V9", func(b *bench) {
		ten(b)
		for _, r := range []string{`[true,2]`, `[1.5,2]`, `["1","2"]`, `{"a":1}`, `7`, `[[1],2]`} {
			b.failsRaw("bad_type", `{"command":"view","path":"/draft/ten.txt","view_range":`+r+`}`)
		}
	}),
	on("V10", func(b *bench) {
		ten(b)
		for _, r := range []string{`"[2, 4]"`, `[2.0,4]`, `[2,4e0]`} {
			got := b.e.Run("s", []byte(`{"command":"view","path":"/draft/ten.txt","view_range":`+r+`}`))
			if !got.OK || !got.Repaired || !strings.HasSuffix(got.Text, ":\n"+rows(2, 4)) {
				b.Fatalf("%s: %+v", r, got)
			}
		}
		if b.ok("view", tenLines, "view_range", []int{2, 4}).Repaired {
			b.Fatal("nothing was to repair")
		}
		for _, r := range []string{`"2, 4"`, `"[2, 4"`, `"[\"2\", 4]"`, `""`, `"\"[2, 4]\""`} {
			b.failsRaw("bad_type", `{"command":"view","path":"/draft/ten.txt","view_range":`+r+`}`)
		}
	}),
	on("V11", viewClipped),
	on("V12", func(b *bench) {
		b.put("a.txt", strings.Repeat("é", 16_001)+"\nsecond\n")
		got := b.ok("view", "/draft/a.txt").Text
		if n := utf8.RuneCountInString(got); n > 16_000 || n < 15_000 || !utf8.ValidString(got) {
			b.Fatalf("%d characters, valid %v", n, utf8.ValidString(got))
		}
		b.contains(got, "     1  éé", "é\n<response clipped>", "Line 1 is too long", "view_range [2, -1]")
	}),
	on("V13", func(b *bench) {
		text := "a\u2028b\vc\fd\u0085e"
		b.put("a.txt", text+"\n")
		b.shows("     1  "+text+"\n", "/draft/a.txt", "view_range", []int{1, 1})
		b.contains(b.ok("view", "/draft/a.txt").Text, "a total of 1 lines")
	}),
	on("V14", func(b *bench) {
		b.put("a.txt", "x\r\ny\r\n")
		got := b.ok("view", "/draft/a.txt").Text
		b.contains(got, "(CRLF line endings):\n     1  x\n     2  y\n")
		b.lacks(got, "\r")
		b.put("b.txt", "x\r\ny\n")
		b.contains(b.ok("view", "/draft/b.txt").Text, "(mixed line endings)")
	}),
	on("V15", func(b *bench) {
		b.put("a.txt", "a\rb\nc\n")
		b.shows("     1  a\\rb\n     2  c\n", "/draft/a.txt")
	}),
	on("V16", func(b *bench) {
		b.put("a.txt", bom+"x\ny\n")
		got := b.ok("view", "/draft/a.txt").Text
		b.contains(got, "NOTE: the file begins with a UTF-8 byte order mark", "     1  x\n")
		b.lacks(got, bom)
		b.ok("str_replace", "/draft/a.txt", "old_str", "x\n", "new_str", "z\n")
		b.ok("insert", "/draft/a.txt", "insert_line", 0, "new_str", "first")
		b.holds("a.txt", bom+"first\nz\ny\n")
	}),
	on("V17", func(b *bench) {
		for _, p := range []string{"b.txt", "a/f.txt", "a/deep/not.txt", ".hidden/x", ".dot", "node_modules/m.js", "a/__pycache__/c"} {
			b.put(p, "")
		}
		got := b.ok("view", "/draft").Text
		want := "Here're the files and directories up to 2 levels deep in /draft, excluding hidden items, node_modules, and Python cache directories:\n" +
			"d\t/draft/\nd\t/draft/a/\nd\t/draft/a/deep/\nf\t/draft/a/f.txt\nf\t/draft/b.txt\n" +
			"NOTE: 4 hidden or excluded items are not listed.\n"
		if got != want {
			b.Fatalf("got\n%s\nwant\n%s", got, want)
		}
		b.contains(b.view("/draft/a/"), "d\t/draft/a/\n", "f\t/draft/a/deep/not.txt\n")
	}),
	on("V18", func(b *bench) {
		b.fails("bad_range", "view", "/draft", "view_range", []int{1, 2})
	}),
	on("V19", func(b *bench) {
		for _, p := range []string{"d d/x", "$(touch PWNED)/x", "x;touch y;/x"} {
			b.put(p, "")
			got := b.view("/draft/" + strings.TrimSuffix(p, "/x"))
			b.contains(got, "f\t/draft/"+p+"\n")
		}
		b.contains(b.view("/draft"), "d\t/draft/d d/\n", "d\t/draft/$(touch PWNED)/\n", "d\t/draft/x;touch y;/\n")
		for _, p := range []string{"PWNED", "y"} {
			b.absent(p)
			if _, err := os.Lstat(p); err == nil {
				b.Fatalf("%s was executed", p)
			}
		}
	}),
	on("V20", func(b *bench) {
		for _, p := range []string{"new\nline", "esc\x1b[31m", "bad\xffutf8", "right\u202eleft"} {
			b.put(p, "")
		}
		got := b.view("/draft")
		b.contains(got, `f	"/draft/new\nline"`+"\n", `f	"/draft/esc\x1b[31m"`+"\n", `f	"/draft/bad\xffutf8"`+"\n", `f	"/draft/right\u202eleft"`+"\n")
		if strings.Count(got, "\n") != 5 {
			b.Fatalf("want an entry a line:\n%s", got)
		}
	}),
	on("V21", func(b *bench) {
		for i := range 2_000 {
			b.put(fmt.Sprintf("file-%04d.txt", i), "")
		}
		got := b.ok("view", "/draft").Text
		if n := utf8.RuneCountInString(got); n > 16_000 {
			b.Fatalf("%d characters", n)
		}
		shown := strings.Count(got, "\t")
		b.contains(got, fmt.Sprintf("<response clipped><NOTE>To save on context only the first %d of 2001 entries", shown))
	}),
	on("V22", func(b *bench) {
		must(b.T, os.Symlink(b.outside, b.at("link")))
		must(b.T, os.Symlink("a.txt", b.at("inside")))
		must(b.T, syscall.Mkfifo(b.at("fifo"), 0o644))
		b.put("a.txt", "")
		got := b.view("/draft")
		want := "d\t/draft/\nf\t/draft/a.txt\n?\t/draft/fifo (not a regular file)\n?\t/draft/inside -> symlink (not followed)\n?\t/draft/link -> symlink (not followed)\n"
		if got != want {
			b.Fatalf("got\n%s\nwant\n%s", got, want)
		}
	}),
	on("V23", func(b *bench) {
		for _, p := range []string{"/draft/no.txt", "/draft/no/such.txt"} {
			got := b.fails("missing", "view", p)
			if want := "The path " + p + " does not exist. Please provide a valid path."; got != want {
				b.Fatalf("got %q, want %q", got, want)
			}
		}
	}),
	on("V24", func(b *bench) {
		ten(b)
		b.ok("str_replace", tenLines, "old_str", "L5", "new_str", "five")
		b.contains(b.view(tenLines), "     5  five\n")
	}),
}

// viewClipped follows the notices of a long file to its end and must see each
// line once, under its own number.
func viewClipped(b *bench) {
	b.put("a.txt", lines(3_000))
	next, calls := 1, 0
	for next <= 3_000 {
		got := b.ok("view", "/draft/a.txt", "view_range", []int{next, -1}).Text
		if n := utf8.RuneCountInString(got); n > 16_000 {
			b.Fatalf("%d characters", n)
		}
		_, body, _ := strings.Cut(got, "\n")
		body, notice, clipped := strings.Cut(body, "<response clipped>")
		last := next + strings.Count(body, "\n") - 1
		if body != rows(next, last) {
			b.Fatalf("lines from %d on aren't shown under their numbers", next)
		}
		if clipped {
			b.contains(notice, fmt.Sprintf("view_range [%d, -1]", last+1))
			b.lacks(notice, "grep", "ls ", "cat ", "sed")
		}
		next = last + 1
		calls++
	}
	if calls < 3 || calls > 6 {
		b.Fatalf("%d views for 3,000 lines", calls)
	}
	b.contains(b.ok("view", "/draft/a.txt", "view_range", []int{1, 2_500}).Text, ", 2500] to see")
}
