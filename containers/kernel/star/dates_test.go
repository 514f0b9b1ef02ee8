package star

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// iso writes a parsed date again, so that tables stay readable.
func iso(layout, s string) string {
	return `(lambda d: d and dates.format("%Y-%m-%d %H:%M:%S", d))(dates.parse("` + layout + `", "` + s + `"))`
}

func TestDateLayouts(t *testing.T) {
	check(t, []row{
		{iso("%Y-%m-%d", "2024-02-29"), `"2024-02-29 00:00:00"`},
		{iso("%Y-%m-%d", "2023-02-29"), `null`},
		{iso("%Y-%m-%d", "2024-2-29"), `null`},
		{iso("%Y-%m-%d", "2024-02-29 "), `null`},
		{iso("%Y-%m-%d", "24-02-29"), `null`},
		{iso("%Y-%m-%d", "0000-01-01"), `null`},
		{iso("%Y-%m-%d", "٢024-01-01"), `null`},
		{iso("%y%m%d", "681231"), `"2068-12-31 00:00:00"`},
		{iso("%y%m%d", "690101"), `"1969-01-01 00:00:00"`},
		{iso("%-d/%-m/%Y", "1/2/2024"), `"2024-02-01 00:00:00"`},
		{iso("%e/%-m/%Y", "01/2/2024"), `null`},
		{iso("%-d%-m %Y", "112 2024"), `"2024-02-11 00:00:00"`},
		{iso("%-d.%-m.%Y", "0.2.2024"), `null`},
		{iso("%d %b %Y", "05 mar 2024"), `"2024-03-05 00:00:00"`},
		{iso("%d %B %Y", "05 MAY 2024"), `"2024-05-05 00:00:00"`},
		{iso("%d %b %Y", "05 Mai 2024"), `null`},
		{iso("%A, %-d %B %Y", "Tuesday, 5 March 2024"), `"2024-03-05 00:00:00"`},
		{iso("%a, %-d %B %Y", "Mon, 5 March 2024"), `null`},
		{iso("%H:%M:%S", "23:59:59"), `"2000-01-01 23:59:59"`},
		{iso("%H:%M", "24:00"), `null`},
		{iso("%H:%M:%S", "23:59:60"), `null`},
		{iso("%-H:%M", "0:05"), `"2000-01-01 00:05:00"`},
		{iso("%-I:%M %p", "12:05 am"), `"2000-01-01 00:05:00"`},
		{iso("%I:%M %p", "12:05 PM"), `"2000-01-01 12:05:00"`},
		{iso("%I:%M %p", "00:05 PM"), `null`},
		{iso("%I:%M %p", "13:05 PM"), `null`},
		{iso("%d %b", "29 Feb"), `"2000-02-29 00:00:00"`},
		{iso("%Y %j", "2024 366"), `"2024-12-31 00:00:00"`},
		{iso("%Y %j", "2023 366"), `null`},
		{iso("%Y %j", "2023 000"), `null`},
		{iso("%Y-%m-%d %j", "2024-03-01 061"), `"2024-03-01 00:00:00"`},
		{iso("%Y-%m-%d %j", "2024-03-01 060"), `null`},
		{iso("%G-W%V", "2021-W01"), `"2021-01-04 00:00:00"`},
		{iso("%G-W%V-%u", "2020-W53-7"), `"2021-01-03 00:00:00"`},
		{iso("%G-W%V-%u", "2021-W53-1"), `null`},
		{iso("%G-W%V %A", "2024-W10 friday"), `"2024-03-08 00:00:00"`},
		{iso("%Y-%m-%d %G-%V", "2024-03-08 2024-11"), `null`},
		{iso("%Y %y", "2024 24"), `"2024-01-01 00:00:00"`},
		{iso("%Y %y", "2024 23"), `null`},
		{iso("100%% %Y", "100% 2024"), `"2024-01-01 00:00:00"`},
		{iso("%Q", "x"), `error: unknown directive "%Q"`},
		{iso("%", "x"), `error: unknown directive "%"`},
		{iso("%-Y", "x"), `error: unknown directive "%-Y"`},
		{iso("%I:%M", "x"), "error: %I and %p"},
		{iso("%H %p", "x"), "error: %I and %p"},
		{iso("%Y %V", "x"), "error: %V and %G"},
		{`dates.parse("x" * 1001, "")`, "error: the limit is 1000"},
	})
}

func TestDateFunctions(t *testing.T) {
	check(t, []row{
		{`(lambda d: [d.year, d.month, d.day, d.hour, d.minute, d.second, d.weekday, d.yearday, d.week, d.week_year])(dates.make(2021, 1, 3, 4, 5, 6))`,
			`[2021,1,3,4,5,6,6,3,53,2020]`},
		{`dates.make(2023, 2, 29)`, `null`},
		{`dates.make(10000, 1, 1)`, `null`},
		{`dates.make(2024, 1, -1)`, `null`},
		{`dates.make(2024, 1, "1")`, "error: got string, want int"},
		{`dates.format("%Y %y %m %-m %d %-d %e|%H %-H %I %-I %M %S %p|%b %B %a %A|%j %V %G %u %%", dates.make(2024, 3, 5, 14, 7, 9))`,
			`"2024 24 03 3 05 5 5|14 14 02 2 07 09 PM|Mar March Tue Tuesday|065 10 2024 2 %"`},
		{`dates.format("%Y %I %p", dates.make(7, 1, 1))`, `"0007 12 AM"`},
		{`dates.format("%Y", task)`, "error: struct without year"},
		{`dates.format("%Y", None)`, "error: want a date"},
		{`dates.format("%i", dates.make(2024, 1, 1))`, "error: unknown directive"},
		{`dates.format("%Y-%m-%d", dates.add(dates.make(2024, 1, 31), months=1))`, `"2024-02-29"`},
		{`dates.format("%Y-%m-%d", dates.add(dates.make(2024, 3, 31), months=-13))`, `"2023-02-28"`},
		{`dates.format("%Y-%m-%d %H:%M:%S", dates.add(dates.make(2024, 2, 28, 23, 59, 59), days=1, hours=-1, minutes=60, seconds=1))`, `"2024-03-01 00:00:00"`},
		{`dates.add(dates.make(2024, 1, 1), days=10000000)`, `null`},
		{`dates.add(dates.make(2024, 1, 1), days=9223372036854775807)`, `null`},
		{`dates.add(dates.make(2024, 1, 1), months=-200000000000000000)`, `null`},
		{`dates.add(dates.make(9999, 12, 31), days=1)`, `null`},
		{`dates.unix(dates.make(2000, 1, 1))`, `946684800`},
		{`dates.from_unix(946684799).year`, `1999`},
		{`dates.from_unix(1 << 60)`, `null`},
		{`dates.make(2024, 1, 1) == dates.parse("%Y", "2024")`, `true`},
		{`dates.make(2024, 1, 1)`, "error: a struct is no JSON value"},
	})
}

// TestDatesRoundTrip writes dates in layouts that say all of them and reads them
// again.
func TestDatesRoundTrip(t *testing.T) {
	layouts := []string{
		"%Y-%m-%dT%H:%M:%SZ", "%A, %-d %B %Y %-I:%M:%S %p", "%G-W%V-%u %H%M%S", "%Y/%j %-H.%M.%S",
		"%a %b %e %H:%M:%S %Y", "%d%m%Y%I%M%S%p",
	}
	rapid.Check(t, func(t *rapid.T) {
		seconds := rapid.Int64Range(-62_135_596_800, 253_402_300_799).Draw(t, "seconds")
		want := time.Unix(seconds, 0).UTC()
		items, err := parseLayout(rapid.SampledFrom(layouts).Draw(t, "layout"))
		if err != nil {
			t.Fatal(err)
		}
		s := formatDate(items, want)
		if got, ok := parseDate(items, s); !ok || !got.Equal(want) {
			t.Fatalf("%v was written %q and read as %v, %v", want, s, got, ok)
		}
	})
}
