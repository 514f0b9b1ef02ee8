package star

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"go.starlark.net/starlark"
)

var jsonFunctions = map[string]function{
	"decode": jsonDecode,
	"encode": jsonEncode,
}

func jsonDecode(thread *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var source text
	var fallback starlark.Value
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "text", &source, "default?", &fallback); err != nil {
		return nil, err
	}
	charge(thread, len(source))
	v, err := decodeJSON(string(source))
	if err != nil {
		err = fmt.Errorf("json.decode: %w", err)
	}
	return orDefault(v, err, fallback)
}

func jsonEncode(thread *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	e := &encoder{max: maxText, number: plainNumber}
	var v starlark.Value
	var indent characters
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "value", &v, "indent?", &indent, "sort?", &e.sorted); err != nil {
		return nil, err
	}
	e.indent = string(indent)
	if err := e.value(v, 0); err != nil {
		return nil, fmt.Errorf("json.encode: %w", err)
	}
	return written(thread, string(e.out))
}

// items returns a dict's items in the order in which they are written.
func (e *encoder) items(dict *starlark.Dict) ([]starlark.Tuple, error) {
	items := dict.Items()
	for _, item := range items {
		if _, ok := item[0].(starlark.String); !ok {
			return nil, fmt.Errorf("a key is a %s: want a string", item[0].Type())
		}
	}
	if e.sorted {
		slices.SortFunc(items, func(a, b starlark.Tuple) int {
			return cmp.Compare(a[0].(starlark.String), b[0].(starlark.String))
		})
	}
	return items, nil
}

// plainNumber writes any finite number as starlark does.
func plainNumber(v starlark.Value) (string, error) {
	if f, ok := v.(starlark.Float); ok {
		if math.IsNaN(float64(f)) || math.IsInf(float64(f), 0) {
			return "", fmt.Errorf("the float %v is no JSON number", v)
		}
		return f.String(), nil
	}
	large := v.(starlark.Int).BigInt()
	if large.BitLen() > maxDigits*10/3 {
		return "", fmt.Errorf("an int of more than %d digits", maxDigits)
	}
	return large.String(), nil
}
