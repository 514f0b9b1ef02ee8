package editor

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"unicode/utf8"
)

// argumentSeeds are calls of each kind, good and bad.
func argumentSeeds() []string {
	seeds := []string{
		toolCall("view", "/draft/d/./a.txt", `,"view_range":"[1,2]"`), toolCall("view", "/draft/link/x.txt", ""),
		toolCall("create", "/draft/../outside/y.txt", `,"file_text":"x"`), toolCall("create", "/draft/link/y.txt", `,"file_text":"x"`),
		toolCall("str_replace", "/draft/crlf.txt", `,"old_str":"a\nb","new_str":"x\n"`), toolCall("insert", "/draft/crlf.txt", `,"insert_line":2.0,"new_str":"\ud83d\ude00"`),
	}
	for _, s := range sentences {
		if s.args != "" && len(s.args) < 1_000 {
			seeds = append(seeds, s.args)
		}
	}
	return seeds
}

// trapTree is a tree with everything in it that an editor must not touch.
func trapTree(t *testing.T) *bench {
	b := newBench(t, Options{FileBytes: 4_000, Files: 20})
	sentenceTree(b)
	b.put("d/a.txt", "one\ntwo\nthree\n")
	b.put("crlf.txt", bom+"a\r\nb\r\nc")
	must(t, os.Symlink(b.outside, b.at("folder")))
	must(t, os.Remove(b.at("link")))
	must(t, os.Symlink(b.outside, b.at("link")))
	return b
}

// checkCall runs any arguments on a tree of traps: nothing outside is read or
// written, a refusal changes nothing, a success only its own file and there
// only one stretch, and undo restores every byte.
func checkCall(t *testing.T, arguments []byte) Result {
	b := trapTree(t)
	before := b.state()
	got := b.e.Run("s", arguments)
	if strings.Contains(got.Text, strings.TrimSpace(secret)) || strings.Contains(got.Text, b.root) {
		t.Fatalf("the text tells too much: %s", got.Text)
	}
	if !utf8.ValidString(got.Text) || utf8.RuneCountInString(got.Text) > 16_000 || got.OK != (got.Code == "") || got.Text == "" {
		t.Fatalf("not a result: %+v", got)
	}
	if got.Change == nil {
		if after := b.state(); after != before {
			t.Fatalf("%s changed the tree:\n%s\nbecame\n%s", arguments, before, after)
		}
		return got
	}
	b.tidy()
	if !got.OK || othersOf(b, got.Change.Path, before) != othersOf(b, got.Change.Path, b.state()) {
		t.Fatalf("%s changed more than %s", arguments, got.Change.Path)
	}
	checkStretch(t, arguments, *got.Change)
	if back := b.e.Undo("s", ""); !back.OK {
		t.Fatalf("undo: %+v", back)
	}
	if after := b.state(); contents(after) != contents(before) {
		t.Fatalf("undo gives\n%s\nwant\n%s", after, before)
	}
	return got
}

// othersOf returns the lines of a state that aren't about a file, nor about the
// folders that lead to it, which may be new.
func othersOf(b *bench, rel, state string) string {
	var kept []string
	for _, l := range strings.Split(state, "\n") {
		p, _, _ := strings.Cut(l, " ")
		if p != b.root && p != b.at(rel) && !strings.HasPrefix(b.at(rel), p+"/") {
			kept = append(kept, l)
		}
	}
	return strings.Join(kept, "\n")
}

// contents returns a state without inodes and times, which undo doesn't restore.
func contents(state string) string {
	var kept []string
	for _, l := range strings.Split(state, "\n") {
		if fields := strings.Fields(l); len(fields) == 7 {
			kept = append(kept, strings.Join([]string{fields[0], fields[1], fields[4], fields[6]}, " "))
		}
	}
	return strings.Join(kept, "\n")
}

// checkStretch asserts that an edit changed one stretch, no longer than what it
// was asked to take out and put in (with line endings of two bytes, and one for
// a last line without), and that the rest is the same.
func checkStretch(t *testing.T, arguments []byte, c Change) {
	t.Helper()
	if !utf8.Valid(c.After) || bytes.IndexByte(c.After, 0) >= 0 || bytes.Equal(c.Before, c.After) && !c.Created {
		t.Fatalf("not an edit of a text: %q", c.After)
	}
	if c.Created {
		return
	}
	asked, err := parseCall(arguments)
	must(t, err)
	start, shorter := 0, min(len(c.Before), len(c.After))
	for start < shorter && c.Before[start] == c.After[start] {
		start++
	}
	tail := 0
	for tail < shorter-start && c.Before[len(c.Before)-1-tail] == c.After[len(c.After)-1-tail] {
		tail++
	}
	longest := func(text *string) int {
		if text == nil {
			return 0
		}
		return len(*text) + strings.Count(*text, "\n")
	}
	if out, in := len(c.Before)-start-tail, len(c.After)-start-tail; out > longest(asked.OldStr) || in > longest(asked.NewStr)+4 {
		t.Fatalf("%s turned %q into %q", arguments, c.Before, c.After)
	}
	if bytes.HasPrefix(c.Before, []byte(bom)) && !bytes.HasPrefix(c.After, []byte(bom)) {
		t.Fatalf("the byte order mark is gone: %q", c.After)
	}
}

// FuzzArguments hands over arbitrary arguments.
func FuzzArguments(f *testing.F) {
	for _, seed := range argumentSeeds() {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, arguments []byte) { checkCall(t, arguments) })
}

// TestArgumentSeeds asserts that the fuzz target starts from calls of each kind.
func TestArgumentSeeds(t *testing.T) {
	codes, changes := map[string]int{}, 0
	for _, seed := range argumentSeeds() {
		got := checkCall(t, []byte(seed))
		codes[got.Code]++
		if got.Change != nil {
			changes++
		}
	}
	if len(codes) < 20 || codes[""] < 8 || changes < 5 {
		t.Fatalf("the seeds give %d codes, %d successes, %d changes", len(codes), codes[""], changes)
	}
}

// The parts that edit sequences are made of. The first texts are the files that
// a sequence starts with.
var (
	fuzzFiles = []string{"a.txt", "d/b.txt", "new.txt"}
	fuzzTexts = []string{"a\nb\na\nb\n", bom + "a\r\nb\r\nab", "", "a", "b", "\n", "ab", "\r\n", "a\nb", "é\r", "b\r\na", "x\ny\n", "aa", "a\r", " "}
)

// FuzzEdits runs a sequence of edits beside a reference: a map of texts with a
// naive search, and a plain stack for undo.
func FuzzEdits(f *testing.F) {
	for _, seed := range editSeeds {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, program []byte) { runEdits(t, program) })
}

var editSeeds = [][]byte{
	{0, 2, 0, 3, 1, 0, 3, 11, 2, 0, 1, 4, 3, 0, 0, 0, 3, 0, 0, 0, 3, 0, 0, 0},
	{1, 1, 8, 11, 2, 1, 3, 10, 2, 1, 0, 0, 3, 1, 0, 0, 1, 1, 5, 14},
	{1, 0, 12, 3, 1, 0, 3, 4, 0, 2, 0, 9, 1, 2, 13, 3, 2, 2, 1, 5, 3, 2, 0, 0, 3, 2, 0, 0, 3, 2, 0, 0, 3, 2, 0, 0},
	{1, 1, 7, 5, 1, 1, 10, 4, 1, 1, 4, 4, 2, 1, 2, 7, 1, 1, 9, 3},
	{2, 0, 4, 9, 2, 0, 9, 3, 1, 0, 6, 2, 1, 0, 11, 2, 1, 0, 13, 4, 2, 1, 3, 5},
}

// TestEditSeeds asserts that the seeds make edits of each kind succeed.
func TestEditSeeds(t *testing.T) {
	done := map[string]int{}
	for _, seed := range editSeeds {
		for command, n := range runEdits(t, seed) {
			done[command] += n
		}
	}
	for _, command := range []string{"create", "str_replace", "insert", "undo"} {
		if done[command] < 2 {
			t.Errorf("%s succeeds %d times in the seeds", command, done[command])
		}
	}
}

// reference is what the tree must hold, and what undo must bring back.
type reference struct {
	*testing.T
	files map[string]string
	past  map[string][]*string
	done  map[string]int
}

// runEdits takes four bytes for each step: command, file, and two choices.
func runEdits(t *testing.T, program []byte) map[string]int {
	b := newBench(t, Options{Files: 100})
	r := reference{T: t, files: map[string]string{"a.txt": fuzzTexts[0], "d/b.txt": fuzzTexts[1]}, past: map[string][]*string{}, done: map[string]int{}}
	for name, text := range r.files {
		b.put(name, text)
	}
	for len(program) >= 4 && len(r.done) < 1_000 {
		r.step(b, program[0], fuzzFiles[int(program[1])%len(fuzzFiles)], int(program[2]), fuzzTexts[int(program[3])%len(fuzzTexts)])
		program = program[4:]
		for name, text := range r.files {
			b.holds(name, text)
		}
	}
	b.tidy()
	return r.done
}

func (r *reference) step(b *bench, command byte, name string, choice int, text string) {
	before, there := r.files[name]
	path := "/draft/" + name
	switch command % 4 {
	case 0:
		got := b.e.Run("s", args(r, "command", "create", "path", path, "file_text", text))
		r.expect(got, !there, "create")
		if got.OK {
			r.past[name] = append(r.past[name], nil)
			r.files[name] = text
		}
	case 1:
		old := fuzzTexts[choice%len(fuzzTexts)]
		got := b.e.Run("s", args(r, "command", "str_replace", "path", path, "old_str", old, "new_str", text))
		r.replaced(got, name, before, old, text)
	case 2:
		got := b.e.Run("s", args(r, "command", "insert", "path", path, "insert_line", choice%6, "new_str", text))
		r.inserted(got, name, before, there, choice%6, text)
	case 3:
		past := r.past[name]
		r.expect(b.e.Undo("s", path), len(past) > 0, "undo")
		if len(past) == 0 {
			return
		}
		if last := past[len(past)-1]; last != nil {
			r.files[name] = *last
		} else {
			delete(r.files, name)
			b.absent(name)
		}
		r.past[name] = past[:len(past)-1]
	}
}

func (r *reference) expect(got Result, ok bool, command string) {
	r.Helper()
	if got.OK != ok {
		r.Fatalf("%s gives %+v, want success %v", command, got, ok)
	}
	if ok {
		r.done[command]++
	}
}

// naive returns where old stands in a text: at each place, "\n" also stands for
// "\r\n", unless old has a "\r\n" of its own, and no place is within a "\r\n".
func naive(text, old string) (places [][2]int) {
	exact := strings.Contains(old, "\r\n")
	within := func(i int) bool { return i > 0 && i < len(text) && text[i-1] == '\r' && text[i] == '\n' }
	for start := range len(text) {
		end, matched := start, !within(start)
		for i := 0; matched && i < len(old); i++ {
			switch {
			case !exact && old[i] == '\n' && strings.HasPrefix(text[end:], "\r\n"):
				end += 2
			case end < len(text) && text[end] == old[i] && (exact || !strings.HasPrefix(text[end:], "\r\n")):
				end++
			default:
				matched = false
			}
		}
		if matched && !within(end) {
			places = append(places, [2]int{start, end})
		}
	}
	return places
}

func unixed(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }

// replaced asserts that the one match was replaced and nothing else. With which
// line endings is for the conformance cases to say.
func (r *reference) replaced(got Result, name, before, old, text string) {
	r.Helper()
	mark := ""
	if strings.HasPrefix(before, bom) {
		mark = bom
	}
	body := before[len(mark):]
	places := naive(body, old)
	if old == "" || old == text || len(places) != 1 {
		r.expect(got, false, "str_replace")
		return
	}
	if !got.OK && got.Code == "no_change" && unixed(old) == unixed(text) {
		return
	}
	r.expect(got, true, "str_replace")
	r.commit(got, name, mark+body[:places[0][0]], text, body[places[0][1]:])
}

func (r *reference) inserted(got Result, name, before string, there bool, n int, text string) {
	r.Helper()
	head := 0
	if strings.HasPrefix(before, bom) {
		head = len(bom)
	}
	for range n {
		i := strings.IndexByte(before[head:], '\n')
		if head == len(before) || !there {
			r.expect(got, false, "insert")
			return
		}
		if head += i + 1; i < 0 {
			head = len(before)
		}
	}
	r.expect(got, there, "insert")
	if there {
		added := text + "\n"
		if n > 0 && before[head-1] != '\n' {
			added = "\n" + added
		}
		r.commit(got, name, before[:head], added, before[head:])
	}
}

// commit asserts that the file is now head, text and tail, and takes it over.
func (r *reference) commit(got Result, name, head, text, tail string) {
	r.Helper()
	before, after := r.files[name], string(got.Change.After)
	if string(got.Change.Before) != before || len(after) < len(head)+len(tail) ||
		!strings.HasPrefix(after, head) || !strings.HasSuffix(after, tail) {
		r.Fatalf("%q became %q: more changed than between %q and %q", before, after, head, tail)
	}
	if middle := after[len(head) : len(after)-len(tail)]; unixed(middle) != unixed(text) {
		r.Fatalf("%q became %q: got %q for %q", before, after, middle, text)
	}
	r.past[name] = append(r.past[name], &before)
	r.files[name] = after
}

// BenchmarkEdit measures one edit with its undo, and one view.
func BenchmarkEdit(b *testing.B) {
	root, err := os.MkdirTemp("/dev/shm", "signalbox-editor-")
	if err != nil {
		root = b.TempDir()
	}
	b.Cleanup(func() { _ = os.RemoveAll(root) })
	for i := range 20 {
		if err := os.WriteFile(fmt.Sprintf("%s/%d.star", root, i), []byte(lines(300)), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	e, err := Open(root, Options{})
	if err != nil {
		b.Fatal(err)
	}
	edit := args(b, "command", "str_replace", "path", "/draft/3.star", "old_str", "L150\n", "new_str", "changed\n")
	for b.Loop() {
		if got := e.Run("s", edit); !got.OK {
			b.Fatal(got.Text)
		}
		if got := e.Undo("s", "/draft/3.star"); !got.OK {
			b.Fatal(got.Text)
		}
	}
}
