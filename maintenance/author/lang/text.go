package lang

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Span is a piece of a text, as byte offsets.
type Span struct{ From, To int }

// Class is a kind of token. Tokens of a class are the matches of its pattern.
type Class int

// The classes.
const (
	Digits Class = iota
	Upper
	Lower
	Letters
	Alnum
	Space
	Proper
	Word
	Number
	Line
	Code
	Punct
	Classes // how many there are
)

// class is what a class is called in a rule, its pattern, and the cost of
// naming it.
type class struct {
	name, pattern string
	cost          int
	re            *regexp.Regexp
}

// classes holds the patterns, the same for the search and the library.
var classes = compile([]class{
	Digits:  {name: "DIGITS", pattern: `[0-9]+`, cost: 35},
	Upper:   {name: "UPPER", pattern: `\p{Lu}+`, cost: 60},
	Lower:   {name: "LOWER", pattern: `\p{Ll}+`, cost: 70},
	Letters: {name: "LETTERS", pattern: `\p{L}+`, cost: 40},
	Alnum:   {name: "ALNUM", pattern: `[\p{L}0-9]+`, cost: 35},
	Space:   {name: "SPACE", pattern: `\s+`, cost: 35},
	Proper:  {name: "PROPER", pattern: `\p{Lu}\p{Ll}+`, cost: 45},
	Word:    {name: "WORD", pattern: `\S+`, cost: 30},
	Number:  {name: "NUMBER", pattern: `[-+]?[0-9][0-9,]*(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?|[-+]?\.[0-9]+`, cost: 40},
	Line:    {name: "LINE", pattern: `[^\r\n]+`, cost: 40},
	Code:    {name: "CODE", pattern: `[\p{L}0-9]+(?:[-._'][\p{L}0-9]+)*`, cost: 55},
	Punct:   {name: "PUNCT", pattern: `[^\p{L}0-9\s]+`, cost: 60},
})

func compile(all []class) []class {
	for i := range all {
		all[i].re = regexp.MustCompile(all[i].pattern)
	}
	return all
}

// Cost is the cost of naming the class.
func (c Class) Cost() int { return classes[c].cost }

// String returns the class's name in a rule.
func (c Class) String() string { return classes[c].name }

// Text is one column of an input with its tokens, which are found once.
type Text struct {
	S        string
	tokens   [Classes][]Span
	found    [Classes]bool
	literals map[string][]Span
}

// Row is one input: its columns.
type Row []*Text

// NewRow returns the columns as a row. A row is not safe for concurrent use.
func NewRow(columns []string) Row {
	row := make(Row, len(columns))
	for i, column := range columns {
		row[i] = &Text{S: column}
	}
	return row
}

// Tokens returns the tokens of a class, in order.
func (t *Text) Tokens(c Class) []Span {
	if !t.found[c] {
		t.tokens[c] = spans(classes[c].re.FindAllStringIndex(t.S, -1))
		t.found[c] = true
	}
	return t.tokens[c]
}

func spans(pairs [][]int) []Span {
	list := make([]Span, len(pairs))
	for i, pair := range pairs {
		list[i] = Span{pair[0], pair[1]}
	}
	return list
}

// Literal returns the occurrences of a literal that don't overlap, in order.
func (t *Text) Literal(literal string) []Span {
	if found, ok := t.literals[literal]; ok {
		return found
	}
	var found []Span
	for at := 0; literal != ""; {
		next := strings.Index(t.S[at:], literal)
		if next < 0 {
			break
		}
		found = append(found, Span{at + next, at + next + len(literal)})
		at += next + len(literal)
	}
	if t.literals == nil {
		t.literals = map[string][]Span{}
	}
	t.literals[literal] = found
	return found
}

// move returns the offset n characters right (left where n is negative) of
// offset p, or -1 outside the text.
func (t *Text) move(p, n int) int {
	for ; n > 0; n-- {
		if p >= len(t.S) {
			return -1
		}
		_, size := utf8.DecodeRuneInString(t.S[p:])
		p += size
	}
	for ; n < 0; n++ {
		if p <= 0 {
			return -1
		}
		_, size := utf8.DecodeLastRuneInString(t.S[:p])
		p -= size
	}
	return p
}

func isUpper(r rune) bool  { return unicode.Is(unicode.Lu, r) }
func isLower(r rune) bool  { return unicode.Is(unicode.Ll, r) }
func isLetter(r rune) bool { return unicode.IsLetter(r) }
