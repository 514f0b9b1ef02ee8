package table

import (
	"slices"
	"strings"
)

// state is a tuple of tables, one an example, and how they were made.
type state struct {
	tables  []Table
	program []Step
}

// search returns the programs of the fewest steps that make every example's
// table.
func search(examples []Example) (found [][]Step) {
	var first state
	var goals []Table
	for _, e := range examples {
		first.tables, goals = append(first.tables, e.In), append(goals, e.Out)
	}
	seen := map[string]bool{key(first.tables): true}
	level := []state{first}
	for depth := 0; ; depth++ {
		for _, s := range level {
			found = append(found, finish(s, goals)...)
		}
		if len(found) > 0 || depth == maxSteps {
			return found
		}
		var next []state
		for _, s := range level {
			for _, step := range candidates(s.tables[0]) {
				made, ok := s.then(step)
				if !ok || len(next) >= maxStates || !made.holds(goals) {
					continue
				}
				if name := key(made.tables); !seen[name] {
					seen[name] = true
					next = append(next, made)
				}
			}
		}
		level = next
	}
}

// then applies a step to all tables.
func (s state) then(step Step) (state, bool) {
	made := state{program: append(slices.Clone(s.program), step)}
	for _, t := range s.tables {
		next, ok := step.Apply(t)
		if !ok || size(next) > maxCells {
			return state{}, false
		}
		made.tables = append(made.tables, next)
	}
	return made, true
}

// holds says whether every cell of the first goal is still part of a cell.
func (s state) holds(goals []Table) bool {
	cells := slices.Concat(s.tables[0]...)
	all := "\x00" + strings.Join(cells, "\x00") + "\x00"
	for _, row := range goals[0] {
		for _, cell := range row {
			if cell != "" && !strings.Contains(all, cell) {
				return false
			}
		}
	}
	return true
}

// candidates returns the steps that may apply to a table, plainest first.
func candidates(t Table) (list []Step) {
	width := 0
	for _, row := range t {
		width = max(width, len(row))
	}
	for _, name := range []string{"transpose", "compact", "one_row", "wrap_blank", "pair_columns", "trim_cells"} {
		list = append(list, Step{Name: name})
	}
	for n := 1; n <= 3; n++ {
		list = append(list, Step{Name: "skip", N: n})
	}
	for n := range min(width, 10) {
		for _, name := range []string{"with_cell", "fill", "carry", "fold", "fold_header"} {
			list = append(list, Step{Name: name, N: n})
		}
	}
	for n := 1; n <= 3; n++ {
		list = append(list, Step{Name: "wrap_same", N: n})
	}
	for n := 2; n <= min(len(t), 12); n++ {
		list = append(list, Step{Name: "wrap", N: n})
	}
	for _, mark := range marks(t) {
		list = append(list, Step{Name: "split_all", Mark: mark})
		for n := range min(width, 6) {
			list = append(list, Step{Name: "split", N: n, Mark: mark})
		}
	}
	return list
}

// marks returns what cells may be split at.
func marks(t Table) (list []string) {
	all := strings.Join(slices.Concat(t...), "")
	for _, mark := range []string{",", " ", ":", "-", "/", ";", "=", "|", ", ", " - ", ": ", "\n", "_"} {
		if strings.Contains(all, mark) {
			list = append(list, mark)
		}
	}
	return list
}

// finish returns the programs that end here: with the tables as they are, or
// with a choice of their columns.
func finish(s state, goals []Table) (found [][]Step) {
	exact := true
	for i, t := range s.tables {
		if len(t) != len(goals[i]) {
			return nil
		}
		exact = exact && sameTable(t, goals[i])
	}
	if exact {
		return [][]Step{s.program}
	}
	choices := s.choices(goals)
	for _, columns := range choices {
		found = append(found, append(slices.Clone(s.program), Step{Name: "columns", Columns: columns}))
	}
	return found
}

// choices returns the columns that give the goals: with the first that fits for
// each column of the goal, and with the last.
func (s state) choices(goals []Table) (list [][]int) {
	if len(goals[0]) == 0 {
		return nil
	}
	var first, last []int
	for j := range goals[0][0] {
		fitting := s.fitting(goals, j)
		if len(fitting) == 0 {
			return nil
		}
		first, last = append(first, fitting[0]), append(last, fitting[len(fitting)-1])
	}
	for _, goal := range goals {
		for _, row := range goal {
			if len(row) != len(first) {
				return nil
			}
		}
	}
	if slices.Equal(first, last) {
		return [][]int{first}
	}
	return [][]int{first, last}
}

// fitting returns the columns that are the goals' column j.
func (s state) fitting(goals []Table, j int) (list []int) {
	for i := range s.tables[0][0] {
		fits := true
		for n, goal := range goals {
			for k, row := range goal {
				from := s.tables[n][k]
				fits = fits && i < len(from) && j < len(row) && from[i] == row[j]
			}
		}
		if fits {
			list = append(list, i)
		}
	}
	return list
}
