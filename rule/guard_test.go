package rule

import (
	"fmt"
	"strings"
	"testing"
)

func TestGuardCheck(t *testing.T) {
	phrases := func(n int) (list []string) {
		for i := range n {
			list = append(list, fmt.Sprint("phrase ", i))
		}
		return list
	}
	pattern := func(inner string) Guard { return Guard{Pattern: `\A(?:` + inner + `)\z`} }
	for _, c := range []struct {
		name  string
		guard Guard
		want  string // "" where it is taken
	}{
		{"equals", Guard{Equals: []string{"a"}}, ""},
		{"pattern", pattern("a|b"), ""},
		{"neither", Guard{}, "either equals or pattern"},
		{"empty equals", Guard{Equals: []string{}}, "either equals or pattern"},
		{"both", Guard{Equals: []string{"a"}, Pattern: `\A(?:a)\z`}, "either equals or pattern"},
		{"phrases", Guard{Equals: phrases(maxGuardPhrases)}, ""},
		{"one phrase more", Guard{Equals: phrases(maxGuardPhrases + 1)}, "more than 200"},
		{"empty phrase", Guard{Equals: []string{"a", ""}}, "empty phrase"},
		{"input", Guard{Equals: []string{"a"}, Input: &Schema{Type: "string"}}, ""},
		{"bad input", Guard{Equals: []string{"a"}, Input: &Schema{Type: "text"}}, "input"},
		{"input and none", Guard{Equals: []string{"a"}, Input: &Schema{}, NoInput: true}, "both input and no_input"},
		{"no input", Guard{Equals: []string{"a"}, NoInput: true}, ""},

		{"not anchored", Guard{Pattern: "a"}, "want the form"},
		{"anchored at the start", Guard{Pattern: `\A(?:a)`}, "want the form"},
		{"anchored at the end", Guard{Pattern: `(?:a)\z`}, "want the form"},
		{"line anchors", Guard{Pattern: `^(?:a)$`}, "want the form"},
		{"no group", Guard{Pattern: `\Aa|b\z`}, "want the form"},
		{"capturing group", Guard{Pattern: `\A(a)\z`}, "want the form"},
		{"alternative escapes", Guard{Pattern: `\A(?:a)|(?:b)\z`}, "unexpected )"},
		{"alternative escapes, closed", Guard{Pattern: `\A(?:a)|b|(?:c)\z`}, "unexpected )"},
		{"group closed early", Guard{Pattern: `\A(?:a)\z|.*(?:b)\z`}, "unexpected )"},
		{"closing bracket escaped", Guard{Pattern: `\A(?:a\)\z`}, "backslash"},
		{"closing bracket in a class", Guard{Pattern: `\A(?:[a)\z`}, "missing closing ]"},
		{"closing bracket quoted", Guard{Pattern: `\A(?:\Qa)\z`}, "missing closing )"},
		{"escaped inside", pattern(`\(a\)`), ""},
		{"flag inside", pattern(`(?i)a|(?s).`), ""},
		{"look-ahead", pattern(`(?=a)`), "invalid"},
		{"broken", pattern(`a(`), "missing closing )"},
		{"repeat bomb", pattern(`((a{1000}){1000}){1000}`), "repeat"},
		{"length", pattern(strings.Repeat("a", maxPattern-8)), ""},
		{"one byte more", pattern(strings.Repeat("a", maxPattern-7)), "longer than 2000"},
	} {
		err := c.guard.Check()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
		if _, made := c.guard.Matcher(); (made == nil) != (err == nil) {
			t.Errorf("%s: Check says %v, Matcher %v", c.name, err, made)
		}
	}
}

func TestGuardAllows(t *testing.T) {
	text := &Schema{Type: "string"}
	alternatives := Guard{Pattern: `\A(?:ab|c.)\z`}
	for _, c := range []struct {
		name  string
		guard Guard
		task  Document
		want  bool
	}{
		{"equal", Guard{Equals: []string{"x", "y"}}, Document{Instruction: "y"}, true},
		{"another", Guard{Equals: []string{"x", "y"}}, Document{Instruction: "z"}, false},
		{"longer", Guard{Equals: []string{"x"}}, Document{Instruction: "x "}, false},
		{"another case", Guard{Equals: []string{"x"}}, Document{Instruction: "X"}, false},
		{"first alternative", alternatives, Document{Instruction: "ab"}, true},
		{"second alternative", alternatives, Document{Instruction: "cd"}, true},
		{"prefix", alternatives, Document{Instruction: "abc"}, false},
		{"suffix", alternatives, Document{Instruction: "xcd"}, false},
		{"final newline", alternatives, Document{Instruction: "ab\n"}, false},
		{"newline for a dot", alternatives, Document{Instruction: "c\n"}, false},
		{"line inside", Guard{Pattern: `\A(?:(?m)^ab$)\z`}, Document{Instruction: "x\nab\ny"}, false},
		{"input fits", Guard{Equals: []string{"x"}, Input: text}, Document{Instruction: "x", Input: `"i"`}, true},
		{"input of another type", Guard{Equals: []string{"x"}, Input: text}, Document{Instruction: "x", Input: "1"}, false},
		{"input absent", Guard{Equals: []string{"x"}, Input: text}, Document{Instruction: "x"}, false},
		{"input not asked about", Guard{Equals: []string{"x"}}, Document{Instruction: "x", Input: "1"}, true},
		{"no input", Guard{Equals: []string{"x"}, NoInput: true}, Document{Instruction: "x"}, true},
		{"null is an input", Guard{Equals: []string{"x"}, NoInput: true}, Document{Instruction: "x", Input: "null"}, false},
		{"unusable: neither", Guard{}, Document{Instruction: "x"}, false},
		{"unusable: neither, empty", Guard{}, Document{}, false},
		{"unusable: both", Guard{Equals: []string{"x"}, Pattern: `\A(?:x)\z`}, Document{Instruction: "x"}, false},
		{"unusable: pattern", Guard{Pattern: `\A(?:()\z`}, Document{Instruction: "x"}, false},
	} {
		if got := c.guard.Allows(c.task); got != c.want {
			t.Errorf("%s: Allows = %v", c.name, got)
		}
	}
	if (Matcher{}).Allows(Document{}) || (Matcher{}).Allows(Document{Instruction: "x"}) {
		t.Error("the zero Matcher allows something")
	}
}
