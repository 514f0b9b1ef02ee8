package star

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.starlark.net/starlark"
)

var stringFunctions = map[string]function{
	"length":    onText(func(s string) starlark.Value { return starlark.MakeInt(utf8.RuneCountInString(s)) }),
	"chars":     onText(func(s string) starlark.Value { return listOf(strings.Split(s, "")) }),
	"fields":    onText(func(s string) starlark.Value { return listOf(strings.Fields(s)) }),
	"squeeze":   onText(func(s string) starlark.Value { return starlark.String(strings.Join(strings.Fields(s), " ")) }),
	"title":     onText(func(s string) starlark.Value { return starlark.String(title(s)) }),
	"reverse":   onText(func(s string) starlark.Value { return starlark.String(reverse(s)) }),
	"is_space":  onText(every(unicode.IsSpace)),
	"is_alpha":  onText(every(unicode.IsLetter)),
	"is_digit":  onText(every(func(r rune) bool { return '0' <= r && r <= '9' })),
	"is_upper":  onText(cased(unicode.IsUpper, unicode.IsLower)),
	"is_lower":  onText(cased(unicode.IsLower, unicode.IsUpper)),
	"slice":     slice,
	"pad_left":  pad(true),
	"pad_right": pad(false),
}

// onText makes a function of one text.
func onText(f func(string) starlark.Value) function {
	return func(thread *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		var s characters
		if err := starlark.UnpackArgs(b.Name(), args, kwargs, "s", &s); err != nil {
			return nil, err
		}
		charge(thread, 2*len(s))
		return f(string(s)), nil
	}
}

// every says of a text whether it isn't empty and all its characters are so.
func every(is func(rune) bool) func(string) starlark.Value {
	return func(s string) starlark.Value {
		other := strings.IndexFunc(s, func(r rune) bool { return !is(r) })
		return starlark.Bool(s != "" && other < 0)
	}
}

// cased says of a text whether it has characters of one case and none of the
// other.
func cased(want, other func(rune) bool) func(string) starlark.Value {
	return func(s string) starlark.Value {
		return starlark.Bool(strings.ContainsFunc(s, want) && !strings.ContainsFunc(s, other))
	}
}

// title makes the first letter of each word upper case and the rest lower.
func title(s string) string {
	begun := false
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			begun = false
		case !begun && unicode.IsLetter(r):
			begun = true
			return unicode.ToTitle(r)
		default:
			return unicode.ToLower(r)
		}
		return r
	}, s)
}

func reverse(s string) string {
	runes := []rune(s)
	slices.Reverse(runes)
	return string(runes)
}

// slice cuts by characters; its bounds work as in s[i:j].
func slice(thread *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var s characters
	var i, j starlark.Value = starlark.MakeInt(0), starlark.None
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "s", &s, "i?", &i, "j?", &j); err != nil {
		return nil, err
	}
	runes := []rune(string(s))
	from, err := bound(i, 0, len(runes))
	if err != nil {
		return nil, fmt.Errorf("strings.slice: i: %w", err)
	}
	to, err := bound(j, len(runes), len(runes))
	if err != nil {
		return nil, fmt.Errorf("strings.slice: j: %w", err)
	}
	charge(thread, len(s))
	return starlark.String(runes[min(from, to):to]), nil
}

// bound returns a slice's bound within a length; None is the missing one.
func bound(v starlark.Value, missing, length int) (int, error) {
	if v == starlark.None {
		return missing, nil
	}
	i, ok := v.(starlark.Int)
	if !ok {
		return 0, fmt.Errorf("got %s, want int", v.Type())
	}
	if small, ok := i.Int64(); ok {
		if small < 0 {
			small += int64(length)
		}
		return int(min(max(small, 0), int64(length))), nil
	}
	if i.Sign() < 0 {
		return 0, nil
	}
	return length, nil
}

// pad makes the function that pads on one side.
func pad(left bool) function {
	return func(thread *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		var s, c characters = "", " "
		var n int
		if err := starlark.UnpackArgs(b.Name(), args, kwargs, "s", &s, "n", &n, "c?", &c); err != nil {
			return nil, err
		}
		if utf8.RuneCountInString(string(c)) != 1 {
			return nil, fmt.Errorf("%s: c is %q: want one character", b.Name(), clip(string(c)))
		}
		missing := max(0, n-utf8.RuneCountInString(string(s)))
		if missing > (maxText-len(s))/len(c) {
			return nil, fmt.Errorf("%s: the result is longer than %d bytes", b.Name(), maxText)
		}
		padding := strings.Repeat(string(c), missing)
		if left {
			return written(thread, padding+string(s))
		}
		return written(thread, string(s)+padding)
	}
}
