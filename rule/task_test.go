package rule

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParseTask(t *testing.T) {
	instruction := func(n int) string { return `{"instruction":"` + strings.Repeat("i", n) + `"}` }
	input := func(n int) string { return `{"instruction":"i","input":"` + strings.Repeat("x", n-2) + `"}` }
	for _, c := range []struct{ name, text, want string }{
		{"control", `{"instruction":"i","input":{"a":[1]},"files":{"a/b.txt":"x"}}`, ""},
		{"empty tree", `{"instruction":"i","files":{}}`, ""},
		{"no instruction", `{"input":1}`, "no instruction"},
		{"null instruction", `{"instruction":null}`, "no instruction"},
		{"empty instruction", `{"instruction":""}`, "no instruction"},
		{"null", `null`, "no instruction"},
		{"instruction limit", instruction(MaxInstructionBytes), ""},
		{"one byte more", instruction(MaxInstructionBytes + 1), "limit is 65536"},
		{"input limit", input(MaxValueBytes), ""},
		{"one byte more of input", input(MaxValueBytes + 1), "limit is 1048576"},
		{"number that JSON loses", `{"instruction":"i","input":{"id":12345678901234567890}}`, "write it as a string"},
		{"hidden file", `{"instruction":"i","files":{".env":"x"}}`, "hidden"},
		{"escaping file", `{"instruction":"i","files":{"../x":"x"}}`, "clean relative"},
		{"file and folder", `{"instruction":"i","files":{"a":"x","a/b":"y"}}`, "is a file too"},
		{"null file", `{"instruction":"i","files":{"a":null}}`, `"a" of the task is null`},
		{"null files", `{"instruction":"i","files":null}`, ""},
		{"file of a number", `{"instruction":"i","files":{"a":1}}`, "string"},
		{"unknown name", `{"instruction":"i","tree":{}}`, "tree"},
		{"a list", `[]`, "array"},
	} {
		_, err := ParseTask([]byte(c.text))
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	if err := (Task{Instruction: "\xff"}).Check(); err == nil {
		t.Error("an instruction that isn't UTF-8 is taken")
	}
	if tree := (Task{}).Tree(); tree != nil {
		t.Errorf("a task without files has the tree %v", tree)
	}
	if tree := (Task{Files: map[string]string{}}).Tree(); tree == nil {
		t.Error("a task with an empty tree has none")
	}
}

func text(s string) *string { return &s }

func TestOutcomeCheck(t *testing.T) {
	big := Value(`"` + strings.Repeat("x", MaxValueBytes-2) + `"`)
	for _, c := range []struct {
		name    string
		outcome Outcome
		want    string
	}{
		{"output", Outcome{Output: "null"}, ""},
		{"files", Outcome{Files: map[string]*string{"a": text(""), "b": nil}}, ""},
		{"no change", Outcome{Files: map[string]*string{}}, ""},
		{"neither", Outcome{}, "neither"},
		{"output limit", Outcome{Output: big}, ""},
		{"one byte more", Outcome{Output: big + " "}, "limit is 1048576"},
		{"hidden", Outcome{Files: map[string]*string{"a/.b": text("")}}, "hidden"},
		{"hidden, deleted", Outcome{Files: map[string]*string{".b": nil}}, "hidden"},
		{"escaping", Outcome{Files: map[string]*string{"/etc/x": text("")}}, "clean relative"},
		{"not UTF-8", Outcome{Files: map[string]*string{"a": text("\xff")}}, "not UTF-8"},
		{"file and folder", Outcome{Files: map[string]*string{"a": text(""), "a/b": text("")}}, "is a file too"},
		{"large file", Outcome{Files: map[string]*string{"a": text(strings.Repeat("x", MaxFileBytes+1))}}, "limit is 4194304"},
	} {
		err := c.outcome.Check()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

func TestOutcomeEqual(t *testing.T) {
	// All of these differ from each other, and equal themselves.
	outcomes := []Outcome{
		{Output: `"1"`}, {Output: "1"}, {Output: "null"}, {Output: `{"a":1}`}, {},
		{Files: map[string]*string{"a": nil}}, {Files: map[string]*string{"a": text("")}}, {Files: map[string]*string{"a": text("x")}},
		{Files: map[string]*string{"a": text("x\n")}}, {Files: map[string]*string{"b": text("x")}},
		{Files: map[string]*string{"a": text("x"), "b": nil}}, {Output: "1", Files: map[string]*string{"a": text("x")}},
	}
	for i, a := range outcomes {
		for j, b := range outcomes {
			copied := Outcome{Output: b.Output, Files: map[string]*string{}}
			for p, s := range b.Files {
				if copied.Files[p] = s; s != nil {
					copied.Files[p] = text(*s)
				}
			}
			if a.Equal(copied) != (i == j) || a.Equal(copied) != copied.Equal(a) {
				t.Errorf("outcomes %d and %d: equal %v", i, j, a.Equal(copied))
			}
		}
	}
}

// TestEqualOutcomesAreCanonicallyEqual: numbers and names in another notation
// are the same outcome, whatever the program wrote.
func TestEqualOutcomesAreCanonicallyEqual(t *testing.T) {
	a, errA := ParseExecutorReply([]byte(`{"outcome":{"output":{"b":1.0,"a":"\u00e9"}}}`))
	b, errB := ParseExecutorReply([]byte(`{"outcome": {"output": {"a": "é", "b": 1e0}}}`))
	if errA != nil || errB != nil || !a.Outcome.Equal(*b.Outcome) {
		t.Errorf("%v and %v differ, %v, %v", a.Outcome, b.Outcome, errA, errB)
	}
}

// TestTaskRoundTrip: a task that is written and read again has the same name.
func TestTaskRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		task := Task{Instruction: rapid.StringN(1, 20, -1).Draw(t, "instruction")}
		if rapid.Bool().Draw(t, "has input") {
			value, err := ValueOf(anyJSON(2).Draw(t, "input"))
			if err != nil {
				t.Fatal(err)
			}
			task.Input = value
		}
		if n := rapid.IntRange(-1, 3).Draw(t, "files"); n >= 0 {
			task.Files = map[string]string{}
			for i := range n {
				task.Files[fmt.Sprint("f", i)] = rapid.String().Draw(t, "text")
			}
		}
		data, err := Canonical(task)
		if err != nil {
			t.Fatal(err)
		}
		back, err := ParseTask(data)
		if err != nil || back.Digest(nil) != task.Digest(nil) || task.Digest(nil) == "" {
			t.Fatalf("%s: %v", data, err)
		}
	})
}

func TestCaseCheck(t *testing.T) {
	good := func() Case {
		return Case{ID: "c1", Family: "f", Task: Task{Instruction: "i"}, Outcome: Outcome{Output: "1"}, Args: "{}"}
	}
	for _, c := range []struct {
		name   string
		change func(*Case)
		want   string
	}{
		{"control", func(*Case) {}, ""},
		{"fallback", func(c *Case) { c.Fallback, c.Outcome, c.Args = true, Outcome{}, "" }, ""},
		{"long id", func(c *Case) { c.ID = strings.Repeat("i", 200) }, ""},
		{"longer id", func(c *Case) { c.ID = strings.Repeat("i", 201) }, "1 to 200"},
		{"no id", func(c *Case) { c.ID = "" }, "1 to 200"},
		{"control character", func(c *Case) { c.ID = "a\x1bb" }, "control"},
		{"no family", func(c *Case) { c.Family = "" }, "no family"},
		{"bad task", func(c *Case) { c.Task.Instruction = "" }, "no instruction"},
		{"no outcome", func(c *Case) { c.Outcome = Outcome{} }, "neither"},
		{"bad outcome", func(c *Case) { c.Outcome.Files = map[string]*string{"../a": nil} }, "clean relative"},
		{"both", func(c *Case) { c.Fallback, c.Args = true, "" }, "both"},
		{"both, files", func(c *Case) { c.Fallback, c.Args, c.Outcome = true, "", Outcome{Files: map[string]*string{}} }, "both"},
		{"args of a fallback", func(c *Case) { c.Fallback, c.Outcome = true, Outcome{} }, "args"},
		{"args that are no object", func(c *Case) { c.Args = "[]" }, "args"},
		{"negative baseline", func(c *Case) { c.Baseline.Millis = -1 }, "baseline"},
	} {
		one := good()
		c.change(&one)
		err := one.Check()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}
