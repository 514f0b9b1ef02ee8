package star

import (
	"strings"
	"time"
)

// parsed holds what a text said, by field; said tells which.
type parsed struct {
	value [fieldCount]int
	said  [fieldCount]bool
}

// parseDate reads the whole of s by the items. false says that s doesn't fit or
// is no real date.
func parseDate(items []item, s string) (time.Time, bool) {
	var p parsed
	for _, i := range items {
		n, rest, ok := i.read(s)
		if !ok || p.said[i.field] && p.value[i.field] != n {
			return time.Time{}, false
		}
		p.value[i.field], p.said[i.field] = n, true
		s = rest
	}
	if s != "" {
		return time.Time{}, false
	}
	return p.date()
}

// read takes the item off the front of s.
func (i item) read(s string) (n int, rest string, ok bool) {
	switch {
	case i.field == literal:
		rest, ok = strings.CutPrefix(s, i.text)
		return 0, rest, ok
	case i.names != nil:
		return i.readName(s)
	}
	digits := 0
	for digits < i.width && digits < len(s) && digit(s[digits]) {
		n = 10*n + int(s[digits]-'0')
		digits++
	}
	switch {
	case digits == 0 || !i.unpadded && digits < i.width:
		return 0, "", false
	case i.unpadded && digits > 1 && s[0] == '0':
		return 0, "", false
	}
	return n, s[digits:], true
}

func (i item) readName(s string) (n int, rest string, ok bool) {
	for at, name := range i.names {
		if len(s) >= len(name) && strings.EqualFold(s[:len(name)], name) {
			return at + i.low, s[len(name):], true
		}
	}
	return 0, "", false
}

// date returns the date that the fields say, if there is one that agrees with
// all of them.
func (p *parsed) date() (time.Time, bool) {
	p.complete()
	y, m, d := p.or(year, 2000), p.or(month, 1), p.or(day, 1)
	switch {
	case p.said[month] || p.said[day]:
	case p.said[isoWeek]:
		y, m, d = p.isoDay()
	case p.said[yearday]:
		d = p.value[yearday]
	}
	t := time.Date(y, time.Month(m), d, p.or(hour, 0), p.or(minute, 0), p.or(second, 0), 0, time.UTC)
	if t.Year() < 1 || t.Year() > 9999 {
		return time.Time{}, false
	}
	for f := literal + 1; f < fieldCount; f++ {
		if p.said[f] && valueOf(t, f) != p.value[f] {
			return time.Time{}, false
		}
	}
	return t, true
}

// complete works out the year and the hour where the text gave them in another
// form.
func (p *parsed) complete() {
	if p.said[shortYear] && !p.said[year] {
		p.value[year], p.said[year] = 1900+p.value[shortYear], true
		if p.value[shortYear] < 69 {
			p.value[year] += 100
		}
	}
	if p.said[hour12] && !p.said[hour] {
		p.value[hour], p.said[hour] = p.value[hour12]%12+12*p.value[half], true
	}
}

// isoDay returns the day that ISO year, week and weekday name. 4 January is
// always in week 1.
func (p *parsed) isoDay() (y, m, d int) {
	fourth := time.Date(p.value[isoYear], time.January, 4, 0, 0, 0, 0, time.UTC)
	wanted := p.or(weekday, p.or(isoWeekday, 1)-1)
	t := fourth.AddDate(0, 0, 7*(p.value[isoWeek]-1)+wanted-valueOf(fourth, weekday))
	return t.Year(), int(t.Month()), t.Day()
}

func (p *parsed) or(f field, missing int) int {
	if p.said[f] {
		return p.value[f]
	}
	return missing
}
