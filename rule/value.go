package rule

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Value is any JSON value as canonical text (RFC 8785), or "" where there is
// none. Because the text is canonical, two values are equal exactly when their
// Values are. A Value from outside is made by ParseValue only.
type Value string

// maxExact is the largest integer up to which float64, and so RFC 8785, keeps
// every integer.
const maxExact = 1 << 53

// ParseValue reads one JSON value and returns its canonical form. A number
// that RFC 8785 would change (beyond 2^53, more than 17 digits) is refused: it
// has to travel as a string.
func ParseValue(data []byte) (Value, error) {
	if err := checkDepth(data); err != nil {
		return "", bounded(err)
	}
	if err := checkNumbers(data, exactNumber); err != nil {
		return "", err
	}
	text := jsontext.Value(bytes.Clone(data))
	if err := text.Canonicalize(); err != nil {
		return "", err
	}
	return Value(text), nil
}

// ValueOf returns v, which json can marshal, as a Value.
func ValueOf(v any) (Value, error) {
	data, err := Canonical(v)
	if err != nil {
		return "", err
	}
	return ParseValue(data)
}

// Present says whether there is a value at all; JSON's null is one.
func (v Value) Present() bool { return v != "" }

// Decode reads the value into target with the rules of Decode.
func (v Value) Decode(target any) error { return Decode([]byte(v), target) }

// MarshalJSON writes the value itself; an absent one is null.
func (v Value) MarshalJSON() ([]byte, error) {
	if v == "" {
		return []byte("null"), nil
	}
	return []byte(v), nil
}

// UnmarshalJSON is ParseValue.
func (v *Value) UnmarshalJSON(data []byte) error {
	parsed, err := ParseValue(data)
	if err != nil {
		return err
	}
	*v = parsed
	return nil
}

// IsZero makes the omitzero option leave absent values out.
func (v Value) IsZero() bool { return v == "" }

// checkNumbers applies check to the literal of each number in data.
func checkNumbers(data []byte, check func(literal string) error) error {
	decoder := jsontext.NewDecoder(bytes.NewReader(data))
	for {
		token, err := decoder.ReadToken()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if token.Kind() == '0' {
			if err := check(token.String()); err != nil {
				return err
			}
		}
	}
}

// exactNumber refuses a literal beyond 2^53 and what keptNumber refuses.
func exactNumber(literal string) error {
	number, err := strconv.ParseFloat(literal, 64)
	if err != nil || math.Abs(number) > maxExact {
		return fmt.Errorf("number %s is beyond 2^53: write it as a string", shorten(literal))
	}
	return keptNumber(literal)
}

// keptNumber refuses a literal that float64's shortest form doesn't keep.
func keptNumber(literal string) error {
	number, err := strconv.ParseFloat(literal, 64)
	digits, exponent := decimal(literal)
	kept, keptExponent := decimal(strconv.FormatFloat(number, 'e', -1, 64))
	if err != nil || digits != kept || exponent != keptExponent {
		return fmt.Errorf("number %s can't be kept exactly: write it as a string", shorten(literal))
	}
	return nil
}

// decimal returns a literal's significant digits and the power of ten of the
// first one, so that 1.50, 15e-1 and 1.5 give the same answer.
func decimal(literal string) (digits string, exponent int) {
	literal = strings.TrimPrefix(literal, "-")
	mantissa, power, _ := strings.Cut(strings.ToLower(literal), "e")
	exponent, _ = strconv.Atoi(power)
	whole, fraction, _ := strings.Cut(mantissa, ".")
	exponent += len(whole)
	digits = strings.TrimLeft(whole+fraction, "0")
	exponent -= len(whole) + len(fraction) - len(digits)
	digits = strings.TrimRight(digits, "0")
	if digits == "" {
		return "0", 0
	}
	return digits, exponent
}

// shorten cuts text for an error at about 40 bytes, at the end of a character.
func shorten(text string) string { return cut(text, 40) }

func cut(text string, max int) string {
	if len(text) <= max {
		return text
	}
	for max > 0 && !utf8.RuneStart(text[max]) {
		max--
	}
	return text[:max] + "…"
}
