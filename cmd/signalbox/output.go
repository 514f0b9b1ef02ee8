package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/urfave/cli/v2"
)

// printJSON writes v as one indented JSON document on stdout.
func printJSON(c *cli.Context, v any) error {
	data, err := json.Marshal(v, json.Deterministic(true), json.ExperimentalSupportFormatTag(true), jsontext.WithIndent("  "))
	if err != nil {
		return fmt.Errorf("printing the result: %w", err)
	}
	_, err = fmt.Fprintf(c.App.Writer, "%s\n", data)
	return err
}

// say writes a line for a person on stderr, where it is no part of the result.
func say(c *cli.Context, format string, args ...any) {
	fmt.Fprintf(c.App.ErrWriter, format+"\n", args...)
}

// table prints aligned columns for a person.
type table struct {
	writer *tabwriter.Writer
}

func newTable(w io.Writer, columns ...string) *table {
	t := &table{writer: tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)}
	t.row(columns...)
	return t
}

func (t *table) row(cells ...string) {
	for i, cell := range cells {
		cells[i] = printable(cell)
	}
	fmt.Fprintln(t.writer, strings.TrimRight(strings.Join(cells, "\t"), "\t"))
}

func (t *table) flush() error { return t.writer.Flush() }

// printable makes text from outside harmless on a terminal: control characters
// are shown as escapes, and a long text is cut.
func printable(text string) string {
	const most = 120
	var out strings.Builder
	for i, r := range text {
		if i > most {
			out.WriteString("…")
			break
		}
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			fmt.Fprintf(&out, `\x%02x`, r)
			continue
		}
		out.WriteRune(r)
	}
	return out.String()
}

// plural returns "1 case" or "3 cases".
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if stem, ok := strings.CutSuffix(noun, "y"); ok {
		return fmt.Sprintf("%d %sies", n, stem)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
