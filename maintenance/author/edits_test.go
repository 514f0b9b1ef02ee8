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
