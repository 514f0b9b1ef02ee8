package lang

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Expr is one piece of a program: a text out of a row.
type Expr interface {
	// Eval returns the text, and false where the expression doesn't apply.
	Eval(Row) (string, bool)
	// Star returns the starlark expression that does the same with c, the
	// list of columns; it is None where Eval is undefined.
	Star() string
	// Cost orders expressions: simpler ones are cheaper. 100 is about one
	// plain copy of a token.
	Cost() int
}

// Case is a change of letters.
type Case int

// The cases. Sentence raises the first character and lowers the rest; First
// raises the first and keeps the rest; Title does Sentence to each run of
// letters; Headline is Title with small words lowered, Codes is Title with
// countries' codes and Roman numerals raised.
const (
	Same Case = iota
	LowerCase
	UpperCase
	TitleCase
	SentenceCase
	FirstUpper
	HeadlineCase
	CodesCase
	Cases // how many there are
)

var caseNames = []string{"", "lower", "upper", "title", "sentence", "first_upper", "headline", "codes"}
var caseCosts = []int{0, 60, 60, 70, 80, 90, 100, 110}

// Apply returns s in that case.
func (c Case) Apply(s string) string {
	switch c {
	case LowerCase:
		return strings.ToLower(s)
	case UpperCase:
		return strings.ToUpper(s)
	case TitleCase:
		return classes[Letters].re.ReplaceAllStringFunc(s, SentenceCase.Apply)
	case SentenceCase:
		return raise(s, strings.ToLower)
	case FirstUpper:
		return raise(s, func(rest string) string { return rest })
	case HeadlineCase:
		return eachWord(s, func(i int, word string) bool { return i > 0 && slices.Contains(smallWords, word) }, strings.ToLower)
	case CodesCase:
		return eachWord(s, func(_ int, word string) bool { return slices.Contains(codeWords, word) }, strings.ToUpper)
	}
	return s
}

// The words that Headline lowers and those that Codes raises; the library has
// the same.
var (
	smallWords = strings.Fields("a an and as at but by for from in nor of on or the to with")
	codeWords  = strings.Fields("eu ii iii iv ix uae uk un usa vi vii viii")
)

// eachWord does Sentence to each run of letters, or change to the special ones.
func eachWord(s string, special func(i int, word string) bool, change func(string) string) string {
	n := -1
	return classes[Letters].re.ReplaceAllStringFunc(s, func(word string) string {
		if n++; special(n, strings.ToLower(word)) {
			return change(word)
		}
		return SentenceCase.Apply(word)
	})
}

func raise(s string, rest func(string) string) string {
	if s == "" {
		return s
	}
	_, size := utf8.DecodeRuneInString(s)
	return strings.ToUpper(s[:size]) + rest(s[size:])
}

// star wraps an expression in the case's function.
func (c Case) star(inner string) string {
	if c == Same {
		return inner
	}
	return fmt.Sprintf("%s(%s)", caseNames[c], inner)
}

// Cut is the piece of a column between two positions.
type Cut struct {
	Column int
	A, B   *Position
	Case   Case
}

// Eval returns the piece.
func (e *Cut) Eval(row Row) (string, bool) {
	if e.Column >= len(row) {
		return "", false
	}
	t := row[e.Column]
	from, to := e.A.At(t), e.B.At(t)
	if from < 0 || to < from {
		return "", false
	}
	return e.Case.Apply(t.S[from:to]), true
}

// Star is cut(…), token(…) for both edges of one token, or the column.
func (e *Cut) Star() string {
	column := fmt.Sprintf("c[%d]", e.Column)
	switch {
	case e.all():
		return e.Case.star(column)
	case e.A.whole(e.B) && e.A.Anchor == AtToken:
		return e.Case.star(fmt.Sprintf("token(%s, %s, %d)", column, e.A.Class, e.A.Nth))
	}
	return e.Case.star(fmt.Sprintf("cut(%s, %s, %s)", column, e.A.star(), e.B.star()))
}

// Cost adds the costs of both positions; whole tokens and columns are cheaper.
func (e *Cut) Cost() int {
	cost := 100 + e.A.Price + e.B.Price + caseCosts[e.Case]
	switch {
	case e.all():
		return 80 + caseCosts[e.Case]
	case e.A.whole(e.B):
		return cost - 45
	}
	return cost
}

func (e *Cut) all() bool {
	return e.A.Anchor == FromStart && e.A.Nth == 0 && e.B.Anchor == FromEnd && e.B.Nth == 0
}

// Absolute says whether the piece depends on a count of characters.
func (e *Cut) Absolute() bool {
	return !e.all() && (e.A.Anchor <= FromEnd && e.A.Nth > 0 || e.B.Anchor <= FromEnd && e.B.Nth > 0)
}

// Change is a change of a whole column: Name is a function of the library.
type Change struct {
	Column int
	Name   string
	Args   []string
	Case   Case
	Price  int
}

// changes are the functions of the library over a column, by name.
var changes = map[string]func(s string, args []string) string{
	"trim":      func(s string, _ []string) string { return strings.Trim(s, spaces) },
	"squeeze":   func(s string, _ []string) string { return strings.Join(fields(s), " ") },
	"keep":      keep,
	"drop":      func(s string, args []string) string { return named(args[0]).re.ReplaceAllString(s, "") },
	"initials":  initials,
	"swap":      func(s string, args []string) string { return strings.ReplaceAll(s, args[0], args[1]) },
	"swap_once": func(s string, args []string) string { return strings.Replace(s, args[0], args[1], 1) },
	"every":     every,
	"reverse_words": func(s string, _ []string) string {
		words := fields(s)
		slices.Reverse(words)
		return strings.Join(words, " ")
	},
}

// spaces are what \s matches.
const spaces = " \t\n\f\r"

func fields(s string) []string { return classes[Word].re.FindAllString(s, -1) }

func keep(s string, args []string) string {
	return strings.Join(named(args[0]).re.FindAllString(s, -1), "")
}

func initials(s string, args []string) string {
	var list []string
	for _, word := range classes[Letters].re.FindAllString(s, -1) {
		_, size := utf8.DecodeRuneInString(word)
		list = append(list, word[:size])
	}
	return strings.Join(list, args[0])
}

// every keeps one character of each step, from an offset on.
func every(s string, args []string) string {
	step, _ := strconv.Atoi(args[0])
	from, _ := strconv.Atoi(args[1])
	var b strings.Builder
	for i, r := range []rune(s) {
		if i%max(step, 1) == from {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func named(name string) class {
	for _, c := range classes {
		if c.name == name {
			return c
		}
	}
	return classes[Word]
}

// Eval returns the changed column.
func (e *Change) Eval(row Row) (string, bool) {
	if e.Column >= len(row) {
		return "", false
	}
	return e.Case.Apply(changes[e.Name](row[e.Column].S, e.Args)), true
}

// Star calls the library's function.
func (e *Change) Star() string {
	call := fmt.Sprintf("%s(c[%d]", e.Name, e.Column)
	for _, arg := range e.Args {
		if e.Name != "keep" && e.Name != "drop" && e.Name != "every" {
			arg = Quote(arg)
		}
		call += ", " + arg
	}
	return e.Case.star(call + ")")
}

// Cost is the change's price.
func (e *Change) Cost() int { return e.Price + caseCosts[e.Case] }

// IsLetterOrDigit says whether r is of the class ALNUM.
func IsLetterOrDigit(r rune) bool { return unicode.IsLetter(r) || r >= '0' && r <= '9' }
