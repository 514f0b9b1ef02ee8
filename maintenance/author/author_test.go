package author

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"signalbox/rule"
)

// made returns cases of one instruction from inputs and outputs in turns.
func made(t testing.TB, instruction string, pairs ...any) (list []briefCase) {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		input, err := rule.ValueOf(pairs[i])
		if err != nil {
			t.Fatal(err)
		}
		output, err := rule.ValueOf(pairs[i+1])
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, briefCase{ID: fmt.Sprintf("case-%d", i/2), Task: rule.Task{Instruction: instruction, Input: input}, Outcome: rule.Outcome{Output: output}})
	}
	return list
}

func TestAuthorLearns(t *testing.T) {
	for _, test := range []struct {
		name  string
		cases []briefCase
		ask   any
		want  any
	}{
		{"piece", made(t, "user part", "ann.lee@home.org", "ann.lee", "bob@web.com", "bob", "cy.drum@lamp.net", "cy.drum", "dian@unit.org", "dian"), "eve.x@host.org", "eve.x"},
		{"columns", made(t, "full name", []string{"ann", "lee"}, "Lee, Ann", []string{"bo", "oz"}, "Oz, Bo", []string{"cy", "young"}, "Young, Cy", []string{"di", "ray"}, "Ray, Di"), []string{"eve", "marsh"}, "Marsh, Eve"},
		{"date", made(t, "iso", "3/25/2021", "2021-03-25", "11/7/2019", "2019-11-07", "1/31/2020", "2020-01-31", "10/14/2018", "2018-10-14", "9/8/2017", "2017-09-08"), "12/24/2022", "2022-12-24"},
		{"number", made(t, "thousands", "1234.5", "1,234.50", "98765.25", "98,765.25", "77.13", "77.13", "8765.01", "8,765.01", "12.5", "12.50", "4567", "4,567.00", "1000000", "1,000,000.00"), "7654321.1", "7,654,321.10"},
		{"fields", made(t, "split", "a=1;b", []string{"a", "1", "b"}, "cc=22;dd", []string{"cc", "22", "dd"}, "e=3;ff", []string{"e", "3", "ff"}, "gg=4;h", []string{"gg", "4", "h"}), "xx=77;yy", []string{"xx", "77", "yy"}},
		{"object", made(t, "parse", "ann 31", map[string]any{"name": "ann", "age": 31}, "bo 4", map[string]any{"name": "bo", "age": 4}, "cyd 77", map[string]any{"name": "cyd", "age": 77}, "di 20", map[string]any{"name": "di", "age": 20}), "eve 15", map[string]any{"name": "eve", "age": 15}},
		{"from object", made(t, "greet", map[string]any{"first": "ann", "n": 1}, "ann-1", map[string]any{"first": "bo", "n": 22}, "bo-22", map[string]any{"first": "cyd", "n": 3}, "cyd-3"), map[string]any{"first": "eve", "n": 9}, "eve-9"},
	} {
		t.Run(test.name, func(t *testing.T) {
			l := (&loop{t: t, family: test.name, visible: test.cases}).run()
			if !l.passed {
				t.Fatalf("not learned: %s", l.said)
			}
			asked := made(t, test.cases[0].Task.Instruction, test.ask, test.want)[0]
			p := load(t, l.files)
			if verdict := p.judge(asked); verdict != "right" {
				t.Errorf("%v is %s: %s", test.ask, verdict, p.note)
				t.Logf("%s", l.files[rule.ExecutorFile])
			}
		})
	}
}

func TestAuthorIsDeterministic(t *testing.T) {
	cases := made(t, "user part", "ann.lee@home.org", "ann.lee", "bob@web.com", "bob", "cy.drum@lamp.net", "cy.drum", "dian@unit.org", "dian")
	a := (&loop{t: t, family: "f", visible: cases}).run()
	b := (&loop{t: t, family: "f", visible: cases}).run()
	if !bytes.Equal(bytes.Join(a.bodies, nil), bytes.Join(b.bodies, nil)) {
		t.Error("the same conversation got different bytes")
	}
	if len(a.bodies) > 12 {
		t.Errorf("%d turns for a rule that passes at once", len(a.bodies))
	}
}

func TestAuthorGivesUp(t *testing.T) {
	for name, test := range map[string]struct {
		cases []briefCase
		want  string
	}{
		"few":      {made(t, "i", "a", "b", "c", "d"), "certify more"},
		"constant": {made(t, "i", "a", "x", "b", "x", "c", "x"), "explicit permission"},
		"nothing":  {made(t, "i", "a1", "river", "b2", "tree", "c3", "cloud", "d4", "stone"), "no program"},
	} {
		l := (&loop{t: t, family: name, visible: test.cases}).run()
		if l.passed || !strings.Contains(l.said, test.want) {
			t.Errorf("%s: said %q, want %q in it", name, l.said, test.want)
		}
	}
}
