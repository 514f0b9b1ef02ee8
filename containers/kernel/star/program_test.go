package star

import (
	"strings"
	"testing"

	"signalbox/rule"
)

const goodTrigger = "def trigger(task):\n  return no_match()\n"

func TestLoadRefuses(t *testing.T) {
	for _, c := range []struct {
		name   string
		role   rule.Role
		source map[string]string
		kind   rule.Failure
		want   string
	}{
		{"no file", rule.RoleTrigger, map[string]string{"execute.star": "x = 1"}, rule.FailureCrash, `"trigger.star"`},
		{"a syntax error", rule.RoleTrigger, star("def trigger(task:\n"), rule.FailureCrash, "trigger.star:1:18"},
		{"an unknown name", rule.RoleTrigger, star("def trigger(task):\n  return os.exit()\n"), rule.FailureCrash, "undefined: os"},
		{"testbed in a trigger", rule.RoleTrigger, star("def trigger(task):\n  return testbed.read('x')\n"), rule.FailureCrash, "undefined: testbed"},
		{"while", rule.RoleTrigger, star("def trigger(task):\n  while True:\n    pass\n"), rule.FailureCrash, "does not support while"},
		{"no entry", rule.RoleTrigger, star("def other(task):\n  pass\n"), rule.FailureCrash, "defines no function trigger"},
		{"a builtin as the entry", rule.RoleTrigger, star("trigger = len\n"), rule.FailureCrash, "defines no function trigger"},
		{"too many parameters", rule.RoleTrigger, star("def trigger(task, more):\n  pass\n"), rule.FailureCrash, "trigger takes 2 arguments: want 1"},
		{"too few parameters", rule.RoleExecutor, map[string]string{"execute.star": "def execute(task):\n  pass\n"}, rule.FailureCrash, "execute takes 1 arguments: want 2"},
		{"an error at load", rule.RoleTrigger, star("x = 1 // 0\n" + goodTrigger), rule.FailureCrash, "division by zero"},
		{"a step bomb at load", rule.RoleTrigger, star("for i in range(10000000):\n  pass\n" + goodTrigger), rule.FailureTimeout, "step limit of 1000000"},
		{"a helper that isn't there", rule.RoleTrigger, star(`load("helper.star", "f")` + "\n" + goodTrigger), rule.FailureCrash, `loading "helper.star"`},
		{"a path as a helper", rule.RoleTrigger, map[string]string{"trigger.star": `load("../x.star", "f")`, "../x.star": "f = 1"}, rule.FailureCrash, `loading "../x.star"`},
		{"another kind of file", rule.RoleTrigger, map[string]string{"trigger.star": `load("manifest.json", "f")`, "manifest.json": "f = 1"}, rule.FailureCrash, "want a .star file"},
		{"a cycle", rule.RoleTrigger, map[string]string{"trigger.star": `load("a.star", "f")`, "a.star": `load("trigger.star", f="trigger")`}, rule.FailureCrash, "it loads itself"},
		{"a private name", rule.RoleTrigger, map[string]string{"trigger.star": `load("a.star", "_f")`, "a.star": "_f = 1"}, rule.FailureCrash, "_f"},
		{"too large a source", rule.RoleTrigger, star(goodTrigger + strings.Repeat("#", rule.MaxSourceBytes)), rule.FailureCrash, "the limit is 524288"},
		{"a helper's step bomb", rule.RoleTrigger, map[string]string{"trigger.star": `load("a.star", "f")` + "\n" + goodTrigger, "a.star": "f = 1\nfor i in range(10000000):\n  f += 1\n"}, rule.FailureTimeout, "step limit"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Load(c.role, c.source, testSteps)
			failed := failureOf(t, err)
			if failed.Failure != c.kind || !strings.Contains(failed.Detail, c.want) {
				t.Errorf("got %s: %s\nwant %s with %q", failed.Failure, failed.Detail, c.kind, c.want)
			}
		})
	}
	if _, err := Load(rule.RoleTrigger, star(goodTrigger), testSteps); err != nil {
		t.Errorf("the control isn't loaded: %v", err)
	}
	if _, err := Load(rule.RoleTrigger, star(goodTrigger), 0); err == nil {
		t.Error("a program without a step limit was loaded")
	}
}

func star(trigger string) map[string]string { return map[string]string{rule.TriggerFile: trigger} }

func TestTriggerAnswers(t *testing.T) {
	for _, c := range []struct{ body, want string }{
		{`match({"b": 1, "a": [task.instruction, task.input, task.has_input]}, note="n")`,
			`{"args":{"a":["do it",{"k":[1,2.5]},true],"b":1},"note":"n","verdict":"match"}`},
		{`match({})`, `{"args":{},"verdict":"match"}`},
		{`match(args=dict(x=(1, None)))`, `{"args":{"x":[1,null]},"verdict":"match"}`},
		{`no_match()`, `{"verdict":"no_match"}`},
		{`abstain("not sure")`, `{"note":"not sure","verdict":"abstain"}`},
		{`no_match("é" * 300)`, `{"note":"` + strings.Repeat("é", 250) + `","verdict":"no_match"}`},
		{`no_match("x" + "é" * 300)`, `{"note":"x` + strings.Repeat("é", 249) + `","verdict":"no_match"}`},
		{`no_match("é"[:1])`, `{"note":"�","verdict":"no_match"}`},
	} {
		p := loadTrigger(t, "def trigger(task):\n  return "+c.body+"\n")
		body, err := p.Trigger(rule.Document{Instruction: "do it", Input: `{"k":[1,2.5]}`})
		if err != nil || string(body) != c.want {
			t.Errorf("%s:\n got %s, %v\nwant %s", c.body, body, err, c.want)
		}
		if _, err := rule.ParseTriggerReply(body); err != nil {
			t.Errorf("%s: the host refuses it: %v", body, err)
		}
	}
}

func TestTriggerFailures(t *testing.T) {
	for _, c := range []struct {
		body string
		kind rule.Failure
		want string
	}{
		{`"match"`, rule.FailureSchema, "trigger returned a string: want match"},
		{`None`, rule.FailureSchema, "trigger returned None"},
		{`match`, rule.FailureSchema, "a builtin_function_or_method"},
		{`result(output=1)`, rule.FailureSchema, "result(…): want match"},
		{`match([])`, rule.FailureCrash, "got list, want dict"},
		{`match({1: 2})`, rule.FailureCrash, "a key is a int: want a string"},
		{`match({"a": [set()]})`, rule.FailureCrash, `"a": [0]: a set is no JSON value`},
		{`match({"a": 9007199254740993})`, rule.FailureCrash, "2^53"},
		{`match({"a": -9007199254740993})`, rule.FailureCrash, "2^53"},
		{`match({"a": 1e300})`, rule.FailureCrash, "2^53"},
		{`match({"a": float("nan")})`, rule.FailureCrash, "float NaN"},
		{`match({"a": float("-inf")})`, rule.FailureCrash, "float -Inf"},
		{`match({"a": "é"[:1]})`, rule.FailureCrash, "not valid UTF-8"},
		{`match({"é"[:1]: 1})`, rule.FailureCrash, "not valid UTF-8"},
		{`match({"a": "x" * (1 << 20)})`, rule.FailureCrash, "longer than 1048576 bytes"},
		{`match({"a": match})`, rule.FailureCrash, "no JSON value"},
		{`match({"a": task})`, rule.FailureCrash, "struct is no JSON value"},
		{`fail("é" * 5000)`, rule.FailureCrash, "fail: éé"},
		{`no_match(note=1)`, rule.FailureCrash, "got int, want string"},
		{`[0][1]`, rule.FailureCrash, "trigger.star:2:13: in trigger"},
		{`[i for i in range(1 << 30)]`, rule.FailureTimeout, "step limit of 1000000"},
		{`[strings.length("x" * 4000000) for i in range(100)]`, rule.FailureTimeout, "step limit of 1000000"},
		{`trigger(task)`, rule.FailureCrash, "called recursively"},
		{`"a" * (1 << 40)`, rule.FailureCrash, "repeat count"},
	} {
		p := loadTrigger(t, "def trigger(task):\n  return "+c.body+"\n")
		_, err := p.Trigger(rule.Document{Instruction: "i"})
		failed := failureOf(t, err)
		if failed.Failure != c.kind || !strings.Contains(failed.Detail, c.want) {
			t.Errorf("%s:\n got %s: %s\nwant %s with %q", c.body, failed.Failure, failed.Detail, c.kind, c.want)
		}
		if len(failed.Detail) > 2*maxDetail+100 {
			t.Errorf("%s: the detail has %d bytes", c.body, len(failed.Detail))
		}
		if _, err := rule.Canonical(failed); err != nil {
			t.Errorf("%s: the detail can't be sent: %v", c.body, err)
		}
	}
}

func TestExactIntegers(t *testing.T) {
	check(t, []row{
		{`[9007199254740992, -9007199254740992, 9007199254740992.0]`, `[9007199254740992,-9007199254740992,9007199254740992]`},
		{`[2.0, 1e-7, 0.1 + 0.2, -0.0]`, `[2,1e-7,0.30000000000000004,0]`},
		{`"x" * 1048574 == None`, `false`},
	})
	if got := evaluate(t, `"x" * 1048574`); len(got) != rule.MaxValueBytes {
		t.Errorf("an output at the limit has %d bytes", len(got))
	}
	nested := func(depth int) string {
		p := loadExecutor(t, "def execute(task, args):\n  x = 1\n  for i in range(args['n']):\n    x = [x]\n  return result(output=x)\n")
		args, err := rule.ValueOf(map[string]int{"n": depth})
		if err != nil {
			t.Fatal(err)
		}
		body, err := p.Execute(rule.Document{Instruction: "i"}, args, nil)
		if err != nil {
			return err.Error()
		}
		if _, err := rule.ParseExecutorReply(body); err != nil {
			t.Errorf("depth %d: the host refuses it: %v", depth, err)
		}
		return ""
	}
	if got := nested(maxDepth); got != "" {
		t.Errorf("depth %d: %s", maxDepth, got)
	}
	if got := nested(maxDepth + 1); !strings.Contains(got, "deeper than 60") {
		t.Errorf("depth %d: %q", maxDepth+1, got)
	}
}

// TestShared shows that lists within lists stay bounded: a value of 2^40 leaves
// costs no more than the limit.
func TestShared(t *testing.T) {
	p := loadExecutor(t, "def execute(task, args):\n  x = []\n  for i in range(40):\n    x = [x, x]\n  return result(output=x)\n")
	_, err := p.Execute(rule.Document{Instruction: "i"}, "{}", nil)
	if failed := failureOf(t, err); !strings.Contains(failed.Detail, "longer than") {
		t.Errorf("got %v", failed)
	}
	cyclic := loadExecutor(t, "def execute(task, args):\n  x = []\n  x.append(x)\n  return result(output=x)\n")
	_, err = cyclic.Execute(rule.Document{Instruction: "i"}, "{}", nil)
	if failed := failureOf(t, err); !strings.Contains(failed.Detail, "deeper than") {
		t.Errorf("got %v", failed)
	}
}
