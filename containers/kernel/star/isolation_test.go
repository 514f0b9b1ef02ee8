package star

import (
	"bytes"
	"strings"
	"testing"

	"signalbox/rule"
)

// TestCallsShareNothing tries each way to leave something behind for the next
// call.
func TestCallsShareNothing(t *testing.T) {
	for name, source := range map[string]string{
		"a global list":      "seen = []\ndef trigger(task):\n  seen.append(1)\n  return no_match()\n",
		"a global dict":      "seen = {}\ndef trigger(task):\n  seen['x'] = 1\n  return no_match()\n",
		"a default argument": "def trigger(task, seen=[]):\n  seen.append(1)\n  return no_match()\n",
		"a closure":          "def make():\n  seen = []\n  def f(task):\n    seen.append(1)\n    return no_match()\n  return f\ntrigger = make()\n",
		"a module":           "def trigger(task):\n  strings.seen = 1\n  return no_match()\n",
		"the task":           "def trigger(task):\n  task.seen = 1\n  return no_match()\n",
		"a function":         "def trigger(task):\n  trigger.seen = 1\n  return no_match()\n",
	} {
		p := loadTrigger(t, source)
		if _, err := p.Trigger(rule.Document{Instruction: "i"}); err == nil {
			t.Errorf("%s can be changed by a call", name)
		}
	}
	// The control: a call may change what is its own.
	p := loadTrigger(t, "def trigger(task):\n  task.input.append(1)\n  return match({'n': len(task.input)})\n")
	for range 2 {
		body, err := p.Trigger(rule.Document{Instruction: "i", Input: "[]"})
		if err != nil || string(body) != `{"args":{"n":1},"verdict":"match"}` {
			t.Errorf("got %s, %v", body, err)
		}
	}
}

// TestStepsAreFresh runs a call that takes most of the budget many times, and
// one whose pattern is compiled by the first call only.
func TestStepsAreFresh(t *testing.T) {
	p := loadTrigger(t, "def trigger(task):\n  n = 0\n  for i in range(70000):\n    n += i\n  return match({'n': n})\n")
	for i := range 5 {
		if _, err := p.Trigger(rule.Document{Instruction: "i"}); err != nil {
			t.Fatalf("call %d: %v", i, err)
		}
	}
	source := star("def trigger(task):\n  re.find('" + strings.Repeat("a", 1000) + "', 'b')\n  return no_match()\n")
	for steps := uint64(900); ; steps++ {
		p, err := Load(rule.RoleTrigger, source, steps)
		if err != nil {
			t.Fatal(err)
		}
		_, first := p.Trigger(rule.Document{Instruction: "i"})
		_, second := p.Trigger(rule.Document{Instruction: "i"})
		if (first == nil) != (second == nil) {
			t.Fatalf("with %d steps the first call gives %v, the second %v", steps, first, second)
		}
		if first == nil {
			break
		}
	}
}

func TestFailedCallLeavesNoTrace(t *testing.T) {
	p := loadTrigger(t, "def trigger(task):\n  return no_match() if task.instruction == 'good' else fail('bad')\n")
	for range 3 {
		if _, err := p.Trigger(rule.Document{Instruction: "bad"}); err == nil {
			t.Error("the bad task has an answer")
		}
		if body, err := p.Trigger(rule.Document{Instruction: "good"}); err != nil {
			t.Errorf("the good task: %s, %v", body, err)
		}
	}
}

func TestPrintGoesNowhere(t *testing.T) {
	p := loadTrigger(t, "def trigger(task):\n  print('x' * 1000)\n  return no_match()\n")
	if _, err := p.Trigger(rule.Document{Instruction: "i"}); err != nil {
		t.Error(err)
	}
}

func TestHelpers(t *testing.T) {
	source := map[string]string{
		"trigger.star": "load('a.star', 'both')\nload('b.star', g='f')\ndef trigger(task):\n  return match({'v': both(g())})\n",
		"execute.star": "load('a.star', 'both')\ndef execute(task, args):\n  return result(output=both(args['v']))\n",
		"a.star":       "load('b.star', 'f')\nf2 = f\ndef both(x):\n  return [x, f2()]\ndef unused():\n  return result(output=match({}))\n",
		"b.star":       "def f():\n  return 'b'\n",
	}
	p, err := Load(rule.RoleTrigger, source, testSteps)
	if err != nil {
		t.Fatal(err)
	}
	body, err := p.Trigger(rule.Document{Instruction: "i"})
	if want := `{"args":{"v":["b","b"]},"verdict":"match"}`; err != nil || string(body) != want {
		t.Errorf("got %s, %v", body, err)
	}
	p, err = Load(rule.RoleExecutor, source, testSteps)
	if err != nil {
		t.Fatal(err)
	}
	body, err = p.Execute(rule.Document{Instruction: "i"}, `{"v":1}`, nil)
	if want := `{"outcome":{"output":[1,"b"]}}`; err != nil || string(body) != want {
		t.Errorf("got %s, %v", body, err)
	}
}

// TestDeterministic runs one program loaded twice: the replies are identical
// though Go's maps aren't.
func TestDeterministic(t *testing.T) {
	source := `
def trigger(task):
  s = set(task.input.keys())
  return match({"keys": list(task.input.keys()), "set": list(s), "dir": dir(strings), "hash": str(hash.md5("x")), "text": str(task)})
`
	task := rule.Document{Instruction: "i", Input: `{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6}`}
	var first []byte
	for range 20 {
		body, err := loadTrigger(t, source).Trigger(task)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = body
		}
		if !bytes.Equal(first, body) {
			t.Fatalf("got %s, and before %s", body, first)
		}
	}
}
