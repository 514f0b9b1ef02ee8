package lang

import (
	"fmt"
	"strings"
)

// Anchor says what a position is counted from.
type Anchor int

// The anchors: the start or the end of the text, a token of a class, or an
// occurrence of a literal.
const (
	FromStart Anchor = iota
	FromEnd
	AtToken
	AtLiteral
)

// Position is a place in a text: Nth character from an end, or an edge of the
// Nth token or literal (negative: from the last), moved by Shift characters.
type Position struct {
	Anchor  Anchor
	Class   Class
	Literal string
	Nth     int
	End     bool
	Shift   int
	Price   int
}

// At returns the byte offset of the position, or -1 where the text has none.
func (p *Position) At(t *Text) int {
	var found []Span
	switch p.Anchor {
	case FromStart:
		return t.move(0, p.Nth)
	case FromEnd:
		return t.move(len(t.S), -p.Nth)
	case AtToken:
		found = t.Tokens(p.Class)
	case AtLiteral:
		found = t.Literal(p.Literal)
	}
	span, ok := nth(found, p.Nth)
	if !ok {
		return -1
	}
	if p.End {
		return t.move(span.To, p.Shift)
	}
	return t.move(span.From, p.Shift)
}

// nth returns the nth span from 1, or from the last where n is negative.
func nth(list []Span, n int) (Span, bool) {
	i := n - 1
	if n < 0 {
		i = len(list) + n
	}
	if i < 0 || i >= len(list) {
		return Span{}, false
	}
	return list[i], true
}

// whole says whether p and q are the two edges of one token or literal.
func (p *Position) whole(q *Position) bool {
	return p.Anchor >= AtToken && p.Anchor == q.Anchor && p.Class == q.Class && p.Literal == q.Literal &&
		p.Nth == q.Nth && !p.End && q.End && p.Shift == 0 && q.Shift == 0
}

// star returns the position as a call of the library.
func (p *Position) star() string {
	edge := "start"
	if p.End {
		edge = "end"
	}
	shift := ""
	if p.Shift != 0 {
		shift = fmt.Sprintf(", %d", p.Shift)
	}
	switch p.Anchor {
	case FromStart:
		return fmt.Sprintf("at(%d)", p.Nth)
	case FromEnd:
		return fmt.Sprintf("at_end(%d)", p.Nth)
	case AtToken:
		return fmt.Sprintf("%s(%s, %d%s)", edge, p.Class, p.Nth, shift)
	}
	return fmt.Sprintf("%s(text(%s), %d%s)", edge, Quote(p.Literal), p.Nth, shift)
}

// Quote returns s as a starlark string literal.
func Quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r >= 0x80 && r < 0xa0 || r == 0x2028 || r == 0x2029 || r == 0xfeff:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
