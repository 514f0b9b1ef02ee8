package lang

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Clock is a change of the time of day: rounded to Minutes in Mode, then moved
// by Steps such units and by Seconds. The zero value changes nothing.
type Clock struct {
	Minutes int
	Mode    Mode
	Steps   int
	Seconds int
}

const dayseconds = 24 * 60 * 60

// Apply returns the moment with its clock changed; the date stays.
func (c Clock) Apply(m Moment) (Moment, bool) {
	if c.Minutes == 0 {
		return m, true
	}
	if m.Hour < 0 {
		return m, false
	}
	seconds := m.Hour*3600 + max(m.Minute, 0)*60 + max(m.Second, 0)
	unit := c.Minutes * 60
	at := (int(quotient(int64(seconds), int64(unit), c.Mode))+c.Steps)*unit + c.Seconds
	at = ((at % dayseconds) + dayseconds) % dayseconds
	m.Hour, m.Minute, m.Second = at/3600, at/60%60, at%60
	return m, true
}

// Field is a written part of a moment, named as in the library, or several with
// marks between: "h : mm AM" with bars in place of the spaces here.
type Field string

// OfClock says whether the field is of the time of day.
func (f Field) OfClock() bool {
	first, _, _ := strings.Cut(string(f), "|")
	return slices.Contains([]string{"H", "HH", "h", "hh", "m", "mm", "s", "ss", "AM", "am"}, first)
}

// Fields are all of them, with their costs.
var Fields = []struct {
	Field Field
	Cost  int
}{
	{"yyyy", 20}, {"yy", 40}, {"M", 30}, {"MM", 30}, {"MMM", 30}, {"MMMM", 30}, {"d", 30}, {"dd", 30}, {"ordinal", 50},
	{"ddd", 30}, {"dddd", 30}, {"H", 30}, {"HH", 30}, {"h", 35}, {"hh", 40}, {"m", 45}, {"mm", 30}, {"s", 45}, {"ss", 30},
	{"AM", 30}, {"am", 35}, {"quarter", 40}, {"yearday", 50}, {"week", 60},
	{"H|:|mm", 50}, {"HH|:|mm", 50}, {"h|:|mm", 55}, {"hh|:|mm", 55}, {"H|:|mm|:|ss", 60}, {"HH|:|mm|:|ss", 60},
	{"h|:|mm|AM", 60}, {"h|:|mm| |AM", 60}, {"hh|:|mm|AM", 65}, {"hh|:|mm| |AM", 65}, {"h|:|mm|am", 65}, {"h|:|mm| |am", 65}, {"h|AM", 50}, {"h| |AM", 50}, {"h|am", 55},
	{"ww", 50}, {"weekyear", 70}, {"nth_weekday", 70}, {"weekday", 80},
}

// Write returns the part as text, and false where the moment lacks it.
func (f Field) Write(m Moment) (string, bool) {
	if strings.Contains(string(f), "|") {
		return f.join(m)
	}
	switch f {
	case "yyyy":
		return padded(m.Year, 4)
	case "yy":
		if m.Year < 0 {
			return "", false
		}
		return padded(m.Year%100, 2)
	case "M", "MM":
		return padded(m.Month, len(f))
	case "d", "dd":
		return padded(m.Day, len(f))
	case "m", "mm":
		return padded(m.Minute, len(f))
	case "s", "ss":
		return padded(m.Second, len(f))
	case "MMM", "MMMM", "quarter":
		return f.ofMonth(m.Month)
	case "ordinal":
		return ordinal(m.Day)
	}
	if strings.ContainsAny(string(f[:1]), "HhAa") {
		return f.ofHour(m.Hour)
	}
	if m.Year < 0 || m.Month < 0 || m.Day < 0 {
		return "", false
	}
	return f.ofDate(m)
}

// join writes several fields and the marks between them.
func (f Field) join(m Moment) (string, bool) {
	var out string
	for _, piece := range strings.Split(string(f), "|") {
		if strings.ContainsAny(piece, ": ") {
			out += piece
			continue
		}
		text, ok := Field(piece).Write(m)
		if !ok {
			return "", false
		}
		out += text
	}
	return out, true
}

func padded(n, width int) (string, bool) {
	if n < 0 {
		return "", false
	}
	return fmt.Sprintf("%0*d", width, n), true
}

func (f Field) ofMonth(month int) (string, bool) {
	switch {
	case month < 0:
		return "", false
	case f == "MMM":
		return months[month-1][:3], true
	case f == "MMMM":
		return months[month-1], true
	}
	return strconv.Itoa((month-1)/3 + 1), true
}

func (f Field) ofHour(hour int) (string, bool) {
	switch {
	case hour < 0:
		return "", false
	case f == "H" || f == "HH":
		return padded(hour, len(f))
	case f == "h" || f == "hh":
		return padded((hour+11)%12+1, len(f))
	case f == "AM":
		return []string{"AM", "PM"}[hour/12], true
	}
	return []string{"am", "pm"}[hour/12], true
}

func ordinal(day int) (string, bool) {
	if day < 0 {
		return "", false
	}
	suffix := "th"
	if day/10 != 1 && day%10 >= 1 && day%10 <= 3 {
		suffix = []string{"st", "nd", "rd"}[day%10-1]
	}
	return strconv.Itoa(day) + suffix, true
}

func (f Field) ofDate(m Moment) (string, bool) {
	t := m.date()
	year, week := t.ISOWeek()
	weekday := weekdayOf(m.Year, m.Month, m.Day)
	switch f {
	case "ddd":
		return weekdays[weekday][:3], true
	case "dddd":
		return weekdays[weekday], true
	case "yearday":
		return strconv.Itoa(t.YearDay()), true
	case "week":
		return strconv.Itoa(week), true
	case "ww":
		return padded(week, 2)
	case "weekyear":
		return padded(year, 4)
	case "nth_weekday":
		return strconv.Itoa((m.Day-1)/7 + 1), true
	}
	return strconv.Itoa(weekday + 1), true
}

// DateOf is a part of the date in a column. Layouts are tried in order, and
// the first that reads the column wins.
type DateOf struct {
	Column  int
	Layouts []*Layout
	Clock   Clock
	Field   Field
	Price   int
}

// Read returns the column's moment.
func (e *DateOf) Read(row Row) (Moment, bool) {
	if e.Column >= len(row) {
		return Moment{}, false
	}
	for _, layout := range e.Layouts {
		if m, ok := layout.Read(row[e.Column].S); ok {
			return m, true
		}
	}
	return Moment{}, false
}

// Eval returns the part as text.
func (e *DateOf) Eval(row Row) (string, bool) {
	m, ok := e.Read(row)
	if !ok {
		return "", false
	}
	if m, ok = e.Clock.Apply(m); !ok {
		return "", false
	}
	return e.Field.Write(m)
}

// Star is part(date(…), …).
func (e *DateOf) Star() string {
	var names []string
	for _, layout := range e.Layouts {
		names = append(names, layout.Name)
	}
	inner := fmt.Sprintf("date(c[%d], [%s])", e.Column, strings.Join(names, ", "))
	if e.Clock.Minutes != 0 {
		inner = fmt.Sprintf("clock(%s, %d, %q, %d, %d)", inner, e.Clock.Minutes, e.Clock.Mode, e.Clock.Steps, e.Clock.Seconds)
	}
	if strings.Contains(string(e.Field), "|") {
		return fmt.Sprintf("parts(%s, [%s])", inner, quoteList(strings.Split(string(e.Field), "|")))
	}
	return fmt.Sprintf("part(%s, %q)", inner, e.Field)
}

func quoteList(list []string) string {
	var quoted []string
	for _, s := range list {
		quoted = append(quoted, Quote(s))
	}
	return strings.Join(quoted, ", ")
}

// Cost is the price that the search gave.
func (e *DateOf) Cost() int { return e.Price }
