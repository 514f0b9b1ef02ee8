package synth

import (
	"slices"

	"signalbox/maintenance/author/lang"
)

// change is a change of a whole column that the search knows.
type change struct {
	name  string
	args  []string
	price int
}

// plainChanges need nothing from the samples.
var plainChanges = []change{
	{"trim", nil, 100}, {"squeeze", nil, 130}, {"reverse_words", nil, 190},
	{"keep", []string{"DIGITS"}, 140}, {"keep", []string{"LETTERS"}, 150}, {"keep", []string{"ALNUM"}, 140},
	{"keep", []string{"UPPER"}, 160}, {"keep", []string{"LOWER"}, 180}, {"keep", []string{"WORD"}, 140}, {"keep", []string{"LINE"}, 170},
	{"drop", []string{"DIGITS"}, 160}, {"drop", []string{"PUNCT"}, 160}, {"drop", []string{"LETTERS"}, 170}, {"drop", []string{"LOWER"}, 190},
	{"initials", []string{""}, 160}, {"initials", []string{"."}, 160}, {"initials", []string{" "}, 165}, {"initials", []string{"-"}, 165},
}

const (
	maxSwaps  = 400
	swapPrice = 150
)

// changes adds the changes of a whole column.
func (s *space) changes(column int) {
	for _, c := range append(slices.Clone(plainChanges), s.swaps(column)...) {
		for letters := lang.Same; letters < lang.Cases; letters++ {
			s.try(&lang.Change{Column: column, Name: c.name, Args: c.args, Case: letters, Price: c.price})
		}
	}
}

// swaps returns the replacements of one mark by another: marks of any sample's
// column by marks of the first output, or by nothing.
func (s *space) swaps(column int) (list []change) {
	var from []string
	for _, sample := range s.samples {
		from = append(from, marks(sample.row[column].S)...)
	}
	slices.Sort(from)
	to := append([]string{""}, marks(s.samples[0].out)...)
	for _, a := range slices.Compact(from) {
		for _, b := range to {
			if a != b && len(list) < maxSwaps {
				list = append(list, change{"swap", []string{a, b}, swapPrice}, change{"swap_once", []string{a, b}, swapPrice + 40})
			}
		}
	}
	return list
}

// marks returns the characters of s that are neither letters nor digits, once
// each and in order.
func marks(s string) (list []string) {
	for _, r := range s {
		if !lang.IsLetterOrDigit(r) && !slices.Contains(list, string(r)) {
			list = append(list, string(r))
		}
	}
	slices.Sort(list)
	return list
}
