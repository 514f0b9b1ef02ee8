package author

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"signalbox/maintenance/author/emit"
	"signalbox/maintenance/author/lang"
	"signalbox/maintenance/author/synth"
	"signalbox/rule"
)

// agree checks that the emitted programs give on a task exactly what guard and
// tree give.
func agree(t *testing.T, r emit.Rule, p *programs, task rule.Document) {
	t.Helper()
	want, whether := rule.Value(""), false
	if columns, ok := columnsOf(r, task); ok && r.Guard.Accepts(columns) {
		if target, ok, _ := r.Tree.Answer(lang.NewRow(columns)); ok {
			want, whether = r.Outputs[target.Form].Join(target.Text)
		}
	}
	got, answered := p.answer(task)
	if answered != whether || answered && got.Output != want {
		t.Fatalf("%v: the programs give %s (%v), the search gives %s (%v)\n%s\n%s", task, got.Output, answered, want, whether,
			r.Files()[rule.TriggerFile], r.Files()[rule.ExecutorFile])
	}
}

// agreeOn checks a family's rule on its own cases and on changed ones. It
// returns whether there is a rule.
func agreeOn(t *testing.T, family string, cases, more []briefCase) bool {
	t.Helper()
	s := material{Family: rule.Family(family), Cases: cases}.study()
	if s.err != nil {
		return false
	}
	p := load(t, sourceOf(t, s))
	for _, c := range append(append([]briefCase{}, cases...), more...) {
		agree(t, s.rule, p, c.Task.Document())
		for _, input := range changed(t, c.Task.Input, cases) {
			agree(t, s.rule, p, rule.Document{Instruction: c.Task.Instruction, Input: input})
		}
	}
	return true
}

func sourceOf(t *testing.T, s *study) rule.Tree {
	t.Helper()
	files, err := s.files(strings.ReplaceAll(draftManifest, "%q", `"`+string(s.rule.Family)+`"`))
	if err != nil {
		t.Fatal(err)
	}
	return rule.TreeOf(files)
}

// changed returns inputs like the given one with one text in it changed.
func changed(t *testing.T, input rule.Value, cases []briefCase) (list []rule.Value) {
	t.Helper()
	var decoded any
	if err := input.Decode(&decoded); err != nil {
		t.Fatal(err)
	}
	add := func(v any) {
		value, err := rule.ValueOf(v)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, value)
	}
	switch v := decoded.(type) {
	case string:
		for _, text := range synth.Mutations(v) {
			add(text)
		}
	case []any:
		for i, item := range v {
			text, _ := item.(string)
			for _, other := range synth.Mutations(text) {
				copied := append([]any{}, v...)
				copied[i] = other
				add(copied)
			}
		}
	case map[string]any:
		for key, item := range v {
			text, _ := item.(string)
			for _, other := range synth.Mutations(text) {
				copied := map[string]any{}
				for k, x := range v {
					copied[k] = x
				}
				copied[key] = other
				add(copied)
			}
		}
	}
	add(7)
	add([]any{})
	return list
}

// TestRealAgree runs the emitted rules of the real families in the folder that
// SIGNALBOX_REALDATA names against the search's own evaluation.
func TestRealAgree(t *testing.T) {
	folder := os.Getenv("SIGNALBOX_REALDATA")
	if folder == "" {
		t.Skip("SIGNALBOX_REALDATA names no folder")
	}
	set := cmp.Or(os.Getenv("SIGNALBOX_SETS"), "prose_text")
	learn, order := readCases(t, filepath.Join(folder, set+".learn.jsonl"))
	held, _ := readCases(t, filepath.Join(folder, set+".held.jsonl"))
	rules := 0
	for _, family := range order {
		if !strings.Contains(family, os.Getenv("SIGNALBOX_ONLY")) {
			continue
		}
		cases := learn[family]
		if agreeOn(t, family, cases[:min(len(cases), 40)], held[family][:min(len(held[family]), 20)]) {
			rules++
		}
	}
	t.Logf("%s: %d of %d families have a rule that does what the search does", set, rules, len(order))
}
