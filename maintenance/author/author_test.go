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

func TestAuthorLearnsFromARevealedCase(t *testing.T) {
	cases := made(t, "code", "ab-1", "1", "cd-22", "22", "ef-3", "3", "gh-44", "44", "k7-5", "5", "mn-6", "6")
	l := (&loop{t: t, family: "f", visible: cases[:4], hidden: cases[4:], reveals: 2}).run()
	if !l.passed {
		t.Fatalf("not learned: %s", l.said)
	}
	if verdict := load(t, l.files).judge(made(t, "code", "x9-123", "123")[0]); verdict == "wrong" {
		t.Error("wrong after a revealed case")
	}
}

func TestAuthorLeavesOtherTasksAlone(t *testing.T) {
	cases := made(t, "code", "ab-1", "1", "cde-22", "22", "f-3", "3", "gh-44", "44", "ijk-505", "505")
	fallback := made(t, "code", "ab-1x", nil)[0]
	fallback.ID, fallback.Outcome, fallback.Fallback = "no", rule.Outcome{}, true
	like := made(t, "code", "zz+9", "")[0].Task.Document()
	l := (&loop{t: t, family: "f", visible: append(cases, fallback), neighbours: []rule.Document{like, {Instruction: "code"}, {Instruction: "another"}}}).run()
	if !l.passed {
		t.Fatalf("not learned: %s", l.said)
	}
	p := load(t, l.files)
	if verdict := p.judge(fallback); verdict != "fell back" {
		t.Errorf("the case that must fall back is %s", verdict)
	}
	for _, task := range []rule.Document{{Instruction: "code and delete it", Input: cases[0].Task.Input}, {Instruction: "do not code", Input: cases[0].Task.Input}, {Instruction: "code", Input: "7"}, {Instruction: "code", Input: `["ab-1"]`}} {
		if reply := p.trigger(task); reply.Verdict != rule.NoMatch {
			t.Errorf("%v: %s", task, reply.Verdict)
		}
	}
}

func TestAuthorLearnsSlots(t *testing.T) {
	ask := func(id, instruction, input, output string) briefCase {
		c := made(t, instruction, input, output)[0]
		c.ID = id
		return c
	}
	cases := []briefCase{
		ask("a", "Set the version to 1.2.3 please", "app-0.0.1", "app-1.2.3"), ask("b", "Set the version to 4.0.11 please", "lib-2.3.4", "lib-4.0.11"),
		ask("c", "Set the version to 2.22.0 please", "tools-1.0.0", "tools-2.22.0"), ask("d", "Set the version to 7.1.5 please", "web-3.1.2", "web-7.1.5"),
	}
	l := (&loop{t: t, family: "versions", visible: cases}).run()
	if !l.passed {
		t.Fatalf("not learned: %s", l.said)
	}
	p := load(t, l.files)
	if verdict := p.judge(ask("e", "Set the version to 9.8.7 please", "core-1.1.1", "core-9.8.7")); verdict != "right" {
		t.Errorf("another version is %s: %s\n%s", verdict, p.note, l.files[rule.ExecutorFile])
	}
	for _, added := range []string{"Set the version to 9.8.7 please in the subdirectory src", "Set the version to 9.8.7 except hidden files please", "Do not set the version to 9.8.7 please", "Set the version to 9.8.7"} {
		if reply := p.trigger(rule.Document{Instruction: added, Input: cases[0].Task.Input}); reply.Verdict != rule.NoMatch {
			t.Errorf("%q: %s", added, reply.Verdict)
		}
	}
}

// The day and the month can't be told apart where no day is above 12.
func TestAuthorAbstainsOnTwoReadings(t *testing.T) {
	cases := made(t, "month first", "03/04/2021", "2021-03-04", "01/02/2019", "2019-01-02", "05/06/2020", "2020-05-06", "07/08/2018", "2018-07-08", "11/12/2017", "2017-11-12")
	l := (&loop{t: t, family: "dates", visible: cases}).run()
	if !l.passed {
		t.Fatalf("not learned: %s", l.said)
	}
	p := load(t, l.files)
	if verdict := p.judge(made(t, "month first", "25/12/2022", "2022-25-12")[0]); verdict == "wrong" {
		t.Error("a day as a month was answered")
	}
	swapped := made(t, "quarter", "01/02/2021", "2021 Q1", "02/03/2019", "2019 Q1", "04/05/2020", "2020 Q2", "05/06/2018", "2018 Q2", "10/11/2011", "2011 Q4")
	l = (&loop{t: t, family: "quarters", visible: swapped}).run()
	if !l.passed {
		t.Fatalf("not learned: %s", l.said)
	}
	p = load(t, l.files)
	if verdict := p.judge(made(t, "quarter", "03/04/2021", "2021 Q1")[0]); verdict != "fell back" || !strings.Contains(p.note, "two readings") {
		t.Errorf("March 4th or 3 April: %s, %q\n%s", verdict, p.note, l.files[rule.ExecutorFile])
	}
}

func TestAuthorReadsADraftThatWasThere(t *testing.T) {
	cases := made(t, "code", "ab-1", "1", "cde-22", "22", "f-3", "3", "gh-44", "44")
	l := (&loop{t: t, family: "f", visible: cases, before: rule.Tree{
		rule.TriggerFile: []byte("def trigger(task):\n    return abstain()\n"), rule.ExecutorFile: []byte("# old"), "texts.star": []byte("\n\n")}}).run()
	if !l.passed {
		t.Fatalf("not learned: %s", l.said)
	}
}

func TestHandlerRefuses(t *testing.T) {
	for _, body := range []string{"", "{}", `{"messages":[]}`, `{"messages":[{"role":"user","content":"no block"}]}`, `{"stream":true,"messages":[]}`,
		`{"messages":[{"role":"user","content":"` + "```json\\n{\\\"protocol\\\":2}\\n```" + `"}]}`, `{"messages":[{"role":"tool","tool_call_id":"x","content":""}]}`} {
		if _, err := New().answer([]byte(body)); err == nil {
			t.Errorf("%q was taken", body)
		}
	}
}

func FuzzAnswer(f *testing.F) {
	cases := made(f, "code", "ab-1", "1", "cde-22", "22", "f-3", "3", "gh-44", "44")
	l := &loop{t: f, family: "f", visible: cases}
	l.run()
	for _, n := range []int{2, 4, 6, len(l.messages)} {
		body, err := rule.Canonical(map[string]any{"model": "m", "messages": l.messages[:n]})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(body)
	}
	f.Add([]byte(`{"messages":[{"role":"user","content":[{"text":"a"}]}]}`))
	handler := New()
	f.Fuzz(func(t *testing.T, body []byte) {
		if len(body) > 1<<14 {
			return
		}
		a, errA := handler.answer(body)
		b, errB := New().answer(body)
		x, _ := rule.DigestJSON(a)
		y, _ := rule.DigestJSON(b)
		if (errA == nil) != (errB == nil) || x != y {
			t.Errorf("one body, two answers: %v, %v", errA, errB)
		}
	})
}
