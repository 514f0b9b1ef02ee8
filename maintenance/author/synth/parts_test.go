package synth

import (
	"strings"
	"testing"

	"signalbox/maintenance/author/lang"
)

// spaceOf returns the components of one-column samples, inputs and outputs in
// turns.
func spaceOf(texts ...string) *space {
	return newSpace(samplesOf(distinct(pairs(texts...)), 0), NewBudget(defaultSteps))
}

// found says whether a component of the space is written so in starlark.
func (s *space) found(star string) bool {
	for _, g := range s.groups {
		for _, e := range g.exprs {
			if e.Star() == star {
				return true
			}
		}
	}
	return false
}

func TestComponents(t *testing.T) {
	for name, test := range map[string]struct {
		samples []string
		want    string
	}{
		"token":      {[]string{"a-12", "12", "bb-3", "3"}, "token(c[0], DIGITS, 1)"},
		"literal":    {[]string{"x: ab", "ab", "yy: c d", "c d"}, "cut(c[0], end(text(\": \"), 1), at_end(0))"},
		"characters": {[]string{"granite", "gra", "tuff", "tuf"}, "cut(c[0], at(0), at(3))"},
		"keep":       {[]string{"a-1-2", "12", "b-3-4", "34"}, "keep(c[0], DIGITS)"},
		"swap":       {[]string{"a-1-2", "a/1/2", "b-3-4", "b/3/4"}, "swap(c[0], \"-\", \"/\")"},
		"piece":      {[]string{"ab (old)", "ab", "c (old)", "c"}, "swap(c[0], \" (old)\", \"\")"},
		"every":      {[]string{"aabb", "ab", "ccddee", "cde"}, "every(c[0], 2, 0)"},
		"date":       {[]string{"2021-03-25", "25 March", "2020-11-02", "2 November"}, "part(date(c[0], [YMD]), \"MMMM\")"},
		"rounded":    {[]string{"88", "80", "54", "50"}, "write(round_to(number(token(c[0], NUMBER, 1)), (10, 0), \"down\"))"},
		"headline":   {[]string{"war and peace", "War and Peace", "ship of fools", "Ship of Fools"}, "headline(c[0])"},
	} {
		if s := spaceOf(test.samples...); !s.found(test.want) {
			t.Errorf("%s: no %s among %d groups", name, test.want, len(s.groups))
		}
	}
}

func TestComponentsArePartOfEveryOutput(t *testing.T) {
	s := spaceOf("a-12 q", "12", "bb-3 q", "3", "c-77 q", "77")
	for _, g := range s.groups {
		for i, value := range g.values {
			if !strings.Contains(s.samples[i].out, value) {
				t.Errorf("%s gives %q, which is no part of %q", g.exprs[0].Star(), value, s.samples[i].out)
			}
		}
	}
}

// What is right on the examples alone may not be answered.
func TestAbstains(t *testing.T) {
	for name, test := range map[string]struct {
		examples []Example
		input    string
		want     string
	}{
		"small words":     {pairs("ann lee", "Ann Lee", "bo oz", "Bo Oz", "cy young", "Cy Young", "di ray", "Di Ray"), "queen of hearts", "two readings"},
		"codes":           {pairs("ann lee", "Ann Lee", "bo oz", "Bo Oz", "cy young", "Cy Young", "di ray", "Di Ray"), "london uk", "two readings"},
		"nothing is left": {pairs("a-1", "1", "bb-22", "22", "c-3", "3", "d-44", "44"), "e-", "abstained"},
		"last zero":       {pairs("12", "0.012", "345", "0.345", "7", "0.007", "61", "0.061"), "790", "two readings"},
		"end of a range":  {pairs("88", "80-89", "54", "50-59", "62", "60-69", "105", "100-109", "137", "130-139", "16", "10-19"), "199", "two readings"},
	} {
		if got := learned(t, test.examples, test.input); !strings.HasPrefix(got, "abstained") || !strings.Contains(got, test.want) {
			t.Errorf("%s: %q gives %q", name, test.input, got)
		}
	}
}

func TestRecordsBindTheirShapes(t *testing.T) {
	plain := NewGuard(pairs("a b 1", "", "cc d 2", "", "e ff 3", "", "g h 4", ""), 0)
	records := NewGuard(pairs("a\tb 1", "", "cc\td 2", "", "e\tff 3", "", "g\th 4", ""), 0)
	if !plain.Accepts([]string{"a b c 1"}) || records.Accepts([]string{"a\tb c 1"}) || !records.Accepts([]string{"x\ty 1"}) {
		t.Error("one word more is taken in a line, and not in a record")
	}
}

func TestOddProgramsWantMoreExamples(t *testing.T) {
	for _, test := range []struct {
		cost, foretold, support int
		odd                     bool
	}{{100, 1, 3, false}, {300, 1, 3, true}, {300, 1, 4, false}, {450, 2, 6, true}, {450, 3, 6, false}} {
		piece := &lang.Change{Name: "trim", Price: test.cost}
		leaf := &Leaf{Foretold: test.foretold, Support: test.support, Elements: []Element{{Readings: []*Reading{{Parts: []Part{{Exprs: []lang.Expr{piece}}}}}}}}
		if leaf.odd() != test.odd {
			t.Errorf("%+v: odd is %v", test, leaf.odd())
		}
	}
}
