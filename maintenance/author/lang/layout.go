package lang

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Moment is a date, a time of day or both; absent parts are -1.
type Moment struct{ Year, Month, Day, Hour, Minute, Second int }

// Layout is a form of date: Pattern's groups are the letters of Fields in
// order. y year, z two-digit year (from 1950 on), x two-digit
// year (from 1930 on), m month, b month name, d day, h hour, n
// minute, s second, a AM or PM, j day of the year, w ISO week, v weekday name,
// k which such weekday of the month.
type Layout struct {
	Name, Pattern, Fields string
	// Ambiguous layouts read some texts of another layout, with another sense.
	Ambiguous bool
	re        *regexp.Regexp
}

const (
	monthPattern = `(?i:(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?))`
	dayPattern   = `(?i:(mon(?:day)?|tue(?:sday)?|wed(?:nesday)?|thu(?:rsday)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?))`
	timePattern  = `([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}))?(?:\.[0-9]+)?(?:\s*([AaPp][Mm])\b)?`
	thenTime     = `(?:[T ,@-]+` + timePattern + `)?`
	before       = `(?:^|[^0-9])`
	after        = `(?:$|[^0-9])`
)

// Layouts are all forms of date that are known, plainest first.
var Layouts = compileLayouts([]Layout{
	{Name: "YMD", Pattern: before + `([0-9]{4})[-/. ]+([0-9]{1,2})[-/. ]+([0-9]{1,2})` + thenTime, Fields: "ymdhnsa"},
	{Name: "MDY", Pattern: before + `([0-9]{1,2})[-/. ]+([0-9]{1,2})[-/. ]+([0-9]{4})` + thenTime, Fields: "mdyhnsa", Ambiguous: true},
	{Name: "DMY", Pattern: before + `([0-9]{1,2})[-/. ]+([0-9]{1,2})[-/. ]+([0-9]{4})` + thenTime, Fields: "dmyhnsa", Ambiguous: true},
	{Name: "DAY_MONTH_YEAR", Pattern: before + `([0-9]{1,2})(?:st|nd|rd|th)?[-/., ]+` + monthPattern + `[-/., ]+([0-9]{4})` + thenTime, Fields: "dbyhnsa"},
	{Name: "MONTH_DAY_YEAR", Pattern: monthPattern + `[-/., ]+([0-9]{1,2})(?:st|nd|rd|th)?[-/., ]+([0-9]{4})` + thenTime, Fields: "bdyhnsa"},
	{Name: "DAY_MONTH_YY", Pattern: before + `([0-9]{1,2})[-/., ]+` + monthPattern + `[-/., ]+([0-9]{2})` + after, Fields: "dbz"},
	{Name: "DAY_MONTH_YY_30", Pattern: before + `([0-9]{1,2})[-/., ]+` + monthPattern + `[-/., ]+([0-9]{2})` + after, Fields: "dbx", Ambiguous: true},
	{Name: "MDYY", Pattern: before + `([0-9]{1,2})[-/.]([0-9]{1,2})[-/.]([0-9]{2})` + after, Fields: "mdz", Ambiguous: true},
	{Name: "DMYY", Pattern: before + `([0-9]{1,2})[-/.]([0-9]{1,2})[-/.]([0-9]{2})` + after, Fields: "dmz", Ambiguous: true},
	{Name: "YYYYMMDD", Pattern: before + `([12][0-9]{3})([0-9]{2})([0-9]{2})` + after, Fields: "ymd", Ambiguous: true},
	{Name: "MMDDYYYY", Pattern: before + `([0-9]{1,2})([0-9]{2})([0-9]{4})` + after, Fields: "mdy", Ambiguous: true},
	{Name: "DDMMYYYY", Pattern: before + `([0-9]{1,2})([0-9]{2})([0-9]{4})` + after, Fields: "dmy", Ambiguous: true},
	{Name: "YEAR_DAY", Pattern: `^([0-9]{4})[- ]([0-9]{1,3})$`, Fields: "yj"},
	{Name: "WEEKDAY_YEAR_WEEK", Pattern: `^` + dayPattern + `,? ([0-9]{4})-?W([0-9]{1,2})$`, Fields: "vyw"},
	{Name: "WEEKDAY_OF_MONTH", Pattern: `^` + dayPattern + ` #([1-5]) ` + monthPattern + ` ([0-9]{4})$`, Fields: "vkby"},
	{Name: "MONTH_YEAR", Pattern: `(?:^|[^0-9 ] *)` + monthPattern + `[-/., ]+([0-9]{4})`, Fields: "by"},
	{Name: "TIME", Pattern: before + timePattern, Fields: "hnsa"},
	{Name: "HOUR_AMPM", Pattern: before + `([0-9]{1,2})\s*([AaPp][Mm])`, Fields: "ha"},
	{Name: "HOUR", Pattern: `^([0-9]{1,2})$`, Fields: "h"},
	{Name: "HHMM", Pattern: `^([0-9]{1,2})([0-9]{2})$`, Fields: "hn"},
	{Name: "DAY_MONTH", Pattern: `^([0-9]{1,2})[-/.]([0-9]{1,2})$`, Fields: "dm", Ambiguous: true},
	{Name: "MONTH_DAY", Pattern: `^([0-9]{1,2})[-/.]([0-9]{1,2})$`, Fields: "md", Ambiguous: true},
	{Name: "MONTH_ONLY", Pattern: `^` + monthPattern + `$`, Fields: "b"},
	{Name: "MONTH_NUMBER", Pattern: `^([0-9]{1,2})$`, Fields: "m", Ambiguous: true},
	{Name: "YEAR", Pattern: before + `([12][0-9]{3})` + after, Fields: "y"},
})

func compileLayouts(all []Layout) []Layout {
	for i := range all {
		all[i].re = regexp.MustCompile(all[i].Pattern)
	}
	return all
}

var months = strings.Fields("January February March April May June July August September October November December")
var weekdays = strings.Fields("Monday Tuesday Wednesday Thursday Friday Saturday Sunday")

// reading is what a layout's groups say, before it's checked.
type reading struct {
	Moment
	half, yearday, week, weekday, which int
}

// Read finds the date in s. It is false where there is none, or none that the
// calendar has.
func (l *Layout) Read(s string) (Moment, bool) {
	m := l.re.FindStringSubmatch(s)
	if m == nil {
		return Moment{}, false
	}
	r := reading{Moment{-1, -1, -1, -1, -1, -1}, -1, -1, -1, -1, -1}
	for i, field := range l.Fields {
		if m[i+1] != "" {
			r.set(field, m[i+1])
		}
	}
	return r.check()
}

func (r *reading) set(field rune, text string) {
	n, _ := strconv.Atoi(text)
	switch field {
	case 'y':
		r.Year = n
	case 'z':
		r.Year = century(n, 50)
	case 'x':
		r.Year = century(n, 30)
	case 'm':
		r.Month = n
	case 'b':
		r.Month = named3(months, text) + 1
	case 'd':
		r.Day = n
	case 'h':
		r.Hour = n
	case 'n':
		r.Minute = n
	case 's':
		r.Second = n
	case 'a':
		r.half = strings.Index("ap", strings.ToLower(text[:1]))
	case 'j':
		r.yearday = n
	case 'w':
		r.week = n
	case 'v':
		r.weekday = named3(weekdays, text)
	case 'k':
		r.which = n
	}
}

// century returns the year from pivot on whose last two digits are n.
func century(n, pivot int) int {
	if n < pivot {
		return 2000 + n
	}
	return 1900 + n
}

// named3 returns the index of the name with the same first three letters.
func named3(names []string, text string) int {
	for i, name := range names {
		if strings.EqualFold(name[:3], text[:3]) {
			return i
		}
	}
	return -1
}

func (r *reading) check() (Moment, bool) {
	if r.half >= 0 {
		if r.Hour < 0 || r.Hour > 12 {
			return Moment{}, false
		}
		r.Hour = r.Hour%12 + 12*r.half
	}
	switch {
	case r.yearday >= 0:
		return dayAfter(r.Year, 1, 1, r.yearday-1, r.Year, 0)
	case r.week >= 0:
		day := weekdayOf(r.Year, 1, 4)
		return dayAfter(r.Year, 1, 4, (r.week-1)*7+r.weekday-day, 0, 0)
	case r.which >= 0:
		day := weekdayOf(r.Year, r.Month, 1)
		return dayAfter(r.Year, r.Month, 1, (r.weekday-day+7)%7+7*(r.which-1), r.Year, r.Month)
	}
	return r.Moment, r.Moment.valid()
}

// valid says whether every present part is one of the calendar and the clock.
func (m Moment) valid() bool {
	switch {
	case m.Year == 0 || m.Month == 0 || m.Month > 12 || m.Day == 0 || m.Day > 31:
		return false
	case m.Hour > 23 || m.Minute > 59 || m.Second > 59:
		return false
	case m.Year > 0 && m.Month > 0 && m.Day > 0:
		return m.date().Day() == m.Day
	}
	return true
}

func (m Moment) date() time.Time {
	return time.Date(m.Year, time.Month(m.Month), m.Day, 0, 0, 0, 0, time.UTC)
}

// weekdayOf returns 0 for a Monday.
func weekdayOf(year, month, day int) int {
	return (int(Moment{Year: year, Month: month, Day: day}.date().Weekday()) + 6) % 7
}

// dayAfter returns the day n days later. It must be in that year and month
// where they aren't 0.
func dayAfter(year, month, day, n, inYear, inMonth int) (Moment, bool) {
	if year < 1 || n < -7 || n > 400 {
		return Moment{}, false
	}
	t := Moment{Year: year, Month: month, Day: day}.date().AddDate(0, 0, n)
	m := Moment{t.Year(), int(t.Month()), t.Day(), -1, -1, -1}
	return m, m.Year <= 9999 && (inYear == 0 || m.Year == inYear) && (inMonth == 0 || m.Month == inMonth)
}
