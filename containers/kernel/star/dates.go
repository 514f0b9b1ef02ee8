package star

import (
	"fmt"
	"math"
	"strings"
	"time"

	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"
)

// maxLayout bounds a date's layout, in bytes.
const maxLayout = 1_000

var dateFunctions = map[string]function{
	"parse":     dateParse,
	"format":    dateFormat,
	"make":      dateMake,
	"add":       dateAdd,
	"unix":      dateUnix,
	"from_unix": dateFromUnix,
}

var dateFields = map[string]field{
	"year": year, "month": month, "day": day, "hour": hour, "minute": minute, "second": second,
	"weekday": weekday, "yearday": yearday, "week": isoWeek, "week_year": isoYear,
}

// dateValue returns t as programs see it; None where the year is outside 1–9999.
func dateValue(t time.Time) starlark.Value {
	if t.Year() < 1 || t.Year() > 9999 {
		return starlark.None
	}
	members := make(starlark.StringDict, len(dateFields))
	for name, f := range dateFields {
		members[name] = starlark.MakeInt(valueOf(t, f))
	}
	return starlarkstruct.FromStringDict(starlark.String("date"), members)
}

// date is an argument that dates.parse or dates.make gave.
type date struct{ time.Time }

// Unpack takes a date struct.
func (d *date) Unpack(v starlark.Value) error {
	given, ok := v.(*starlarkstruct.Struct)
	if !ok {
		return fmt.Errorf("got %s, want a date", v.Type())
	}
	var parts [6]int
	for i, name := range []string{"year", "month", "day", "hour", "minute", "second"} {
		part, err := given.Attr(name)
		if err != nil {
			return fmt.Errorf("got a struct without %s, want a date", name)
		}
		if parts[i], err = starlark.AsInt32(part); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	t, ok := realDate(parts)
	if !ok {
		return fmt.Errorf("got a struct that is no real date")
	}
	d.Time = t
	return nil
}

// realDate returns the date of year, month, day, hour, minute, second.
func realDate(parts [6]int) (time.Time, bool) {
	var p parsed
	for i, f := range []field{year, month, day, hour, minute, second} {
		p.value[f], p.said[f] = parts[i], true
	}
	return p.date()
}

func layoutOf(b *starlark.Builtin, layout text) ([]item, error) {
	if len(layout) > maxLayout {
		return nil, fmt.Errorf("%s: the layout has %d bytes: the limit is %d", b.Name(), len(layout), maxLayout)
	}
	items, err := parseLayout(string(layout))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", b.Name(), err)
	}
	return items, nil
}

func dateParse(thread *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var layout, s text
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "layout", &layout, "s", &s); err != nil {
		return nil, err
	}
	items, err := layoutOf(b, layout)
	if err != nil {
		return nil, err
	}
	if err := checkParsable(items); err != nil {
		return nil, fmt.Errorf("dates.parse: %w", err)
	}
	charge(thread, 16*len(layout))
	if t, ok := parseDate(items, string(s)); ok {
		return dateValue(t), nil
	}
	return starlark.None, nil
}

func dateFormat(thread *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var layout text
	var d date
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "layout", &layout, "d", &d); err != nil {
		return nil, err
	}
	items, err := layoutOf(b, layout)
	if err != nil {
		return nil, err
	}
	return written(thread, formatDate(items, d.Time))
}

func formatDate(items []item, t time.Time) string {
	var out strings.Builder
	for _, i := range items {
		i.write(&out, t)
	}
	return out.String()
}

func dateMake(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var p [6]int
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "year", &p[0], "month", &p[1], "day", &p[2],
		"hour?", &p[3], "minute?", &p[4], "second?", &p[5]); err != nil {
		return nil, err
	}
	for _, part := range p {
		if part < 0 || part > math.MaxInt16 {
			return starlark.None, nil
		}
	}
	if t, ok := realDate(p); ok {
		return dateValue(t), nil
	}
	return starlark.None, nil
}

// dateAdd shifts by months first, to the last day of a shorter month, then by
// the rest.
func dateAdd(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var d date
	var days, hours, minutes, seconds, months int64
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "d", &d, "days?", &days, "hours?", &hours,
		"minutes?", &minutes, "seconds?", &seconds, "months?", &months); err != nil {
		return nil, err
	}
	// No more than all years at once: beyond, the answer is None anyway, and
	// below, the sum can't overflow.
	const all = 10_000 * 366 * 86_400
	for _, n := range []int64{days * 86_400, hours * 3_600, minutes * 60, seconds, months * 28 * 86_400, days, hours, minutes, months} {
		if n > all || n < -all {
			return starlark.None, nil
		}
	}
	t := addMonths(d.Time, int(months))
	return dateValue(time.Unix(t.Unix()+days*86_400+hours*3_600+minutes*60+seconds, 0).UTC()), nil
}

func addMonths(t time.Time, months int) time.Time {
	first := time.Date(t.Year(), t.Month()+time.Month(months), 1, t.Hour(), t.Minute(), t.Second(), 0, time.UTC)
	last := first.AddDate(0, 1, -1).Day()
	return first.AddDate(0, 0, min(t.Day(), last)-1)
}

func dateUnix(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var d date
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "d", &d); err != nil {
		return nil, err
	}
	return starlark.MakeInt64(d.Unix()), nil
}

func dateFromUnix(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var n int64
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "n", &n); err != nil {
		return nil, err
	}
	const outside = 400_000_000_000 // later than the year 9999
	if n > outside || n < -outside {
		return starlark.None, nil
	}
	return dateValue(time.Unix(n, 0).UTC()), nil
}
