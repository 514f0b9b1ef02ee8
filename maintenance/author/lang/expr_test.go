package lang

import "testing"

func TestCases(t *testing.T) {
	for _, test := range []struct {
		letters Case
		in      string
		want    string
	}{
		{Same, "aB c", "aB c"}, {LowerCase, "aB É", "ab é"}, {UpperCase, "aß é", "Aß É"}, {TitleCase, "ann o'NEIL", "Ann O'Neil"},
		{SentenceCase, "ANN LEE", "Ann lee"}, {FirstUpper, "mcDonald", "McDonald"}, {FirstUpper, "", ""},
		{HeadlineCase, "the lord OF the rings", "The Lord of the Rings"}, {HeadlineCase, "of mice", "Of Mice"},
		{CodesCase, "london, uk", "London, UK"}, {CodesCase, "henry viii", "Henry VIII"}, {CodesCase, "ukulele", "Ukulele"},
	} {
		if got := test.letters.Apply(test.in); got != test.want {
			t.Errorf("%s of %q: %q, want %q", caseNames[test.letters], test.in, got, test.want)
		}
	}
}

func TestCuts(t *testing.T) {
	at := func(p Position) *Position { return &p }
	for _, test := range []struct {
		name     string
		a, b     *Position
		in, want string // "-": undefined
	}{
		{"first two", at(Position{}), at(Position{Nth: 2}), "éab", "éa"},
		{"first two of one", at(Position{}), at(Position{Nth: 2}), "é", "-"},
		{"last three", at(Position{Anchor: FromEnd, Nth: 3}), at(Position{Anchor: FromEnd}), "abcdé", "cdé"},
		{"second number", at(Position{Anchor: AtToken, Class: Digits, Nth: 2}), at(Position{Anchor: AtToken, Class: Digits, Nth: 2, End: true}), "a1 b22 c3", "22"},
		{"last word but one", at(Position{Anchor: AtToken, Class: Word, Nth: -2}), at(Position{Anchor: AtToken, Class: Word, Nth: -2, End: true}), "x y z", "y"},
		{"between marks", at(Position{Anchor: AtLiteral, Literal: "(", Nth: 1, End: true}), at(Position{Anchor: AtLiteral, Literal: ")", Nth: -1}), "a (b (c)) d", "b (c)"},
		{"no mark", at(Position{Anchor: AtLiteral, Literal: "(", Nth: 1}), at(Position{Anchor: FromEnd}), "abc", "-"},
		{"first two of a word", at(Position{Anchor: AtToken, Class: Word, Nth: 2}), at(Position{Anchor: AtToken, Class: Word, Nth: 2, Shift: 2}), "ab cdef", "cd"},
		{"turned round", at(Position{Anchor: FromEnd}), at(Position{}), "abc", "-"},
	} {
		got, ok := (&Cut{A: test.a, B: test.b}).Eval(NewRow([]string{test.in}))
		if !ok {
			got = "-"
		}
		if got != test.want {
			t.Errorf("%s of %q: %q, want %q", test.name, test.in, got, test.want)
		}
	}
	if _, ok := (&Cut{Column: 1, A: &Position{}, B: &Position{}}).Eval(NewRow([]string{"a"})); ok {
		t.Error("a column that isn't there was cut")
	}
}

func TestChanges(t *testing.T) {
	for _, test := range []struct {
		name     string
		args     []string
		in, want string
	}{
		{"trim", nil, "  a b\t", "a b"}, {"squeeze", nil, " a \n b ", "a b"}, {"reverse_words", nil, "a b  c", "c b a"},
		{"keep", []string{"DIGITS"}, "a1b22", "122"}, {"drop", []string{"PUNCT"}, "(a-b) c", "ab c"},
		{"initials", []string{"."}, "ann van é", "a.v.é"}, {"swap", []string{"-", "/"}, "1-2-3", "1/2/3"}, {"swap_once", []string{"-", ""}, "1-2-3", "12-3"},
		{"every", []string{"2", "0"}, "aébéc", "abc"}, {"every", []string{"3", "1"}, "abcde", "be"},
	} {
		if got, ok := (&Change{Name: test.name, Args: test.args}).Eval(NewRow([]string{test.in})); !ok || got != test.want {
			t.Errorf("%s%q of %q: %q %v, want %q", test.name, test.args, test.in, got, ok, test.want)
		}
		if _, ok := (&Change{Column: 3, Name: test.name, Args: test.args}).Eval(NewRow([]string{test.in})); ok {
			t.Errorf("%s of a column that isn't there", test.name)
		}
	}
}

func TestNumbers(t *testing.T) {
	for _, test := range []struct {
		in     string
		do     Arithmetic
		format NumberFormat
		want   string // "-": undefined
	}{
		{"1234.5", Arithmetic{}, NumberFormat{Places: 2, Group: ","}, "1,234.50"},
		{"1234567", Arithmetic{}, NumberFormat{Places: -1, Group: ",", Lakh: true}, "12,34,567"},
		{"7", Arithmetic{}, NumberFormat{Places: -1, Width: 3}, "007"},
		{"1.5", Arithmetic{}, NumberFormat{Places: 2, Comma: true}, "1,50"},
		{"-2.5", Arithmetic{}, NumberFormat{Places: 0}, "-3"},
		{"790", Arithmetic{Power: -3}, NumberFormat{Places: -1}, "0.79"},
		{"790", Arithmetic{Power: -3}, NumberFormat{Places: -1, Kept: true}, "0.790"},
		{"12.30", Arithmetic{Power: 2}, NumberFormat{Places: -1, Kept: true}, "1230"},
		{"199", Arithmetic{Mode: Floor, Unit: Decimal{N: 10}}, NumberFormat{Places: -1}, "190"},
		{"199", Arithmetic{Mode: Floor, Unit: Decimal{N: 10}, Before: 1, Plus: 9}, NumberFormat{Places: -1}, "209"},
		{"2.25", Arithmetic{Mode: Even, Unit: Decimal{N: 1, K: 1}}, NumberFormat{Places: -1}, "2.2"},
		{"1234567890123456", Arithmetic{}, NumberFormat{Places: -1}, "-"},
		{"none", Arithmetic{}, NumberFormat{Places: -1}, "-"},
	} {
		got, ok := (&NumberOf{Class: Number, Nth: 1, Do: test.do, Format: test.format}).Eval(NewRow([]string{test.in}))
		if !ok {
			got = "-"
		}
		if got != test.want {
			t.Errorf("%+v, %+v of %q: %q, want %q", test.do, test.format, test.in, got, test.want)
		}
	}
}

func TestPredicates(t *testing.T) {
	for _, test := range []struct {
		ask  Predicate
		in   string
		want bool
	}{
		{Predicate{Test: IsEmpty}, "", true}, {Predicate{Test: IsEmpty}, " ", false}, {Predicate{Test: IsEmpty, Not: true}, " ", true},
		{Predicate{Test: Has, Class: Digits, Count: 2}, "a1b2", true}, {Predicate{Test: Has, Class: Digits, Count: 2}, "a12", false},
		{Predicate{Test: Starts, Literal: "("}, "(a", true}, {Predicate{Test: Starts, Literal: "("}, "a(", false},
		{Predicate{Test: Ends, Class: Punct}, "a!", true}, {Predicate{Test: HasShape, Literal: "A0"}, "AB12", true}, {Predicate{Test: HasShape, Literal: "A0"}, "Ab12", false},
		{Predicate{Column: 1, Test: IsEmpty}, "", false},
	} {
		if got := test.ask.Holds(NewRow([]string{test.in})); got != test.want {
			t.Errorf("%s on %q: %v", test.ask.Star(), test.in, got)
		}
	}
}
