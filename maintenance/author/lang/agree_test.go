package lang

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"signalbox/containers/kernel/star"
	"signalbox/rule"
)

// samplers are one or more expressions of every part of the language.
func samplers() (list []Expr) {
	edge := func(p Position) *Position { return &p }
	for class := Class(0); class < Classes; class++ {
		for _, n := range []int{1, 2, -1, -2} {
			a := Position{Anchor: AtToken, Class: class, Nth: n}
			b := a
			b.End = true
			list = append(list, &Cut{A: edge(a), B: edge(b)})
			a.Shift, b.Shift = -1, 2
			list = append(list, &Cut{A: edge(a), B: edge(b)}, &Cut{A: edge(Position{}), B: edge(b)}, &Cut{A: edge(b), B: edge(Position{Anchor: FromEnd})})
		}
	}
	for _, literal := range []string{",", ", ", ".", "é", "a"} {
		a := Position{Anchor: AtLiteral, Literal: literal, Nth: 1, End: true}
		b := Position{Anchor: AtLiteral, Literal: literal, Nth: -1}
		list = append(list, &Cut{A: edge(a), B: edge(b)})
	}
	for n := range 4 {
		list = append(list, &Cut{A: edge(Position{Anchor: FromStart, Nth: n}), B: edge(Position{Anchor: FromEnd, Nth: n + 1})})
	}
	for letters := Same; letters < Cases; letters++ {
		list = append(list, &Cut{A: edge(Position{}), B: edge(Position{Anchor: FromEnd}), Case: letters})
	}
	for _, name := range slices.Sorted(maps.Keys(changes)) {
		args := map[string][]string{"keep": {"ALNUM"}, "drop": {"PUNCT"}, "initials": {"."}, "swap": {"a", "\"\\"}, "swap_once": {" ", ""}, "every": {"2", "1"}}[name]
		list = append(list, &Change{Name: name, Args: args})
	}
	return append(append(list, numberSamplers()...), dateSamplers()...)
}

func numberSamplers() (list []Expr) {
	for _, do := range []Arithmetic{{}, {Power: 3}, {Power: -2}, {Power: 9}, {Mode: Floor, Unit: Decimal{25, 2}}, {Mode: Ceil, Unit: Decimal{5, 0}, Steps: 1, Plus: -1},
		{Mode: Half, Unit: Decimal{1, 1}}, {Mode: Even, Unit: Decimal{2, 0}}, {Mode: Trunc, Unit: Decimal{10, 0}, Steps: -1}, {Mode: Floor, Unit: Decimal{10, 0}, Before: 1, Plus: 9}} {
		for _, f := range []NumberFormat{{Places: -1}, {Places: 2, Group: ","}, {Places: 0, Width: 5}, {Places: 1, Group: ".", Comma: true}, {Places: -1, Group: ",", Lakh: true, Plain: true}} {
			f := f
			f.Kept = f.Places < 0 && do.Power != 0 && f.Group == ""
			list = append(list, &NumberOf{Class: Number, Nth: 1, Do: do, Format: f}, &NumberOf{Class: Digits, Nth: -1, Do: do, Format: f})
		}
	}
	return list
}

func dateSamplers() (list []Expr) {
	clocks := []Clock{{}, {Minutes: 30, Mode: Half}, {Minutes: 120, Mode: Ceil, Steps: 1, Seconds: -60}, {Minutes: 15, Mode: Floor}}
	for i := range Layouts {
		for j, f := range Fields {
			if (i+j)%3 != 0 {
				continue // each layout meets a third of the fields, each field a third of the layouts
			}
			list = append(list, &DateOf{Layouts: []*Layout{&Layouts[i]}, Field: f.Field, Clock: clocks[(i+j)%len(clocks)]})
		}
	}
	return append(list, &DateOf{Layouts: []*Layout{&Layouts[0], &Layouts[3], &Layouts[2]}, Field: "dddd"})
}

// questions are one or more predicates of every test.
func questions() (list []*Predicate) {
	for _, test := range []Test{Has, Starts, Ends} {
		for class := Class(0); class < Classes; class++ {
			list = append(list, &Predicate{Test: test, Class: class, Count: 2})
		}
		list = append(list, &Predicate{Test: test, Literal: ",", Count: 1, Not: true})
	}
	return append(list, &Predicate{Test: IsEmpty}, &Predicate{Test: HasShape, Literal: "A0 a"})
}

// program returns an executor that gives what the expressions and predicates
// are on its column.
func program(t testing.TB, exprs []Expr, asks []*Predicate) *star.Program {
	t.Helper()
	var body strings.Builder
	body.WriteString("def execute(task, args):\n    c = args[\"columns\"]\n    return result(output = [\n")
	for _, e := range exprs {
		body.WriteString("        " + e.Star() + ",\n")
	}
	for _, p := range asks {
		body.WriteString("        " + p.Star() + ",\n")
	}
	body.WriteString("        shape(c[0]),\n    ])\n")
	source := map[string]string{}
	var loads string
	for _, library := range Libraries() {
		source[library.File] = library.Text
		var names []string
		for _, name := range library.Names {
			names = append(names, Quote(name))
		}
		loads += fmt.Sprintf("load(%q, %s)\n", library.File, strings.Join(names, ", "))
	}
	source[rule.ExecutorFile] = loads + strings.Join(Constants(body.String()), "\n") + "\n" + body.String()
	p, err := star.Load(rule.RoleExecutor, source, 50_000_000)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// compare checks that the program gives on a text exactly what Eval gives.
func compare(t rapid.TB, p *star.Program, exprs []Expr, asks []*Predicate, text string) {
	t.Helper()
	args, err := rule.ValueOf(map[string]any{"columns": []string{text}})
	if err != nil {
		t.Fatal(err)
	}
	body, err := p.Execute(rule.Document{Instruction: "i"}, args, nil)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	reply, err := rule.ParseExecutorReply(body)
	if err != nil || reply.Outcome == nil {
		t.Fatalf("%q: %s %v", text, body, err)
	}
	var got []any
	if err := reply.Outcome.Output.Decode(&got); err != nil {
		t.Fatal(err)
	}
	row := NewRow([]string{text})
	for i, e := range exprs {
		want, ok := e.Eval(row)
		if given, is := got[i].(string); is != ok || given != want {
			t.Fatalf("%s on %q: starlark gives %v, Eval gives %q, %v", e.Star(), text, got[i], want, ok)
		}
	}
	for i, p := range asks {
		if got[len(exprs)+i] != p.Holds(row) {
			t.Fatalf("%s on %q: starlark gives %v", p.Star(), text, got[len(exprs)+i])
		}
	}
	if got[len(got)-1] != Shape(text) {
		t.Fatalf("the shape of %q: starlark gives %v, Shape gives %q", text, got[len(got)-1], Shape(text))
	}
}

var oddTexts = []string{
	"", " ", "Ann Lee", "ann.lee@a.org, Bo", "Ærø é—日本語 ǅ ª", "O'Neil-SMITH  the\t3rd\r\nline", "a\u00a0b", "\x1e\x7f", `say "x\n"`,
	"0", "-0", "-0.04", "1,234.5678", "99999.995", "-12.5", "+7", "00e-04", "1e400", "123456789012345", "1234567890123456", ".5", "5.", "2.5e3", "1e-9", "-1,2,3",
	"2021-03-25T23:59:59Z", "3/4/2021", "13/4/2021 9:05 PM", "29-Feb-2020", "29-Feb-2021", "Feb 30, 2020", "6-Apr-92", "6-Apr-12", "01311846", "19991231", "2143 75",
	"2143 366", "2144 366", "Monday, 1995W25", "Friday #5 August 1947", "Friday #1 Aug 1947", "0:00:20 AM", "12:30 am", "23:59:59", "24:00", "7 pm", "1130", "31.12", "sept", "the lord OF the rings, iii", "usa and the uk", "0000-01-01", "May 0000", "Sunday, 9999W53",
}

func TestStarAgreesWithEval(t *testing.T) {
	exprs, asks := samplers(), questions()
	p := program(t, exprs, asks)
	for _, text := range oddTexts {
		compare(t, p, exprs, asks, text)
	}
}

func TestStarAgreesWithEvalOnAnyText(t *testing.T) {
	var exprs []Expr
	for i, e := range samplers() {
		if i%9 == 0 { // the whole list would take a minute
			exprs = append(exprs, e)
		}
	}
	asks := questions()
	p := program(t, exprs, asks)
	piece := rapid.SampledFrom(append([]string{"a", "Zed", "12", "0", ",", ", ", ".", "-", "/", " ", ":", "Jan", "PM", "é", "#", "W", "T"}, oddTexts...))
	rapid.Check(t, func(t *rapid.T) {
		compare(t, p, exprs, asks, strings.Join(rapid.SliceOfN(piece, 0, 6).Draw(t, "pieces"), ""))
	})
}
