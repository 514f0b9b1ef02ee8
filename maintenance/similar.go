package maintenance

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"signalbox/rule"
)

// maxNeighbours is how many tasks of other families a prompt shows.
const maxNeighbours = 40

// neighbours returns visible tasks of other families, those with the most
// similar instructions first: near misses that a trigger has to leave alone. No
// instruction comes more than twice.
func neighbours(cases []rule.Case, family rule.Family) []rule.Document {
	mine := map[string]bool{}
	for _, c := range cases {
		if c.Family == family && c.Part == rule.VisiblePart {
			mine[c.Task.Instruction] = true
		}
	}
	texts := make([]map[string]bool, 0, len(mine))
	for text := range mine {
		texts = append(texts, wordsOf(text))
	}
	type ranked struct {
		task  rule.Document
		score float64
	}
	scores := map[string]float64{}
	var all []ranked
	for _, c := range cases {
		if c.Family == family || c.Part != rule.VisiblePart {
			continue
		}
		score, known := scores[c.Task.Instruction]
		if !known {
			score = nearest(wordsOf(c.Task.Instruction), texts)
			scores[c.Task.Instruction] = score
		}
		all = append(all, ranked{c.Task.Document(), score})
	}
	slices.SortFunc(all, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(b.score, a.score),
			cmp.Compare(a.task.Instruction, b.task.Instruction), cmp.Compare(a.task.Input, b.task.Input))
	})
	var chosen []rule.Document
	times := map[string]int{}
	for _, r := range all {
		if times[r.task.Instruction]++; times[r.task.Instruction] <= 2 && len(chosen) < maxNeighbours {
			chosen = append(chosen, r.task)
		}
	}
	return chosen
}

// similarRules returns the programs in order of likeness to the text.
func similarRules(programs []rule.Program, text string) []rule.Program {
	want := wordsOf(text)
	score := func(p rule.Program) float64 {
		about := string(p.Manifest.Family) + " " + p.Manifest.Summary + " " + strings.Join(p.Manifest.Guard.Equals, " ")
		return overlap(want, wordsOf(about))
	}
	sorted := slices.Clone(programs)
	slices.SortStableFunc(sorted, func(a, b rule.Program) int {
		return cmp.Or(cmp.Compare(score(b), score(a)), cmp.Compare(a.Manifest.Name, b.Manifest.Name))
	})
	return sorted
}

func nearest(words map[string]bool, texts []map[string]bool) float64 {
	best := 0.0
	for _, text := range texts {
		best = max(best, overlap(words, text))
	}
	return best
}

// overlap returns the share of all words of both that both have.
func overlap(a, b map[string]bool) float64 {
	both := 0
	for word := range a {
		if b[word] {
			both++
		}
	}
	if len(a)+len(b) == both {
		return 0
	}
	return float64(both) / float64(len(a)+len(b)-both)
}

func wordsOf(text string) map[string]bool {
	set := map[string]bool{}
	for _, word := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) {
		set[word] = true
	}
	return set
}
