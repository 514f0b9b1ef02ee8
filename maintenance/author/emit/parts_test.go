package emit

import (
	"strings"
	"testing"

	"signalbox/maintenance/author/form"
	"signalbox/maintenance/author/prompt"
	"signalbox/maintenance/author/synth"
	"signalbox/maintenance/author/table"
	"signalbox/rule"
)

// slotted returns a rule over the one slot of an instruction.
func slotted(t *testing.T) Rule {
	t.Helper()
	template, err := prompt.Learn([]string{`shout "ann lee"`, `shout "bo"`})
	if err != nil {
		t.Fatal(err)
	}
	examples := []synth.Example{}
	for _, text := range []string{"ann lee", "bo oz", "cy young", "di ray"} {
		examples = append(examples, synth.Example{ID: text, Columns: []string{text}, Target: synth.Target{Form: "s", Text: []string{strings.ToUpper(text)}}})
	}
	tree, err := synth.Learn(examples, synth.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	return Rule{Family: "f", Template: template, Outputs: map[string]*form.Node{"s": {Kind: form.Text}}, Guard: synth.NewGuard(examples, 0), Tree: tree}
}

func TestSlotsBecomeColumns(t *testing.T) {
	r := slotted(t)
	trigger := r.trigger()
	for _, want := range []string{"found = re.full(INSTRUCTION, task.instruction)", "found[1][1:-1],  # slot 1 of the instruction, a quoted text", "an input, where none is expected"} {
		if !strings.Contains(trigger, want) {
			t.Errorf("no %q in\n%s", want, trigger)
		}
	}
	guard := r.ManifestGuard()
	if !guard.NoInput || guard.Pattern == "" || guard.Equals != nil {
		t.Errorf("guard %+v", guard)
	}
	if !guard.Allows(rule.Document{Instruction: `shout "x y"`}) || guard.Allows(rule.Document{Instruction: `shout "x" twice`}) {
		t.Error("the guard takes another instruction, or not its own")
	}
}

func TestArgsSchema(t *testing.T) {
	schema := slotted(t).ArgsSchema()
	for value, want := range map[rule.Value]bool{`{"columns":["a"]}`: true, `{"columns":[]}`: false, `{"columns":["a","b"]}`: false, `{"columns":[1]}`: false, `{}`: false, `{"columns":["a"],"x":1}`: false} {
		if (schema.Accepts(value) == nil) != want {
			t.Errorf("%s: accepted is %v", value, !want)
		}
	}
}

func TestResultSchema(t *testing.T) {
	text, list := &form.Node{Kind: form.Text}, &form.Node{Kind: form.List, Kids: []*form.Node{{Kind: form.Text}}}
	one := Rule{Outputs: map[string]*form.Node{"s": text}}.ResultSchema()
	if one.Accepts(`"a"`) != nil || one.Accepts(`["a"]`) == nil {
		t.Error("one skeleton doesn't bind the result")
	}
	two := Rule{Outputs: map[string]*form.Node{"s": text, "[s]": list}}.ResultSchema()
	if two.Accepts(`"a"`) != nil || two.Accepts(`["a"]`) != nil {
		t.Error("one of two skeletons is refused")
	}
	edit := Rule{Edit: &Edit{}}.ResultSchema()
	if edit.Accepts(`"a"`) != nil {
		t.Error("an edit's schema judges an output")
	}
}

func TestTableRule(t *testing.T) {
	r := Rule{Family: "f", Template: prompt.Template{Fixed: []string{"fold it"}}, Table: &table.Rules{
		Programs: [][]table.Step{{{Name: "fold", N: 1}}, {{Name: "fold_header", N: 1}, {Name: "columns", Columns: []int{0, 2}}}}, Widths: []int{2, 3}, Support: 5, Foretold: 3,
	}}
	files := r.Files()
	for path, wants := range map[string][]string{
		rule.TriggerFile:  {`load("tables.star", "is_table")`, "len(row) not in [2, 3]", `match({"table": x})`, "return abstain("},
		rule.ExecutorFile: {`load("tables.star", "agreed", "columns", "fold", "fold_header")`, "t = columns(t, [0, 2])", "agreed([reading_1(x), reading_2(x)])", "# From 5 examples, 3 of them foretold"},
	} {
		for _, want := range wants {
			if !strings.Contains(files[path], want) {
				t.Errorf("no %q in\n%s", want, files[path])
			}
		}
	}
	if len(files) != 3 || files[table.LibraryFile] != table.Library {
		t.Errorf("%d files", len(files))
	}
	if r.Shared = true; strings.Contains(r.trigger(), "abstain(") {
		t.Error("abstains on what may be another family's")
	}
	schema := r.ArgsSchema()
	if schema.Accepts(`{"table":[["a"],[]]}`) != nil || schema.Accepts(`{"table":[["a",1]]}`) == nil || schema.Accepts(`{"table":"a"}`) == nil {
		t.Error("the args are no table")
	}
}

func TestQuestionsAreComments(t *testing.T) {
	r := slotted(t)
	r.Questions = []string{"[\"a\nb\"]: two readings"}
	for _, line := range strings.Split(r.questions(), "\n") {
		if line != "" && !strings.HasPrefix(line, "#") {
			t.Errorf("a question broke out of its comment: %q", line)
		}
	}
	if !strings.Contains(r.executor(), "certified, would decide") {
		t.Error("the executor doesn't say which examples would decide")
	}
}

func TestFixedOr(t *testing.T) {
	if got := fixedOr("a\"b", -1); got != `"a\"b"` {
		t.Error(got)
	}
	if got := fixedOr("", 2); got != "given[2]" {
		t.Error(got)
	}
}
