package rule

import (
	"strings"
	"testing"
)

func TestParseName(t *testing.T) {
	for in, ok := range map[string]bool{
		"a": true, "a-1": true, "0": true, "a-": true, strings.Repeat("a", 63): true,
		"": false, "-a": false, "A": false, "a b": false, "a.b": false, "a/b": false, "..": false, "ä": false, "a\n": false, "a_b": false,
		strings.Repeat("a", 64): false,
	} {
		if got, err := ParseName(in); (err == nil) != ok || ok != (got == Name(in) && in != "") {
			t.Errorf("ParseName(%q) = %q, %v", in, got, err)
		}
		var name Name
		if err := Decode([]byte(`"`+strings.ReplaceAll(in, "\n", `\n`)+`"`), &name); (err == nil) != ok {
			t.Errorf("decoding %q: %v", in, err)
		}
	}
}

func TestParseFamily(t *testing.T) {
	for in, ok := range map[string]bool{
		"a": true, "Dates / US → ISO (v2)": true, strings.Repeat("f", 200): true,
		"": false, strings.Repeat("f", 201): false, "a\x00": false, "a\nb": false, "a\x1b[31m": false, "a\x7f": false, "a\u009b31m": false, "a\xff": false,
	} {
		if got, err := ParseFamily(in); (err == nil) != ok || ok != (got == Family(in) && in != "") {
			t.Errorf("ParseFamily(%q) = %q, %v", in, got, err)
		}
	}
	var family Family
	if err := family.UnmarshalText([]byte("a\tb")); err == nil || family != "" {
		t.Errorf("UnmarshalText takes a tab: %q", family)
	}
}
