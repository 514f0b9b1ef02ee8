package star

import (
	"strings"
	"testing"

	"signalbox/rule"
)

// addSeeds gives a fuzz target its seeds, of which it must have some.
func addSeeds(f *testing.F, seeds ...string) {
	f.Helper()
	if len(seeds) < 3 {
		f.Fatal("the fuzz target has lost its seeds")
	}
	for _, seed := range seeds {
		f.Add(seed)
	}
}

// FuzzJSON holds our reader against the vocabulary's: what one refuses as text
// the other does too, and a value comes back out as it came in.
func FuzzJSON(f *testing.F) {
	addSeeds(f, `{"a":[1,2.5,-0,1e-7,"é\ud83d\ude00\n",null,true]}`, `9007199254740993`, `[[[]]]`, `{"a":1,"a":2}`,
		`"\ud800"`, "\"\x00\"", "[1,]", `1.0e+5`, `0.30000000000000004`, "\xff", `01`, ` [ ] `)
	f.Fuzz(func(t *testing.T, data string) {
		value, wanted := rule.ParseValue([]byte(data))
		v, err := decodeJSON(data)
		if wanted == nil && err != nil && !strings.Contains(err.Error(), "deeper than") {
			t.Fatalf("%q: refused: %v", data, err)
		}
		if err != nil {
			return
		}
		again, err := exact(newThread(testSteps, nil), v)
		if (wanted == nil) != (err == nil) && len(value) < rule.MaxValueBytes && !precise(data) {
			t.Fatalf("%q: ParseValue says %v, our way round %v", data, wanted, err)
		}
		if wanted == nil && err == nil && again != value {
			t.Fatalf("%q: became %s, want %s", data, again, value)
		}
	})
}

// precise says whether a text may hold a number with more digits than a float
// keeps: rule.ParseValue refuses it, and a program sees the nearest float.
func precise(data string) bool {
	return strings.ContainsAny(data, ".eE") || strings.Contains(data, "-0")
}

// FuzzReplies returns what the fuzzer likes and hands what comes out to the
// host's parsers: no reply of ours may be refused there.
func FuzzReplies(f *testing.F) {
	addSeeds(f, `{"a": 1}`, `{"a": [None, True, 1.5, "é"]}`, `{"é"[:1]: 1}`, `{"a": 1 << 60}`, `{"a": float("inf")}`,
		`dict(x=(1, (2,)))`, `{"a": {"b": set([1])}}`, `[1]`, `{"x" * 10: "\x00"}`, `{"a": "b"}, "note"`)
	f.Fuzz(func(t *testing.T, arguments string) {
		if len(arguments) > 10_000 || strings.ContainsAny(arguments, "*<") {
			return // no test of memory
		}
		trigger, err := Load(rule.RoleTrigger, star("def trigger(task):\n  return match("+arguments+")\n"), 10_000)
		if err == nil {
			body, err := trigger.Trigger(rule.Document{Instruction: "i"})
			if err == nil {
				_, err = rule.ParseTriggerReply(body)
			} else if failureOf(t, err) != nil {
				err = nil
			}
			if err != nil {
				t.Fatalf("match(%s) gives %s: %v", arguments, body, err)
			}
		}
		source := map[string]string{rule.ExecutorFile: "def execute(task, args):\n  return result(output=" + arguments + ", files=" + arguments + ")\n"}
		executor, err := Load(rule.RoleExecutor, source, 10_000)
		if err != nil {
			return
		}
		body, err := executor.Execute(rule.Document{Instruction: "i"}, "{}", nil)
		if err != nil {
			failureOf(t, err)
			return
		}
		if _, err := rule.ParseExecutorReply(body); err != nil {
			t.Fatalf("result(%s) gives %s: %v", arguments, body, err)
		}
	})
}

// FuzzDates parses anything by any layout: nothing panics, and a date that is
// found is written as the text that it was found in, but for the case of names
// and what the text leaves open.
func FuzzDates(f *testing.F) {
	for _, seed := range [][2]string{
		{"%Y-%m-%d", "2024-02-29"}, {"%-I:%M %p", "12:05 am"}, {"%G-W%V-%u", "2020-W53-7"}, {"%A %j %y", "Monday 366 24"},
		{"%e%-m%%", "112%"}, {"%Q", ""}, {"%", "%"}, {"%b %B", "may May"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, layout, s string) {
		items, err := parseLayout(layout)
		if err != nil || checkParsable(items) != nil {
			return
		}
		date, ok := parseDate(items, s)
		if !ok {
			return
		}
		if date.Year() < 1 || date.Year() > 9999 {
			t.Fatalf("%q by %q is the year %d", s, layout, date.Year())
		}
		if again := formatDate(items, date); !strings.EqualFold(again, s) {
			t.Fatalf("%q by %q is %v, written %q", s, layout, date, again)
		}
	})
}

// FuzzCSV writes what was parsed: reading it again must give the same rows.
func FuzzCSV(f *testing.F) {
	addSeeds(f, "a,b\r\n\"c,\"\"d\n\",e\n", "", "\n\n", "a\r,b\"c\n", "\"\"", "a,", "é,\x00")
	f.Fuzz(func(t *testing.T, data string) {
		rows, err := parseRows(data, ",")
		if err != nil {
			return
		}
		var out strings.Builder
		for _, row := range rows {
			if err := writeRow(&out, listOf(row), ","); err != nil {
				t.Fatal(err)
			}
		}
		again, err := parseRows(out.String(), ",")
		if err != nil || len(again) != len(rows) {
			t.Fatalf("%q was written %q and read as %q, %v", data, out.String(), again, err)
		}
		for i := range rows {
			if strings.Join(rows[i], "\x1f") != strings.Join(again[i], "\x1f") {
				t.Fatalf("%q: row %q became %q", data, rows[i], again[i])
			}
		}
	})
}

// FuzzReplace holds our replacement against Go's own on templates that both
// understand.
func FuzzReplace(f *testing.F) {
	for _, seed := range [][3]string{{`(a)|b`, "[$1]", "abc"}, {`x*`, "-", "abxc"}, {`(?P<n>\d+)`, "${n}$$", "1a22"}, {`(`, "", ""}, {`a`, "$", "a"}} {
		f.Add(seed[0], seed[1], seed[2])
	}
	f.Fuzz(func(t *testing.T, pattern, template, s string) {
		compiled, err := newPatterns().compile(newThread(testSteps, nil), pattern, false)
		if err != nil || len(s) > 1_000 {
			return
		}
		pieces, err := parseTemplate(template, compiled)
		if err != nil {
			return
		}
		found, err := places(newThread(testSteps, nil), compiled, s)
		if err != nil {
			return
		}
		got, err := expand(s, found, pieces)
		if want := compiled.ReplaceAllString(s, template); err == nil && got != want {
			t.Fatalf("%q in %q by %q: got %q, want %q", pattern, s, template, got, want)
		}
	})
}
