package star

import (
	"fmt"
	"strings"
	"time"
)

// field is what a directive of a date's layout stands for.
type field int

const (
	literal field = iota
	year
	shortYear // the last two digits; parsing takes 69–99 as 19xx, 00–68 as 20xx
	month
	day
	hour
	hour12
	minute
	second
	half    // 0 AM, 1 PM
	weekday // 0 is Monday
	isoWeekday
	yearday
	isoYear
	isoWeek
	fieldCount
)

// item is one directive of a layout, or a literal.
type item struct {
	field    field
	width    int      // digits
	unpadded bool     // 1 to width digits, no leading zero
	names    []string // instead of digits; index 0 stands for low
	low      int
	text     string // of a literal
}

var (
	months     = names(12, func(i int) string { return time.Month(i + 1).String() })
	weekdays   = names(7, func(i int) string { return time.Weekday((i + 1) % 7).String() })
	directives = map[string]item{
		"Y": {field: year, width: 4}, "y": {field: shortYear, width: 2},
		"m": {field: month, width: 2}, "-m": {field: month, width: 2, unpadded: true},
		"d": {field: day, width: 2}, "-d": {field: day, width: 2, unpadded: true}, "e": {field: day, width: 2, unpadded: true},
		"H": {field: hour, width: 2}, "-H": {field: hour, width: 2, unpadded: true},
		"I": {field: hour12, width: 2}, "-I": {field: hour12, width: 2, unpadded: true},
		"M": {field: minute, width: 2}, "S": {field: second, width: 2},
		"j": {field: yearday, width: 3}, "V": {field: isoWeek, width: 2}, "G": {field: isoYear, width: 4},
		"u": {field: isoWeekday, width: 1},
		"p": {field: half, names: []string{"AM", "PM"}},
		"B": {field: month, names: months, low: 1}, "b": {field: month, names: short(months), low: 1},
		"A": {field: weekday, names: weekdays}, "a": {field: weekday, names: short(weekdays)},
		"%": {text: "%"},
	}
)

func names(n int, name func(int) string) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = name(i)
	}
	return all
}

// short returns the first three letters of each.
func short(long []string) []string {
	return names(len(long), func(i int) string { return long[i][:3] })
}

// parseLayout cuts a strftime layout into items.
func parseLayout(layout string) ([]item, error) {
	var items []item
	for {
		text, rest, more := strings.Cut(layout, "%")
		if text != "" {
			items = append(items, item{text: text})
		}
		if !more {
			return items, nil
		}
		n := min(1, len(rest))
		if strings.HasPrefix(rest, "-") {
			n = min(2, len(rest))
		}
		directive, ok := directives[rest[:n]]
		if !ok {
			return nil, fmt.Errorf("unknown directive %q in the layout", clip("%"+rest[:n]))
		}
		items, layout = append(items, directive), rest[n:]
	}
}

// checkParsable refuses layouts that can't say which date a text is.
func checkParsable(items []item) error {
	var has [fieldCount]bool
	for _, i := range items {
		has[i.field] = true
	}
	if has[hour12] != has[half] {
		return fmt.Errorf("%%I and %%p are parsed together only")
	}
	if has[isoWeek] != has[isoYear] {
		return fmt.Errorf("%%V and %%G are parsed together only")
	}
	return nil
}

// write appends the item of t.
func (i item) write(out *strings.Builder, t time.Time) {
	n := valueOf(t, i.field)
	switch {
	case i.field == literal:
		out.WriteString(i.text)
	case i.names != nil:
		out.WriteString(i.names[n-i.low])
	case i.unpadded:
		fmt.Fprintf(out, "%d", n)
	default:
		fmt.Fprintf(out, "%0*d", i.width, n)
	}
}

// valueOf returns a field of t.
func valueOf(t time.Time, f field) int {
	week, ofYear := 0, 0
	if f == isoWeek || f == isoYear {
		ofYear, week = t.ISOWeek()
	}
	switch f {
	case year:
		return t.Year()
	case shortYear:
		return t.Year() % 100
	case month:
		return int(t.Month())
	case day:
		return t.Day()
	case hour:
		return t.Hour()
	case hour12:
		return (t.Hour()+11)%12 + 1
	case minute:
		return t.Minute()
	case second:
		return t.Second()
	case half:
		return t.Hour() / 12
	case weekday:
		return (int(t.Weekday()) + 6) % 7
	case isoWeekday:
		return (int(t.Weekday())+6)%7 + 1
	case yearday:
		return t.YearDay()
	case isoYear:
		return ofYear
	case isoWeek:
		return week
	}
	return 0
}
