package maintenance

import (
	"slices"
	"strings"
	"testing"

	"signalbox/maintenance/draft"
	"signalbox/registry/ledger"
	"signalbox/rule"
)

// honest plays an author that needs several turns and two failed submits: its
// first executor is wrong, its first trigger ignores scope words.
func honest() []string {
	broad := strings.Replace(goodTrigger, `task.instruction != "Uppercase the text"`, `not re.find("Uppercase the text", task.instruction)`, 1)
	script := []string{does("list_rules"), calls([2]string{"rule_skill", `{"operation":"triggers"}`})}
	script = append(script, writes(broad, strings.Replace(goodExecute, "upper", "title", 1))...)
	return append(script,
		does("submit_rule"),
		does("diagnose_rule"),
		replaces("/draft/execute.star", "title", "upper"),
		does("submit_rule"),
		does("edit_trigger"),
		replaces("/draft/trigger.star", `not re.find("Uppercase the text", task.instruction)`, `task.instruction != "Uppercase the text"`),
		does("validate_rule"),
		does("submit_rule"),
	)
}

// TestHonestAuthor runs a whole attempt to a proposal.
func TestHonestAuthor(t *testing.T) {
	b := newBench(t)
	b.model.script = honest()
	a := b.maintain(b.options())
	b.wants(a, StopSubmitted, "")
	if a.Counts.Submits != 3 || a.Counts.Calls != len(b.model.script) || int64(a.Counts.Calls) != b.model.arrived.Load() {
		t.Errorf("counts = %+v with %d arrivals", a.Counts, b.model.arrived.Load())
	}
	if len(b.desk.proposed) != 1 || a.Proof == "" {
		t.Fatalf("%d proposals, proof %q", len(b.desk.proposed), a.Proof)
	}
	p := b.desk.proposed[0]
	if !p.Report.Passed() || len(p.Checked.Programs) != 1 || len(p.Checked.Mapping["upper"]) != 1 || p.Attempt != "a0001" {
		t.Errorf("proposal = %+v", p)
	}
	if p.Draft.Manifest.Name != "upper" || p.Draft.Manifest.Parent != "" || len(p.Draft.Manifest.SourceCases) != 5 {
		t.Errorf("manifest = %+v", p.Draft.Manifest)
	}
	checkBooks(b, a)
	checkSecrets(b)
	checkRecord(b, a)
}

// checkBooks compares the ledger with what arrived.
func checkBooks(b *bench, a Attempt) {
	b.Helper()
	attempts, err := b.ledger.Attempts(b.Context())
	if err != nil || len(attempts) != 1 {
		b.Fatalf("attempts = %v, %v", attempts, err)
	}
	got := attempts[0]
	if got.Open || got.Stop != string(StopSubmitted) || got.Spent[ledger.Calls] != b.model.arrived.Load() ||
		got.Spent[ledger.Attempts] != 1 || got.Spent[ledger.Validations] != int64(a.Counts.Validations) ||
		got.Spent[ledger.Operations] != int64(a.Counts.Operations) || got.Spent[ledger.PromptTokens] != a.Counts.Prompt {
		b.Errorf("ledger has %+v, the attempt %+v", got, a.Counts)
	}
	open, err := b.ledger.OpenReservations(b.Context())
	if err != nil || len(open) != 0 {
		b.Errorf("open reservations: %v, %v", open, err)
	}
}

// checkSecrets wants no hidden case that wasn't revealed, no path of this host
// and no key in what the model was told.
func checkSecrets(b *bench) {
	b.Helper()
	for n, turn := range b.model.seen {
		for _, m := range turn.Messages {
			for _, c := range upperCases(b.T) {
				hidden := c.Part == rule.AdmissionPart && !slices.Contains(b.desk.revealed, c.ID)
				if hidden && (strings.Contains(m.Content, c.ID) || strings.Contains(m.Content, string(c.Task.Input))) {
					b.Errorf("turn %d shows hidden case %s", n, c.ID)
				}
			}
			if strings.Contains(m.Content, b.deps.Home) || strings.Contains(m.Content, "sk-secret") || strings.Contains(m.Content, "/tmp/") {
				b.Errorf("turn %d shows a path or the key", n)
			}
		}
	}
}

// checkRecord wants the journal to lead to the draft that was submitted.
func checkRecord(b *bench, a Attempt) {
	b.Helper()
	d, err := draft.Open(b.deps.Home, a.ID)
	if err != nil {
		b.Fatal(err)
	}
	defer d.Close()
	if d.Tree().Digest() != a.Draft || a.Draft != b.desk.proposed[0].Draft.Member.Revision {
		b.Errorf("the draft on disk has digest %s, the attempt %s", d.Tree().Digest(), a.Draft)
	}
	kinds := map[string]int{}
	for _, entry := range d.Entries() {
		kinds[entry.Kind]++
	}
	if kinds["opening"] != 1 || kinds["turn"] != a.Counts.Calls || kinds["edit"] != 4 || kinds["submitted"] != 1 {
		b.Errorf("journal has %v", kinds)
	}
	feedback, err := d.Feedback()
	if err != nil || len(feedback) != 2 {
		b.Errorf("feedback = %v, %v", feedback, err)
	}
}

// TestDisclosure bounds what failed submits tell: hidden failures by kind, two
// revealed by one submit, half of the family's at most.
func TestDisclosure(t *testing.T) {
	b := newBench(t)
	wrong := func(n string) string {
		return strings.Replace(goodExecute, "task.input.upper()", "task.input.upper() if task.input in [\"ant\",\"bee\",\"cat\",\"dog\"] else \""+n+"\"", 1)
	}
	script := append(writes(goodTrigger, wrong("1")), does("submit_rule"))
	for _, n := range []string{"2", "3", "4"} {
		script = append(script, replaces("/draft/execute.star", wrong(string(n[0]-1)), wrong(n)), does("submit_rule"))
	}
	b.model.script = append(script, says("enough"))
	a := b.maintain(b.options())
	b.wants(a, StopProgress, "gave up: enough")
	if d, err := draft.Open(b.deps.Home, a.ID); err != nil {
		t.Error(err)
	} else if feedback, err := d.Feedback(); err != nil || feedback[len(feedback)-1] != "the model gave up: enough" {
		t.Errorf("the draft's feedback is %q, %v", feedback, err)
	} else if err := d.Close(); err != nil {
		t.Error(err)
	}
	if a.Counts.Submits != 4 || a.Counts.Revealed != 2 || len(b.desk.revealed) != 2 {
		t.Errorf("%d submits revealed %v", a.Counts.Submits, b.desk.revealed)
	}
	first := b.model.seen[6].last()
	for _, want := range []string{`"hidden_failures":{"floor":1,"wrong":2}`, `"revealed":[{`, "hidden04", "hidden05"} {
		if !strings.Contains(first, want) {
			t.Errorf("the first refusal misses %s: %s", want, first)
		}
	}
	checkSecrets(b)
}

// TestToolTurns answers every id once, executes the first call only, and makes
// errors that a model can act on.
func TestToolTurns(t *testing.T) {
	b := newBench(t)
	b.model.script = []string{
		calls([2]string{"rule", `{"action":"create_rule"}`}, [2]string{"rule", `{"action":"submit_rule"}`}, [2]string{"x", `{}`}),
		calls([2]string{"shell", `{"command":"ls"}`}),
		calls([2]string{"rule", `{"action":"explode"}`}),
		calls([2]string{"rule", `{"action":`}),
		calls([2]string{"rule_skill", `{"operation":"explode"}`}),
		edits(map[string]any{"command": "create", "path": "/draft/trigger.star", "file_text": "x"}),
		does("submit_rule"),
		says("bye"), says("bye"),
	}
	a := b.maintain(b.options())
	b.wants(a, StopProgress, "gave up")
	second := b.model.seen[1].Messages
	if n := len(second); n != 6 || second[3].CallID != "call_0" || !strings.HasPrefix(second[4].Content, "Not executed") || second[5].CallID != "call_2" {
		t.Errorf("messages of the second turn = %+v", second)
	}
	for turn, want := range map[int]string{
		2: `There is no tool "shell"`, 3: `"code":"unknown_action"`, 4: `"code":"bad_arguments"`, 5: "There is no guide", 6: "is not open", 7: `"code":"bad_draft"`,
	} {
		if got := b.model.seen[turn].last(); !strings.Contains(got, want) {
			t.Errorf("turn %d was told %q, want %q", turn, got, want)
		}
	}
	if a.Counts.Operations != 7 || a.Counts.Errors != 6 || a.Counts.Submits != 0 {
		t.Errorf("counts = %+v", a.Counts)
	}
}

// TestSkipped asks nobody where the active rules answer all there is.
func TestSkipped(t *testing.T) {
	b := newBench(t)
	b.model.script = honest()
	first := b.maintain(b.options())
	b.wants(first, StopSubmitted, "")
	b.desk.activate()
	arrived := b.model.arrived.Load()
	again := b.maintain(b.options())
	if !again.Skipped || again.ID != "" || b.model.arrived.Load() != arrived {
		t.Errorf("attempt = %+v after %d requests", again, b.model.arrived.Load()-arrived)
	}
}

// activate makes the last proposal the active collection.
func (d *desk) activate() {
	p := d.proposed[len(d.proposed)-1]
	d.view.Active, d.view.Mapping = p.Checked.Programs, p.Checked.Mapping
	for _, program := range p.Checked.Programs {
		d.view.Known[program.Member.Rule] = program.Manifest.Family
	}
}

// TestUpdate starts from the stable revision's copy, refuses a submission that
// changes no program, and stops where the parent moves.
func TestUpdate(t *testing.T) {
	b := newBench(t)
	b.model.script = honest()
	b.maintain(b.options())
	b.desk.activate()
	parent := b.desk.view.Active[0].Member.Revision
	b.desk.view.Cases = append(b.desk.view.Cases, rule.Case{
		ID: "u99", Family: "upper", Part: rule.VisiblePart, CertifiedBy: "ann",
		Task: rule.Task{Instruction: "Uppercase the text", Input: `"ox"`}, Outcome: rule.Outcome{Output: `"OXEN"`},
	})
	mended := replaces("/draft/execute.star", "    return", "    if task.input == \"ox\":\n        return result(output=\"OXEN\")\n    return")
	b.model.arrived.Store(0)
	b.model.script = []string{does("create_rule"), does("submit_rule"), does("edit_executor"), mended, does("submit_rule")}
	b.model.seen = nil
	a := b.maintain(b.options())
	b.wants(a, StopSubmitted, "")
	if got := b.model.seen[2].last(); !strings.Contains(got, `"code":"unchanged"`) {
		t.Errorf("an unchanged submission was told %s", got)
	}
	if m := b.desk.proposed[1].Draft.Manifest; m.Parent != parent || m.Name != "upper" {
		t.Errorf("manifest = %+v", m)
	}
	b.model.arrived.Store(0)
	b.desk.views = 0
	b.desk.change = func(n int, v *View) {
		if n == 2 {
			moved := v.Active[0]
			moved.Member.Revision = rule.DigestOf([]byte("another"))
			v.Active = []rule.Program{moved}
		}
	}
	b.wants(b.maintain(b.options()), StopStale, "")
}

// TestResume begins a new attempt from an old draft and its feedback.
func TestResume(t *testing.T) {
	b := newBench(t)
	script := honest()
	b.model.script = script[:9]
	options := b.options()
	options.Bounds.Calls = 9
	first := b.maintain(options)
	b.wants(first, StopCalls, "9 calls")
	b.model.script = script
	b.model.arrived.Store(9)
	resumed := b.options()
	resumed.Family, resumed.Resume = "", first.ID
	b.model.seen = nil
	b.model.script[9] = strings.Replace(b.model.script[9], "call_0", "call_9", 1)
	b.model.script = append(append(script[:9:9], does("edit_executor")), script[9:]...)
	second := b.maintain(resumed)
	b.wants(second, StopSubmitted, "")
	if second.ID != "a0002" || !strings.Contains(b.model.seen[0].Messages[1].Content, `"feedback":["{`) {
		t.Errorf("attempt %s began with %s", second.ID, clip(b.model.seen[0].Messages[1].Content, 300))
	}
	old, err := draft.Open(b.deps.Home, first.ID)
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	if old.Tree().Digest() != first.Draft {
		t.Error("resuming changed the old draft")
	}
}

// TestRefusedBeforehand opens no attempt that can't succeed.
func TestRefusedBeforehand(t *testing.T) {
	b := newBench(t)
	b.model.script = honest()
	for name, change := range map[string]func(*Options){
		"no cases":       func(o *Options) { o.Family = "nothing" },
		"all visible":    func(o *Options) { o.Family = "lower" },
		"unknown rule":   func(o *Options) { o.Rule = "other" },
		"unknown resume": func(o *Options) { o.Resume = "a0777" },
		"a path":         func(o *Options) { o.Resume = "../x" },
	} {
		options := b.options()
		change(&options)
		if a, err := Maintain(t.Context(), b.deps, options); err == nil {
			t.Errorf("%s: attempt = %+v", name, a)
		}
	}
	attempts, err := b.ledger.Attempts(t.Context())
	if err != nil || len(attempts) != 0 || b.model.arrived.Load() != 0 {
		t.Errorf("%d attempts, %d requests, %v", len(attempts), b.model.arrived.Load(), err)
	}
}

// TestInfrastructure ends an attempt whose check can't be run, without a
// verdict on the draft, and closes it.
func TestInfrastructure(t *testing.T) {
	b := newBench(t)
	b.model.script = append(writes(goodTrigger, goodExecute), does("validate_rule"))
	b.runner.broken = true
	a, err := Maintain(t.Context(), b.deps, b.options())
	if err == nil || a.Stop != StopCancelled {
		t.Fatalf("attempt = %+v, %v", a, err)
	}
	attempts, err := b.ledger.Attempts(t.Context())
	if err != nil || len(attempts) != 1 || attempts[0].Open {
		t.Errorf("attempts = %+v, %v", attempts, err)
	}
}
