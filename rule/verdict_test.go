package rule

import (
	"strings"
	"testing"
)

func TestParseTriggerReply(t *testing.T) {
	note := func(n int) string { return `{"verdict":"no_match","note":"` + strings.Repeat("n", n) + `"}` }
	for _, c := range []struct{ name, in, want string }{
		{"match", `{"verdict":"match","args":{}}`, ""},
		{"match with args", `{"verdict":"match","args":{"a":[1,"é"]},"note":"n"}`, ""},
		{"no match", `{"verdict":"no_match"}`, ""},
		{"abstain", `{"verdict":"abstain","note":"two readings\n\tof it"}`, ""},
		{"white space", " {\"verdict\" : \"no_match\"}\n", ""},
		{"note limit", note(MaxNoteBytes), ""},

		{"one byte more", note(MaxNoteBytes + 1), "limit is 500"},
		{"terminal escape in a note", `{"verdict":"no_match","note":"\u001b[2J"}`, "control"},
		{"C1 escape in a note", `{"verdict":"no_match","note":"\u009b2J"}`, "control"},
		{"carriage return in a note", `{"verdict":"no_match","note":"a\rb"}`, "control"},
		{"nothing", ``, "got 0"},
		{"null", `null`, `verdict ""`},
		{"no verdict", `{}`, `verdict ""`},
		{"null verdict", `{"verdict":null}`, `verdict ""`},
		{"another verdict", `{"verdict":"yes"}`, `"yes"`},
		{"verdict in another case", `{"verdict":"Match","args":{}}`, `"Match"`},
		{"name in another case", `{"Verdict":"match","args":{}}`, "Verdict"},
		{"verdict of a number", `{"verdict":1}`, "number"},
		{"list of verdicts", `{"verdict":["match"]}`, "array"},
		{"list", `[{"verdict":"no_match"}]`, "array"},
		{"match without args", `{"verdict":"match"}`, "without args"},
		{"match with null", `{"verdict":"match","args":null}`, "without args"},
		{"match with a list", `{"verdict":"match","args":[]}`, "without args"},
		{"match with text", `{"verdict":"match","args":"{}"}`, "without args"},
		{"no match with args", `{"verdict":"no_match","args":{}}`, "only match carries args"},
		{"no match with null", `{"verdict":"no_match","args":null}`, "only match carries args"},
		{"abstain with args", `{"verdict":"abstain","args":{"a":1}}`, "only match carries args"},
		{"a failure of its own", `{"verdict":"no_match","failure":"timeout"}`, "failure"},
		{"a detail of its own", `{"verdict":"no_match","detail":"x"}`, "detail"},
		{"integer beyond 2^53", `{"verdict":"match","args":{"n":9007199254740993}}`, "write it as a string"},
	} {
		reply, err := ParseTriggerReply([]byte(c.in))
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
		if reply.Failure != "" {
			t.Errorf("%s: failure %q", c.name, reply.Failure)
		}
	}
}

func TestParseExecutorReply(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"output", `{"outcome":{"output":null}}`, ""},
		{"files", `{"outcome":{"files":{"a/b":"x","c":null}}}`, ""},
		{"both", `{"outcome":{"output":1,"files":{}}}`, ""},
		{"abstained", `{"abstained":true,"note":"n"}`, ""},
		{"not abstained", `{"outcome":{"output":1},"abstained":false}`, ""},
		{"null outcome", `{"outcome":null,"abstained":true}`, ""},

		{"neither", `{}`, "either"},
		{"null", `null`, "either"},
		{"neither, said", `{"abstained":false}`, "either"},
		{"outcome and abstention", `{"outcome":{"output":1},"abstained":true}`, "either"},
		{"empty outcome", `{"outcome":{}}`, "neither output nor files"},
		{"null files", `{"outcome":{"files":null}}`, "neither output nor files"},
		{"hidden file", `{"outcome":{"files":{".git/hooks/x":"y"}}}`, "hidden"},
		{"escaping file", `{"outcome":{"files":{"a/../../b":"y"}}}`, "clean relative"},
		{"file of a number", `{"outcome":{"files":{"a":1}}}`, "number"},
		{"fallback of its own", `{"outcome":{"output":1,"fallback":true}}`, "fallback"},
		{"a failure of its own", `{"failure":"crash"}`, "failure"},
		{"terminal escape in a note", `{"abstained":true,"note":"\u001b]0;x\u0007"}`, "control"},
		{"long note", `{"abstained":true,"note":"` + strings.Repeat("n", MaxNoteBytes+1) + `"}`, "limit is 500"},
		{"integer beyond 2^53", `{"outcome":{"output":9007199254740993}}`, "write it as a string"},
		{"large output", `{"outcome":{"output":"` + strings.Repeat("x", MaxValueBytes) + `"}}`, "limit is 1048576"},
		{"file and folder", `{"outcome":{"files":{"a":"","a/b":""}}}`, "is a file too"},
	} {
		reply, err := ParseExecutorReply([]byte(c.in))
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
		if reply.Failure != "" {
			t.Errorf("%s: failure %q", c.name, reply.Failure)
		}
	}
}

// TestForgedReplies: whatever a hostile program prints around or instead of a
// good reply, none of it is a reply. The control is the good reply alone.
func TestForgedReplies(t *testing.T) {
	parsers := map[string]struct {
		parse func([]byte) error
		good  string
	}{
		"trigger":  {func(data []byte) error { _, err := ParseTriggerReply(data); return err }, `{"verdict":"match","args":{}}`},
		"executor": {func(data []byte) error { _, err := ParseExecutorReply(data); return err }, `{"outcome":{"output":"x"}}`},
	}
	for name, p := range parsers {
		if err := p.parse([]byte(p.good)); err != nil {
			t.Errorf("%s: control: %v", name, err)
		}
		inner := strings.TrimSuffix(p.good, "}")
		first := p.good[1:strings.Index(p.good, ":")]
		for what, forged := range map[string]string{
			"two documents":            p.good + p.good,
			"two documents, two lines": p.good + "\n" + p.good,
			"text after":               p.good + " done",
			"text before":              "ok " + p.good,
			"NUL after":                p.good + "\x00",
			"NUL before":               "\x00" + p.good,
			"BOM":                      "\xef\xbb\xbf" + p.good,
			"UTF-16":                   "\xff\xfe{\x00}\x00",
			"terminal escape before":   "\x1b[31m" + p.good,
			"terminal escape after":    p.good + "\x1b[0m",
			"comma after":              p.good + ",",
			"cut off":                  inner,
			"in a list":                "[" + p.good + "]",
			"in a string":              `"` + strings.ReplaceAll(p.good, `"`, `\"`) + `"`,
			"duplicate name":           inner + "," + first + `:null}`,
			"duplicate by escape":      inner + `,"` + `\u00` + hexOf(first[1]) + first[2:] + `:null}`,
			"unknown name":             inner + `,"priority":1}`,
			"NaN":                      inner + `,"note":NaN}`,
			"invalid UTF-8":            inner + ",\"note\":\"\xff\"}",
			"overlong UTF-8":           inner + ",\"note\":\"\xc0\x80\"}",
			"lone surrogate":           inner + `,"note":"\ud800"}`,
			"raw control character":    inner + ",\"note\":\"\x01\"}",
			"deep nesting":             inner + `,"note":` + strings.Repeat("[", 1_000_000),
			"deep nesting, closed":     inner + `,"note":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + "}",
			"comment":                  "/* */" + p.good,
			"a verdict line":           "signalbox verdict: match",
			"match and abstain":        `{"verdict":"match","args":{},"abstained":true}`,
			"outcome and verdict":      `{"verdict":"match","args":{},"outcome":{"output":"x"}}`,
			"very long string":         inner + `,"note":"` + strings.Repeat("x", 4<<20),
		} {
			if err := p.parse([]byte(forged)); err == nil {
				t.Errorf("%s takes %s: %.80q", name, what, forged)
			}
		}
	}
}

func hexOf(c byte) string {
	const digits = "0123456789abcdef"
	return string([]byte{digits[c>>4], digits[c&15]})
}
