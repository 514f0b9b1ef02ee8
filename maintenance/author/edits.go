package author

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"signalbox/maintenance/author/emit"
	"signalbox/maintenance/author/lang"
	"signalbox/maintenance/author/prompt"
	"signalbox/maintenance/author/synth"
	"signalbox/rule"
)

var errEdit = errors.New("the tasks don't all change one line with a key in one file, at a path and a key that are fixed or named by the task")

// change is what one case does to its files.
type change struct {
	path, key, old, new string
	columns             []string
}

// editStudy learns rules that change one line of one file.
func (m material) editStudy(positive, negative []briefCase) *study {
	r := emit.Rule{Family: m.Family, Edit: &emit.Edit{}}
	changes, err := changesOf(&r, positive)
	if err != nil {
		return &study{err: err}
	}
	var paths, keys []string
	var examples, lines, given []synth.Example
	for i, c := range changes {
		paths, keys = append(paths, c.path), append(keys, c.key)
		id := positive[i].ID
		examples = append(examples, synth.Example{ID: id, Columns: append([]string{c.old}, c.columns...), Target: synth.Target{Form: "s", Text: []string{c.new}}})
		lines = append(lines, synth.Example{ID: id, Columns: []string{c.old}})
		given = append(given, synth.Example{ID: id, Columns: c.columns})
	}
	var pathOK, keyOK bool
	r.Edit.Path, r.Edit.PathColumn, pathOK = fixedOrNamed(paths, changes)
	r.Edit.Key, r.Edit.KeyColumn, keyOK = fixedOrNamed(keys, changes)
	if !pathOK || !keyOK {
		return &study{err: errEdit}
	}
	if r.Tree, err = synth.Learn(examples, m.Settings); err != nil {
		return &study{err: fmt.Errorf("%d examples: %w", len(examples), err)}
	}
	r.Guard, r.Edit.Line = synth.NewGuard(given, m.Caution), synth.NewGuard(lines, m.Caution)
	if err := m.separate(&r, given, answeredEdits(r, negative)); err != nil {
		return &study{err: err}
	}
	return &study{rule: r, summary: summary(m.Family, len(examples))}
}

// answeredEdits returns the cases that the rule gives a change for.
func answeredEdits(r emit.Rule, cases []briefCase) []briefCase {
	return slices.DeleteFunc(slices.Clone(cases), func(c briefCase) bool {
		_, answers := editOf(r, c.Task)
		return !answers
	})
}

// editOf returns what the rule's executor does to a task's files, and false
// where it abstains.
func editOf(r emit.Rule, task rule.Task) (map[string]*string, bool) {
	given, ok := columnsOf(r, task.Document())
	if !ok || !r.Guard.Accepts(given) {
		return nil, false
	}
	path, key := fixedOr(r.Edit.Path, r.Edit.PathColumn, given), fixedOr(r.Edit.Key, r.Edit.KeyColumn, given)
	text, exists := task.Files[path]
	lines := strings.Split(text, "\n")
	at, only := onlyKeyed(lines, key)
	if !exists || !only || !r.Edit.Line.Accepts([]string{lines[at]}) {
		return nil, false
	}
	target, ok, _ := r.Tree.Answer(lang.NewRow(append([]string{lines[at]}, given...)))
	if !ok {
		return nil, false
	}
	lines[at] = target.Text[0]
	after := strings.Join(lines, "\n")
	return map[string]*string{path: &after}, true
}

func fixedOr(text string, column int, given []string) string {
	if column < 0 {
		return text
	}
	return given[column]
}

// onlyKeyed returns the only line with the key.
func onlyKeyed(lines []string, key string) (int, bool) {
	at := slices.IndexFunc(lines, func(line string) bool { return keyOf(line) == key })
	return at, key != "" && at >= 0 && !slices.ContainsFunc(lines[at+1:], func(line string) bool { return keyOf(line) == key })
}

// changesOf returns what each case changes, with the texts that the trigger
// will hand over.
func changesOf(r *emit.Rule, positive []briefCase) (list []change, err error) {
	var instructions []string
	for _, c := range positive {
		instructions = append(instructions, c.Task.Instruction)
	}
	if r.Template, err = prompt.Learn(instructions); err != nil {
		return nil, err
	}
	if r.Input, err = inputForm(positive); err != nil {
		return nil, err
	}
	for _, c := range positive {
		made, ok := changeOf(c)
		columns, fits := columnsOf(*r, c.Task.Document())
		if !ok || !fits {
			return nil, errEdit
		}
		made.columns = columns
		list = append(list, made)
	}
	return list, nil
}

var keyed = regexp.MustCompile(`\A(?:` + emit.KeyPattern + `)\z`)

// changeOf returns the one line that a case changes, where it is the only one
// with its key.
func changeOf(c briefCase) (change, bool) {
	if len(c.Outcome.Files) != 1 || c.Outcome.Output.Present() {
		return change{}, false
	}
	for path, text := range c.Outcome.Files {
		before, exists := c.Task.Files[path]
		if !exists || text == nil {
			return change{}, false
		}
		old, new := strings.Split(before, "\n"), strings.Split(*text, "\n")
		at, ok := onlyDifference(old, new)
		if !ok {
			return change{}, false
		}
		key := keyOf(old[at])
		_, only := onlyKeyed(old, key)
		return change{path: path, key: key, old: old[at], new: new[at]}, only
	}
	return change{}, false
}

func keyOf(line string) string {
	if m := keyed.FindStringSubmatch(line); m != nil {
		return m[1]
	}
	return ""
}

func onlyDifference(old, new []string) (int, bool) {
	at := -1
	for i := 0; i < len(old) && len(old) == len(new); i++ {
		if old[i] == new[i] {
			continue
		}
		if at >= 0 {
			return 0, false
		}
		at = i
	}
	return at, at >= 0
}

// fixedOrNamed says whether the texts are all the same, or else which column
// always holds them.
func fixedOrNamed(texts []string, changes []change) (fixed string, column int, ok bool) {
	if len(slices.Compact(slices.Clone(texts))) == 1 {
		return texts[0], -1, true
	}
	for column := range changes[0].columns {
		named := true
		for i, c := range changes {
			named = named && c.columns[column] == texts[i]
		}
		if named {
			return "", column, true
		}
	}
	return "", 0, false
}
