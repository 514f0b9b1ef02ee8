package rule

import (
	"encoding/binary"
	"math"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParseValueKeepsOrRefuses(t *testing.T) {
	for _, c := range []struct{ in, want string }{ // want "" where it is refused
		{"0", "0"}, {"-0", "0"}, {"-0.0", "0"}, {"1.50", "1.5"}, {"15e-1", "1.5"}, {"1E5", "100000"},
		{"0e99999999999999999999", "0"}, {"0.0000001", "1e-7"}, {"5e-324", "5e-324"},
		{"9007199254740991", "9007199254740991"},
		{"9007199254740992", "9007199254740992"}, {"-9007199254740992", "-9007199254740992"},
		{"9007199254740993", ""}, {"-9007199254740993", ""}, {"9007199254740994", ""}, {"9007199254740992.5", ""},
		{"1e16", ""}, {"1e400", ""}, {"-1e400", ""}, {"1E-400", ""}, {"4e-324", ""},
		{"0.30000000000000004", "0.30000000000000004"}, // 17 digits that float64 keeps
		{"0.10000000000000000", "0.1"}, {"0.1000000000000000055", ""}, {"0.12345678901234567", ""},
		{"3.141592653589793", "3.141592653589793"}, {"3.14159265358979312", ""},
		{"01", ""}, {"+1", ""}, {".5", ""}, {"1.", ""}, {"1e", ""}, {"0x1", ""}, {"NaN", ""}, {"Infinity", ""}, {"-", ""},
		{"null", "null"}, {" true ", "true"}, {"True", ""}, {"nul", ""}, {"", ""}, {" ", ""},
		{`"\u0000"`, `"\u0000"`}, {`"\u00e9\/"`, `"é/"`}, {`"\ud83d\ude00"`, `"😀"`},
		{`"\ud800"`, ""}, {`"\ude00\ud83d"`, ""}, {"\"\xff\"", ""}, {"\"\x00\"", ""}, {`'a'`, ""}, {`"a`, ""}, {`"\x41"`, ""},
		{"\xef\xbb\xbf1", ""}, {"1 2", ""}, {"1,", ""}, {"[1]]", ""}, {"{}{}", ""}, {"1\x00", ""}, {"/**/1", ""}, {"1//", ""},
		{`{"b":1,"a":[ 2 ]}`, `{"a":[2],"b":1}`}, {`{"a":1,"a":1}`, ""}, {`{"a":1,"\u0061":2}`, ""}, {`[{"x":{"a":1,"a":2}}]`, ""},
		{`{"A":1,"a":2}`, `{"A":1,"a":2}`}, {`{"":1}`, `{"":1}`}, {`[1,]`, ""}, {`{"a":1,}`, ""}, {`{a:1}`, ""}, {`{1:1}`, ""},
		{`{"\ue000":1,"😀":2}`, "{\"😀\":2,\"\ue000\":1}"}, // RFC 8785 sorts names by UTF-16
	} {
		got, err := ParseValue([]byte(c.in))
		if string(got) != c.want || (err == nil) != (c.want != "") {
			t.Errorf("ParseValue(%q) = %q, %v; want %q", c.in, got, err, c.want)
		}
	}
}

func TestDepth(t *testing.T) {
	for _, pair := range [][2]string{{"[", "]"}, {`{"a":`, "}"}, {`[{"a":`, "}]"}} {
		open, closing := pair[0], pair[1]
		levels := strings.Count(open, "[") + strings.Count(open, "{")
		nested := func(n int) []byte {
			return []byte(strings.Repeat(open, n/levels) + "1" + strings.Repeat(closing, n/levels))
		}
		if _, err := ParseValue(nested(MaxDepth)); err != nil {
			t.Errorf("%s: %d levels: %v", open, MaxDepth, err)
		}
		if _, err := ParseValue(nested(MaxDepth + 2)); err == nil || !strings.Contains(err.Error(), "deeper than 64") {
			t.Errorf("%s: %d levels: error %v", open, MaxDepth+2, err)
		}
	}
	if _, err := ParseValue([]byte(strings.Repeat("[", MaxDepth+1) + strings.Repeat("]", MaxDepth+1))); err == nil {
		t.Error("one level too many is taken")
	}
	if _, err := ParseValue([]byte(strings.Repeat("[", 1_000_000))); err == nil {
		t.Error("a million open brackets are taken")
	}
}

func TestValueOf(t *testing.T) {
	for _, c := range []struct {
		in   any
		want Value
	}{
		{nil, "null"}, {1 << 53, "9007199254740992"}, {"é", `"é"`}, {[]string(nil), "[]"},
		{map[string]any{"b": 1.5, "a": nil}, `{"a":null,"b":1.5}`},
		{int64(1<<53 + 1), ""}, {uint64(math.MaxUint64), ""}, {1e300, ""}, {math.NaN(), ""}, {math.Inf(1), ""}, {"\xff", ""},
	} {
		got, err := ValueOf(c.in)
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("ValueOf(%v) = %q, %v; want %q", c.in, got, err, c.want)
		}
	}
}

func TestAbsentAndNullDiffer(t *testing.T) {
	for _, c := range []struct {
		in      string
		present bool
		out     string
	}{
		{`{"instruction":"i"}`, false, `{"instruction":"i"}`},
		{`{"instruction":"i","input":null}`, true, `{"input":null,"instruction":"i"}`},
	} {
		task, err := ParseTask([]byte(c.in))
		if err != nil || task.Input.Present() != c.present {
			t.Errorf("%s: input %q, %v", c.in, task.Input, err)
		}
		if out, err := Canonical(task); err != nil || string(out) != c.out {
			t.Errorf("%s is written as %s, %v", c.in, out, err)
		}
	}
	if out, err := Canonical([]Value{"", "1"}); err != nil || string(out) != "[null,1]" {
		t.Errorf("an absent value in a list: %s, %v", out, err)
	}
}

// TestDecimalAgreesWithBits: whatever float64 is drawn, its shortest literal is
// kept, and so is the literal in another notation.
func TestDecimalAgreesWithBits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bits := rapid.Uint64().Draw(t, "bits")
		number := math.Float64frombits(bits)
		if math.IsNaN(number) || math.Abs(number) > maxExact {
			t.Skip()
		}
		for _, format := range []byte{'e', 'g', 'f'} {
			literal := strconv.FormatFloat(number, format, -1, 64)
			value, err := ParseValue([]byte(literal))
			if err != nil {
				t.Fatalf("%s: %v", literal, err)
			}
			back, err := strconv.ParseFloat(string(value), 64)
			if err != nil || back != number {
				t.Fatalf("%s became %s", literal, value)
			}
		}
	})
}

// TestValueRoundTrip: canonical text is a fixed point, and its Go value gives
// it back.
func TestValueRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value, err := ValueOf(anyJSON(3).Draw(t, "json"))
		if err != nil {
			t.Fatal(err)
		}
		again, err := ParseValue([]byte(value))
		if err != nil || again != value {
			t.Fatalf("%q parses as %q, %v", value, again, err)
		}
		var decoded any
		if err := value.Decode(&decoded); err != nil {
			t.Fatal(err)
		}
		if back, err := ValueOf(decoded); err != nil || back != value {
			t.Fatalf("%q decodes and comes back as %q, %v", value, back, err)
		}
	})
}

// anyJSON draws Go values that JSON can hold.
func anyJSON(depth int) *rapid.Generator[any] {
	leaves := []*rapid.Generator[any]{
		rapid.Just[any](nil), rapid.Bool().AsAny(), rapid.String().AsAny(), rapid.Int32().AsAny(),
		rapid.Float64Range(-1e15, 1e15).AsAny(),
	}
	if depth > 0 {
		leaves = append(leaves, rapid.SliceOfN(anyJSON(depth-1), 0, 4).AsAny(),
			rapid.MapOfN(rapid.String(), anyJSON(depth-1), 0, 4).AsAny())
	}
	return rapid.OneOf(leaves...)
}

// FuzzValue: what ParseValue takes is canonical, keeps every number's value,
// and is taken again unchanged.
func FuzzValue(f *testing.F) {
	for _, seed := range []string{"1", "-0", "1e400", "9007199254740993", `{"a":[1,{"b":null}],"é":"\u0000"}`, `{"a":1,"a":2}`,
		`"\ud800"`, "\xef\xbb\xbf1", "[[[]]]", "1 2", `{"a":0.1000000000000000055}`, "[1,2.50,3e-7]"} {
		f.Add([]byte(seed))
	}
	f.Add(binary.LittleEndian.AppendUint64(nil, math.MaxUint64))
	f.Fuzz(func(t *testing.T, data []byte) {
		value, err := ParseValue(data)
		if err != nil {
			if value != "" {
				t.Fatalf("%q: a value beside the error %v", data, err)
			}
			return
		}
		again, err := ParseValue([]byte(value))
		if err != nil || again != value {
			t.Fatalf("%q gives %q, which gives %q, %v", data, value, again, err)
		}
		var before, after any
		if err := Decode(data, &before); err != nil {
			t.Fatalf("Decode refuses what ParseValue takes: %v", err)
		}
		if err := value.Decode(&after); err != nil {
			t.Fatal(err)
		}
		a, errA := ValueOf(before)
		b, errB := ValueOf(after)
		if errA != nil || errB != nil || a != b {
			t.Fatalf("%q: %q and %q, %v, %v", data, a, b, errA, errB)
		}
	})
}
