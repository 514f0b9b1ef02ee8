package star

import (
	"fmt"
	"strings"
	"testing"

	"signalbox/rule"
)

// shown is a tree in memory.
type shown rule.Tree

func (s shown) Paths() []string { return rule.Tree(s).Paths() }

func (s shown) Read(p string) ([]byte, error) {
	data, ok := s[p]
	if !ok {
		return nil, fmt.Errorf("no %q", p)
	}
	return data, nil
}

var files = shown{
	"README.md": []byte("read me"), "src/a.go": []byte("package a"), "src/deep/b.go": []byte("é"),
	"src/deep/x/c.go": nil, "src.txt": nil, "data.bin": {0xff}, "src/[x].go": nil,
}

func TestTestbed(t *testing.T) {
	for _, c := range []struct{ expression, want string }{
		{`testbed.glob("**")`, `["README.md","data.bin","src.txt","src/[x].go","src/a.go","src/deep/b.go","src/deep/x/c.go"]`},
		{`testbed.glob("*")`, `["README.md","data.bin","src.txt"]`},
		{`testbed.glob("**/*.go")`, `["src/[x].go","src/a.go","src/deep/b.go","src/deep/x/c.go"]`},
		{`testbed.glob("src/*.go")`, `["src/[x].go","src/a.go"]`},
		{`testbed.glob("src/**/?.go")`, `["src/a.go","src/deep/b.go","src/deep/x/c.go"]`},
		{`testbed.glob("**/deep/**/c.go")`, `["src/deep/x/c.go"]`},
		{`testbed.glob("src/[[]x].go")`, `["src/[x].go"]`},
		{`testbed.glob("src")`, `[]`},
		{`testbed.glob("src/**/deep/**/x/**/*")`, `["src/deep/x/c.go"]`},
		{`testbed.glob("/src/*")`, `[]`},
		{`testbed.glob("../*")`, `[]`},
		{`testbed.glob("src/[")`, "error: malformed"},
		{`testbed.glob("a/" * 1001)`, "error: the limit is"},
		{`testbed.read("src/deep/b.go")`, `"é"`},
		{`testbed.read("src.txt")`, `""`},
		{`testbed.read("data.bin")`, `error: "data.bin" is not UTF-8`},
		{`testbed.read("data.bin", default=None)`, `null`},
		{`testbed.read("nothing", "gone")`, `"gone"`},
		{`testbed.read("../etc/passwd")`, "error: there is no file"},
		{`testbed.read("/etc/passwd")`, "error: there is no file"},
		{`testbed.read("src")`, "error: there is no file"},
		{`testbed.read("./README.md")`, "error: there is no file"},
		{`[testbed.exists(p) for p in ["README.md", "src", "src/deep", "sr", "src/", "", ".", "..", "/", "src/deep/b.go/", "src.tx"]]`,
			`[true,true,true,false,false,false,false,false,false,false,false]`},
	} {
		p := loadExecutor(t, "def execute(task, args):\n  return result(output="+c.expression+")\n")
		body, err := p.Execute(rule.Document{Instruction: "i"}, "{}", files)
		got := strings.TrimSuffix(strings.TrimPrefix(string(body), `{"outcome":{"output":`), `}}`)
		if reason, isError := strings.CutPrefix(c.want, "error: "); isError {
			if err == nil || !strings.Contains(err.Error(), reason) {
				t.Errorf("%s: got %s, %v, want %s", c.expression, body, err, c.want)
			}
			continue
		}
		if err != nil || got != c.want {
			t.Errorf("%s:\n got %s, %v\nwant %s", c.expression, got, err, c.want)
		}
	}
}

func TestTestbedIsOfOneCall(t *testing.T) {
	p := loadExecutor(t, "def execute(task, args):\n  return result(output=testbed.glob('**'))\n")
	for _, c := range []struct {
		files Files
		want  string
	}{
		{files, "README.md"}, {nil, `{"outcome":{"output":[]}}`}, {shown{"only": nil}, `["only"]`}, {nil, "[]"},
	} {
		body, err := p.Execute(rule.Document{Instruction: "i"}, "{}", c.files)
		if err != nil || !strings.Contains(string(body), c.want) {
			t.Errorf("got %s, %v, want %s", body, err, c.want)
		}
	}
}

func TestResults(t *testing.T) {
	for _, c := range []struct{ body, want string }{
		{`result(output=None)`, `{"outcome":{"output":null}}`},
		{`result(files={})`, `{"outcome":{"files":{}}}`},
		{`result(files={"b/c": "é", "a": None}, output=[1])`, `{"outcome":{"files":{"a":null,"b/c":"é"},"output":[1]}}`},
		{`abstain()`, `{"abstained":true}`},
		{`abstain("why")`, `{"abstained":true,"note":"why"}`},
		{`result()`, "error: neither output nor files"},
		{`result(1)`, "error: by name"},
		{`result(text=1)`, "error: unexpected keyword argument"},
		{`result(files={"../a": "x"})`, `error: path "../a"`},
		{`result(files={"/a": "x"})`, `error: path "/a"`},
		{`result(files={"a/.git/x": "x"})`, "error: hidden entries"},
		{`result(files={"vendor/x": None})`, "error: hidden entries"},
		{`result(files={"a": "x", "a/b": "x"})`, `error: "a" is a file too`},
		{`result(files={"a": 1})`, "error: text is a int"},
		{`result(files={1: "a"})`, "error: a path is a int"},
		{`result(files={"a": "é"[:1]})`, "error: not UTF-8"},
		{`result(files={"a": "x" * (4 << 20)})`, `"x`},
		{`result(files={"a": "x" * (4 << 20) + "x"})`, "error: the limit is 4194304 bytes"},
		{`match({})`, "error: execute returned match(…): want result"},
		{`no_match()`, "error: execute returned no_match(…): want result"},
		{`{"output": 1}`, "error: execute returned a dict: want result"},
	} {
		p := loadExecutor(t, "def execute(task, args):\n  return "+c.body+"\n")
		body, err := p.Execute(rule.Document{Instruction: "i"}, "{}", nil)
		if reason, isError := strings.CutPrefix(c.want, "error: "); isError {
			if err == nil || !strings.Contains(err.Error(), reason) {
				t.Errorf("%s: got %.200s, %v, want %s", c.body, body, err, c.want)
			}
			continue
		}
		if err != nil || !strings.Contains(string(body), c.want) {
			t.Errorf("%s:\n got %.200s, %v\nwant %s", c.body, body, err, c.want)
		}
		if _, err := rule.ParseExecutorReply(body); err != nil {
			t.Errorf("%s: the host refuses it: %v", c.body, err)
		}
	}
}

func TestArgsArriveAsTheyAre(t *testing.T) {
	p := loadExecutor(t, "def execute(task, args):\n  return result(output=[args, type(args['n']), type(args['f']), task.has_input, task.input])\n")
	body, err := p.Execute(rule.Document{Instruction: "i"}, `{"f":1.5,"n":9007199254740992,"s":"é"}`, nil)
	want := `{"outcome":{"output":[{"f":1.5,"n":9007199254740992,"s":"é"},"int","float",false,null]}}`
	if err != nil || string(body) != want {
		t.Errorf("got %s, %v", body, err)
	}
	if _, err := p.Execute(rule.Document{Instruction: "i"}, "", nil); err == nil {
		t.Error("absent args were taken")
	}
}
