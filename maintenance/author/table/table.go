// Package table finds programs from tables to tables by example. A table is a
// list of rows of texts.
//
// A program is a few steps (fold, wrap, fill, split, …) and then a choice of
// columns. The search goes breadth-first over steps, on the smallest examples,
// and keeps every program of the fewest steps that is right on all of them; a
// table is answered only where all those programs agree and where a program was
// right on an example that it wasn't searched on. Library holds the same steps in
// starlark. The package reads no conversation; cells are only moved, joined and
// split at marks, never computed.
package table

import (
	_ "embed" // the library
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Table is a list of rows. Rows may differ in length.
type Table [][]string

// Example is a table with the certified one that it becomes.
type Example struct {
	ID      string
	In, Out Table
}

// Library is the helper file with the steps.
//
//go:embed tables.star
var Library string

// LibraryFile is the helper file's name.
const LibraryFile = "tables.star"

// Rules are the programs that must agree.
type Rules struct {
	Programs [][]Step
	Widths   []int // of the examples' rows
	Foretold int
	Support  int
}

// Limits of the search.
const (
	maxSteps    = 3
	maxStates   = 12_000
	maxCells    = 4_000
	maxPrograms = 8
	searched    = 2
)

// What Learn returns where there are no rules.
var (
	ErrNothing  = errors.New("no few steps make every table: only moving, folding, filling, wrapping and splitting are known")
	ErrUnproven = errors.New("too few tables to foretell one: certify more")
)

// Learn returns the programs of the fewest steps that are right on all examples.
func Learn(examples []Example) (*Rules, error) {
	list := slices.Clone(examples)
	slices.SortStableFunc(list, func(a, b Example) int { return size(a.In) - size(b.In) })
	if len(list) < searched+1 {
		return nil, ErrUnproven
	}
	if sameTable(list[0].In, list[1].In) {
		return nil, ErrUnproven
	}
	r := &Rules{Support: len(list), Widths: widths(list)}
	shown := slices.Clone(list[:searched])
	for len(shown) < len(list) {
		programs := search(shown)
		right := slices.DeleteFunc(slices.Clone(programs), func(p []Step) bool { return wrongOn(p, list) >= 0 })
		if len(right) > 0 {
			r.Programs, r.Foretold = right[:min(len(right), maxPrograms)], len(list)-len(shown)
			return r, nil
		}
		if len(programs) == 0 {
			return nil, ErrNothing
		}
		shown = append(shown, list[wrongOn(programs[0], list)])
	}
	return nil, ErrUnproven
}

// widths returns the lengths of the rows that the examples have.
func widths(list []Example) (all []int) {
	for _, e := range list {
		for _, row := range e.In {
			all = append(all, len(row))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// wrongOn returns the first example that the program isn't right on, or -1.
func wrongOn(program []Step, list []Example) int {
	return slices.IndexFunc(list, func(e Example) bool { return !gives(program, e) })
}

func gives(program []Step, e Example) bool {
	got, ok := run(program, e.In)
	return ok && sameTable(got, e.Out)
}

func size(t Table) (n int) {
	for _, row := range t {
		n += len(row)
	}
	return n
}

func sameTable(a, b Table) bool {
	return slices.EqualFunc(a, b, func(x, y []string) bool { return slices.Equal(x, y) })
}

// run applies the steps; it is false where one doesn't apply.
func run(program []Step, t Table) (Table, bool) {
	for _, step := range program {
		var ok bool
		if t, ok = step.Apply(t); !ok {
			return nil, false
		}
	}
	return t, true
}

// Answer returns the table on which all programs agree, or false and why there
// is none.
func (r *Rules) Answer(t Table) (Table, bool, string) {
	if len(t) == 0 {
		return nil, false, "no rows"
	}
	for _, row := range t {
		if !slices.Contains(r.Widths, len(row)) {
			return nil, false, fmt.Sprintf("no example has a row of %d cells", len(row))
		}
	}
	var settled Table
	for i, program := range r.Programs {
		got, ok := run(program, t)
		switch {
		case !ok:
			return nil, false, "a step doesn't apply to this table"
		case i > 0 && !sameTable(got, settled):
			return nil, false, "two readings of the examples differ on this table"
		}
		settled = got
	}
	return settled, true, ""
}

// key names a tuple of tables.
func key(tables []Table) string {
	var b strings.Builder
	for _, t := range tables {
		for _, row := range t {
			for _, cell := range row {
				b.WriteString(cell + "\x00")
			}
			b.WriteByte(1)
		}
		b.WriteByte(2)
	}
	return b.String()
}
