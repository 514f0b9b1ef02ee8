package table

import (
	"fmt"
	"slices"
	"strings"

	"signalbox/maintenance/author/lang"
)

// Step is one step of a program: a function of the library with a number, a mark
// or a list of columns.
type Step struct {
	Name    string
	N       int
	Mark    string
	Columns []int
}

// stepKind says what a step is called and what it takes.
type stepKind struct {
	apply func(Step, Table) (Table, bool)
	takes string // "", "n", "mark", "columns": what the library's function takes after the table
}

var kinds = map[string]stepKind{
	"columns":      {Step.columns, "columns"},
	"skip":         {Step.skip, "n"},
	"with_cell":    {Step.withCell, "n"},
	"fill":         {Step.fill, "n"},
	"fold":         {Step.fold, "n"},
	"fold_header":  {Step.foldHeader, "n"},
	"wrap":         {Step.wrap, "n"},
	"wrap_same":    {Step.wrapSame, "n"},
	"wrap_blank":   {Step.wrapBlank, ""},
	"one_row":      {Step.oneRow, ""},
	"transpose":    {Step.transpose, ""},
	"compact":      {Step.compact, ""},
	"carry":        {Step.carry, "n"},
	"split":        {Step.split, "nmark"},
	"split_all":    {Step.splitAll, "mark"},
	"pair_columns": {Step.pairColumns, ""},
	"trim_cells":   {Step.trimCells, ""},
}

// Apply returns the table after the step, and false where it doesn't apply.
func (s Step) Apply(t Table) (Table, bool) {
	out, ok := kinds[s.Name].apply(s, t)
	return out, ok && len(out) > 0
}

// Star is the call of the library's function on t.
func (s Step) Star() string {
	args := "t"
	switch kinds[s.Name].takes {
	case "n":
		args += fmt.Sprintf(", %d", s.N)
	case "mark":
		args += ", " + lang.Quote(s.Mark)
	case "nmark":
		args += fmt.Sprintf(", %d, %s", s.N, lang.Quote(s.Mark))
	case "columns":
		args += ", [" + strings.Trim(strings.ReplaceAll(fmt.Sprint(s.Columns), " ", ", "), "[]") + "]"
	}
	return s.Name + "(" + args + ")"
}

// columns keeps the columns in that order; every row must have them.
func (s Step) columns(t Table) (out Table, ok bool) {
	for _, row := range t {
		var made []string
		for _, i := range s.Columns {
			if i >= len(row) {
				return nil, false
			}
			made = append(made, row[i])
		}
		out = append(out, made)
	}
	return out, true
}

// skip drops the first N rows.
func (s Step) skip(t Table) (Table, bool) { return t[min(s.N, len(t)):], len(t) > s.N }

// withCell keeps the rows whose cell N isn't empty.
func (s Step) withCell(t Table) (out Table, ok bool) {
	for _, row := range t {
		if s.N < len(row) && row[s.N] != "" {
			out = append(out, row)
		}
	}
	return out, true
}

// fill gives an empty cell N what stands above it.
func (s Step) fill(t Table) (out Table, ok bool) {
	last := ""
	for _, row := range t {
		if s.N >= len(row) {
			return nil, false
		}
		made := slices.Clone(row)
		if made[s.N] == "" {
			made[s.N] = last
		}
		last = made[s.N]
		out = append(out, made)
	}
	return out, true
}

// fold makes a row of each cell after the first N, with those before it.
func (s Step) fold(t Table) (out Table, ok bool) {
	for _, row := range t {
		if len(row) <= s.N {
			return nil, false
		}
		for _, cell := range row[s.N:] {
			out = append(out, append(slices.Clone(row[:s.N]), cell))
		}
	}
	return out, true
}

// foldHeader is fold with the first row's cell between.
func (s Step) foldHeader(t Table) (out Table, ok bool) {
	for _, row := range t[1:] {
		if len(row) != len(t[0]) || len(row) <= s.N {
			return nil, false
		}
		for i := s.N; i < len(row); i++ {
			out = append(out, append(slices.Clone(row[:s.N]), t[0][i], row[i]))
		}
	}
	return out, true
}

// wrap joins each N rows.
func (s Step) wrap(t Table) (out Table, ok bool) {
	if len(t)%s.N != 0 {
		return nil, false
	}
	for i := 0; i < len(t); i += s.N {
		out = append(out, slices.Concat(t[i:i+s.N]...))
	}
	return out, true
}

// wrapSame joins neighbouring rows whose first N cells are the same, which are
// kept once.
func (s Step) wrapSame(t Table) (out Table, ok bool) {
	for i, row := range t {
		if len(row) <= s.N {
			return nil, false
		}
		if i > 0 && slices.Equal(row[:s.N], t[i-1][:s.N]) {
			out[len(out)-1] = append(out[len(out)-1], row[s.N:]...)
		} else {
			out = append(out, slices.Clone(row))
		}
	}
	return out, true
}

// wrapBlank joins the rows between rows of empty cells.
func (s Step) wrapBlank(t Table) (out Table, ok bool) {
	fresh := true
	for _, row := range t {
		switch {
		case blank(row):
			fresh = true
		case fresh:
			out, fresh = append(out, slices.Clone(row)), false
		default:
			out[len(out)-1] = append(out[len(out)-1], row...)
		}
	}
	return out, true
}

func blank(row []string) bool { return strings.Join(row, "") == "" }

func (s Step) oneRow(t Table) (Table, bool) { return Table{slices.Concat(t...)}, true }

// transpose turns rows into columns; all must be of one length.
func (s Step) transpose(t Table) (out Table, ok bool) {
	for i := range t[0] {
		var made []string
		for _, row := range t {
			if len(row) != len(t[0]) {
				return nil, false
			}
			made = append(made, row[i])
		}
		out = append(out, made)
	}
	return out, true
}

// compact drops the empty cells, and rows of nothing else.
func (s Step) compact(t Table) (out Table, ok bool) {
	for _, row := range t {
		if kept := slices.DeleteFunc(slices.Clone(row), func(cell string) bool { return cell == "" }); len(kept) > 0 {
			out = append(out, kept)
		}
	}
	return out, true
}

// carry puts the cells of a row whose cell N is empty before the rows that
// follow it.
func (s Step) carry(t Table) (out Table, ok bool) {
	var head []string
	for _, row := range t {
		if s.N >= len(row) {
			return nil, false
		}
		if row[s.N] == "" {
			head = slices.DeleteFunc(slices.Clone(row), func(cell string) bool { return cell == "" })
			continue
		}
		if head == nil {
			return nil, false
		}
		out = append(out, slices.Concat(head, row))
	}
	return out, true
}

// split splits cell N at a mark; every row must have as many pieces.
func (s Step) split(t Table) (out Table, ok bool) {
	count := 0
	for _, row := range t {
		if s.N >= len(row) {
			return nil, false
		}
		pieces := strings.Split(row[s.N], s.Mark)
		if count == 0 {
			count = len(pieces)
		}
		if len(pieces) != count || count < 2 {
			return nil, false
		}
		out = append(out, slices.Concat(row[:s.N], pieces, row[s.N+1:]))
	}
	return out, true
}

// splitAll splits every cell at a mark.
func (s Step) splitAll(t Table) (out Table, ok bool) {
	for _, row := range t {
		var made []string
		for _, cell := range row {
			made = append(made, strings.Split(cell, s.Mark)...)
		}
		out = append(out, made)
	}
	return out, true
}

// pairColumns puts the cells of each two rows next to each other.
func (s Step) pairColumns(t Table) (out Table, ok bool) {
	for i := 0; i < len(t); i += 2 {
		if i+1 == len(t) || len(t[i]) != len(t[i+1]) {
			return nil, false
		}
		var made []string
		for j := range t[i] {
			made = append(made, t[i][j], t[i+1][j])
		}
		out = append(out, made)
	}
	return out, true
}

func (s Step) trimCells(t Table) (out Table, ok bool) {
	for _, row := range t {
		var made []string
		for _, cell := range row {
			made = append(made, strings.Trim(cell, " \t\n\f\r"))
		}
		out = append(out, made)
	}
	return out, true
}
