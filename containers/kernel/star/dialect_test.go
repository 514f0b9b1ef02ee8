package star

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"

	"signalbox/rule"
)

// TestDialectSays tries what DIALECT.md says of the language itself.
func TestDialectSays(t *testing.T) {
	check(t, []row{
		{`[len("é"), "aéb".find("b"), "abc"[1:]]`, `[2,3,"bc"]`},
		{`[x for x in "ab".elems()]`, `["a","b"]`},
		{`[x for x in "ab"]`, "error: not iterable"},
		{`"%s %r %d %x %X %o %c %%" % ("a", "b", 10, 255, 255, 8, 65)`, `"a \"b\" 10 ff FF 10 A %"`},
		{`"%5d" % 1`, "error: unknown conversion"},
		{`"%.2f" % 1`, "error: unknown conversion"},
		{`"{} {} {name}".format(1, 2, name="x")`, `"1 2 x"`},
		{`"{:>3}".format(1)`, "error: format"},
		{`[7 // 2, -7 // 2, -7 % 3, 7 / 2, 4 / 2]`, `[3,-4,2,3.5,2]`},
		{`[str(2.0), str(2), int(2.9), int(-2.9), int("ff", 16)]`, `["2.0","2",2,-2,255]`},
		{`[type(v) for v in [None, True, 1, 1.0, "", b"", [], (), {}, set(), lambda: 1, task]]`,
			`["NoneType","bool","int","float","string","bytes","list","tuple","dict","set","function","struct"]`},
		{`sorted(["b", "A", "a"], key=lambda s: s.lower(), reverse=True)`, `["b","A","a"]`},
		{`{"a": 1} | {"b": 2}`, `{"a":1,"b":2}`},
		{`[i for i in (set([1]) | set([2]))]`, `[1,2]`},
		{`["ÀB".lower(), "é".upper(), "ab-c'd".title()]`, `["àb","É","Ab-C'D"]`},
		{`int("x")`, "error: invalid literal"},
		{`{}["k"]`, "error: key"},
		{`[abs(-1), all([]), any([]), bool(0), chr(97), ord("a"), max(1, 2), min([1, 2])]`, `[1,true,false,false,"a",97,2,1]`},
		{`[list(reversed([1, 2])), list(zip([1], [2])), list(enumerate(["a"])), list(range(2))]`, `[[2,1],[[1,2]],[[0,"a"]],[0,1]]`},
		{`(1 << 100) - (1 << 100)`, `0`},
	})
	for _, missing := range []string{"sum([1])", "round(1)", "map(len, [])", "filter(len, [])", "isinstance(1, int)", "1 < 2 < 3", "2 ** 3", "1 is 1", `"a" "b"`, "{1, 2}", `f"{1}"`} {
		source := map[string]string{rule.ExecutorFile: "def execute(task, args):\n  return result(output=" + missing + ")\n"}
		if _, err := Load(rule.RoleExecutor, source, testSteps); err == nil {
			t.Errorf("%s is loaded", missing)
		}
	}
	loadTrigger(t, "x = 1\nfor i in range(3):\n  if i:\n    x += i\nx = x + 1\ndef trigger(task):\n  return no_match()\n")
}

// TestDialectIsComplete holds DIALECT.md against the modules: every function is
// described there.
func TestDialectIsComplete(t *testing.T) {
	text, err := os.ReadFile("DIALECT.md")
	if err != nil {
		t.Fatal(err)
	}
	names := 0
	for name, v := range predeclared(&testbed{}) {
		m, ok := v.(*starlarkstruct.Module)
		if !ok {
			if !strings.Contains(string(text), "`"+name+"(") {
				t.Errorf("%s is not described", name)
			}
			continue
		}
		for member := range m.Members {
			described := regexp.MustCompile(`\b(?:` + name + `\.)?` + member + `\b`)
			if !described.Match(text) {
				t.Errorf("%s.%s is not described", name, member)
			}
			names++
		}
	}
	if names < 50 {
		t.Errorf("only %d functions were looked for", names)
	}
	for name := range starlark.Universe {
		if name != "None" && name != "True" && name != "False" && !regexp.MustCompile(`\b`+name+`\b`).Match(text) {
			t.Errorf("%s is not described", name)
		}
	}
}
