package synth

import (
	"fmt"
	"strings"

	"signalbox/maintenance/author/lang"
)

// Limits of the questions.
const (
	maxQuestions     = 3
	maxQuestionBytes = 200
)

// Questions returns what a person could certify next to settle most: inputs
// like the examples on which the readings differ, with what they give.
func Questions(tree *Tree, guard Guard, examples []Example) (list []string) {
	var samples []sample
	for _, it := range distinct(examples) {
		samples = append(samples, sample{row: it.row})
	}
	seen := map[string]bool{}
	for _, row := range probes(samples) {
		columns := make([]string, len(row))
		for i, t := range row {
			columns[i] = t.S
		}
		if len(list) == maxQuestions || !guard.Accepts(columns) {
			continue
		}
		_, ok, note := tree.Answer(lang.NewRow(columns))
		question := fmt.Sprintf("%q: %s", columns, note)
		if ok || seen[note] || !strings.HasPrefix(note, "two readings") || len(question) > maxQuestionBytes {
			continue
		}
		seen[note] = true
		list = append(list, question)
	}
	return list
}
