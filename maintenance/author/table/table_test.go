package table

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"signalbox/containers/kernel/star"
	"signalbox/rule"
)

// rows makes a table of lines with bars between cells.
func rows(lines ...string) (t Table) {
	for _, line := range lines {
		t = append(t, strings.Split(line, "|"))
	}
	return t
}

func TestSteps(t *testing.T) {
	for _, test := range []struct {
		step     Step
		in, want Table // nil: the step doesn't apply
	}{
		{Step{Name: "columns", Columns: []int{2, 0}}, rows("a|b|c", "d|e|f"), rows("c|a", "f|d")},
		{Step{Name: "columns", Columns: []int{2}}, rows("a|b|c", "d|e"), nil},
		{Step{Name: "skip", N: 1}, rows("a", "b"), rows("b")},
		{Step{Name: "skip", N: 2}, rows("a", "b"), nil},
		{Step{Name: "with_cell", N: 1}, rows("a|", "b|x", "c"), rows("b|x")},
		{Step{Name: "with_cell", N: 1}, rows("a|"), nil},
		{Step{Name: "fill", N: 0}, rows("a|1", "|2", "b|3"), rows("a|1", "a|2", "b|3")},
		{Step{Name: "fill", N: 1}, rows("a|1", "b"), nil},
		{Step{Name: "fold", N: 1}, rows("a|1|2", "b|3"), rows("a|1", "a|2", "b|3")},
		{Step{Name: "fold", N: 2}, rows("a|1"), nil},
		{Step{Name: "fold_header", N: 1}, rows("name|x|y", "a|1|2"), rows("a|x|1", "a|y|2")},
		{Step{Name: "fold_header", N: 1}, rows("name|x", "a|1|2"), nil},
		{Step{Name: "wrap", N: 2}, rows("a", "b", "c", "d"), rows("a|b", "c|d")},
		{Step{Name: "wrap", N: 2}, rows("a", "b", "c"), nil},
		{Step{Name: "wrap_same", N: 1}, rows("a|1", "a|2", "b|3"), rows("a|1|2", "b|3")},
		{Step{Name: "wrap_blank"}, rows("a", "b", "", "c"), rows("a|b", "c")},
		{Step{Name: "one_row"}, rows("a|b", "c"), rows("a|b|c")},
		{Step{Name: "transpose"}, rows("a|b", "c|d"), rows("a|c", "b|d")},
		{Step{Name: "transpose"}, rows("a|b", "c"), nil},
		{Step{Name: "compact"}, rows("a||b", "|", "|c"), rows("a|b", "c")},
		{Step{Name: "carry", N: 1}, rows("a|", "x|1", "b|", "y|2"), rows("a|x|1", "b|y|2")},
		{Step{Name: "carry", N: 1}, rows("x|1"), nil},
		{Step{Name: "split", N: 0, Mark: ":"}, rows("a:1|x", "b:2|y"), rows("a|1|x", "b|2|y")},
		{Step{Name: "split", N: 0, Mark: ":"}, rows("a:1", "b"), nil},
		{Step{Name: "split_all", Mark: " "}, rows("a b|c", "d"), rows("a|b|c", "d")},
		{Step{Name: "pair_columns"}, rows("a|b", "1|2"), rows("a|1|b|2")},
		{Step{Name: "pair_columns"}, rows("a|b"), nil},
		{Step{Name: "trim_cells"}, rows(" a | b"), rows("a|b")},
	} {
		got, ok := test.step.Apply(test.in)
		if ok != (test.want != nil) || ok && !sameTable(got, test.want) {
			t.Errorf("%s of %q: %q %v, want %q", test.step.Star(), test.in, got, ok, test.want)
		}
	}
}

// grown returns examples of a program on more and more rows.
func grown(t testing.TB, program []Step, lines ...[]string) (list []Example) {
	t.Helper()
	for i, some := range lines {
		out, ok := run(program, rows(some...))
		if !ok {
			t.Fatalf("example %d: the program doesn't apply", i)
		}
		list = append(list, Example{fmt.Sprint(i), rows(some...), out})
	}
	return list
}

func TestLearn(t *testing.T) {
	for _, test := range []struct {
		name    string
		program []Step
		lines   [][]string
		ask     []string
	}{
		{"columns", []Step{{Name: "columns", Columns: []int{2, 0}}}, [][]string{{"a|b|c"}, {"d|e|f", "g|h|i"}, {"j|k|l"}}, []string{"x|y|z"}},
		{"fold", []Step{{Name: "fold_header", N: 1}, {Name: "with_cell", N: 2}}, [][]string{{"n|x|y", "a|1|"}, {"n|x|y", "a||2", "b|3|4"}, {"n|x|y", "c|5|"}, {"n|x|y", "d||6", "e|7|"}}, []string{"n|v|w", "q||9"}},
		{"groups", []Step{{Name: "fill", N: 0}, {Name: "wrap_same", N: 1}}, [][]string{{"a|1", "|2"}, {"a|1", "|2", "b|3"}, {"c|1", "d|2", "|7"}}, []string{"x|8", "|9"}},
		{"lines", []Step{{Name: "wrap", N: 3}}, [][]string{{"a", "b", "c", "d", "e", "f"}, {"g", "h", "i", "j", "k", "l", "m", "n", "o"}, {"p", "q", "r", "s", "t", "u"}}, []string{"1", "2", "3"}},
	} {
		rules, err := Learn(grown(t, test.program, test.lines...))
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		want, _ := run(test.program, rows(test.ask...))
		if got, ok, note := rules.Answer(rows(test.ask...)); !ok || !sameTable(got, want) {
			t.Errorf("%s: %q (%s), want %q", test.name, got, note, want)
		}
	}
}

func TestLearnRefuses(t *testing.T) {
	a, b := Example{"a", rows("x|y"), rows("y")}, Example{"b", rows("z|w"), rows("w")}
	if _, err := Learn([]Example{a, b}); !errors.Is(err, ErrUnproven) {
		t.Errorf("two tables: %v", err)
	}
	if _, err := Learn([]Example{a, a, a}); !errors.Is(err, ErrUnproven) {
		t.Errorf("one table three times: %v", err)
	}
	if _, err := Learn([]Example{a, b, {"c", rows("p|q"), rows("other")}, {"d", rows("s|t"), rows("t")}}); !errors.Is(err, ErrNothing) {
		t.Errorf("a table that no program makes: %v", err)
	}
}

func TestAnswerAbstains(t *testing.T) {
	rules, err := Learn([]Example{{"a", rows("x|x"), rows("x")}, {"b", rows("z|z"), rows("z")}, {"c", rows("w|w"), rows("w")}})
	if err != nil {
		t.Fatal(err)
	}
	if got, ok, note := rules.Answer(rows("p|q")); ok || !strings.Contains(note, "two readings") {
		t.Errorf("the first or the second column: %q %s", got, note)
	}
	if got, ok, _ := rules.Answer(rows("p|p")); !ok || !sameTable(got, rows("p")) {
		t.Errorf("both columns are the same: %q %v", got, ok)
	}
	if _, ok, note := rules.Answer(rows("p|p|p")); ok || !strings.Contains(note, "3 cells") {
		t.Errorf("three cells: %s", note)
	}
	if _, ok, _ := rules.Answer(nil); ok {
		t.Error("no rows were answered")
	}
}

// samplers are one or more steps of every kind.
func samplers() (list []Step) {
	for _, name := range []string{"columns", "skip", "with_cell", "fill", "fold", "fold_header", "wrap", "wrap_same", "wrap_blank", "one_row", "transpose", "compact", "carry", "split", "split_all", "pair_columns", "trim_cells"} {
		for n := 1; n <= 2; n++ {
			list = append(list, Step{Name: name, N: n, Mark: []string{":", ", "}[n-1], Columns: []int{n, 0}})
		}
	}
	return list
}

func TestSamplersAreComplete(t *testing.T) {
	for name := range kinds {
		if !slices.ContainsFunc(samplers(), func(s Step) bool { return s.Name == name }) {
			t.Errorf("no sample of %q", name)
		}
	}
}

// The library does to any table what Apply does, also in two steps.
func TestStarAgreesWithApply(t *testing.T) {
	var programs [][]Step
	for i, step := range samplers() {
		programs = append(programs, []Step{step}, []Step{step, samplers()[(i*7+3)%len(samplers())]})
	}
	body := "load(\"tables.star\", \"agreed\", \"is_table\""
	for name := range kinds {
		body += ", \"" + name + "\""
	}
	body += ")\ndef execute(task, args):\n    x = args[\"table\"]\n    out = []\n"
	for _, program := range programs {
		body += "    t = x\n"
		for _, step := range program {
			body += "    t = " + step.Star() + "\n"
		}
		body += "    t, note = agreed([t])\n    out.append(t)\n"
	}
	p, err := star.Load(rule.RoleExecutor, map[string]string{rule.ExecutorFile: body + "    return result(output = out)\n", LibraryFile: Library}, 20_000_000)
	if err != nil {
		t.Fatal(err)
	}
	cell := rapid.SampledFrom([]string{"", "a", "b", " c ", "x:1", "1, 2", ":", "é"})
	rapid.Check(t, func(t *rapid.T) {
		in := Table(rapid.SliceOfN(rapid.SliceOfN(cell, 1, 4), 1, 5).Draw(t, "table"))
		args, err := rule.ValueOf(map[string]any{"table": in})
		if err != nil {
			t.Fatal(err)
		}
		text, err := p.Execute(rule.Document{Instruction: "i"}, args, nil)
		if err != nil {
			t.Fatal(err)
		}
		reply, err := rule.ParseExecutorReply(text)
		if err != nil || reply.Outcome == nil {
			t.Fatalf("%s %v", text, err)
		}
		var got []Table
		if err := reply.Outcome.Output.Decode(&got); err != nil {
			t.Fatal(err)
		}
		for i, program := range programs {
			want, ok := run(program, in)
			if ok != (got[i] != nil) || ok && !sameTable(got[i], want) {
				t.Fatalf("%v of %q: starlark gives %q, Apply gives %q, %v", program, in, got[i], want, ok)
			}
		}
	})
}
