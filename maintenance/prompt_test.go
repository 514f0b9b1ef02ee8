package maintenance

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"signalbox/maintenance/draft"
	"signalbox/maintenance/gateway"
	"signalbox/registry/ledger"
	"signalbox/rule"
)

// TestOpening reads the block back as an author does, twice the same.
func TestOpening(t *testing.T) {
	b := newBench(t)
	b.desk.view.Active = []rule.Program{b.program("lower", "lower", goodTrigger, goodExecute)}
	options := b.options()
	identity, tree, err := begin(b.desk.view, options, nil)
	if err != nil {
		t.Fatal(err)
	}
	identity.Attempt = "a0001"
	d, err := draft.Create(b.deps.Home, identity, tree)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	messages, err := opening(b.desk.view, d, []string{"earlier"}, left{Calls: 7, Validations: 3})
	if err != nil {
		t.Fatal(err)
	}
	again, err := opening(b.desk.view, d, []string{"earlier"}, left{Calls: 7, Validations: 3})
	if err != nil || messages[1].Text != again[1].Text || len(messages) != 2 || messages[0].Role != gateway.System {
		t.Errorf("the opening isn't always the same: %v", err)
	}
	_, fenced, _ := strings.Cut(messages[1].Text, "```json\n")
	text, closed := strings.CutSuffix(fenced, "\n```")
	var told struct {
		Protocol   int             `json:"protocol"`
		Family     rule.Family     `json:"family"`
		Rule       rule.Name       `json:"rule"`
		Manifest   rule.Manifest   `json:"manifest"`
		Cases      []promptCase    `json:"cases"`
		Neighbours []rule.Document `json:"neighbours"`
		Rules      []ruleSummary   `json:"rules"`
		Feedback   []string        `json:"feedback"`
		Left       left            `json:"left"`
	}
	if err := rule.Decode([]byte(text), &told); err != nil || !closed {
		t.Fatalf("reading the block: %v", err)
	}
	if told.Protocol != 1 || told.Family != "upper" || told.Rule != "upper" || told.Left != (left{7, 3}) || len(told.Rules) != 1 || told.Feedback[0] != "earlier" {
		t.Errorf("block = %+v", told)
	}
	if len(told.Cases) != 5 || !told.Cases[4].Fallback || told.Cases[0].ID != "u00" || len(told.Neighbours) != 2 {
		t.Errorf("cases = %+v, neighbours = %+v", told.Cases, told.Neighbours)
	}
	if !slices.Equal(told.Manifest.Guard.Equals, []string{"Uppercase the text"}) || len(told.Manifest.SourceCases) != 5 {
		t.Errorf("manifest = %+v", told.Manifest)
	}
	if strings.Contains(messages[1].Text, "hidden") {
		t.Error("the prompt names a hidden case")
	}
}

// TestShownBounds keeps a prompt within its limits and always the same.
func TestShownBounds(t *testing.T) {
	var many []rule.Case
	for i := range maxPromptCases + 50 {
		many = append(many, rule.Case{ID: fmt.Sprintf("c%04d", i), Task: rule.Task{Instruction: fmt.Sprintf("do %d", i)}})
	}
	few := shown(many)
	if len(few) != maxPromptCases || !slices.IsSortedFunc(few, func(a, b rule.Case) int { return strings.Compare(a.ID, b.ID) }) {
		t.Errorf("%d cases are shown", len(few))
	}
	slices.Reverse(many)
	if again := shown(many); again[0].ID != few[0].ID || again[len(again)-1].ID != few[len(few)-1].ID {
		t.Error("another order shows other cases")
	}
	long := strings.Repeat("x", maxPromptBytes/3)
	big := []rule.Case{{ID: "a", Task: rule.Task{Instruction: "1" + long}}, {ID: "b", Task: rule.Task{Instruction: "2" + long}}, {ID: "c", Task: rule.Task{Instruction: "3" + long}}, {ID: "d", Task: rule.Task{Instruction: "4"}}}
	if got := shown(big); len(got) != 3 || got[2].ID != "d" {
		t.Errorf("%d large cases are shown", len(got))
	}
}

// TestNeighbours takes the nearest of other families, visible ones only, no
// instruction more than twice.
func TestNeighbours(t *testing.T) {
	var cases []rule.Case
	add := func(family rule.Family, part rule.Part, instruction string) {
		input := rule.Value(fmt.Sprint(len(cases)))
		cases = append(cases, rule.Case{ID: fmt.Sprint(len(cases)), Family: family, Part: part, Task: rule.Task{Instruction: instruction, Input: input}})
	}
	add("mine", rule.VisiblePart, "Count the files")
	for range 5 {
		add("near", rule.VisiblePart, "Count the lines")
	}
	add("near", rule.AdmissionPart, "Count the files now")
	for i := range maxNeighbours + 10 {
		add("far", rule.VisiblePart, fmt.Sprintf("Translate %d", i))
	}
	got := neighbours(cases, "mine")
	if len(got) != maxNeighbours || got[0].Instruction != "Count the lines" || got[1].Instruction != "Count the lines" || got[2].Instruction == "Count the lines" {
		t.Errorf("neighbours = %+v", got)
	}
	for _, task := range got {
		if task.Instruction == "Count the files now" {
			t.Error("a hidden case is a neighbour")
		}
	}
}

// TestFreeName makes one name of a family, which no other family's rule has.
func TestFreeName(t *testing.T) {
	known := map[rule.Name]rule.Family{"taken": "other", "taken-2": "another", "mine": "Mine"}
	for family, want := range map[rule.Family]rule.Name{
		"Count files": "count-files", "Mine": "mine", "taken": "taken-3", "…": "rule", "Zähl' mal!": "z-hl-mal",
		rule.Family(strings.Repeat("x-", 90)): rule.Name(strings.TrimSuffix(strings.Repeat("x-", 25), "-")),
	} {
		got := freeName(View{Known: known}, family)
		if got != want {
			t.Errorf("family %q: name %q, want %q", family, got, want)
		}
		if _, err := rule.ParseName(string(got)); err != nil {
			t.Error(err)
		}
	}
}

// TestAfford says what a budget buys, and what one attempt lacks.
func TestAfford(t *testing.T) {
	endpoint := gateway.Endpoint{Model: "m", MaxCompletion: 1000, Price: gateway.Price{Prompt: 1_000_000, Completion: 2_000_000}}
	bounds := Bounds{Calls: 10, Tokens: 100_000}
	need := Need(endpoint, bounds)
	if need[ledger.Calls] != 10 || need[ledger.PromptTokens] != 100_000 || need[ledger.CompletionTokens] != 10_000 || need[ledger.MicroUSD] != 120_000 {
		t.Fatalf("need = %v", need)
	}
	budgets := func(factor int64, short ledger.Resource) (all []ledger.Budget) {
		for resource, n := range need {
			b := ledger.Budget{Kind: ledger.External, Resource: resource, Limit: n*factor + 5, Used: 5}
			if resource == short {
				b.Limit = n + 4
			}
			all = append(all, b)
		}
		return all
	}
	for _, c := range []struct {
		budgets  []ledger.Budget
		attempts int64
		short    int
		says     string
	}{
		{budgets(3, ""), 3, 0, "pays for 3 whole attempts"},
		{budgets(1, ""), 1, 0, "pays for 1 whole attempt"},
		{budgets(3, ledger.Calls), 0, 1, "`signalbox budget set calls N --kind external`"},
		{nil, unlimited, 0, "no limit"},
		{[]ledger.Budget{{Kind: ledger.External, Resource: ledger.Calls, Unlimited: true}}, unlimited, 0, "no limit"},
	} {
		p := Afford(c.budgets, endpoint, bounds)
		if p.Attempts != c.attempts || len(p.Short) != c.short || !strings.Contains(p.String(), c.says) {
			t.Errorf("purchase = %+v: %s; want %d attempts, %q", p, p, c.attempts, c.says)
		}
	}
}

// TestDefaults fills in every bound, and leaves alone what was set.
func TestDefaults(t *testing.T) {
	full := Bounds{}.withDefaults(ledger.External)
	if full.Calls == 0 || full.Tokens == 0 || full.Wall == 0 || full.Operations == 0 || full.Validations == 0 || full.Bytes == 0 || full.Idle == 0 {
		t.Errorf("bounds = %+v", full)
	}
	if set := (Bounds{Calls: 3}).withDefaults(ledger.External); set.Calls != 3 || set.Tokens != full.Tokens {
		t.Errorf("bounds = %+v", set)
	}
	for tokens, want := range map[int64]int64{0: unlimited, 9: 9} {
		if got := (Bounds{Tokens: tokens}).withDefaults(ledger.Builtin).Tokens; got != want {
			t.Errorf("the built-in author may use %d tokens where %d are set, want %d", got, tokens, want)
		}
	}
}

// TestDifference points at where two texts part, also within a character.
func TestDifference(t *testing.T) {
	for _, c := range [][3]string{
		{"abc", "abd", "byte 2"}, {"", "x", "byte 0"}, {"é", "è", "byte 1"}, {"abc", "ab", "byte 2"},
	} {
		if got := difference(c[0], c[1]); !strings.Contains(got, c[2]) {
			t.Errorf("difference(%q, %q) = %s", c[0], c[1], got)
		}
	}
	if got := clip("aé", 2); got != "a…" {
		t.Errorf("clip cut a character: %q", got)
	}
}
