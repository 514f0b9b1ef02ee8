package skills

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"signalbox/containers/kernel/star"
	"signalbox/rule"
)

// TestGuides finds a short guide for every name, and no file without a name.
func TestGuides(t *testing.T) {
	reached := map[string]bool{}
	for _, name := range Names() {
		text, ok := Guide(name)
		if !ok || !strings.HasPrefix(text, "#") {
			t.Errorf("guide %q: %v, %q", name, ok, text[:min(20, len(text))])
		}
		long := 8 << 10
		if name == "starlark" || name == "modules" {
			long = 24 << 10 // the dialect's own page, in two halves
		}
		if len(text) > long {
			t.Errorf("guide %q has %d bytes, which is too long", name, len(text))
		}
		reached[text] = true
	}
	entries, err := files.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		text, _ := files.ReadFile(entry.Name())
		if !reached[strings.TrimSpace(string(text))+"\n"] {
			t.Errorf("%s is the guide of nothing", entry.Name())
		}
	}
	for _, name := range []string{"", "browsing", "requests", "../skills", "explode"} {
		if _, ok := Guide(name); ok {
			t.Errorf("there is a guide %q", name)
		}
	}
}

// TestDialect keeps the two guides of the language the text of the kernel's own
// page. SIGNALBOX_GOLDEN=1 copies it.
func TestDialect(t *testing.T) {
	page, err := os.ReadFile("../../containers/kernel/star/DIALECT.md")
	if err != nil {
		t.Fatal(err)
	}
	at := strings.Index(string(page), "## Modules")
	if at < 0 {
		t.Fatal("DIALECT.md has no part on modules")
	}
	for name, want := range map[string]string{"starlark.md": string(page[:at]), "modules.md": string(page[at:])} {
		if os.Getenv("SIGNALBOX_GOLDEN") != "" {
			if err := os.WriteFile(name, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(name)
		if err != nil || string(got) != want {
			t.Errorf("%s isn't what DIALECT.md says (%v): run the test with SIGNALBOX_GOLDEN=1", name, err)
		}
	}
}

var program = regexp.MustCompile("(?s)```python (trigger|execute)\\.star\n(.*?)```")

// samples are tasks of which each program in a guide answers at least one with
// a match, or with a result.
var samples = []struct {
	task rule.Document
	args rule.Value
}{
	{rule.Document{Instruction: "Uppercase the text", Input: `"abc"`}, `{}`},
	{rule.Document{Instruction: "Round it to 2 decimals", Input: `1.234`}, `{"digits":2}`},
	{rule.Document{Instruction: "Keep the first 2 words", Input: `"a b c"`}, `{"count":2}`},
	{rule.Document{Instruction: "Uppercase the text except the first", Input: `"abc"`}, `{"count":9}`},
	{rule.Document{Instruction: "something else"}, `{"count":1}`},
}

// TestPrograms runs every program that a guide shows on the samples. Triggers
// never fail, and match only one of them.
func TestPrograms(t *testing.T) {
	ran := 0
	for _, name := range Names() {
		if slices.Contains([]string{"starlark", "modules"}, name) {
			continue // the kernel's own tests cover that page
		}
		text, _ := Guide(name)
		for _, found := range program.FindAllStringSubmatch(text, -1) {
			ran++
			if found[1] == "trigger" {
				runTrigger(t, name, found[2])
			} else {
				runExecutor(t, name, found[2])
			}
		}
	}
	if ran < 5 {
		t.Errorf("only %d programs were found in the guides", ran)
	}
}

func runTrigger(t *testing.T, name, source string) {
	t.Helper()
	loaded, err := star.Load(rule.RoleTrigger, map[string]string{rule.TriggerFile: source}, 100_000)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	matches := 0
	for _, s := range samples {
		body, err := loaded.Trigger(s.task)
		if err != nil {
			t.Errorf("%s on %q: %v", name, s.task.Instruction, err)
			continue
		}
		reply, err := rule.ParseTriggerReply(body)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if reply.Verdict == rule.Match {
			matches++
		}
	}
	if matches != 1 {
		t.Errorf("the trigger in guide %s matches %d samples, want 1", name, matches)
	}
}

func runExecutor(t *testing.T, name, source string) {
	t.Helper()
	loaded, err := star.Load(rule.RoleExecutor, map[string]string{rule.ExecutorFile: source}, 100_000)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	for _, s := range samples {
		if body, err := loaded.Execute(s.task, s.args, nil); err == nil {
			if reply, err := rule.ParseExecutorReply(body); err == nil && reply.Outcome != nil {
				return
			}
		}
	}
	t.Errorf("the executor in guide %s gives no result on any sample", name)
}
