package rule

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestDecodeIsStrict(t *testing.T) {
	type inner struct {
		B int `json:"b"`
	}
	type target struct {
		A     string  `json:"a"`
		Inner []inner `json:"inner"`
	}
	for _, c := range []struct {
		name, in string
		ok       bool
	}{
		{"control", `{"a":"x","inner":[{"b":1}]}`, true},
		{"white space around", " {\"a\":\"x\"}\n", true},
		{"unknown name", `{"a":"x","c":1}`, false},
		{"unknown name inside", `{"inner":[{"b":1,"c":2}]}`, false},
		{"name in another case", `{"A":"x"}`, false},
		{"duplicate", `{"a":"x","a":"x"}`, false},
		{"duplicate inside", `{"inner":[{"b":1,"b":1}]}`, false},
		{"duplicate by escape", `{"a":"x","\u0061":"y"}`, false},
		{"second document", `{"a":"x"} {}`, false},
		{"trailing bytes", `{"a":"x"}x`, false},
		{"trailing NUL", "{\"a\":\"x\"}\x00", false},
		{"cut off", `{"a":"x"`, false},
		{"empty", ``, false},
		{"BOM", "\xef\xbb\xbf{}", false},
		{"invalid UTF-8", "{\"a\":\"\xc3\x28\"}", false},
		{"lone surrogate", `{"a":"\udfff"}`, false},
		{"wrong type", `{"a":1}`, false},
		{"number of another type", `{"inner":[{"b":1.5}]}`, false},
		{"comment", `{/**/}`, false},
		{"single quotes", `{'a':1}`, false},
		{"too deep", strings.Repeat(`{"a":`, 65) + "1" + strings.Repeat("}", 65), false},
	} {
		if err := Decode([]byte(c.in), &target{}); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestErrorsAreBounded: an error quotes a hostile document, but not all of it,
// and in characters.
func TestErrorsAreBounded(t *testing.T) {
	long := strings.Repeat("é", 100_000)
	for _, in := range []string{`{"` + long + `":1}`, `{"` + long + `":1,"` + long + `":2}`, `{"a":"` + long + `"}`} {
		for _, parse := range []func([]byte) error{
			func(data []byte) error { return Decode(data, &Task{}) },
			func(data []byte) error { _, err := ParseManifest(data); return err },
			func(data []byte) error { _, err := ParseTriggerReply(data); return err },
			func(data []byte) error { _, err := ParseExecutorReply(data); return err },
		} {
			err := parse([]byte(in))
			if err == nil || len(err.Error()) > 2*maxErrorBytes || !utf8.ValidString(err.Error()) {
				t.Errorf("%.20s: error %.80v", in, err)
			}
		}
	}
	if err := Decode([]byte(`{"instruction":"i"}`), &Task{}); err != nil {
		t.Errorf("control: %v", err)
	}
}

func TestCanonicalKeepsNumbers(t *testing.T) {
	for _, c := range []struct {
		in   any
		want string
	}{
		{uint64(1 << 53), "9007199254740992"}, {int64(1 << 54), "18014398509481984"}, {1e21, "1e+21"}, {0.1, "0.1"},
		{int64(1<<53 + 1), ""}, {uint64(1<<63 + 1), ""}, {map[string]any{"b": 1, "a": 2}, `{"a":2,"b":1}`},
	} {
		got, err := Canonical(c.in)
		if string(got) != c.want || (err == nil) != (c.want != "") {
			t.Errorf("Canonical(%v) = %s, %v; want %q", c.in, got, err, c.want)
		}
	}
}

func TestShorten(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{strings.Repeat("a", 40), strings.Repeat("a", 40)},
		{strings.Repeat("a", 41), strings.Repeat("a", 40) + "…"},
		{strings.Repeat("a", 39) + "é!", strings.Repeat("a", 39) + "…"},
		{strings.Repeat("\x80", 50), "…"},
	} {
		if got := shorten(c.in); got != c.want {
			t.Errorf("shorten(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}
