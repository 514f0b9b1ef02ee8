package maintenance

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"signalbox/registry/ledger"
	"signalbox/rule"
)

// TestStops shows every stop reason but those of the loop's own tests, each
// beside how often the model was asked.
func TestStops(t *testing.T) {
	refusal := completion("stop", map[string]any{"role": "assistant", "content": nil, "refusal": "I won't"})
	cut := completion("length", map[string]any{"role": "assistant", "content": nil, "tool_calls": []any{
		map[string]any{"id": "a", "type": "function", "function": map[string]any{"name": "rule", "arguments": `{"action":"submit_r`}},
	}})
	shrunk := strings.ReplaceAll(does("list_rules"), "TOKENS", "64")
	for name, c := range map[string]struct {
		script  []string
		change  func(*bench, *Options)
		reason  StopReason
		why     string
		arrived int64
	}{
		"refused":                 {script: []string{refusal}, reason: StopRefused, why: "I won't", arrived: 1},
		"gave up":                 {script: []string{says("no rule explains u03"), says("really")}, reason: StopProgress, why: "really", arrived: 2},
		"hung up":                 {script: []string{does("list_rules"), "hang up"}, reason: StopUncertain, why: "unknown fate", arrived: 2},
		"server error":            {script: []string{""}, reason: StopModel, why: "status 500", arrived: 1},
		"three malformed":         {script: []string{"{}"}, reason: StopModel, why: "3 replies in a row", arrived: 3},
		"three cut":               {script: []string{cut}, reason: StopModel, why: "cut", arrived: 3},
		"shrunk prompt":           {script: []string{does("list_rules"), shrunk}, reason: StopContext, why: "dropped", arrived: 2},
		"context bound":           {script: []string{does("list_rules")}, change: func(_ *bench, o *Options) { o.Endpoint.Context = 2000 }, reason: StopContext, arrived: 0},
		"calls":                   {script: looking(), change: func(_ *bench, o *Options) { o.Bounds.Calls = 4 }, reason: StopCalls, why: "4 calls", arrived: 4},
		"operations":              {script: looking(), change: func(_ *bench, o *Options) { o.Bounds.Operations = 3 }, reason: StopCalls, why: "3 operations", arrived: 3},
		"tokens":                  {script: looking(), change: func(_ *bench, o *Options) { o.Bounds.Tokens = 12_000 }, reason: StopTokens, why: "of 12000 tokens"},
		"bytes":                   {script: looking(), change: func(_ *bench, o *Options) { o.Bounds.Bytes = 2000 }, reason: StopTokens, why: "2000 bytes"},
		"validations":             {script: append(writes(goodTrigger, "def execute(task, args):\n    return abstain()\n"), does("validate_rule"), does("submit_rule")), change: func(_ *bench, o *Options) { o.Bounds.Validations = 1 }, reason: StopCalls, why: "1 validations", arrived: 7},
		"idle":                    {script: looking(), change: func(_ *bench, o *Options) { o.Bounds.Idle = 5 }, reason: StopProgress, why: "5 turns without", arrived: 5},
		"time":                    {script: looking(), change: func(_ *bench, o *Options) { o.Bounds.Wall = time.Nanosecond }, reason: StopCancelled},
		"budget of calls":         {script: looking(), change: func(b *bench, _ *Options) { b.allow(ledger.Calls, 2) }, reason: StopCalls, why: "signalbox budget set calls", arrived: 2},
		"budget of tokens":        {script: looking(), change: func(b *bench, _ *Options) { b.allow(ledger.PromptTokens, 10) }, reason: StopTokens, why: "signalbox budget set prompt_tokens"},
		"budget of attempts":      {script: looking(), change: func(b *bench, _ *Options) { b.allow(ledger.Attempts, 0) }, reason: StopCalls, why: "signalbox budget set attempts"},
		"budget of operations":    {script: looking(), change: func(b *bench, _ *Options) { b.allow(ledger.Operations, 1) }, reason: StopCalls, why: "signalbox budget set operations", arrived: 2},
		"budget of validations":   {script: append(writes(goodTrigger, goodExecute), does("validate_rule")), change: func(b *bench, _ *Options) { b.allow(ledger.Validations, 0) }, reason: StopCalls, why: "signalbox budget set validations", arrived: 6},
		"budget of time":          {script: looking(), change: func(b *bench, _ *Options) { b.allow(ledger.WallMillis, 10) }, reason: StopCancelled, why: "signalbox budget set wall_ms"},
		"context overflow":        {script: []string{`STATUS 400 {"error":{"code":"context_length_exceeded","message":"too long"}}`}, reason: StopContext, why: "too long", arrived: 1},
		"the same three times":    {script: []string{does("list_rules")}, reason: StopProgress, why: "the same call gave the same result", arrived: 3},
		"the same error":          {script: []string{does("inspect_rule", `{"rule":"x"}`), calls([2]string{"rule", `{"action":"inspect_rule", "data":{"rule":"x"}}`}), calls([2]string{"rule", `{"data":{"rule":"x"},"action":"inspect_rule"}`})}, reason: StopProgress, why: "the same error came", arrived: 3},
		"there and back":          {script: []string{does("edit_trigger"), does("edit_executor")}, reason: StopProgress, arrived: 4},
		"words, then a call":      {script: []string{says("let me see"), refusal}, reason: StopRefused, arrived: 2},
		"malformed, then a call":  {script: []string{"{}", "null", does("list_rules"), "{}", "{}", refusal}, reason: StopRefused, arrived: 6},
		"legacy and bare choices": {script: []string{`{"choices":[]}`, `{"choices":[{"message":{"function_call":{"name":"rule"}}}]}`, refusal}, reason: StopRefused, arrived: 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.model.script = c.script
			options := b.options()
			if c.change != nil {
				c.change(b, &options)
			}
			a := b.maintain(options)
			b.wants(a, c.reason, c.why)
			if got := b.model.arrived.Load(); c.arrived > 0 && got != c.arrived {
				t.Errorf("the model was asked %d times, want %d (%s: %s)", got, c.arrived, a.Stop, a.Why)
			}
			checkClosed(b, a)
		})
	}
}

// looking is a script that never ends and never changes anything.
func looking() []string {
	var script []string
	for i := range 30 {
		script = append(script, does("find_similar_rules", fmt.Sprintf(`{"text":"text %d"}`, i)), calls([2]string{"rule_skill", fmt.Sprintf(`{"operation":%q}`, actions[i%len(actions)])}))
	}
	return script
}

// checkClosed wants the attempt closed with its reason, and nothing reserved.
func checkClosed(b *bench, a Attempt) {
	b.Helper()
	attempts, err := b.ledger.Attempts(b.Context())
	if err != nil || len(attempts) != 1 || attempts[0].Open || attempts[0].Stop != string(a.Stop) {
		b.Errorf("attempts = %+v, %v", attempts, err)
	}
	open, err := b.ledger.OpenReservations(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	for _, r := range open {
		if r.State != ledger.Uncertain || a.Stop != StopUncertain {
			b.Errorf("%s reservation %d is %s", r.Purpose, r.ID, r.State)
		}
	}
}

// TestZeroBudget refuses an external endpoint before the first dispatch in a
// workspace where nobody has set a limit.
func TestZeroBudget(t *testing.T) {
	b := newBench(t)
	b.model.script = looking()
	for _, resource := range []ledger.Resource{ledger.Calls, ledger.PromptTokens, ledger.CompletionTokens, ledger.Attempts} {
		b.allow(resource, 0)
	}
	a := b.maintain(b.options())
	b.wants(a, StopCalls, "signalbox budget set attempts")
	if b.model.arrived.Load() != 0 {
		t.Error("a request was sent without a budget")
	}
}

// TestCancelled stops between calls where its caller goes.
func TestCancelled(t *testing.T) {
	b := newBench(t)
	b.model.script = looking()
	ctx, cancel := context.WithCancel(t.Context())
	b.desk.change = nil
	opened := b.deps.OpenEditor
	b.deps.OpenEditor = func(ctx context.Context, tree rule.Tree) (DraftEditor, error) {
		cancel()
		return opened(ctx, tree)
	}
	b.model.script = []string{does("edit_trigger"), creates("/draft/trigger.star", goodTrigger)}
	a, err := Maintain(ctx, b.deps, b.options())
	if err != nil {
		t.Fatal(err)
	}
	b.wants(a, StopCancelled, "cancelled")
	checkClosed(b, a)
}

// TestProgress drives the detectors one by one; each has a row in which it
// keeps still.
func TestProgress(t *testing.T) {
	type step struct {
		call, result string
		failed       bool
		draft        string
	}
	repeat := func(n int, steps ...step) (all []step) {
		for range n {
			all = append(all, steps...)
		}
		return all
	}
	numbered := func(n int, draft string) (all []step) {
		for i := range n {
			all = append(all, step{fmt.Sprint(i), fmt.Sprint(i), false, draft})
		}
		return all
	}
	for name, c := range map[string]struct {
		steps []step
		why   string // "" where it may go on
		nudge bool   // at the last step
	}{
		"same twice":                {steps: repeat(2, step{"a", "r", false, "d"})},
		"same three times":          {steps: repeat(3, step{"a", "r", false, "d"}), why: "same call"},
		"same call, other results":  {steps: []step{{"a", "1", false, "d"}, {"a", "2", false, "d"}, {"a", "3", false, "d"}}},
		"same with a change":        {steps: []step{{"a", "r", false, "d"}, {"a", "r", false, "d"}, {"b", "r", false, "e"}, {"a", "r", false, "e"}}},
		"error twice":               {steps: []step{{"a", "no", true, "d"}, {"b", "no", true, "d"}}, nudge: true},
		"error three times":         {steps: []step{{"a", "no", true, "d"}, {"b", "no", true, "d"}, {"c", "no", true, "d"}}, why: "same error"},
		"other errors":              {steps: []step{{"a", "1", true, "d"}, {"b", "2", true, "d"}, {"c", "3", true, "d"}}},
		"errors between changes":    {steps: []step{{"a", "no", true, "d"}, {"w", "ok", false, "e"}, {"b", "no", true, "e"}, {"x", "ok", false, "f"}, {"c", "no", true, "f"}}},
		"A-B-A-B-A-B":               {steps: []step{{"a", "1", false, "d"}, {"b", "1", false, "d"}, {"a", "2", false, "d"}, {"b", "2", false, "d"}, {"a", "3", false, "d"}, {"b", "3", false, "d"}}, why: "took turns"},
		"A-B-A-B-A":                 {steps: []step{{"a", "1", false, "d"}, {"b", "1", false, "d"}, {"a", "2", false, "d"}, {"b", "2", false, "d"}, {"a", "3", false, "d"}}},
		"draft back twice":          {steps: []step{{"1", "", false, "e"}, {"2", "", false, "d"}, {"3", "", false, "e"}}},
		"draft back three times":    {steps: []step{{"1", "", false, "e"}, {"2", "", false, "d"}, {"3", "", false, "e"}, {"4", "", false, "d"}}, why: "same state"},
		"seven turns of looking":    {steps: numbered(7, "d")},
		"eight turns of looking":    {steps: numbered(8, "d"), why: "8 turns without"},
		"looking around one change": {steps: append(numbered(7, "d"), numbered(7, "e")...)},
	} {
		p := newProgress(8, "d")
		var nudge string
		var err error
		for i, s := range c.steps {
			nudge, err = p.step(s.call, s.result, s.failed, rule.Digest(s.draft))
			if err != nil && i < len(c.steps)-1 {
				t.Errorf("%s: stopped at step %d: %v", name, i, err)
			}
		}
		if (err != nil) != (c.why != "") || err != nil && !strings.Contains(err.Error(), c.why) || (nudge != "") != c.nudge {
			t.Errorf("%s: %v, nudge %q; want %q", name, err, nudge, c.why)
		}
	}
}
