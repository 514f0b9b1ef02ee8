// Package prompt generalises over the instructions of a family's tasks: over
// the parts that vary, and over nothing else.
//
// A template is the fixed text with slots between. A slot takes one token of a
// shape that the examples show (a number, a word, a dotted or dashed name, a
// quoted text, a path), so that it can't swallow words that somebody adds: an
// instruction with more said in it is another instruction. Slots that hold
// several words without quotes are not learned.
package prompt

import (
	"errors"
	"regexp"
	"slices"
	"strings"
)

// Template is a fixed instruction, or one with slots. There is one more fixed
// text than slots.
type Template struct {
	Fixed []string
	Slots []Shape
}

// Shape is what a slot may hold: a pattern without groups.
type Shape struct{ Name, Pattern string }

// Shapes are what slots may hold, the narrowest first.
var Shapes = []Shape{
	{"number", `[0-9]+`},
	{"version", `[0-9]+(?:\.[0-9]+)+`},
	{"word", `[\p{L}]+`},
	{"name", `[\p{L}0-9_]+`},
	{"dotted name", `[\p{L}0-9_]+(?:[-.:@+][\p{L}0-9_]+)*`},
	{"path", `[\p{L}0-9_.@+-]+(?:/[\p{L}0-9_.@+-]+)*`},
	{"quoted text", `"[^"\r\n]*"|'[^'\r\n]*'`},
	{"backquoted text", "`[^`\\r\\n]*`"},
}

// ErrNoTemplate is returned where the instructions have no common fixed part
// with slots of one token.
var ErrNoTemplate = errors.New("the instructions differ in more than single words, numbers or quoted texts")

var token = regexp.MustCompile("\"[^\"\\r\\n]*\"|`[^`\\r\\n]*`|[\\p{L}0-9_]+(?:[-./:@+][\\p{L}0-9_]+)*|\\s+|[^\\p{L}0-9_\\s]")

// minFixed is how many letters of an instruction with slots must be fixed, and
// maxPattern how long the pattern of a guard may be.
const (
	minFixed   = 4
	maxPattern = 2_000
)

// Learn returns the narrowest template of all the instructions.
func Learn(instructions []string) (Template, error) {
	list := slices.Compact(slices.Sorted(slices.Values(instructions)))
	if len(list) == 1 {
		return Template{Fixed: list}, nil
	}
	var columns [][]string
	for _, instruction := range list {
		tokens := token.FindAllString(instruction, -1)
		if columns == nil {
			columns = make([][]string, len(tokens))
		}
		if len(tokens) != len(columns) {
			return Template{}, ErrNoTemplate
		}
		for i, text := range tokens {
			columns[i] = append(columns[i], text)
		}
	}
	return fromColumns(columns)
}

// fromColumns makes a slot of each place at which the tokens differ.
func fromColumns(columns [][]string) (Template, error) {
	t := Template{Fixed: []string{""}}
	for _, column := range columns {
		if len(slices.Compact(slices.Sorted(slices.Values(column)))) == 1 {
			t.Fixed[len(t.Fixed)-1] += column[0]
			continue
		}
		shape, ok := narrowest(column)
		if !ok {
			return Template{}, ErrNoTemplate
		}
		t.Slots = append(t.Slots, shape)
		t.Fixed = append(t.Fixed, "")
	}
	if len(t.Pattern()) > maxPattern || letters(t.Fixed) < minFixed || slices.Contains(t.Fixed[1:len(t.Fixed)-1], "") {
		return Template{}, ErrNoTemplate
	}
	return t, nil
}

func letters(fixed []string) int {
	return len(regexp.MustCompile(`\p{L}`).FindAllString(strings.Join(fixed, ""), -1))
}

func narrowest(texts []string) (Shape, bool) {
	for _, shape := range Shapes {
		whole := regexp.MustCompile(`\A(?:` + shape.Pattern + `)\z`)
		if !slices.ContainsFunc(texts, func(s string) bool { return !whole.MatchString(s) }) {
			return shape, true
		}
	}
	return Shape{}, false
}

// Pattern returns the anchored pattern of the template; each slot is a group.
func (t Template) Pattern() string {
	pattern := regexp.QuoteMeta(t.Fixed[0])
	for i, slot := range t.Slots {
		pattern += "(" + slot.Pattern + ")" + regexp.QuoteMeta(t.Fixed[i+1])
	}
	return `\A(?:` + pattern + `)\z`
}

// Match returns what the slots hold, and false where the instruction is another.
// The quotes of a quoted text are not part of what it holds.
func (t Template) Match(instruction string) ([]string, bool) {
	if len(t.Slots) == 0 {
		return nil, instruction == t.Fixed[0]
	}
	m := regexp.MustCompile(t.Pattern()).FindStringSubmatch(instruction)
	if m == nil {
		return nil, false
	}
	held := m[1:]
	for i, slot := range t.Slots {
		if slot.Quoted() {
			held[i] = held[i][1 : len(held[i])-1]
		}
	}
	return held, true
}

// Quoted says whether the slot's text stands in quotes.
func (s Shape) Quoted() bool { return strings.HasSuffix(s.Name, "quoted text") }
