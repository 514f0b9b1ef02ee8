package editor

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/invopop/jsonschema"
	"golang.org/x/sys/unix"
	"signalbox/rule"
)

var update = flag.Bool("update", false, "write the golden files")

func golden(t *testing.T, name, got string) {
	t.Helper()
	p := filepath.Join("testdata", name)
	if *update {
		must(t, os.MkdirAll("testdata", 0o755))
		must(t, os.WriteFile(p, []byte(got), 0o644))
	}
	want, err := os.ReadFile(p)
	must(t, err)
	if got != string(want) {
		t.Fatalf("%s differs (run with -update if that is meant):\n%s", p, got)
	}
}

// TestSchema pins the schema that a model is offered.
func TestSchema(t *testing.T) {
	reflector := jsonschema.Reflector{DoNotReference: true, Anonymous: true}
	schema := reflector.Reflect(Args{})
	schema.Version = ""
	data, err := schema.MarshalJSON()
	must(t, err)
	value, err := rule.ParseValue(data)
	must(t, err)
	golden(t, "schema.golden", strings.ReplaceAll(string(value), `,"`, ",\n\"")+"\n")
	for _, name := range parameters {
		if !strings.Contains(string(value), `"`+name+`":{"description":"`) && !strings.Contains(string(value), `"`+name+`":{"description"`) {
			t.Errorf("parameter %s has no description", name)
		}
	}
}

// sentence is a call, or an undo where args is "", in a tree of its own.
type sentence struct {
	args  string
	setup func(b *bench)
	undo  string
}

func toolCall(command, path, more string) string {
	return `{"command":"` + command + `","path":"` + path + `"` + more + `}`
}

var sentences = []sentence{
	{args: toolCall("view", "/draft/a.txt", "")},
	{args: toolCall("view", "/draft/a.txt", `,"view_range":[2,9]`)},
	{args: toolCall("view", "/draft/bom-crlf.txt", "")},
	{args: toolCall("view", "/draft/mixed.txt", "")},
	{args: toolCall("view", "/draft/empty.txt", "")},
	{args: toolCall("view", "/draft", "")},
	{args: toolCall("create", "/draft/new.txt", `,"file_text":"x"`)},
	{args: toolCall("create", "/draft/p/q/new.txt", `,"file_text":"x"`)},
	{args: toolCall("str_replace", "/draft/a.txt", `,"old_str":"two","new_str":"zwei"`)},
	{args: toolCall("insert", "/draft/a.txt", `,"insert_line":3,"new_str":"four"`)},
	{undo: "/draft/a.txt", setup: func(b *bench) { b.ok("insert", aFile, "insert_line", 0, "new_str", "x") }},
	{undo: "/draft/a.txt"},
	{undo: "/draft/a.txt", setup: func(b *bench) {
		b.e.history.depth = 1
		b.ok("insert", aFile, "insert_line", 0, "new_str", "x")
		b.ok("insert", aFile, "insert_line", 0, "new_str", "x")
		b.undo(aFile)
	}},
	{undo: "/draft/a.txt", setup: func(b *bench) {
		b.ok("insert", aFile, "insert_line", 0, "new_str", "x")
		b.put("a.txt", "else")
	}},

	{args: `{`}, {args: `{} x`}, {args: `[]`}, {args: `{"path":"","path":""}`}, {args: `{"path":"\ud800"}`},
	{args: strings.Repeat("[", 100)}, {args: strings.Repeat(" ", maxArgs+1)},
	{args: `{"COMMAND":"view"}`}, {args: `{"insert_text":"x"}`}, {args: `{"limit":1}`},
	{args: `{}`}, {args: `{"command":"view"}`}, {args: toolCall("delete", "/draft", "")},
	{args: toolCall("view", "/draft", `,"file_text":7`)},
	{args: toolCall("view", "/draft/a.txt", `,"file_text":"x"`)},
	{args: toolCall("view", "/draft/a.txt", `,"view_range":["1","2"]`)},
	{args: toolCall("view", "/draft/a.txt", `,"view_range":[1]`)},
	{args: toolCall("view", "/draft/a.txt", `,"view_range":[4,5]`)},
	{args: toolCall("view", "/draft/a.txt", `,"view_range":[3,2]`)},
	{args: toolCall("view", "/draft", `,"view_range":[1,2]`)},
	{args: toolCall("insert", "/draft/a.txt", `,"new_str":"x","insert_line":true`)},
	{args: toolCall("insert", "/draft/a.txt", `,"new_str":"x","insert_line":4`)},
	{args: toolCall("insert", "/draft/a.txt", `,"new_str":"x"`)},
	{args: toolCall("create", "/draft/new.txt", "")},
	{args: toolCall("create", "/draft/new.txt", `,"file_text":"\u0000"`)},
	{args: toolCall("str_replace", "/draft/a.txt", `,"old_str":""`)},
	{args: toolCall("str_replace", "/draft/a.txt", `,"old_str":"one","new_str":"one"`)},
	{args: toolCall("str_replace", "/draft/a.txt", `,"old_str":"absent"`)},
	{args: toolCall("str_replace", "/draft/a.txt", `,"old_str":"     1  one"`)},
	{args: toolCall("str_replace", "/draft/a.txt", `,"old_str":"e"`)},

	{args: toolCall("view", "a.txt", "")}, {args: toolCall("view", "none.txt", "")}, {args: toolCall("view", "", "")},
	{args: toolCall("view", "/etc/hostname", "")}, {args: toolCall("view", "/draft/../x", "")},
	{args: toolCall("view", `/draft/a\nb`, "")}, {args: toolCall("create", "/draft/d/", `,"file_text":"x"`)},
	{args: toolCall("create", "/draft/"+temporaryPrefix+"1", `,"file_text":"x"`)},
	{args: toolCall("view", "/draft"+strings.Repeat("/d", 40), "")},
	{args: toolCall("view", "/draft/none.txt", "")}, {args: toolCall("view", "/draft/a.txt/x", "")},
	{args: toolCall("create", "/draft/a.txt/x", `,"file_text":"x"`)},
	{args: toolCall("str_replace", "/draft", `,"old_str":"x"`)},
	{args: toolCall("create", "/draft/a.txt", `,"file_text":"x"`)},
	{args: toolCall("view", "/draft/link", "")}, {args: toolCall("view", "/draft/hard.txt", "")},
	{args: toolCall("view", "/draft/fifo", "")}, {args: toolCall("str_replace", "/draft/fifo", `,"old_str":"x"`)},
	{args: toolCall("insert", "/draft/fifo", `,"insert_line":0,"new_str":"x"`)},
	{args: toolCall("view", "/draft/latin1.txt", "")}, {args: toolCall("view", "/draft/nul.txt", "")},
	{args: toolCall("create", "/draft/new.txt", `,"file_text":"x"`), setup: func(b *bench) { b.e.SetWritable(Only("a.txt")) }},
	{args: toolCall("view", "/draft/a.txt", ""), setup: func(b *bench) { b.e.limits.FileBytes = 5 }},
	{args: toolCall("create", "/draft/new.txt", `,"file_text":"123456"`), setup: func(b *bench) { b.e.limits.FileBytes = 5 }},
	{args: toolCall("create", "/draft/new.txt", `,"file_text":"123456"`), setup: func(b *bench) { b.e.limits.TreeBytes = 5 }},
	{args: toolCall("create", "/draft/new.txt", `,"file_text":"123456"`), setup: func(b *bench) { b.e.limits.Files = 2 }},
	{args: toolCall("create", "/draft/p/q/new.txt", `,"file_text":"x"`), setup: func(b *bench) {
		b.e.limits.Files = 12
		for i := range 11 {
			must(b.T, os.Mkdir(b.at(fmt.Sprint("d", i)), 0o755))
		}
	}},
	fault(unix.EXDEV), fault(unix.EACCES), fault(unix.ENOSPC), fault(unix.EIO), fault(errChanged), fault(fmt.Errorf("%w: why", errUncertain)),
	{args: toolCall("insert", "/draft/a.txt", `,"insert_line":0,"new_str":"x"`), setup: func(b *bench) {
		b.e.limits.Keep = func(Change) error { return errors.New("the journal is full") }
	}},
}

func fault(err error) sentence {
	return sentence{args: toolCall("insert", "/draft/a.txt", `,"insert_line":0,"new_str":"x"`), setup: func(b *bench) { failAt(b.e, "rename", 1, err) }}
}

// TestSentences pins what a model, or a person who undoes, reads, for every
// code that there is.
func TestSentences(t *testing.T) {
	var all strings.Builder
	seen := map[string]bool{}
	for _, s := range sentences {
		b := newBench(t, Options{})
		sentenceTree(b)
		if s.setup != nil {
			s.setup(b)
		}
		got := Result{}
		if s.args == "" {
			got = b.e.Undo("s", s.undo)
		} else {
			got = b.e.Run("s", []byte(s.args))
		}
		seen[got.Code] = true
		title := shorten(s.args, 120)
		if s.args == "" {
			title = "undo " + s.undo
		}
		fmt.Fprintf(&all, "> %s\n[%s] %s\n\n", title, got.Code, strings.ReplaceAll(got.Text, b.root, "ROOT"))
	}
	golden(t, "sentences.golden", all.String())
	for code := range codes(t) {
		if !seen[code] && code != "bad_request" {
			t.Errorf("no sentence has the code %s", code)
		}
	}
}

func sentenceTree(b *bench) {
	for name, text := range map[string]string{
		"a.txt": "one\ntwo\nthree\n", "bom-crlf.txt": bom + "x\r\ny", "mixed.txt": "x\r\ny\nz\rz\n", "empty.txt": "",
		"latin1.txt": "\xe9", "nul.txt": "\x00", "new\nline": "", ".hidden": "",
	} {
		b.put(name, text)
	}
	must(b.T, os.Symlink("a.txt", b.at("link")))
	must(b.T, os.Link(b.outside+"/x.txt", b.at("hard.txt")))
	must(b.T, unix.Mkfifo(b.at("fifo"), 0o644))
}

// codes returns all codes in the source. Each must be in the package comment.
func codes(t *testing.T) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	sources, err := filepath.Glob("*.go")
	must(t, err)
	pattern := regexp.MustCompile(`(?:refuse\(|code: )"([a-z_0-9]+)"`)
	for _, source := range sources {
		if strings.HasSuffix(source, "_test.go") {
			continue
		}
		data, err := os.ReadFile(source)
		must(t, err)
		for _, m := range pattern.FindAllStringSubmatch(string(data), -1) {
			found[m[1]] = true
		}
	}
	doc, err := os.ReadFile("doc.go")
	must(t, err)
	for code := range found {
		if !regexp.MustCompile(`\b` + code + `\b`).Match(doc) {
			t.Errorf("the package comment lacks the code %s", code)
		}
	}
	if len(found) < 30 {
		t.Fatalf("only %d codes found", len(found))
	}
	return found
}
