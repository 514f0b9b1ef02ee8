package maintenance

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"signalbox/maintenance/skills"
	"signalbox/rule"
)

// TestRuleArguments reads what models send, strictly.
func TestRuleArguments(t *testing.T) {
	for arguments, want := range map[string]struct {
		code string
		args ruleArgs
	}{
		`{"action":"list_rules"}`:                               {args: ruleArgs{Action: "list_rules"}},
		`{"action":"list_rules","data":{}}`:                     {args: ruleArgs{Action: "list_rules"}},
		`{"action":"list_rules","data":null}`:                   {args: ruleArgs{Action: "list_rules"}},
		`{"action":"inspect_rule","data":{"rule":"a"}}`:         {args: ruleArgs{Action: "inspect_rule", Data: ruleData{Rule: "a"}}},
		`{"action":"inspect_rule","data":"{\"rule\":\"a\"}"}`:   {args: ruleArgs{Action: "inspect_rule", Data: ruleData{Rule: "a"}}},
		` {"data":{"text":"x"},"action":"find_similar_rules"} `: {args: ruleArgs{Action: "find_similar_rules", Data: ruleData{Text: "x"}}},
		``:                                    {code: "bad_arguments"},
		`null`:                                {code: "bad_arguments"},
		`"{}"`:                                {code: "bad_arguments"},
		`[]`:                                  {code: "bad_arguments"},
		`{}`:                                  {code: "unknown_action"},
		`{"action":"List_rules"}`:             {code: "unknown_action"},
		`{"ACTION":"list_rules"}`:             {code: "bad_arguments"},
		`{"action":7}`:                        {code: "bad_arguments"},
		`{"action":"list_rules","x":1}`:       {code: "bad_arguments"},
		`{"action":"list_rules"}{}`:           {code: "bad_arguments"},
		`{"action":"list_rules","action":""}`: {code: "bad_arguments"},
		`{"action":"\ud800"}`:                 {code: "bad_arguments"},
		`{"action":"list_rules","data":[]}`:   {code: "bad_arguments"},
		`{"action":"list_rules","data":"x"}`:  {code: "bad_arguments"},
		`{"action":"list_rules","data":{"rule":"a"}}`:                {code: "unused_parameter"},
		`{"action":"inspect_rule"}`:                                  {code: "missing_parameter"},
		`{"action":"disable_rule","data":{"rule":"a"}}`:              {code: "missing_parameter"},
		`{"action":"inspect_rule","data":{"rule":"a","RULE":"b"}}`:   {code: "bad_arguments"},
		`{"action":"merge_rules","data":{"rules":"a","into":["b"]}}`: {code: "bad_arguments"},
		`{"action":"list_rules","data":` + strings.Repeat("[", 500):  {code: "bad_arguments"},
	} {
		got, err := parseRuleCall(arguments)
		var wrong *badCall
		if errors.As(err, &wrong) != (want.code != "") || wrong != nil && wrong.code != want.code {
			t.Errorf("%s: error = %v, want %q", arguments, err, want.code)
		}
		if err == nil && !reflect.DeepEqual(got, want.args) {
			t.Errorf("%s: got %+v, want %+v", arguments, got, want.args)
		}
		if err != nil && strings.Contains(err.Error(), "maintenance.") {
			t.Errorf("%s: the error names a Go type: %v", arguments, err)
		}
	}
	if _, err := parseRuleCall(`{"action":"` + strings.Repeat("x", maxArgumentBytes) + `"}`); err == nil {
		t.Error("arguments over the limit were taken")
	}
}

// FuzzArguments reads arguments of any form: what is taken is one of the
// actions with parameters of its own, and reads the same when written again.
func FuzzArguments(f *testing.F) {
	for _, a := range actions {
		f.Add(`{"action":"` + string(a) + `","data":{"rule":"a","why":"b"}}`)
	}
	f.Add(`{"action":"inspect_rule","data":"{\"rule\":\"a\"}"}`)
	f.Add(`{"action":`)
	f.Fuzz(func(t *testing.T, arguments string) {
		args, err := parseRuleCall(arguments)
		if err != nil {
			return
		}
		if !slices.Contains(actions, args.Action) || args.check() != nil {
			t.Fatalf("took %+v", args)
		}
		text, err := rule.Canonical(args)
		if err != nil {
			t.Fatal(err)
		}
		again, err := parseRuleCall(string(text))
		if err != nil || !reflect.DeepEqual(args, again) {
			t.Fatalf("%s became %+v, %v", text, again, err)
		}
	})
}

// TestTools pins the three tools as a model sees them. SIGNALBOX_GOLDEN=1
// writes the files anew.
func TestTools(t *testing.T) {
	offered, err := tools()
	if err != nil {
		t.Fatal(err)
	}
	if len(offered) != 3 {
		t.Fatalf("%d tools", len(offered))
	}
	for _, tool := range offered {
		text := jsontext.Value(tool.Parameters)
		if err := text.Indent(jsontext.WithIndent("  ")); err != nil {
			t.Fatal(err)
		}
		got := tool.Description + "\n\n" + string(text) + "\n"
		path := filepath.Join("testdata", tool.Name+".golden")
		if os.Getenv("SIGNALBOX_GOLDEN") != "" {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil || got != string(want) {
			t.Errorf("tool %s differs from %s (%v):\n%s", tool.Name, path, err, got)
		}
		for _, word := range []string{"$schema", "$ref", "$id", "additionalProperties"} {
			if strings.Contains(string(text), word) {
				t.Errorf("the schema of %s has %s", tool.Name, word)
			}
		}
	}
}

// TestActions has a guide, an implementation and a place in the schema for each.
func TestActions(t *testing.T) {
	if len(actions) != 18 {
		t.Fatalf("%d actions, want 18", len(actions))
	}
	offered, err := tools()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range actions {
		if !slices.Contains(skills.Names(), string(a)) {
			t.Errorf("%s has no guide", a)
		}
		if !strings.Contains(string(offered[0].Parameters), `"`+string(a)+`"`) {
			t.Errorf("%s is not in the schema", a)
		}
	}
}
