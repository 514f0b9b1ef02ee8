package star

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
)

// str reads a JSON string whose opening quote is next.
func (d *decoder) str() (string, error) {
	d.at++
	start := d.at
	for ; d.at < len(d.text); d.at++ {
		switch c := d.text[d.at]; {
		case c == '"':
			d.at++
			return d.text[start : d.at-1], nil
		case c == '\\':
			return d.escaped(start)
		case c < ' ':
			return "", fmt.Errorf("control character in a string")
		}
	}
	return "", fmt.Errorf("unexpected end of JSON in a string")
}

// escaped reads on at the first escape of a string that began at start.
func (d *decoder) escaped(start int) (string, error) {
	var out strings.Builder
	out.WriteString(d.text[start:d.at])
	for d.at < len(d.text) {
		c := d.text[d.at]
		switch {
		case c == '"':
			d.at++
			return out.String(), nil
		case c < ' ':
			return "", fmt.Errorf("control character in a string")
		case c == '\\':
			r, err := d.escape()
			if err != nil {
				return "", err
			}
			out.WriteRune(r)
		default:
			out.WriteByte(c)
			d.at++
		}
	}
	return "", fmt.Errorf("unexpected end of JSON in a string")
}

var escapes = map[byte]rune{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// escape reads one escape; a surrogate must be followed by its other half.
func (d *decoder) escape() (rune, error) {
	if d.at+1 == len(d.text) {
		return 0, fmt.Errorf("unexpected end of JSON in a string")
	}
	if r, ok := escapes[d.text[d.at+1]]; ok {
		d.at += 2
		return r, nil
	}
	r, err := d.unicode()
	if err != nil || !utf16.IsSurrogate(r) {
		return r, err
	}
	low, err := d.unicode()
	if err != nil {
		return 0, err
	}
	pair := utf16.DecodeRune(r, low)
	if pair == '\uFFFD' {
		return 0, fmt.Errorf("half a surrogate pair")
	}
	return pair, nil
}

// unicode reads \uXXXX.
func (d *decoder) unicode() (rune, error) {
	if len(d.text)-d.at < 6 || d.text[d.at:d.at+2] != `\u` {
		return 0, fmt.Errorf("malformed escape")
	}
	code, err := strconv.ParseUint(d.text[d.at+2:d.at+6], 16, 16)
	if err != nil {
		return 0, fmt.Errorf("malformed escape")
	}
	d.at += 6
	return rune(code), nil
}
