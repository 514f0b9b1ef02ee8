package registry

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"signalbox/rule"
)

const goodLine = `{"id":"a","family":"f","task":{"instruction":"do","input":1},"outcome":{"output":2}}`

func TestParseHistory(t *testing.T) {
	long := strings.Repeat("x", MaxLineBytes)
	cases := []struct{ name, line, reason string }{
		{"plain", goodLine, ""},
		{"all fields", `{"id":"a","family":"f","task":{"instruction":"do","input":null,"files":{"a/b.txt":"x"}},"outcome":{"output":null,"files":{"a/b.txt":null}},"args":{"n":1},"source":"log","baseline":{"usd":0.5,"tokens":9,"ms":12}}`, ""},
		{"fallback", `{"id":"a","family":"f","task":{"instruction":"do"},"outcome":{"fallback":true}}`, ""},
		{"blanks and CRLF", "\t " + goodLine + " \r", ""},
		{"a list", `[1,2]`, "array"},
		{"a word", `"hello"`, "string"},
		{"unknown field", `{"id":"a","family":"f","task":{"instruction":"do"},"outcome":{"output":2},"extra":1}`, "extra"},
		{"other case of a name", strings.Replace(goodLine, `"id"`, `"ID"`, 1), "ID"},
		{"name twice", strings.Replace(goodLine, `"id":"a"`, `"id":"a","id":"b"`, 1), "duplicate"},
		{"no id", strings.Replace(goodLine, `"id":"a",`, ``, 1), "id"},
		{"long id", strings.Replace(goodLine, `"a"`, `"`+long[:201]+`"`, 1), "200 bytes"},
		{"control character in id", strings.Replace(goodLine, `"a"`, `"a\u001b[2J"`, 1), "control"},
		{"no family", strings.Replace(goodLine, `"family":"f",`, ``, 1), "family"},
		{"no instruction", strings.Replace(goodLine, `"instruction":"do",`, ``, 1), "instruction"},
		{"no outcome", strings.Replace(goodLine, `,"outcome":{"output":2}`, ``, 1), "outcome"},
		{"empty outcome", strings.Replace(goodLine, `{"output":2}`, `{}`, 1), "neither output nor files"},
		{"outcome and fallback", strings.Replace(goodLine, `"output":2`, `"output":2,"fallback":true`, 1), "both an outcome and fallback"},
		{"args no object", strings.Replace(goodLine, `"outcome"`, `"args":[1],"outcome"`, 1), "object"},
		{"args with fallback", `{"id":"a","family":"f","task":{"instruction":"do"},"args":{},"outcome":{"fallback":true}}`, "args"},
		{"hidden path in task", strings.Replace(goodLine, `"input":1`, `"files":{".git/config":"x"}`, 1), "hidden"},
		{"path outside in outcome", strings.Replace(goodLine, `"output":2`, `"files":{"../x":"y"}`, 1), "clean relative path"},
		{"vendor in outcome", strings.Replace(goodLine, `"output":2`, `"files":{"vendor/x.go":"y"}`, 1), "vendor"},
		{"number too large", strings.Replace(goodLine, `"output":2`, `"output":9007199254740993`, 1), "exactly"},
		{"too many digits", strings.Replace(goodLine, `"output":2`, `"output":0.12345678901234567890`, 1), "exactly"},
		{"deep", strings.Replace(goodLine, `"output":2`, `"output":`+strings.Repeat("[", 70)+strings.Repeat("]", 70), 1), "deeper"},
		{"negative baseline", strings.Replace(goodLine, `"outcome"`, `"baseline":{"usd":-1},"outcome"`, 1), "baseline"},
		{"long source", strings.Replace(goodLine, `"outcome"`, `"source":"`+long[:501]+`","outcome"`, 1), "source"},
		{"long line", strings.Replace(goodLine, `"do"`, `"`+long+`"`, 1), fmt.Sprint(MaxLineBytes)},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			lines, err := ParseHistory(strings.NewReader(goodLine + "\n\n" + c.line + "\n" + goodLine))
			must(t, err)
			if len(lines) != 3 || lines[0].Number != 1 || lines[1].Number != 3 || lines[2].Number != 4 || lines[2].Reason != "" {
				t.Fatalf("lines %+v: want numbers 1, 3 and 4, the others fine", lines)
			}
			if reason := lines[1].Reason; (reason == "") != (c.reason == "") || !strings.Contains(reason, c.reason) {
				t.Errorf("reason %q, want one with %q", reason, c.reason)
			}
		})
	}
}

func TestBrokenLineRefusesTheFile(t *testing.T) {
	for name, broken := range map[string]string{
		"prose":          "hello",
		"cut off":        goodLine[:len(goodLine)-1],
		"comma":          goodLine + ",",
		"two documents":  goodLine + goodLine,
		"byte order":     "\ufeff" + goodLine,
		"not UTF-8":      strings.Replace(goodLine, `"do"`, "\"d\xff\"", 1),
		"single quotes":  `{'id':'a'}`,
		"lone surrogate": strings.Replace(goodLine, `"do"`, `"\ud800"`, 1),
		"long and cut":   `{"` + strings.Repeat("n", 5000) + `":`,
	} {
		lines, err := ParseHistory(strings.NewReader(strings.Repeat(goodLine+"\n", 6) + broken + "\n" + goodLine + "\n"))
		if err == nil || !strings.Contains(err.Error(), "line 7") || lines != nil {
			t.Errorf("%s: %d lines, %v: want none and an error about line 7", name, len(lines), err)
		}
	}
}

func TestEmptyHistory(t *testing.T) {
	for _, text := range []string{"", "\n\n", "  \n"} {
		if lines, err := ParseHistory(strings.NewReader(text)); err != nil || len(lines) != 0 {
			t.Errorf("%q: %d lines, %v", text, len(lines), err)
		}
	}
}

// FuzzHistory checks that whatever is taken survives being stored, and that
// nothing is both taken and malformed.
func FuzzHistory(f *testing.F) {
	for _, seed := range []string{
		goodLine, history("dates", 3), goodLine + "\n{", `{"id":1}`, "\n\r\n", `[[[[`,
		`{"id":"a","family":"f","task":{"instruction":"do","files":{"a":"b"}},"outcome":{"files":{"a":null}},"args":{}}`,
		`{"id":"a","family":"f","task":{"instruction":"do"},"outcome":{"output":1e2}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		lines, err := ParseHistory(strings.NewReader(string(data)))
		if err != nil {
			return
		}
		var taken []rule.Case
		for _, line := range lines {
			if line.Number < 1 {
				t.Fatalf("line number %d", line.Number)
			}
			if line.Reason == "" {
				taken = append(taken, line.Case)
			}
		}
		stored, err := encodeCases(taken)
		if err != nil {
			t.Fatalf("taken lines can't be stored: %v", err)
		}
		again, err := decodeCases(stored)
		if err != nil || len(again) != len(taken) {
			t.Fatalf("stored %d, read %d: %v", len(taken), len(again), err)
		}
		twice, err := encodeCases(again)
		if err != nil || string(twice) != string(stored) {
			t.Fatalf("stored as\n%s\nthen as\n%s (%v)", stored, twice, err)
		}
		if !jsontext.Value(data).IsValid() && len(lines) == 0 && len(strings.TrimSpace(string(data))) > 0 {
			t.Fatalf("%q: neither lines nor an error", data)
		}
	})
}
