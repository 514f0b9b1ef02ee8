package lang

import "testing"

func TestDecimals(t *testing.T) {
	for _, test := range []struct {
		text string
		do   Arithmetic
		f    NumberFormat
		want string
	}{
		{"1234.5", Arithmetic{}, NumberFormat{Places: 2, Group: ","}, "1,234.50"},
		{"1234567", Arithmetic{}, NumberFormat{Places: -1, Group: ",", Lakh: true}, "12,34,567"},
		{"0.125", Arithmetic{}, NumberFormat{Places: 2}, "0.13"},
		{"-0.125", Arithmetic{}, NumberFormat{Places: 2}, "-0.13"},
		{"-0.001", Arithmetic{}, NumberFormat{Places: 1}, "0.0"},
		{"7", Arithmetic{}, NumberFormat{Places: -1, Width: 3}, "007"},
		{"2345.23", Arithmetic{Power: -3}, NumberFormat{Places: 1}, "2.3"},
		{"83", Arithmetic{Mode: Ceil, Unit: Decimal{25, 0}}, NumberFormat{Places: -1}, "100"},
		{"-83", Arithmetic{Mode: Floor, Unit: Decimal{25, 0}}, NumberFormat{Places: -1}, "-100"},
		{"42", Arithmetic{Mode: Floor, Unit: Decimal{10, 0}, Steps: 1, Plus: -1}, NumberFormat{Places: -1}, "49"},
		{"2.5", Arithmetic{Mode: Even, Unit: Decimal{1, 0}}, NumberFormat{Places: -1}, "2"},
		{"4.42E-001", Arithmetic{}, NumberFormat{Places: -1}, "0.442"},
	} {
		d, ok := ParseDecimal(test.text)
		if ok {
			d, ok = test.do.Apply(d)
		}
		got := ""
		if ok {
			got = test.f.Write(d)
		}
		if got != test.want {
			t.Errorf("%s: %q, want %q", test.text, got, test.want)
		}
	}
}

func TestDecimalLimits(t *testing.T) {
	for text, want := range map[string]bool{"999999999999999": true, "1000000000000000": true, "1000000000000001": false, "0.123456789": true, "0.1234567891": false, "": false, ".": false, "-": false} {
		_, ok := ParseDecimal(text)
		if text == "1000000000000000" {
			want = false // sixteen digits, zeros or not
		}
		if ok != want {
			t.Errorf("%q: read %v, want %v", text, ok, want)
		}
	}
}

func TestLayouts(t *testing.T) {
	for _, test := range []struct {
		layout, text string
		want         Moment
		ok           bool
	}{
		{"YMD", "on 2020-02-29T07:08:09Z", Moment{2020, 2, 29, 7, 8, 9}, true},
		{"YMD", "2021-02-29", Moment{}, false},
		{"MDY", "12/31/1999 9:05 PM", Moment{1999, 12, 31, 21, 5, -1}, true},
		{"MDY", "13/1/1999", Moment{}, false},
		{"DMY", "13/1/1999", Moment{1999, 1, 13, -1, -1, -1}, true},
		{"DAY_MONTH_YEAR", "3rd March 2001", Moment{2001, 3, 3, -1, -1, -1}, true},
		{"YEAR_DAY", "2143 75", Moment{2143, 3, 16, -1, -1, -1}, true},
		{"YEAR_DAY", "2143 366", Moment{}, false},
		{"WEEKDAY_YEAR_WEEK", "Monday, 1995W25", Moment{1995, 6, 19, -1, -1, -1}, true},
		{"WEEKDAY_OF_MONTH", "Saturday #2 April 1953", Moment{1953, 4, 11, -1, -1, -1}, true},
		{"WEEKDAY_OF_MONTH", "Friday #5 February 2021", Moment{}, false},
		{"TIME", "12:00:20 AM", Moment{-1, -1, -1, 0, 0, 20}, true},
		{"TIME", "24:00", Moment{}, false},
	} {
		got, ok := layoutNamed(test.layout).Read(test.text)
		if ok != test.ok || ok && got != test.want {
			t.Errorf("%s of %q: %v %v, want %v %v", test.layout, test.text, got, ok, test.want, test.ok)
		}
	}
}

func layoutNamed(name string) *Layout {
	for i := range Layouts {
		if Layouts[i].Name == name {
			return &Layouts[i]
		}
	}
	return nil
}

func TestFields(t *testing.T) {
	m := Moment{2024, 12, 30, 0, 5, 9}
	for field, want := range map[Field]string{
		"yyyy": "2024", "yy": "24", "M": "12", "MMM": "Dec", "MMMM": "December", "d": "30", "ordinal": "30th", "ddd": "Mon", "dddd": "Monday",
		"H": "0", "hh": "12", "m": "5", "ss": "09", "AM": "AM", "quarter": "4", "yearday": "365", "week": "1", "ww": "01", "weekyear": "2025", "nth_weekday": "5", "weekday": "1",
	} {
		if got, ok := field.Write(m); !ok || got != want {
			t.Errorf("%s: %q, want %q", field, got, want)
		}
		if got, ok := field.Write(Moment{-1, -1, -1, -1, -1, -1}); ok {
			t.Errorf("%s of nothing: %q", field, got)
		}
	}
}

func TestShapes(t *testing.T) {
	for text, want := range map[string]string{"": "", "Ann  Lee-42": "Aa Aa-0", "éÉ--ª": "aA--l"} {
		if got := Shape(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestPositionsStayAtBordersOfCharacters(t *testing.T) {
	text := NewRow([]string{"éa日b"})[0]
	for n, want := range []int{0, 2, 3, 6, 7, -1} {
		if got := (&Position{Anchor: FromStart, Nth: n}).At(text); got != want {
			t.Errorf("character %d is at %d, want %d", n, got, want)
		}
	}
	if got := (&Position{Anchor: AtToken, Class: Letters, Nth: 1, End: true, Shift: -2}).At(text); got != 3 {
		t.Errorf("two before the end is %d, want 3", got)
	}
}
