package author

import (
	"strings"
	"testing"

	"signalbox/rule"
)

func tableCases(t *testing.T) []briefCase {
	t.Helper()
	return made(t, "One row per mark.",
		[][]string{{"ann", "1", "2"}}, [][]string{{"ann", "1"}, {"ann", "2"}},
		[][]string{{"bo", "3", "4"}, {"cy", "5", "6"}}, [][]string{{"bo", "3"}, {"bo", "4"}, {"cy", "5"}, {"cy", "6"}},
		[][]string{{"di", "7", "8"}, {"ed", "9", "0"}, {"fay", "1", "1"}}, [][]string{{"di", "7"}, {"di", "8"}, {"ed", "9"}, {"ed", "0"}, {"fay", "1"}, {"fay", "1"}},
		[][]string{{"gus", "4", "2"}}, [][]string{{"gus", "4"}, {"gus", "2"}})
}

func TestAuthorLearnsATable(t *testing.T) {
	l := (&loop{t: t, family: "tables", visible: tableCases(t)}).run()
	if !l.passed {
		t.Fatalf("not learned: %s", l.said)
	}
	p := load(t, l.files)
	right := made(t, "One row per mark.", [][]string{{"x", "7", "y"}, {"z", "", "é"}}, [][]string{{"x", "7"}, {"x", "y"}, {"z", ""}, {"z", "é"}})[0]
	if verdict := p.judge(right); verdict != "right" {
		t.Errorf("%s: %s\n%s", verdict, p.note, l.files[rule.ExecutorFile])
	}
	for _, input := range []any{[][]string{{"x", "7"}}, [][]any{{"x", "7", 1}}, []any{}, "x", [][]string{{"x", "1", "2"}, {"y"}}} {
		c := made(t, "One row per mark.", input, "nothing")[0]
		if verdict := p.judge(c); verdict != "fell back" {
			t.Errorf("%v is %s", input, verdict)
		}
	}
}

func TestAuthorGivesUpOnTables(t *testing.T) {
	odd := tableCases(t)
	odd[3].Outcome.Output = `[["gus","6"]]`
	same := tableCases(t)
	same[2].Fallback, same[2].Outcome = true, rule.Outcome{}
	for name, test := range map[string]struct {
		cases []briefCase
		want  string
	}{"a sum": {odd, "no few steps"}, "must fall back": {same, "must fall back"}} {
		if l := (&loop{t: t, family: name, visible: test.cases}).run(); l.submits > 0 || !strings.Contains(l.said, test.want) {
			t.Errorf("%s: %d submits, said %q", name, l.submits, l.said)
		}
	}
}
