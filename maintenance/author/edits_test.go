package author

import (
	"fmt"
	"strings"
	"testing"

	"signalbox/rule"
)

// edited returns a case that changes old to new in the file at path, among
// other files.
func edited(id, instruction, path, old, new string) briefCase {
	frame := "# settings\nname: demo\n%s\nlast: 1\n"
	after := fmt.Sprintf(frame, new)
	return briefCase{
		ID:      id,
		Task:    rule.Task{Instruction: instruction, Files: map[string]string{path: fmt.Sprintf(frame, old), "other.txt": "version: 0\n"}},
		Outcome: rule.Outcome{Files: map[string]*string{path: &after}},
	}
}

func versionCases() []briefCase {
	return []briefCase{
		edited("a", "Set the version to 1.2.3.", "app.yaml", "version: 0.0.1", "version: 1.2.3"),
		edited("b", "Set the version to 4.0.11.", "app.yaml", "version: 2.3.40", "version: 4.0.11"),
		edited("c", "Set the version to 22.7.0.", "app.yaml", "version: 1.0.0", "version: 22.7.0"),
		edited("d", "Set the version to 7.1.5.", "app.yaml", "version: 3.11.2", "version: 7.1.5"),
	}
}

func TestAuthorLearnsAnEdit(t *testing.T) {
	l := (&loop{t: t, family: "versions", visible: versionCases()}).run()
	if !l.passed {
		t.Fatalf("not learned: %s", l.said)
	}
	p := load(t, l.files)
	right := edited("e", "Set the version to 9.8.70.", "app.yaml", "version: 5.0.60", "version: 9.8.70")
	if verdict := p.judge(right); verdict != "right" {
		t.Fatalf("%s: %s\n%s", verdict, p.note, l.files[rule.ExecutorFile])
	}
	twice := edited("f", "Set the version to 9.8.7.", "app.yaml", "version: 5.0.6\nversion: 1.1.1", "")
	elsewhere := edited("g", "Set the version to 9.8.7.", "lib.yaml", "version: 5.0.6", "")
	odd := edited("h", "Set the version to 9.8.7.", "app.yaml", "version: five!", "")
	for _, c := range []briefCase{twice, elsewhere, odd} {
		if verdict := p.judge(c); verdict != "fell back" {
			t.Errorf("%s is %s", c.ID, verdict)
		}
	}
}

func TestAuthorLearnsAnEditWithANamedKey(t *testing.T) {
	var cases []briefCase
	for i, c := range [][3]string{{"replicas", "3", "12"}, {"port", "8080", "99"}, {"workers", "1", "4"}, {"limit", "20", "305"}, {"retries", "5", "6"}} {
		cases = append(cases, edited(fmt.Sprint(i), "In conf.yaml, set "+c[0]+" to "+c[2]+".", "conf.yaml", c[0]+": "+c[1], c[0]+": "+c[2]))
	}
	l := (&loop{t: t, family: "keys", visible: cases}).run()
	if !l.passed {
		t.Fatalf("not learned: %s", l.said)
	}
	p := load(t, l.files)
	if verdict := p.judge(edited("x", "In conf.yaml, set depth to 7.", "conf.yaml", "depth: 77", "depth: 7")); verdict != "right" {
		t.Errorf("%s: %s\n%s", verdict, p.note, l.files[rule.ExecutorFile])
	}
	if reply := p.trigger(rule.Document{Instruction: "In conf.yaml, set depth to 7 and delete it."}); reply.Verdict != rule.NoMatch {
		t.Errorf("an added action: %s", reply.Verdict)
	}
}

// mustFallBack returns the case without its outcome.
func mustFallBack(c briefCase) briefCase {
	c.Outcome, c.Fallback = rule.Outcome{}, true
	return c
}

// nearMisses are cases that must fall back: other instructions, and files that
// the instruction doesn't fit.
func nearMisses() []briefCase {
	gone := edited("n4", "Set the version to 9.0.1.", "lib.yaml", "version: 1.0.0", "")
	return []briefCase{
		mustFallBack(edited("n1", "Set the version to the next minor.", "app.yaml", "version: 0.0.1", "")),
		mustFallBack(edited("n2", "Set the version to 3.1.0 and tag it.", "app.yaml", "version: 0.0.1", "")),
		mustFallBack(edited("n3", "Set the version to 3.1.1.", "app.yaml", "release: 0.0.1", "")),
		mustFallBack(gone),
		mustFallBack(edited("n5", "Set the version to 3.1.2.", "app.yaml", "version: 0.0.1\nversion: 0.0.2", "")),
	}
}

func TestAuthorLearnsAnEditWithNearMisses(t *testing.T) {
	l := (&loop{t: t, family: "versions", visible: append(versionCases(), nearMisses()...)})
	if l.run(); !l.passed || l.submits != 1 {
		t.Fatalf("%d submissions: %s", l.submits, l.said)
	}
	p := load(t, l.files)
	for _, c := range nearMisses() {
		if verdict := p.judge(c); verdict != "fell back" {
			t.Errorf("%s is %s", c.ID, verdict)
		}
	}
	right := edited("e", "Set the version to 9.8.70.", "app.yaml", "version: 5.0.60", "version: 9.8.70")
	if verdict := p.judge(right); verdict != "right" {
		t.Errorf("%s: %s", verdict, p.note)
	}
}

func TestAuthorTellsAnEditFromANearMissByItsTexts(t *testing.T) {
	odd := mustFallBack(edited("n", "Set the version to 3.1.1.4.", "app.yaml", "version: 0.0.1", ""))
	l := (&loop{t: t, family: "versions", visible: append(versionCases(), odd)}).run()
	p := load(t, l.files)
	if verdict := p.judge(odd); verdict != "fell back" {
		t.Errorf("four numbers: %s", verdict)
	}
	same := mustFallBack(edited("n", "Set the version to 3.1.7.", "app.yaml", "version: 0.0.1", ""))
	if l := (&loop{t: t, family: "versions", visible: append(versionCases(), same)}).run(); l.submits > 0 || !strings.Contains(l.said, "must fall back") {
		t.Errorf("an indistinguishable near miss was submitted: %q", l.said)
	}
}

// TestEditsAgree runs emitted edits against the search's own evaluation.
func TestEditsAgree(t *testing.T) {
	s := material{Family: "versions", Cases: append(versionCases(), nearMisses()...)}.study()
	if s.err != nil {
		t.Fatal(s.err)
	}
	p := load(t, sourceOf(t, s))
	answers := 0
	for _, path := range []string{"app.yaml", "lib.yaml"} {
		for _, line := range []string{"version: 1.2.3", "version:1.2.3", "version = 7.7.7", "- version: \"1.2.3\"", "version: 1.2.3 # now", "version: 1\nversion: 2", "version:", "Version: 1.1.1", "version: 1.2.3\r"} {
			task := edited("x", "Set the version to 9.10.11.", path, line, "").Task
			want, ok := editOf(s.rule, task)
			got, answered := p.answerIn(task.Document(), task.Files)
			if ok != answered || ok && !got.Equal(rule.Outcome{Files: want}) {
				t.Errorf("%s %q: the programs give %v (%v), the search %v (%v)", path, line, got.Files, answered, want, ok)
			}
			if ok {
				answers++
			}
		}
	}
	if answers == 0 {
		t.Error("nothing was answered")
	}
}

func TestAuthorGivesUpOnOtherEdits(t *testing.T) {
	two := versionCases()
	after := "# settings\nname: other\nversion: 1.2.3\nlast: 1\n"
	two[0].Outcome.Files["app.yaml"] = &after
	gone := versionCases()
	gone[1].Outcome.Files = map[string]*string{"app.yaml": nil}
	elsewhere := versionCases()
	elsewhere[2] = edited("c", "Set the version to 22.7.0.", "lib.yaml", "version: 1.0.0", "version: 22.7.0")
	for name, cases := range map[string][]briefCase{"two lines": two, "deleted": gone, "another path": elsewhere} {
		l := (&loop{t: t, family: name, visible: cases}).run()
		if l.passed || !strings.Contains(l.said, "one line with a key") {
			t.Errorf("%s: said %q", name, l.said)
		}
	}
}
