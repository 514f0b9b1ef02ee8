package lang

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Decimal is the exact number N / 10^K.
type Decimal struct {
	N int64
	K int
}

// Limits of a decimal: a number with more digits is undefined, so that no step
// overflows.
const (
	maxDigits = 15
	maxPlaces = 9
)

var decimalForm = regexp.MustCompile(`\A(?:` + decimalPattern + `)\z`)

const decimalPattern = `([-+]?)([0-9,]*)(?:\.([0-9]*))?(?:[eE]([-+]?[0-9]{1,3}))?`

// ParseDecimal reads a number as people write it, with commas between groups
// of digits.
func ParseDecimal(s string) (Decimal, bool) {
	m := decimalForm.FindStringSubmatch(s)
	if m == nil {
		return Decimal{}, false
	}
	whole := strings.ReplaceAll(m[2], ",", "")
	digits := strings.TrimLeft(whole+m[3], "0")
	if whole+m[3] == "" || len(digits) > maxDigits {
		return Decimal{}, false
	}
	n, _ := strconv.ParseInt("0"+digits, 10, 64)
	if m[1] == "-" {
		n = -n
	}
	power, _ := strconv.Atoi(m[4])
	return Decimal{n, len(m[3]) - power}.normal()
}

// normal brings K into 0 to maxPlaces without trailing zeros.
func (d Decimal) normal() (Decimal, bool) {
	for d.K > 0 && d.N%10 == 0 {
		d.N, d.K = d.N/10, d.K-1
	}
	for d.K < 0 && d.N != 0 {
		if d.N, d.K = d.N*10, d.K+1; abs(d.N) >= pow(maxDigits) {
			return Decimal{}, false
		}
	}
	if d.N == 0 {
		d.K = 0
	}
	return d, d.K <= maxPlaces && abs(d.N) < pow(maxDigits)
}

func pow(k int) int64 {
	p := int64(1)
	for ; k > 0; k-- {
		p *= 10
	}
	return p
}

func abs(n int64) int64 { return max(n, -n) }

// Mode says which way a number is rounded.
type Mode string

// The modes. Half rounds to the nearest, halves away from zero; Even rounds
// halves to the even neighbour.
const (
	Floor Mode = "down"
	Ceil  Mode = "up"
	Half  Mode = "nearest"
	Even  Mode = "even"
	Trunc Mode = "toward_zero"
)

// quotient divides a by b > 0 and rounds.
func quotient(a, b int64, mode Mode) int64 {
	q, r := a/b, a%b
	if r < 0 {
		q, r = q-1, r+b
	}
	up := false
	switch mode {
	case Ceil:
		up = r > 0
	case Half:
		up = 2*r > b || 2*r == b && a > 0
	case Even:
		up = 2*r > b || 2*r == b && q%2 != 0
	case Trunc:
		up = r > 0 && a < 0
	}
	if up {
		return q + 1
	}
	return q
}

// Arithmetic is what is done to a number: times 10^Power, then plus Before and
// rounded to a multiple of Unit where Mode is set, plus Steps units, plus Plus.
type Arithmetic struct {
	Power  int
	Before int64
	Mode   Mode
	Unit   Decimal
	Steps  int64
	Plus   int64
}

// Apply returns the result, and false where it is out of range.
func (a Arithmetic) Apply(d Decimal) (Decimal, bool) {
	d, ok := Decimal{d.N, d.K - a.Power}.normal()
	if !ok || a.Mode == "" {
		return d, ok
	}
	k := max(d.K, a.Unit.K)
	if abs(d.N) >= pow(maxDigits+2-(k-d.K)) {
		return Decimal{}, false
	}
	unit := a.Unit.N * pow(k-a.Unit.K)
	q := quotient(d.N*pow(k-d.K)+a.Before*pow(k), unit, a.Mode)
	return Decimal{(q+a.Steps)*unit + a.Plus*pow(k), k}.normal()
}

// NumberFormat is how a number is written: Places decimals (-1: as many as it
// has), at least Width digits before the point, Group between thousands, Lakh
// for Indian groups, Comma for a decimal comma.
type NumberFormat struct {
	Places int
	Width  int
	Group  string
	Lakh   bool
	Comma  bool
	Plain  bool // no sign, where the sign is written elsewhere
	Kept   bool // Places is as many as keep the token's last digit, a zero too
}

// Write returns the number as text; it is rounded half away from zero.
func (f NumberFormat) Write(d Decimal) string {
	if f.Places >= 0 && d.K > f.Places {
		d = Decimal{quotient(abs(d.N), pow(d.K-f.Places), Half) * sign(d.N), f.Places}
	}
	digits := strconv.FormatInt(abs(d.N), 10)
	digits = strings.Repeat("0", max(0, d.K+1-len(digits))) + digits
	whole, fraction := digits[:len(digits)-d.K], digits[len(digits)-d.K:]
	fraction += strings.Repeat("0", max(0, f.Places-len(fraction)))
	whole = strings.Repeat("0", max(0, f.Width-len(whole))) + whole
	if f.Group != "" {
		whole = group(whole, f.Group, f.Lakh)
	}
	if fraction != "" && f.Comma {
		whole += "," + fraction
	} else if fraction != "" {
		whole += "." + fraction
	}
	if d.N < 0 && !f.Plain {
		return "-" + whole
	}
	return whole
}

func sign(n int64) int64 {
	if n < 0 {
		return -1
	}
	return 1
}

// group puts mark between groups of three digits, or three and then twos.
func group(digits, mark string, lakh bool) string {
	size, out := 3, ""
	for len(digits) > size {
		out = mark + digits[len(digits)-size:] + out
		digits = digits[:len(digits)-size]
		if lakh {
			size = 2
		}
	}
	return digits + out
}

// NumberOf is a number token of a column, computed with and written again.
type NumberOf struct {
	Column int
	Class  Class
	Nth    int
	Do     Arithmetic
	Format NumberFormat
	Price  int
}

// Read returns the token as a number.
func (e *NumberOf) Read(row Row) (Decimal, bool) {
	if e.Column >= len(row) {
		return Decimal{}, false
	}
	span, ok := nth(row[e.Column].Tokens(e.Class), e.Nth)
	if !ok {
		return Decimal{}, false
	}
	return ParseDecimal(row[e.Column].S[span.From:span.To])
}

// Eval returns the number as text.
func (e *NumberOf) Eval(row Row) (string, bool) {
	d, ok := e.Read(row)
	if !ok {
		return "", false
	}
	if d, ok = e.Do.Apply(d); !ok {
		return "", false
	}
	return e.Written(row, d), true
}

// Written returns d, which came of the row's number, as text.
func (e *NumberOf) Written(row Row, d Decimal) string {
	f := e.Format
	if f.Kept {
		span, _ := nth(row[e.Column].Tokens(e.Class), e.Nth)
		f.Places = keptPlaces(row[e.Column].S[span.From:span.To], e.Do.Power)
	}
	return f.Write(d)
}

// keptPlaces returns how many decimals keep the last digit of a number's text
// when the point is moved.
func keptPlaces(token string, power int) int {
	_, fraction, _ := strings.Cut(token, ".")
	digits := len(fraction) - len(strings.TrimLeft(fraction, "0123456789"))
	return min(max(digits-power, 0), maxPlaces)
}

// Star is write(…, number(token(…))).
func (e *NumberOf) Star() string {
	inner := fmt.Sprintf("number(token(c[%d], %s, %d))", e.Column, e.Class, e.Nth)
	if e.Do.Power != 0 {
		inner = fmt.Sprintf("shift_point(%s, %d)", inner, e.Do.Power)
	}
	if e.Do.Mode != "" {
		inner = fmt.Sprintf("round_to(%s, (%d, %d), %q", inner, e.Do.Unit.N, e.Do.Unit.K, e.Do.Mode)
		if e.Do.Steps != 0 {
			inner += fmt.Sprintf(", steps = %d", e.Do.Steps)
		}
		if e.Do.Before != 0 {
			inner += fmt.Sprintf(", before = %d", e.Do.Before)
		}
		if e.Do.Plus != 0 {
			inner += fmt.Sprintf(", plus = %d", e.Do.Plus)
		}
		inner += ")"
	}
	if e.Format.Kept {
		inner += fmt.Sprintf(", places = kept_places(token(c[%d], %s, %d), %d)", e.Column, e.Class, e.Nth, e.Do.Power)
	}
	return "write(" + inner + e.Format.star() + ")"
}

// star returns the format as named arguments.
func (f NumberFormat) star() string {
	var out string
	if f.Places >= 0 {
		out += fmt.Sprintf(", places = %d", f.Places)
	}
	if f.Width > 0 {
		out += fmt.Sprintf(", width = %d", f.Width)
	}
	if f.Group != "" {
		out += ", group = " + Quote(f.Group)
	}
	for _, flag := range []struct {
		on   bool
		name string
	}{{f.Lakh, "lakh"}, {f.Comma, "comma"}, {f.Plain, "plain"}} {
		if flag.on {
			out += ", " + flag.name + " = True"
		}
	}
	return out
}

// Cost is the price that the search gave.
func (e *NumberOf) Cost() int { return e.Price }
