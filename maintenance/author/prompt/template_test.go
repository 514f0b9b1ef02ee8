package prompt

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"signalbox/rule"
)

func TestLearn(t *testing.T) {
	for _, test := range []struct {
		instructions []string
		match        string
		slots        []string
		refuse       []string
	}{
		{[]string{"do it", "do it"}, "do it", nil, []string{"do it ", "Do it", "do it now"}},
		{[]string{"rename a to b", "rename cc to dd"}, "rename x to y", []string{"x", "y"}, []string{"rename x to y and delete it", "do not rename x to y", "rename x y to z", "rename 7 to 8", "rename x to"}},
		{[]string{`set "a b" here`, `set "c" here`}, `set "quoted, long text" here`, []string{"quoted, long text"}, []string{`set unquoted here`, `set "a" or "b" here`, "set \"a\nb\" here"}},
		{[]string{"bump to 1.2.3", "bump to 2.0.0"}, "bump to 10.4.7", []string{"10.4.7"}, []string{"bump to 1.2.3-rc1", "bump to x", "bump to 7"}},
		{[]string{"in src/a.go count", "in lib/b/c.txt count"}, "in x/y.md count", []string{"x/y.md"}, []string{"in x y count", "in x/y.md count twice"}},
	} {
		template, err := Learn(test.instructions)
		if err != nil {
			t.Errorf("%q: %v", test.instructions, err)
			continue
		}
		if slots, ok := template.Match(test.match); !ok || !slices.Equal(slots, test.slots) {
			t.Errorf("%q: slots %q %v, want %q", test.match, slots, ok, test.slots)
		}
		for _, other := range test.refuse {
			if slots, ok := template.Match(other); ok {
				t.Errorf("%q was taken, with slots %q", other, slots)
			}
		}
		if len(template.Slots) > 0 {
			if err := (rule.Guard{Pattern: template.Pattern()}).Check(); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestLearnRefuses(t *testing.T) {
	for _, instructions := range [][]string{
		{"a " + strings.Repeat("very ", 400) + "long one", "b " + strings.Repeat("very ", 400) + "long one"},
		{"rename a to b", "rename a to b and c"}, {"delete a", "x y"}, {"a b", "c d"}, {"find a-b c", "find ; c"},
	} {
		if template, err := Learn(instructions); !errors.Is(err, ErrNoTemplate) {
			t.Errorf("%q: %v %v", instructions, template, err)
		}
	}
}

// A template takes every instruction that it was learned from, and none with a
// word more.
func TestTemplatesTakeTheirInstructionsOnly(t *testing.T) {
	word := rapid.StringMatching(`[a-z]{1,8}`)
	rapid.Check(t, func(t *rapid.T) {
		var instructions []string
		for range rapid.IntRange(1, 4).Draw(t, "n") {
			instructions = append(instructions, "please move "+word.Draw(t, "from")+" below "+word.Draw(t, "to")+" today")
		}
		template, err := Learn(instructions)
		if err != nil {
			t.Fatal(err)
		}
		for _, instruction := range instructions {
			if _, ok := template.Match(instruction); !ok {
				t.Fatalf("%q is not taken by %q", instruction, template.Pattern())
			}
			if _, ok := template.Match(instruction + " except hidden files"); ok {
				t.Fatalf("%q took words that were added", template.Pattern())
			}
		}
	})
}
