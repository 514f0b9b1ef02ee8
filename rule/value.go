package rule

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

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
		return "", err
	}
	if err := checkNumbers(data); err != nil {
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

func checkNumbers(data []byte) error {
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
			if err := checkNumber(token.String()); err != nil {
				return err
			}
		}
	}
}

// checkNumber refuses a literal that float64's shortest form doesn't keep.
func checkNumber(literal string) error {
	number, err := strconv.ParseFloat(literal, 64)
	if err != nil || math.Abs(number) > maxExact {
		return fmt.Errorf("number %s is beyond 2^53: write it as a string", shorten(literal))
	}
	digits, exponent := decimal(literal)
	kept, keptExponent := decimal(strconv.FormatFloat(number, 'e', -1, 64))
	if digits != kept || exponent != keptExponent {
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

func shorten(text string) string {
	if len(text) <= 40 {
		return text
	}
	return text[:40] + "…"
}
