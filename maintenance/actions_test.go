package maintenance

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"signalbox/rule"
)

// TestActionsEach calls every action once on a draft that is complete, with an
// active rule beside it, and looks at what the model is told.
func TestActionsEach(t *testing.T) {
	b := newBench(t)
	b.desk.view.Active = []rule.Program{b.program("lower", "lower", strings.ReplaceAll(goodTrigger, "Upper", "Lower"), strings.ReplaceAll(goodExecute, "upper", "lower"))}
	b.desk.view.Mapping = rule.Mapping{"lower": {"lower"}}
	b.desk.view.Known = map[rule.Name]rule.Family{"lower": "lower"}
	b.desk.view.Policy.AllowUnheld = true // lower has no hidden cases
	test := func(verdict string) string {
		return `{"task":{"instruction":"Uppercase the text","input":"x"},"expect":{"verdict":"` + verdict + `","outcome":{"output":"X"}}}`
	}
	turns := []struct{ turn, want string }{
		{does("list_rules"), `"rules":[{"family":"lower"`},
		{does("find_similar_rules"), `"rule":"lower"`},
		{does("inspect_rule", `{"rule":"lower"}`), `"trigger.star":"def trigger`},
		{does("inspect_rule", `{"rule":"nothing"}`), `"code":"no_rule"`},
		{does("create_rule"), `"files":["README.md","manifest.json"]`},
		{does("edit_contract"), `"files":["/draft/README.md","/draft/manifest.json"]`},
		{replaces("/draft/manifest.json", `"summary": ""`, `"summary": "Text in upper case."`), "edited successfully"},
		{creates("/draft/trigger.star", "x"), "not open"},
		{does("edit_trigger"), `"files":[]`},
		{creates("/draft/execute.star", "x"), "not open"},
		{creates("/draft/trigger.star", goodTrigger), "created successfully"},
		{does("edit_executor"), `"code":"opened"`},
		{creates("/draft/trigger.star", "x"), "not open"},
		{creates("/draft/execute.star", strings.Replace(goodExecute, "upper", "title", 1)), "created successfully"},
		{does("add_tests"), `"files":[]`},
		{creates("/draft/tests/good.json", test("match")), "created successfully"},
		{creates("/draft/tests/bad.json", test("abstain")), "created successfully"},
		{does("validate_rule"), `"passed":0`},
		{does("diagnose_rule"), `output differs from byte 2: got \"\\\"Ant\\\"\", want \"\\\"ANT\\\"\"`},
		{does("diagnose_rule", `{"case":"u90"}`), `"verdict":"no_match"`},
		{does("diagnose_rule", `{"case":"hidden04"}`), `"code":"no_case"`},
		{does("profile_rule"), `"cases":5,"failures":0`},
		{does("check_conflicts"), `"asked":13,"clashes":[]`},
		{does("activate_rule"), `"code":"recorded"`},
		{does("disable_rule", `{"rule":"lower","why":"it is in the way"}`), `"request":2`},
		{does("rollback_rule", `{"rule":"lower","why":"it was better"}`), `"code":"recorded"`},
		{does("split_rule", `{"rule":"upper","into":["a","b"],"why":"two kinds"}`), `"code":"recorded"`},
		{does("merge_rules", `{"rules":["upper","lower"],"into":["case"],"why":"one kind"}`), `"code":"recorded"`},
		{does("split_rule", `{"rule":"../x","into":["a"],"why":"no name"}`), `"code":"bad_arguments"`},
		{edits(map[string]any{"command": "view", "path": "/draft"}), "/draft/tests/good.json"},
		{edits(map[string]any{"command": "view", "path": "/etc/passwd"}), "/draft"},
		{does("submit_rule"), `"code":"refused"`},
	}
	for _, turn := range turns {
		b.model.script = append(b.model.script, turn.turn)
	}
	b.model.script = append(b.model.script, says("enough"))
	options := b.options()
	options.Bounds = Bounds{Calls: 100, Idle: 100}
	a := b.maintain(options)
	b.wants(a, StopProgress, "gave up")
	for i, turn := range turns {
		if got := b.model.seen[i+1].last(); !strings.Contains(got, turn.want) {
			t.Errorf("turn %d: told %s\nwant %s", i, clip(got, 1500), turn.want)
		}
	}
	checkFailures(b, turns)
	requests, err := filepath.Glob(filepath.Join(b.deps.Home, "drafts", a.ID, "requests", "*.json"))
	if err != nil || len(requests) != 5 || a.Counts.Requests != 5 {
		t.Errorf("requests = %v, %v", requests, err)
	}
	if text, err := os.ReadFile(requests[1]); err != nil || !strings.Contains(string(text), "it is in the way") {
		t.Errorf("request = %s, %v", text, err)
	}
	if len(b.desk.view.Active) != 1 || len(b.desk.proposed) != 0 {
		t.Error("a request changed something")
	}
}

// checkFailures wants validation to say what is wrong in full, tests included.
func checkFailures(b *bench, turns []struct{ turn, want string }) {
	b.Helper()
	for i, turn := range turns {
		if turn.turn != does("validate_rule") {
			continue
		}
		got := b.model.seen[i+1].last()
		for _, want := range []string{
			`"kind":"wrong"`, `"expected":{"output":"ANT"}`, `"got":{"output":"Ant"}`, `tests/bad.json: verdict match, want abstain`, `"tests":2`,
		} {
			if !strings.Contains(got, want) {
				b.Errorf("validation misses %s: %s", want, got)
			}
		}
	}
}

// program returns an active rule.
func (b *bench) program(name, family, trigger, execute string) rule.Program {
	b.Helper()
	manifest := `{"schema":1,"name":"` + name + `","family":"` + family + `","summary":"","environment":"starlark",
		"guard":{"equals":["Lowercase the text","Uppercase the text"]},"args_schema":{"type":"object"},"result_schema":{}}`
	source, parsed, err := rule.ParseSource(rule.TreeOf(map[string]string{
		"manifest.json": manifest, "trigger.star": trigger, "execute.star": execute,
	}))
	if err != nil {
		b.Fatal(err)
	}
	environment := b.desk.view.Environment
	return rule.Program{
		Member:   rule.Member{Rule: parsed.Name, Revision: source.Digest(), Environment: environment.Digest()},
		Manifest: parsed, Source: source, Environment: environment,
	}
}

// TestConflicts shows the clash of a draft with an active rule that matches the
// same cases, and leaves out of a proposal an active rule that fails by itself.
func TestConflicts(t *testing.T) {
	b := newBench(t)
	greedy := "def trigger(task):\n    return match({})\n"
	b.desk.view.Active = []rule.Program{b.program("lower", "lower", greedy, strings.ReplaceAll(goodExecute, "upper", "lower"))}
	b.desk.view.Mapping = rule.Mapping{"lower": {"lower"}}
	b.desk.view.Known = map[rule.Name]rule.Family{"lower": "lower"}
	b.model.script = append(writes(goodTrigger, goodExecute), does("check_conflicts"), does("submit_rule"))
	a := b.maintain(b.options())
	b.wants(a, StopSubmitted, "")
	if got := b.model.seen[6].last(); !strings.Contains(got, `"reason":"conflict","rules":["upper","lower"]`) {
		t.Errorf("conflicts = %s", got)
	}
	p := b.desk.proposed[0]
	if len(p.Dropped) != 1 || p.Dropped[0] != "lower" || len(p.Checked.Programs) != 1 || len(p.Checked.Mapping) != 1 {
		t.Errorf("proposal drops %v of %v", p.Dropped, p.Checked.Mapping)
	}
}

// TestIdentity refuses drafts in which the model changed what the host fixed.
func TestIdentity(t *testing.T) {
	for field, change := range map[string][2]string{
		"name":         {`"name": "upper"`, `"name": "other"`},
		"family":       {`"family": "upper"`, `"family": "lower"`},
		"environment":  {`"environment": "starlark"`, `"environment": "python"`},
		"parent":       {`"schema": 1`, `"schema": 1, "parent": "sha256:` + strings.Repeat("0", 64) + `"`},
		"source_cases": {`"u00",`, ``},
	} {
		b := newBench(t)
		b.model.script = append(writes(goodTrigger, goodExecute), does("edit_contract"), replaces("/draft/manifest.json", change[0], change[1]), does("submit_rule"), says("x"))
		a := b.maintain(b.options())
		b.wants(a, StopProgress, "gave up")
		if got := b.model.seen[8].last(); !strings.Contains(got, `"code":"identity_changed"`) || !strings.Contains(got, field) {
			t.Errorf("%s: told %s", field, got)
		}
		if a.Counts.Validations != 0 {
			t.Errorf("%s: the oracle was asked", field)
		}
	}
}
