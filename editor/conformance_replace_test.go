package editor

import (
	"fmt"
	"os"
	"strings"
)

const aFile = "/draft/a.txt"

// replaces makes a case in which old becomes new in a file.
func replaces(id, before, old, new, after string) conformanceCase {
	return on(id, func(b *bench) {
		b.put("a.txt", before)
		b.ok("str_replace", aFile, "old_str", old, "new_str", new)
		b.holds("a.txt", after)
	})
}

// notFound makes a case in which old isn't in a aFile, nor in an empty one.
func notFound(id, before, old, new string) conformanceCase {
	return on(id, func(b *bench) {
		for _, text := range []string{before, ""} {
			b.put("a.txt", text)
			got := b.fails("no_match", "str_replace", aFile, "old_str", old, "new_str", new)
			if want := "No replacement was performed, old_str `" + old + "` did not appear verbatim in /draft/a.txt."; got != want {
				b.Fatalf("got %q, want %q", got, want)
			}
		}
	})
}

// many makes a case in which old is ambiguous.
func many(id, before, old, where string) conformanceCase {
	return on(id, func(b *bench) {
		b.put("a.txt", before)
		got := b.fails("many_matches", "str_replace", aFile, "old_str", old, "new_str", "b")
		if want := "No replacement was performed. Multiple occurrences of old_str `" + old + "` in lines " + where + ". Please ensure it is unique"; got != want {
			b.Fatalf("got %q, want %q", got, want)
		}
	})
}

// refusesBytes makes a case in which a file's bytes are no text.
func refusesBytes(id, code, bytes string) conformanceCase {
	return on(id, func(b *bench) {
		b.put("a.txt", bytes)
		b.fails(code, "str_replace", aFile, "old_str", "a", "new_str", "b")
		b.fails(code, "insert", aFile, "insert_line", 0, "new_str", "b")
		b.fails(code, "view", aFile)
	})
}

var replaceCases = []conformanceCase{
	on("R1", func(b *bench) {
		b.put("a.txt", "This is a test file.\nThis file is for testing purposes.")
		got := b.ok("str_replace", aFile, "old_str", "test file", "new_str", "sample file").Text
		b.holds("a.txt", "This is a sample file.\nThis file is for testing purposes.")
		want := "The file /draft/a.txt has been edited successfully.\n" +
			"Here's the content of /draft/a.txt with line numbers (which has a total of 2 lines) with view_range=[1, 2]:\n" +
			"     1  This is a sample file.\n     2  This file is for testing purposes.\nNOTE: no newline at end of file.\n"
		if got != want {
			b.Fatalf("got\n%s\nwant\n%s", got, want)
		}
	}),
	on("R2", func(b *bench) {
		b.put("a.txt", "text\n")
		b.contains(b.fails("no_match", "str_replace", aFile, "old_str", "absent"), "old_str `absent` did not appear verbatim in /draft/a.txt.")
		if got := b.fails("no_match", "str_replace", aFile, "old_str", strings.Repeat("é", 50_000)); len(got) > 2_000 {
			b.Fatalf("a message of %d bytes", len(got))
		}
	}),
	many("R3", "x\ny\nx\n", "x", "[1, 3]"),
	many("R4", "x x\n", "x", "[1]"),
	many("R5", "p\nq\n1\n2\n3\np\nq\n", "p\nq\n", "[1, 6]"),
	many("R6", "aaa", "aa", "[1]"),
	on("R7", func(b *bench) {
		for _, text := range []string{"text\n", ""} {
			b.put("a.txt", text)
			if got := b.fails("empty_parameter", "str_replace", aFile, "old_str", "", "new_str", "x"); got != "Parameter `old_str` is empty for command: str_replace" {
				b.Fatalf("got %q", got)
			}
		}
	}),
	on("R8", func(b *bench) {
		b.put("a.txt", "same\n")
		b.fails("no_change", "str_replace", aFile, "old_str", "same", "new_str", "same")
		b.put("a.txt", "p\r\nq\r\n")
		b.fails("no_change", "str_replace", aFile, "old_str", "p\nq", "new_str", "p\r\nq")
	}),
	on("R9", func(b *bench) {
		for _, pairs := range [][]any{{"old_str", "bc"}, {"old_str", "bc", "new_str", nil}} {
			b.put("a.txt", "abcd\n")
			b.ok("str_replace", aFile, pairs...)
			b.holds("a.txt", "ad\n")
		}
	}),
	notFound("R10", "text\n", "  \t", "x"),
	notFound("R11", "  foo\nbar\n", "foo \n", "  baz\n"),
	replaces("R12", "a .*[b]\\1 $x c\n", `.*[b]\1 $x`, `\g<0>$1`, "a \\g<0>$1 c\n"),
	replaces("R13", "\tone\t1\n\ttwo\n\tthree\n", "\ttwo\n", "\t\tzwei\t\n", "\tone\t1\n\t\tzwei\t\n\tthree\n"),
	notFound("R14", "\tx\n", "        x", "        X"),
	replaces("R15", "a\r\nb\r\nc\td\r\n", "a\nb", "A\nB\nB2", "A\r\nB\r\nB2\r\nc\td\r\n"),
	replaces("R16", "a\r\nb\r\nc\r\n", "a\r\nb\r\n", "A\r\nB\r\n", "A\r\nB\r\nc\r\n"),
	on("R17", func(b *bench) {
		b.put("a.txt", "a\r\nb\nc\r\n\rd\n")
		b.ok("str_replace", aFile, "old_str", "b", "new_str", "B")
		b.holds("a.txt", "a\r\nB\nc\r\n\rd\n")
		b.ok("str_replace", aFile, "old_str", "a\nB\nc\n", "new_str", "1\n2\n3\n4\n")
		b.holds("a.txt", "1\r\n2\n3\r\n4\r\n\rd\n")
		b.ok("str_replace", aFile, "old_str", "\n2", "new_str", "\ntwo")
		b.holds("a.txt", "1\r\ntwo\n3\r\n4\r\n\rd\n")
	}),
	refusesBytes("R18", "not_utf8", "na\xefve d\xe9j\xe0 a\n"),
	refusesBytes("R19", "not_utf8", "\xff\xfea\x00\n\x00"),
	refusesBytes("R20", "nul", "a\x00b\n"),
	on("R21", func(b *bench) {
		b.put("a.txt", "a\n")
		b.failsRaw("nul", `{"command":"str_replace","path":"/draft/a.txt","old_str":"a","new_str":"b\u0000"}`)
		b.failsRaw("nul", `{"command":"insert","path":"/draft/a.txt","insert_line":0,"new_str":"b\u0000"}`)
	}),
	replaces("R22", "all of it\n", "all of it\n", "", ""),
	notFound("R23", "cafe\u0301\n", "caf\u00e9", "x"),
	on("R24", func(b *bench) {
		b.put("a.txt", lines(20))
		got := b.ok("str_replace", aFile, "old_str", "L10\n", "new_str", "L10a\nL10b\n").Text
		b.contains(got, "(which has a total of 21 lines) with view_range=[6, 16]:\n")
		b.put("a.txt", lines(20))
		got = b.ok("str_replace", aFile, "old_str", "L10", "new_str", "L10a\nL10b").Text
		_, shown, _ := strings.Cut(got, ":\n")
		want := rows(6, 9) + "    10  L10a\n    11  L10b\n    12  L11\n    13  L12\n    14  L13\n    15  L14\n"
		if shown != want {
			b.Fatalf("got\n%s\nwant\n%s", shown, want)
		}
	}),
	with("R25", Options{FileBytes: 100}, func(b *bench) {
		b.put("a.txt", strings.Repeat("x", 101))
		b.fails("file_too_large", "str_replace", aFile, "old_str", "x", "new_str", "y")
		b.fails("file_too_large", "view", aFile)
		b.put("a.txt", strings.Repeat("x", 99)+"y")
		b.fails("file_too_large", "str_replace", aFile, "old_str", "y", "new_str", "yy")
		b.ok("str_replace", aFile, "old_str", "y", "new_str", "z")
	}),
	on("R26", func(b *bench) {
		b.put("a.txt", "a\n")
		must(b.T, os.Chmod(b.at("a.txt"), 0o755))
		b.ok("str_replace", aFile, "old_str", "a", "new_str", "b")
		b.ok("insert", aFile, "insert_line", 0, "new_str", "c")
		if info, err := os.Stat(b.at("a.txt")); err != nil || info.Mode() != 0o755 {
			b.Fatalf("mode %v, %v", info.Mode(), err)
		}
	}),
	on("R27", func(b *bench) {
		b.put("a.txt", lines(3))
		for _, old := range []string{"     2\tL2", "     2  L2", "     2  L2\n     3  L3"} {
			b.contains(b.fails("no_match", "str_replace", aFile, "old_str", old), "without the line-number prefix")
		}
		b.lacks(b.fails("no_match", "str_replace", aFile, "old_str", "     2  nothing"), "line-number")
	}),
	{"R28", faultsLeaveTheFile},
	{"R29", crashIsSwept},
}

var insertCases = []conformanceCase{
	on("I1", func(b *bench) {
		for n, want := range []string{"N\na\nb\n", "a\nN\nb\n", "a\nb\nN\n"} {
			b.put("a.txt", "a\nb\n")
			got := b.ok("insert", aFile, "insert_line", n, "new_str", "N").Text
			b.contains(got, "The file /draft/a.txt has been edited successfully.\n", fmt.Sprintf("%6d  N\n", n+1))
			b.holds("a.txt", want)
		}
	}),
	on("I2", func(b *bench) {
		b.put("a.txt", "a\nb\n")
		got := b.fails("bad_line", "insert", aFile, "insert_line", 3, "new_str", "N")
		if want := "Invalid `insert_line` parameter: 3. It should be within the range of lines of the file: [0, 2]"; got != want {
			b.Fatalf("got %q, want %q", got, want)
		}
	}),
	on("I3", func(b *bench) {
		b.put("a.txt", "a\nb\n")
		for _, n := range []int{-1, 5, 1 << 40} {
			b.contains(b.fails("bad_line", "insert", aFile, "insert_line", n, "new_str", "N"), "[0, 2]")
		}
	}),
	on("I4", func(b *bench) {
		b.put("a.txt", "a\nb")
		b.ok("insert", aFile, "insert_line", 2, "new_str", "N")
		b.holds("a.txt", "a\nb\nN\n")
		b.put("a.txt", "a\nb")
		b.ok("insert", aFile, "insert_line", 1, "new_str", "N")
		b.holds("a.txt", "a\nN\nb")
	}),
	inserts("I5", "", 0, "N", "N\n"),
	inserts("I6", "a\nb\n", 1, "", "a\n\nb\n"),
	inserts("I7", "a\nb\n", 1, "N\n", "a\nN\n\nb\n"),
	on("I8", func(b *bench) {
		b.put("a.txt", "a\n")
		if got := b.fails("missing_parameter", "insert", aFile, "insert_line", 0); got != "Parameter `new_str` is required for command: insert" {
			b.Fatalf("got %q", got)
		}
		if got := b.fails("missing_parameter", "insert", aFile, "new_str", "N"); got != "Parameter `insert_line` is required for command: insert" {
			b.Fatalf("got %q", got)
		}
	}),
	on("I9", func(b *bench) {
		b.put("a.txt", "a\n")
		b.contains(b.fails("unknown_parameter", "insert", aFile, "insert_line", 0, "insert_text", "N"), "`insert_text`", "`new_str`")
	}),
	on("I10", func(b *bench) {
		for _, n := range []string{`"1"`, `1.0`} {
			b.put("a.txt", "a\nb\n")
			got := b.e.Run("s", []byte(`{"command":"insert","path":"/draft/a.txt","new_str":"N","insert_line":`+n+`}`))
			if !got.OK || !got.Repaired {
				b.Fatalf("%s: %+v", n, got)
			}
			b.holds("a.txt", "a\nN\nb\n")
		}
		for _, n := range []string{`"one"`, `1.5`, `true`, `[1]`, `"1 2"`, `"\"1\""`, `1e99`} {
			b.failsRaw("bad_type", `{"command":"insert","path":"/draft/a.txt","new_str":"N","insert_line":`+n+`}`)
		}
	}),
	on("I11", func(b *bench) {
		b.put("a.txt", "a\r\nb\r\n")
		b.ok("insert", aFile, "insert_line", 1, "new_str", "N\nM")
		b.holds("a.txt", "a\r\nN\r\nM\r\nb\r\n")
		b.put("a.txt", "a\r\nb")
		b.ok("insert", aFile, "insert_line", 2, "new_str", "N")
		b.holds("a.txt", "a\r\nb\r\nN\r\n")
	}),
}

// inserts makes a case in which text goes after line n.
func inserts(id, before string, n int, text, after string) conformanceCase {
	return on(id, func(b *bench) {
		b.put("a.txt", before)
		b.ok("insert", aFile, "insert_line", n, "new_str", text)
		b.holds("a.txt", after)
	})
}

var undoCases = []conformanceCase{
	on("U1", func(b *bench) {
		b.put("a.txt", "a\n")
		if got := b.undoFails("no_history", aFile); got != "No edit history found for /draft/a.txt." {
			b.Fatalf("got %q", got)
		}
	}),
	on("U2", func(b *bench) {
		b.put("a.txt", "0\n")
		b.ok("str_replace", aFile, "old_str", "0", "new_str", "1")
		b.ok("insert", aFile, "insert_line", 0, "new_str", "2")
		b.undo(aFile)
		b.holds("a.txt", "1\n")
		b.undo(aFile)
		b.holds("a.txt", "0\n")
		b.undoFails("no_history", aFile)
	}),
	on("U3", undoDepth),
	on("U4", func(b *bench) {
		b.put("d/x", "")
		b.put("a.txt", "0\n")
		for i, alias := range []string{"/draft/./a.txt", "/draft/d/../a.txt", "/draft//a.txt"} {
			b.ok("insert", aFile, "insert_line", 0, "new_str", fmt.Sprint(i))
			b.undo(alias)
			b.holds("a.txt", "0\n")
		}
	}),
	on("U5", func(b *bench) {
		b.put("a.txt", "0\n")
		b.ok("str_replace", aFile, "old_str", "0", "new_str", "1")
		b.fails("no_match", "str_replace", aFile, "old_str", "absent")
		b.undo(aFile)
		b.holds("a.txt", "0\n")
	}),
	on("U6", func(b *bench) {
		b.put("a.txt", "0\n")
		b.ok("str_replace", aFile, "old_str", "0", "new_str", "1")
		b.put("a.txt", "someone else\n")
		b.undoFails("file_changed", aFile)
		b.put("a.txt", "1\n")
		must(b.T, os.Chmod(b.at("a.txt"), 0o600))
		b.undoFails("file_changed", aFile)
		must(b.T, os.Chmod(b.at("a.txt"), 0o644))
		b.undo(aFile)
		b.holds("a.txt", "0\n")
		b.ok("create", "/draft/new.txt", "file_text", "x")
		b.put("new.txt", "y")
		b.undoFails("file_changed", "/draft/new.txt")
		must(b.T, os.Remove(b.at("new.txt")))
		b.undoFails("missing", "/draft/new.txt")
	}),
	on("U7", func(b *bench) {
		original := bom + "a\r\nb\r\n\tc"
		b.put("a.txt", original)
		must(b.T, os.Chmod(b.at("a.txt"), 0o755))
		b.ok("str_replace", aFile, "old_str", "a\nb\n", "new_str", "x\n")
		b.ok("insert", aFile, "insert_line", 2, "new_str", "end")
		b.undo(aFile)
		b.undo(aFile)
		b.holds("a.txt", original)
		if info, err := os.Stat(b.at("a.txt")); err != nil || info.Mode() != 0o755 {
			b.Fatalf("mode %v, %v", info.Mode(), err)
		}
	}),
	on("U8", func(b *bench) {
		other := newBench(b.T, Options{})
		for _, each := range []*bench{b, other} {
			each.put("a.txt", "0\n")
		}
		b.ok("str_replace", aFile, "old_str", "0", "new_str", "1")
		b.refused(b.e.Undo("another session", aFile), "no_history")
		other.undoFails("no_history", aFile)
		b.undo(aFile)
	}),
}

// undoDepth undoes as many edits as were kept, and is told at the floor where
// some were not.
func undoDepth(b *bench) {
	for _, depth := range []int{100, 5} {
		b.e = b.open(Options{UndoDepth: depth})
		b.put("a.txt", "0\n")
		for i := range 12 {
			b.ok("str_replace", aFile, "old_str", fmt.Sprint(i), "new_str", fmt.Sprint(i+1))
		}
		for i := range min(12, depth) {
			b.undo(aFile)
			b.holds("a.txt", fmt.Sprintf("%d\n", 11-i))
		}
		floor := b.undoFails("no_history", aFile)
		if told := strings.Contains(floor, fmt.Sprintf("at most %d", depth)); told != (depth < 12) {
			b.Fatalf("depth %d: %s", depth, floor)
		}
	}
}

// steps are all places where a change can fail.
var steps = []string{"open folder", "open", "read", "create", "write", "chmod", "sync", "rename", "compare", "sync folder", "make folder"}

// failAt makes the nth passage of a step fail.
func failAt(e *recorded, step string, n int, err error) *int {
	passed := 0
	e.tree.fault = func(at string) error {
		if at != step {
			return nil
		}
		if passed++; passed == n {
			return err
		}
		return nil
	}
	return &passed
}
