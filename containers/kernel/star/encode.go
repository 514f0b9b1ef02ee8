package star

import (
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"

	"go.starlark.net/starlark"

	"signalbox/rule"
)

// maxExact is the largest whole number that a reply may hold.
const maxExact = 1 << 53

// exact returns a program's value as a rule.Value. What canonical JSON can't
// keep exactly is refused, with the place where it is.
func exact(thread *starlark.Thread, v starlark.Value) (rule.Value, error) {
	e := &encoder{max: rule.MaxValueBytes, number: exactNumber}
	if err := e.value(v, 0); err != nil {
		return "", err
	}
	charge(thread, len(e.out))
	value, err := rule.ParseValue(e.out)
	if err == nil && len(value) > rule.MaxValueBytes {
		err = errTooLong(rule.MaxValueBytes)
	}
	return value, err
}

func errTooLong(limit int) error { return fmt.Errorf("the JSON is longer than %d bytes", limit) }

// encoder writes starlark values as JSON text.
type encoder struct {
	out    []byte
	max    int
	number func(starlark.Value) (string, error) // writes an Int or a Float
	sorted bool
	indent string
}

func (e *encoder) value(v starlark.Value, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("it nests deeper than %d", maxDepth)
	}
	if len(e.out) > e.max {
		return errTooLong(e.max)
	}
	switch v := v.(type) {
	case starlark.NoneType:
		e.write("null")
	case starlark.Bool:
		e.write(strconv.FormatBool(bool(v)))
	case starlark.String:
		return e.quote(string(v))
	case starlark.Int, starlark.Float:
		literal, err := e.number(v)
		e.write(literal)
		return err
	case *starlark.List:
		return e.array(v, depth)
	case starlark.Tuple:
		return e.array(v, depth)
	case *starlark.Dict:
		return e.object(v, depth)
	default:
		return fmt.Errorf("a %s is no JSON value", v.Type())
	}
	return nil
}

func (e *encoder) write(s string) { e.out = append(e.out, s...) }

func (e *encoder) array(items starlark.Indexable, depth int) error {
	e.write("[")
	for i := range items.Len() {
		e.next(i, depth+1)
		if err := e.value(items.Index(i), depth+1); err != nil {
			return fmt.Errorf("[%d]: %w", i, err)
		}
	}
	e.end(items.Len(), depth)
	e.write("]")
	return nil
}

func (e *encoder) object(dict *starlark.Dict, depth int) error {
	items, err := e.items(dict)
	if err != nil {
		return err
	}
	e.write("{")
	for i, item := range items {
		e.next(i, depth+1)
		name, _ := starlark.AsString(item[0])
		if err := e.quote(name); err != nil {
			return err
		}
		e.write(":")
		if e.indent != "" {
			e.write(" ")
		}
		if err := e.value(item[1], depth+1); err != nil {
			return fmt.Errorf("%q: %w", clip(name), err)
		}
	}
	e.end(len(items), depth)
	e.write("}")
	return nil
}

// next goes to the place of the i-th element.
func (e *encoder) next(i, depth int) {
	if i > 0 {
		e.write(",")
	}
	e.line(depth)
}

// end goes to the place of a closing bracket.
func (e *encoder) end(elements, depth int) {
	if elements > 0 {
		e.line(depth)
	}
}

func (e *encoder) line(depth int) {
	if e.indent == "" {
		return
	}
	e.write("\n")
	for range depth {
		e.write(e.indent)
	}
}

func (e *encoder) quote(s string) error {
	if !utf8.ValidString(s) {
		return fmt.Errorf("text is not valid UTF-8: was a character cut in two?")
	}
	if len(e.out)+len(s) > e.max {
		return errTooLong(e.max)
	}
	e.write(`"`)
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			e.out = append(e.out, '\\', c)
		case c < ' ':
			e.control(c)
		default:
			e.out = append(e.out, c)
		}
	}
	e.write(`"`)
	return nil
}

func (e *encoder) control(c byte) {
	switch c {
	case '\b':
		e.write(`\b`)
	case '\f':
		e.write(`\f`)
	case '\n':
		e.write(`\n`)
	case '\r':
		e.write(`\r`)
	case '\t':
		e.write(`\t`)
	default:
		e.out = fmt.Appendf(e.out, `\u%04x`, c)
	}
}

// exactNumber writes a number that canonical JSON keeps.
func exactNumber(v starlark.Value) (string, error) {
	if i, ok := v.(starlark.Int); ok {
		small, ok := i.Int64()
		if !ok || small > maxExact || small < -maxExact {
			return "", fmt.Errorf("an int beyond 2^53: make it a string")
		}
		return strconv.FormatInt(small, 10), nil
	}
	f := float64(v.(starlark.Float))
	if math.IsNaN(f) || math.Abs(f) > maxExact {
		return "", fmt.Errorf("the float %v: want one within 2^53", f)
	}
	return strconv.FormatFloat(f, 'g', -1, 64), nil
}
