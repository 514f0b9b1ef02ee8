package oracle

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"signalbox/rule"
)

func TestProbes(t *testing.T) {
	for _, test := range []struct {
		task rule.Task
		want []string // kind, then instruction and input
	}{
		{rule.Task{Instruction: "Convert the text to upper case.", Input: `"12"`}, []string{
			`subdirectory|Convert the text to upper case in the subdirectory src.|"12"`,
			`exclusion|Convert the text to upper case except hidden files.|"12"`,
			`part|Convert the text to upper case without the first.|"12"`,
			`action|Convert the text to upper case and delete them.|"12"`,
			`negation|Do not convert the text to upper case.|"12"`,
			`altered|trevnoC the text to upper case.|"12"`,
			`dropped|the text to upper case.|"12"`,
			`input|Convert the text to upper case.|`,
			`input|Convert the text to upper case.|null`,
			`input|Convert the text to upper case.|["12"]`,
			`input|Convert the text to upper case.|12`,
		}},
		{rule.Task{Instruction: "Sum:\n1 2"}, []string{
			"subdirectory|Sum:\n1 2 in the subdirectory src|",
			"exclusion|Sum:\n1 2 except hidden files|",
			"part|Sum:\n1 2 without the first|",
			"action|Sum:\n1 2 and delete them|",
			"negation|Do not sum:\n1 2|",
			"inserted|Sum in the subdirectory src:\n1 2|",
			"altered|muS:\n1 2|",
			"dropped|: 1 2|",
			"input|Sum:\n1 2|\"src\"",
			"input|Sum:\n1 2|null",
		}},
	} {
		c := rule.Case{Task: test.task}
		var got []string
		for _, p := range Probes(c, DefaultPolicy().Words) {
			got = append(got, p.Kind+"|"+p.Task.Instruction+"|"+string(p.Task.Input))
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%q:\n%s\nwant\n%s", test.task.Instruction, strings.Join(got, "\n"), strings.Join(test.want, "\n"))
		}
	}
}

func TestInputProbesChangeTheType(t *testing.T) {
	for input, want := range map[rule.Value][]rule.Value{
		"":                    {`"src"`, "null"},
		"null":                {"", "[null]", `"null"`},
		"12":                  {"", "null", "[12]", `"12"`},
		"true":                {"", "null", "[true]", `"true"`},
		`"x"`:                 {"", "null", `["x"]`, "0"},
		`"[1,2]"`:             {"", "null", `["[1,2]"]`, "[1,2]"},
		`"90071992547409931"`: {"", "null", `["90071992547409931"]`, "0"},
		`[1]`:                 {"", "null", `{"value":[1]}`, `"[1]"`},
		`{"a":"b"}`:           {"", "null", `[{"a":"b"}]`, `"{\"a\":\"b\"}"`},
	} {
		var got []rule.Value
		for _, p := range Probes(rule.Case{Task: rule.Task{Instruction: "x", Input: input}}, nil) {
			if p.Kind != probeInput {
				t.Errorf("%s: probe %+v", input, p)
			}
			got = append(got, p.Task.Input)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s becomes %q, want %q", input, got, want)
		}
	}
	large := rule.Value(`"` + strings.Repeat("x", maxWrapped) + `"`)
	for _, p := range Probes(rule.Case{Task: rule.Task{Instruction: "x", Input: large}}, nil) {
		if len(p.Task.Input) > 10 {
			t.Error("a large input was copied into a probe")
		}
	}
}

// TestProbesAreTasks holds for any instruction: probes differ from the case,
// can be tasks, have canonical inputs, and are few.
func TestProbesAreTasks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		task := rule.Task{Instruction: rapid.StringN(1, 60, 200).Draw(t, "instruction")}
		if rapid.Bool().Draw(t, "has input") {
			task.Input = shown(rapid.String().Draw(t, "input"))
		}
		if task.Check() != nil {
			t.Skip()
		}
		probes := Probes(rule.Case{Task: task}, DefaultPolicy().Words)
		if len(probes) < 5 || len(probes) > 13 {
			t.Fatalf("%d probes", len(probes))
		}
		for _, p := range probes {
			made := rule.Task{Instruction: p.Task.Instruction, Input: p.Task.Input}
			if p.Task == task.Document() || made.Check() != nil || p.Kind == "" {
				t.Fatalf("probe %+v", p)
			}
			if parsed, err := rule.ParseValue([]byte(p.Task.Input)); p.Task.Input.Present() && (err != nil || parsed != p.Task.Input) {
				t.Fatalf("input %q isn't canonical", p.Task.Input)
			}
		}
	})
}

func TestSharedWords(t *testing.T) {
	got := sharedWords([]string{"Please rename Anna to Bob", "Please rename Bob to Carl", "rename, Please: Anna"})
	if !slices.Equal(got, []string{"Please", "rename"}) {
		t.Errorf("shared %q", got)
	}
	if sharedWords(nil) != nil || longest(nil) != "" {
		t.Error("no instructions share something")
	}
	for text, want := range map[string]string{"an ant": "an x", "antant ant.": "antant x.", "antelope": "antelope", "ant": "x", "éant ant": "éant x"} {
		if got := replaceWord(text, "ant", "x"); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
	if altered("anna") == "anna" || altered("ab") != "ba" {
		t.Error("altered words aren't")
	}
}

// TestProbesRefuse has a rule that ignores one thing each.
func TestProbesRefuse(t *testing.T) {
	contains := func(part string) func(rule.Document) bool {
		return func(task rule.Document) bool { return strings.Contains(task.Instruction, part) }
	}
	isText := func(task rule.Document) bool { _, ok := text(task.Input); return ok }
	exact := func(task rule.Document) bool { return task.Instruction == upperAsk }
	for name, test := range map[string]struct {
		ignores func(rule.Document) bool
		kinds   []string
	}{
		"nothing":        {func(task rule.Document) bool { return exact(task) && isText(task) }, nil},
		"the input type": {exact, []string{"input"}},
		"what follows": {func(task rule.Document) bool {
			return strings.HasPrefix(task.Instruction, "Convert the text to upper case") && isText(task)
		}, []string{"action", "exclusion", "part", "subdirectory"}},
		"what precedes": {func(task rule.Document) bool {
			return strings.HasSuffix(task.Instruction, "he text to upper case.") && isText(task)
		}, []string{"altered", "dropped", "negation"}},
		"a word": {func(task rule.Document) bool { return contains("upper case")(task) && isText(task) }, []string{"action", "altered", "dropped", "exclusion", "negation", "part", "subdirectory"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			w.proposal.Programs[0].Manifest.Guard = rule.Guard{Pattern: `\A(?:(?s).*case.*)\z`}
			w.wrap("upper", func(task rule.Document) (rule.TriggerReply, bool) { return match(`{}`), test.ignores(task) })
			report := w.check(t)
			var kinds []string
			for _, r := range report.Refusals {
				if r.Kind != KindProbe || r.Rule != "upper" || r.Case == "" {
					t.Errorf("refused %+v", r)
				}
				kinds = append(kinds, strings.SplitN(r.Probe, ":", 2)[0])
			}
			slices.Sort(kinds)
			if kinds = slices.Compact(kinds); !slices.Equal(kinds, test.kinds) {
				t.Errorf("refused on probes %q, want %q", kinds, test.kinds)
			}
			if ignored := report.Rules[1].ProbesIgnored; (ignored > 0) != (test.kinds != nil) {
				t.Errorf("counted %d", ignored)
			}
		})
	}
}

// TestOtherArgsPassAProbe: what was changed was understood, as other args.
func TestOtherArgsPassAProbe(t *testing.T) {
	w := newWorld()
	w.wrap("greet", func(task rule.Document) (rule.TriggerReply, bool) {
		name, ok := strings.CutPrefix(task.Instruction, greetAsk)
		return match(`{"name":` + string(shown(name)) + `}`), ok && !task.Input.Present() && !strings.Contains(name, "everyone")
	})
	report := w.check(t)
	if !report.Passed() || report.Rules[0].ProbesMatched == 0 {
		t.Errorf("refused %v; %d probes matched", found(report), report.Rules[0].ProbesMatched)
	}
}

// TestProbeEqualToACaseIsSkipped: with the probe's task in the suite, matching
// it is right and not ignorant.
func TestProbeEqualToACaseIsSkipped(t *testing.T) {
	loose := func(w *world) {
		w.proposal.Policy.Words = []ScopeWord{{Kind: "twice", Text: "now"}}
		w.wrap("upper", func(task rule.Document) (rule.TriggerReply, bool) {
			s, _ := text(task.Input)
			return match(`{}`), task.Instruction == "Convert the text to upper case now." && s == "ant"
		})
	}
	w := newWorld()
	loose(w)
	if got := found(w.check(t)); !slices.Equal(got, []string{"probe upper up-ant twice"}) {
		t.Errorf("without the case: %q", got)
	}
	w = newWorld()
	loose(w)
	w.add(rule.Case{ID: "now", Family: "upper", Part: rule.VisiblePart, Outcome: *outputs("ANT").Outcome,
		Task: rule.Task{Instruction: "Convert the text to upper case now.", Input: `"ant"`}})
	if report := w.check(t); slices.ContainsFunc(report.Refusals, func(r Refusal) bool { return strings.HasPrefix(r.Probe, "twice") && r.Case == "up-ant" }) {
		t.Errorf("with the case: %q", found(report))
	}
}

// TestGuardOnProbes: a program that speaks up where its guard is false is
// refused for probes too, its own family's and others'.
func TestGuardOnProbes(t *testing.T) {
	w := newWorld()
	w.wrap("greet", func(task rule.Document) (rule.TriggerReply, bool) {
		return abstain, strings.HasPrefix(task.Instruction, "Do not convert")
	})
	report := w.check(t)
	if len(report.Refusals) != 6 {
		t.Fatalf("refused %q", found(report))
	}
	for _, r := range report.Refusals {
		if r.Kind != KindGuard || r.Rule != "greet" || !strings.HasPrefix(r.Probe, "negation") || r.Family != "upper" {
			t.Errorf("refused %+v", r)
		}
	}
}

// TestForeignProbeMatchesAreCounted: another family's rule may know the probe's
// task, so a match is shown and not refused.
func TestForeignProbeMatchesAreCounted(t *testing.T) {
	w := newWorld()
	w.proposal.Programs[1].Manifest.Guard = rule.Guard{Pattern: `\A(?:(?s).*)\z`}
	w.wrap("greet", func(task rule.Document) (rule.TriggerReply, bool) {
		return match(`{}`), strings.HasPrefix(task.Instruction, "Do not convert")
	})
	report := w.check(t)
	if !report.Passed() || report.Rules[0].ForeignProbes != 6 {
		t.Errorf("refused %q; counted %d", found(report), report.Rules[0].ForeignProbes)
	}
}
