package author

import (
	"errors"
	"fmt"

	"signalbox/maintenance/author/emit"
	"signalbox/maintenance/author/prompt"
	"signalbox/maintenance/author/table"
	"signalbox/rule"
)

// tableOf returns a value as a table, and false where it's none.
func tableOf(v rule.Value) (table.Table, bool) {
	var t table.Table
	if !v.Present() || v.Decode(&t) != nil || len(t) == 0 {
		return nil, false
	}
	back, err := rule.ValueOf(t)
	return t, err == nil && back == v // null rows and cells are no table
}

// tableExamples returns the cases as tables, and false where one has none.
func tableExamples(positive []briefCase) (list []table.Example, ok bool) {
	for _, c := range positive {
		in, ok := tableOf(c.Task.Input)
		out, also := tableOf(c.Outcome.Output)
		if !ok || !also {
			return nil, false
		}
		list = append(list, table.Example{ID: c.ID, In: in, Out: out})
	}
	return list, true
}

// tableStudy learns rules from tables to tables.
func (m material) tableStudy(examples []table.Example, positive, negative []briefCase) *study {
	r := emit.Rule{Family: m.Family}
	var instructions []string
	for _, c := range positive {
		instructions = append(instructions, c.Task.Instruction)
	}
	var err error
	if r.Template, err = prompt.Learn(instructions); err != nil {
		return &study{err: err}
	}
	if len(r.Template.Slots) > 0 {
		return &study{err: errors.New("what is done to a table depends on the instruction")}
	}
	if r.Table, err = table.Learn(examples); err != nil {
		return &study{err: fmt.Errorf("%d examples: %w", len(examples), err)}
	}
	others := m.Neighbours
	for _, c := range negative {
		others = append(others[:len(others):len(others)], c.Task.Document())
	}
	for _, task := range others {
		if _, same := r.Template.Match(task.Instruction); same {
			r.Shared = true
		}
		if _, answers, _ := tableAnswer(r, task); answers {
			return &study{err: errApart}
		}
	}
	return &study{rule: r, summary: summary(m.Family, len(examples))}
}

// tableAnswer returns what the rule gives for a task, or false and why nothing.
func tableAnswer(r emit.Rule, task rule.Document) (rule.Value, bool, string) {
	t, ok := tableOf(task.Input)
	if _, same := r.Template.Match(task.Instruction); !ok || !same {
		return "", false, "another form"
	}
	out, ok, note := r.Table.Answer(t)
	if !ok {
		return "", false, note
	}
	v, err := rule.ValueOf(out)
	return v, err == nil, ""
}
