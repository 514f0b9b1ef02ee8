package synth

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"signalbox/maintenance/author/lang"
)

// TestMain checks each law on fewer inputs than usual, where none are asked for:
// one of them is a whole search.
func TestMain(m *testing.M) {
	flag.Parse()
	if checks := flag.Lookup("rapid.checks"); checks.Value.String() == checks.DefValue {
		_ = checks.Value.Set("15") // a number is taken
	}
	os.Exit(m.Run())
}

// pairs returns examples of one column from inputs and outputs in turns.
func pairs(texts ...string) (list []Example) {
	for i := 0; i < len(texts); i += 2 {
		list = append(list, Example{ID: fmt.Sprint(i / 2), Columns: []string{texts[i]}, Target: Target{Form: "s", Text: []string{texts[i+1]}}})
	}
	return list
}

// learned returns what the examples' tree gives for an input, or why nothing.
func learned(t testing.TB, examples []Example, columns ...string) string {
	t.Helper()
	tree, err := Learn(examples, Settings{})
	if err != nil {
		return "error: " + err.Error()
	}
	got, ok, note := tree.Answer(lang.NewRow(columns))
	if !ok {
		return "abstained: " + note
	}
	return got.Form + " " + strings.Join(got.Text, "|")
}

func TestLearn(t *testing.T) {
	for _, test := range []struct {
		name, input, want string
		examples          []Example
	}{
		{"token", "xx-987 q", "s 987", pairs("ab-12 c", "12", "c-4 dd", "4", "eff-678 ghi", "678", "z-90 k", "90")},
		{"first characters", "quartz", "s qua", pairs("granite", "gra", "basalt", "bas", "tuff", "tuf", "marble", "mar", "obsidian", "obs")},
		{"case", "MR. OX", "s Mr. Ox", pairs("ANN LEE", "Ann Lee", "BO", "Bo", "CY. DI", "Cy. Di", "ED FOX", "Ed Fox")},
		{"initials", "Gus Hall", "s G.H.", pairs("Ann Lee", "A.L.", "Bo Cy", "B.C.", "Di Ed Fay", "D.E.F.", "Kim Li", "K.L.")},
		{"branch", "no mark here", "s none", pairs("a [x]", "x", "b [yy]", "yy", "c", "none", "d e", "none", "f [zed] g", "zed", "h", "none", "i j k", "none", "l [mn]", "mn")},
		{"empty", "", "s ", pairs("a1", "1", "", "", "bb22", "22", "c333", "333", "ddd4", "4")},
		{"clock", "14:20", "s 2:00 PM", pairs("9:44", "9:30 AM", "16:15", "4:00 PM", "23:48", "11:30 PM", "7:00", "7:00 AM", "10:31", "10:30 AM", "0:29", "12:00 AM")},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := learned(t, test.examples, test.input); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

func TestLearnRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		examples []Example
		want     error
	}{
		"two examples":   {pairs("a1", "1", "b2", "2"), ErrTooFew},
		"repeats":        {pairs("a1", "1", "b2", "2", "a1", "1"), ErrTooFew},
		"constant":       {pairs("a", "x", "b", "x", "c", "x", "d", "x", "e", "x", "f", "x", "g", "x"), errConstant},
		"no program":     {pairs("a", "tree", "b", "river", "c", "stone", "d", "cloud"), errNothing},
		"one odd answer": {pairs("a1", "1", "b2", "2", "c3", "4", "d4", "4"), errNothing},
	} {
		if _, err := Learn(test.examples, Settings{}); !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", name, err, test.want)
		}
	}
}

func TestLearnKeepsItsBudget(t *testing.T) {
	examples := pairs("ab-12 c", "12", "c-4 dd", "4", "eff-678 ghi", "678", "z-90 k", "90")
	if _, err := Learn(examples, Settings{Steps: 100}); !errors.Is(err, errBudget) {
		t.Errorf("100 steps: %v", err)
	}
	if _, err := Learn(examples, Settings{Steps: 10_000_000}); err != nil {
		t.Errorf("10 million steps: %v", err)
	}
}

func TestCopiedTextIsNoConstant(t *testing.T) {
	examples := pairs("on 2018-01-02 a", "2018-01-02", "at 2018-01-02 bb", "2018-01-02", "by 2018-01-02 c", "2018-01-02",
		"to 2018-01-02 dd", "2018-01-02", "of 2018-01-02 eee", "2018-01-02", "in 2018-01-02 f", "2018-01-02", "up 2018-01-02 g", "2018-01-02")
	if got := learned(t, examples, "on 2019-11-12 h"); got != "s 2019-11-12" {
		t.Error(got)
	}
}

func TestGuard(t *testing.T) {
	g := NewGuard(pairs("ab-12", "", "C-4", "", "e-6", "", "f-7", "", "g-8", ""), 0)
	for text, want := range map[string]bool{"zz-90": true, "Z-9": true, "zz90": false, "zz-": false, "zz_-9": false, "": false, "é-1": true, "語-1": false} {
		if g.Accepts([]string{text}) != want {
			t.Errorf("%q: accepted %v", text, !want)
		}
	}
	few := NewGuard(pairs("ab-12", "", "C-4", ""), 0)
	if few.Accepts([]string{"aB-1"}) || !few.Accepts([]string{"abc-1"}) {
		t.Error("with few examples the shape must be one of theirs")
	}
	if few.Accepts([]string{"ab-1", "c"}) {
		t.Error("accepted another number of columns")
	}
}

func TestSeparate(t *testing.T) {
	examples := pairs("ab-1", "", "c-2", "", "d-3", "")
	g := NewGuard(examples, 0)
	if !g.Separate(examples, [][]string{{"ab-12-3"}, {"x"}}) || g.Accepts([]string{"ab-12-3"}) || !g.Accepts([]string{"q-7"}) {
		t.Errorf("two dashes are not told from one: %v", g.Must)
	}
	if g.Separate(examples, [][]string{{"ab-1"}}) {
		t.Error("an example was told from itself")
	}
}

// makers are programs of the language for the property below.
var makers = []lang.Expr{
	&lang.Cut{A: &lang.Position{Anchor: lang.AtToken, Class: lang.Digits, Nth: 1}, B: &lang.Position{Anchor: lang.AtToken, Class: lang.Digits, Nth: 1, End: true}},
	&lang.Cut{A: &lang.Position{}, B: &lang.Position{Anchor: lang.AtLiteral, Literal: "-", Nth: 1}},
	&lang.Cut{A: &lang.Position{Anchor: lang.AtLiteral, Literal: "-", Nth: -1, End: true}, B: &lang.Position{Anchor: lang.FromEnd}, Case: lang.UpperCase},
	&lang.Change{Name: "keep", Args: []string{"LETTERS"}},
	&lang.NumberOf{Class: lang.Digits, Nth: 1, Format: lang.NumberFormat{Places: 1}},
	&lang.Change{Name: "swap", Args: []string{"-", "_"}},
}

// What is learned from enough examples of a program is never wrong on them, and
// where it answers another input, it answers as the program does.
func TestAnyProgramIsLearnedOrAbstains(t *testing.T) {
	word := rapid.StringMatching(`[a-z]{1,6}-[1-9][0-9]{0,3}-[a-zA-Z]{1,5}`)
	rapid.Check(t, func(t *rapid.T) {
		maker := rapid.SampledFrom(makers).Draw(t, "program")
		var examples []Example
		inputs := rapid.SliceOfNDistinct(word, 6, 8, rapid.ID).Draw(t, "inputs")
		for i, input := range inputs {
			out, _ := maker.Eval(lang.NewRow([]string{input}))
			examples = append(examples, Example{ID: fmt.Sprint(i), Columns: []string{input}, Target: Target{Form: "s", Text: []string{out}}})
		}
		tree, err := Learn(examples[:len(examples)-2], Settings{})
		if err != nil {
			return
		}
		for i, e := range examples {
			got, ok, _ := tree.Answer(lang.NewRow(e.Columns))
			if i < len(examples)-2 && (!ok || !got.Equal(e.Target)) {
				t.Fatalf("%q: %v %v, want %q", e.Columns, got.Text, ok, e.Target.Text)
			}
			if ok && !got.Equal(e.Target) {
				t.Fatalf("wrong on %q: %q, want %q", e.Columns, got.Text, e.Target.Text)
			}
		}
	})
}

func TestLearnIsDeterministic(t *testing.T) {
	examples := pairs("Ann Lee 12", "Lee, A. 12", "Bo Oz 7", "Oz, B. 7", "Cy Young 33", "Young, C. 33", "Di Ray 4", "Ray, D. 4")
	print := func() string {
		tree, err := Learn(examples, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		tree.Leaves(func(l *Leaf) {
			for _, r := range l.Elements[0].Readings {
				for _, p := range r.Parts {
					out.WriteString(p.Const)
					for _, e := range p.Exprs {
						out.WriteString(e.Star())
					}
				}
			}
		})
		return out.String()
	}
	first := print()
	for range 2 {
		if print() != first {
			t.Fatal("the same examples gave different trees")
		}
	}
}

func TestQuestions(t *testing.T) {
	open := pairs("01/02/2021", "2021 Q1", "02/03/2019", "2019 Q1", "04/05/2020", "2020 Q2", "05/06/2018", "2018 Q2", "10/11/2011", "2011 Q4")
	tree, err := Learn(open, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	questions := Questions(tree, NewGuard(open, 0), open)
	if len(questions) == 0 || !strings.Contains(questions[0], "two readings") {
		t.Errorf("day or month: %q", questions)
	}
	if len(questions) > maxQuestions {
		t.Errorf("%d questions", len(questions))
	}
}
