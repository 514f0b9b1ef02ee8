package star

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.starlark.net/starlark"
)

const (
	maxDepth  = 60  // of JSON in either direction: leaves room for what wraps it
	maxDigits = 400 // of an integer in JSON text
)

// decodeJSON reads one strict JSON document: integer literals become ints, other
// numbers floats, objects dicts in the text's order.
func decodeJSON(text string) (starlark.Value, error) {
	if !utf8.ValidString(text) {
		return nil, fmt.Errorf("JSON is not valid UTF-8")
	}
	d := &decoder{text: text}
	d.space()
	v, err := d.value(0)
	if err == nil {
		d.space()
		if d.at < len(text) {
			err = fmt.Errorf("data after the JSON document")
		}
	}
	if err != nil {
		return nil, fmt.Errorf("at offset %d: %w", d.at, err)
	}
	return v, nil
}

// decoder walks through a JSON text.
type decoder struct {
	text string
	at   int
}

func (d *decoder) space() {
	for d.at < len(d.text) {
		switch d.text[d.at] {
		case ' ', '\t', '\n', '\r':
			d.at++
		default:
			return
		}
	}
}

// take skips c, and says whether it was there.
func (d *decoder) take(c byte) bool {
	if d.at < len(d.text) && d.text[d.at] == c {
		d.at++
		return true
	}
	return false
}

func (d *decoder) value(depth int) (starlark.Value, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("JSON nests deeper than %d", maxDepth)
	}
	if d.at == len(d.text) {
		return nil, fmt.Errorf("unexpected end of JSON")
	}
	switch c := d.text[d.at]; {
	case c == '"':
		s, err := d.str()
		return starlark.String(s), err
	case c == '{':
		return d.object(depth)
	case c == '[':
		return d.array(depth)
	case c == '-' || digit(c):
		return d.number()
	}
	return d.word()
}

func (d *decoder) word() (starlark.Value, error) {
	rest := d.text[d.at:]
	for _, w := range words {
		if strings.HasPrefix(rest, w.text) {
			d.at += len(w.text)
			return w.value, nil
		}
	}
	return nil, fmt.Errorf("unexpected character")
}

var words = []struct {
	text  string
	value starlark.Value
}{{"null", starlark.None}, {"true", starlark.True}, {"false", starlark.False}}

func (d *decoder) array(depth int) (starlark.Value, error) {
	d.at++
	var items []starlark.Value
	for d.space(); !d.take(']'); d.space() {
		if len(items) > 0 && !d.take(',') {
			return nil, fmt.Errorf("want , or ]")
		}
		d.space()
		item, err := d.value(depth + 1)
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	return starlark.NewList(items), nil
}

func (d *decoder) object(depth int) (starlark.Value, error) {
	d.at++
	dict := new(starlark.Dict)
	for d.space(); !d.take('}'); d.space() {
		if dict.Len() > 0 && !d.take(',') {
			return nil, fmt.Errorf("want , or }")
		}
		if err := d.member(dict, depth); err != nil {
			return nil, err
		}
	}
	return dict, nil
}

func (d *decoder) member(dict *starlark.Dict, depth int) error {
	d.space()
	if d.at == len(d.text) || d.text[d.at] != '"' {
		return fmt.Errorf("want a name")
	}
	name, err := d.str()
	if err != nil {
		return err
	}
	before := dict.Len()
	if d.space(); !d.take(':') {
		return fmt.Errorf("want a colon")
	}
	d.space()
	v, err := d.value(depth + 1)
	if err != nil {
		return err
	}
	if err := dict.SetKey(starlark.String(name), v); err != nil {
		return err
	}
	if dict.Len() == before {
		return fmt.Errorf("duplicate name %q", clip(name))
	}
	return nil
}

// number reads by JSON's grammar, which is narrower than Go's.
func (d *decoder) number() (starlark.Value, error) {
	start := d.at
	d.take('-')
	first := d.at
	if d.digits() == 0 || d.text[first] == '0' && d.at-first > 1 {
		return nil, fmt.Errorf("malformed number")
	}
	whole := true
	if d.take('.') {
		whole = false
		if d.digits() == 0 {
			return nil, fmt.Errorf("malformed number")
		}
	}
	if d.take('e') || d.take('E') {
		whole = false
		if !d.take('+') {
			d.take('-')
		}
		if d.digits() == 0 {
			return nil, fmt.Errorf("malformed number")
		}
	}
	return number(d.text[start:d.at], whole)
}

func number(literal string, whole bool) (starlark.Value, error) {
	if !whole {
		f, err := strconv.ParseFloat(literal, 64)
		if err != nil {
			return nil, fmt.Errorf("number is out of range")
		}
		return starlark.Float(f), nil
	}
	if small, err := strconv.ParseInt(literal, 10, 64); err == nil {
		return starlark.MakeInt64(small), nil
	}
	if len(literal) > maxDigits {
		return nil, fmt.Errorf("integer has more than %d digits", maxDigits)
	}
	large, ok := new(big.Int).SetString(literal, 10)
	if !ok {
		return nil, fmt.Errorf("malformed number")
	}
	return starlark.MakeBigInt(large), nil
}

// digits skips decimal digits and counts them.
func (d *decoder) digits() int {
	start := d.at
	for d.at < len(d.text) && digit(d.text[d.at]) {
		d.at++
	}
	return d.at - start
}

func digit(c byte) bool { return '0' <= c && c <= '9' }
