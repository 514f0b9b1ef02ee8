package synth

import (
	"slices"
	"strings"
	"unicode/utf8"

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
	{"every", []string{"2", "0"}, 260}, {"every", []string{"2", "1"}, 260}, {"every", []string{"3", "0"}, 280}, {"every", []string{"4", "0"}, 280}, {"every", []string{"8", "0"}, 290},
	{"initials", []string{""}, 160}, {"initials", []string{"."}, 160}, {"initials", []string{" "}, 165}, {"initials", []string{"-"}, 165},
}

const (
	maxSwaps  = 400
	swapPrice = 150
)

// changes adds the changes of a whole column.
func (s *space) changes(column int) {
	for _, c := range slices.Concat(plainChanges, s.swaps(column), s.replaced(column)) {
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

// replaced returns the changes of one piece of the column, of two characters or
// more that several samples have, that make an output of a sample.
func (s *space) replaced(column int) (list []change) {
	for _, sample := range s.samples {
		in, out := sample.row[column].S, sample.out
		from := commonPrefix(in, out)
		in, out = in[from:], out[from:]
		to := commonPrefix(reversed(in), reversed(out))
		in, out = in[:len(in)-to], out[:len(out)-to]
		args := []string{in, out}
		often := 0
		for _, other := range s.samples {
			if strings.Contains(other.row[column].S, in) {
				often++
			}
		}
		fresh := often >= 2 && !slices.ContainsFunc(list, func(c change) bool { return slices.Equal(c.args, args) })
		if utf8.RuneCountInString(in) >= 2 && len(in)+len(out) <= maxReplaced && fresh && utf8.ValidString(in+out) {
			price := swapPrice + 60 + 10*len(in) + 40*len(out)
			list = append(list, change{"swap", args, price}, change{"swap_once", args, price + 40})
		}
	}
	return list
}

// maxReplaced bounds what a replaced piece and its replacement may be, in bytes.
const maxReplaced = 30

func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

func reversed(s string) string {
	bytes := []byte(s)
	slices.Reverse(bytes)
	return string(bytes)
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
