package star

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"go.starlark.net/starlark"
)

var csvFunctions = map[string]function{
	"parse": csvParse,
	"write": csvWrite,
}

func csvParse(thread *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var source text
	var sep characters = ","
	var fallback starlark.Value
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "text", &source, "sep?", &sep, "default?", &fallback); err != nil {
		return nil, err
	}
	if err := checkSeparator(sep); err != nil {
		return nil, err
	}
	charge(thread, 8*len(source))
	rows, err := parseRows(string(source), string(sep))
	if err != nil {
		return orDefault(nil, err, fallback)
	}
	values := make([]starlark.Value, len(rows))
	for i, row := range rows {
		values[i] = listOf(row)
	}
	return starlark.NewList(values), nil
}

func checkSeparator(sep characters) error {
	if utf8.RuneCountInString(string(sep)) != 1 || strings.ContainsAny(string(sep), "\"\r\n") {
		return fmt.Errorf("csv: sep is %q: want one character, not a quote or a line end", clip(string(sep)))
	}
	return nil
}

func parseRows(source, sep string) ([][]string, error) {
	if !utf8.ValidString(source) {
		return nil, fmt.Errorf("csv: the text is not valid UTF-8")
	}
	var rows [][]string
	for source != "" {
		var row []string
		for more := true; more; {
			field, rest, err := parseField(source, sep)
			if err != nil {
				return nil, fmt.Errorf("csv: row %d: %w", len(rows)+1, err)
			}
			row = append(row, field)
			source, more = strings.CutPrefix(rest, sep)
		}
		rows = append(rows, row)
		source = strings.TrimPrefix(strings.TrimPrefix(source, "\r"), "\n")
	}
	return rows, nil
}

// parseField returns the first field and what follows it: a separator, a line
// end, or nothing.
func parseField(source, sep string) (field, rest string, err error) {
	quoted, isQuoted := strings.CutPrefix(source, `"`)
	if !isQuoted {
		end := fieldEnd(source, sep)
		return source[:end], source[end:], nil
	}
	var out strings.Builder
	for {
		part, after, closed := strings.Cut(quoted, `"`)
		if !closed {
			return "", "", fmt.Errorf("a quote is not closed")
		}
		out.WriteString(part)
		if !strings.HasPrefix(after, `"`) {
			if fieldEnd(after, sep) != 0 {
				return "", "", fmt.Errorf("text after a closing quote")
			}
			return out.String(), after, nil
		}
		out.WriteByte('"')
		quoted = after[1:]
	}
}

// fieldEnd returns where an unquoted field ends: at a separator, \n, \r\n, or
// the end. A \r elsewhere belongs to the field.
func fieldEnd(source, sep string) int {
	end := strings.IndexAny(source, "\n"+sep)
	if end < 0 {
		return len(source)
	}
	if end > 0 && source[end] == '\n' && source[end-1] == '\r' {
		end--
	}
	return end
}

func csvWrite(thread *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var given starlark.Value
	var sep characters = ","
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "rows", &given, "sep?", &sep); err != nil {
		return nil, err
	}
	if err := checkSeparator(sep); err != nil {
		return nil, err
	}
	rows, ok := indexable(given)
	if !ok {
		return nil, fmt.Errorf("csv.write: got %s, want list or tuple", given.Type())
	}
	var out strings.Builder
	for i := range rows.Len() {
		if err := writeRow(&out, rows.Index(i), string(sep)); err != nil {
			return nil, fmt.Errorf("csv.write: %w", err)
		}
		if err := bounded(out.String()); err != nil {
			return nil, fmt.Errorf("csv.write: %w", err)
		}
	}
	return written(thread, out.String())
}

// indexable returns a list or a tuple.
func indexable(v starlark.Value) (starlark.Indexable, bool) {
	switch v := v.(type) {
	case *starlark.List:
		return v, true
	case starlark.Tuple:
		return v, true
	}
	return nil, false
}

func writeRow(out *strings.Builder, row starlark.Value, sep string) error {
	fields, ok := indexable(row)
	if !ok || fields.Len() == 0 {
		return fmt.Errorf("a row is %s: want a list of one field or more", describe(row))
	}
	for i := range fields.Len() {
		field, err := fieldText(fields.Index(i))
		if err != nil {
			return err
		}
		if i > 0 {
			out.WriteString(sep)
		}
		if strings.ContainsAny(field, "\"\r\n") || strings.Contains(field, sep) || field == "" && fields.Len() == 1 {
			field = `"` + strings.ReplaceAll(field, `"`, `""`) + `"`
		}
		out.WriteString(field)
		if out.Len() > maxText {
			break // csvWrite says so
		}
	}
	out.WriteByte('\n')
	return nil
}

func fieldText(v starlark.Value) (string, error) {
	switch v := v.(type) {
	case starlark.NoneType:
		return "", nil
	case starlark.String:
		if !utf8.ValidString(string(v)) {
			return "", fmt.Errorf("a field is not valid UTF-8")
		}
		return string(v), nil
	case starlark.Int, starlark.Float:
		return plainNumber(v)
	}
	return "", fmt.Errorf("a field is a %s: want a string, an int, a float or None", v.Type())
}
