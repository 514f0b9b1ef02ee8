package synth

import (
	"hash/fnv"
	"slices"
	"strings"
	"unicode"

	"signalbox/maintenance/author/lang"
)

// Limits of what a rule keeps. More alternatives would only repeat, on inputs
// like the examples, what these say already.
const (
	maxProbed    = 6
	maxProbes    = 120
	keptExprs    = 10
	keptReadings = 6
)

// probes returns inputs like the samples' that differ in what the samples have
// in common: other letters, digits and lengths, a word or a mark more or less.
func probes(samples []sample) (rows []lang.Row) {
	chosen := spread(samples, maxProbed)
	for n, s := range chosen {
		other := chosen[(n+1)%len(chosen)]
		for column := range s.row {
			for _, text := range mutations(s.row[column].S, other.row[column].S) {
				columns := make([]string, len(s.row))
				for i, t := range s.row {
					columns[i] = t.S
				}
				columns[column] = text
				rows = append(rows, lang.NewRow(columns))
			}
		}
	}
	step := max(1, (len(rows)+maxProbes-1)/maxProbes)
	kept := named(chosen)
	for i := 0; i < len(rows); i += step {
		kept = append(kept, rows[i])
	}
	for _, s := range samples {
		kept = append(kept, s.row)
	}
	return kept
}

// named returns inputs with words that some changes of letters know: without
// them the changes would seem to be the same.
func named(samples []sample) (rows []lang.Row) {
	for _, s := range samples[:min(len(samples), 2)] {
		for column := range s.row {
			words := s.row[column].Tokens(lang.Letters)
			if len(words) == 0 {
				continue
			}
			for _, word := range []string{"of", "uk"} {
				for _, at := range []int{words[0].From, words[len(words)-1].From} {
					columns := make([]string, len(s.row))
					for i, t := range s.row {
						columns[i] = t.S
					}
					columns[column] = columns[column][:at] + word + " " + columns[column][at:]
					rows = append(rows, lang.NewRow(columns))
				}
			}
		}
	}
	return rows
}

// mutations returns changed forms of s, some with a part of other.
func mutations(s, other string) (list []string) {
	for _, by := range []rune{1, 3, 4, 7} {
		list = append(list, strings.Map(func(r rune) rune { return turn(r, by) }, s))
	}
	list = append(list, strings.Map(rotate, s), double(s), strings.ToUpper(s), strings.ToLower(s), lang.TitleCase.Apply(s), halve(s))
	words, others := strings.Fields(s), strings.Fields(other)
	if len(words) > 1 {
		list = append(list, strings.Join(words[1:], " "), strings.Join(words[:len(words)-1], " "))
	}
	if len(words) > 0 && len(others) > 0 {
		list = append(list, s+" "+others[len(others)-1], others[0]+" "+s, strings.Replace(s, words[0], others[0], 1))
	}
	for _, mark := range marks(s) {
		if len(list) > 24 {
			break
		}
		at := strings.Index(s, mark)
		last := strings.LastIndex(s, mark)
		list = append(list, s[:at]+s[at+len(mark):], s[:at]+"ab7"+s[at:], s[:last]+mark+"5c"+s[last:], strings.Replace(s, mark, mark+mark, 1))
		if cross := strings.Index(other, mark); cross >= 0 {
			list = append(list, s[:at]+other[cross:], other[:cross]+s[at:])
		}
	}
	return slices.DeleteFunc(list, func(text string) bool { return text == s || text == "" })
}

// turn changes digits.
func turn(r, by rune) rune {
	if r >= '0' && r <= '9' {
		return '0' + (r-'0'+by)%10
	}
	return r
}

// rotate changes letters and digits, and keeps their kind.
func rotate(r rune) rune {
	switch {
	case r >= 'a' && r <= 'z':
		return 'a' + (r-'a'+7)%26
	case r >= 'A' && r <= 'Z':
		return 'A' + (r-'A'+7)%26
	}
	return turn(r, 3)
}

// double repeats each run of letters or digits.
func double(s string) string { return eachRun(s, func(run string) string { return run + run }) }

// halve keeps the first character of each run of letters or digits.
func halve(s string) string {
	return eachRun(s, func(run string) string { return string([]rune(run)[:1]) })
}

func eachRun(s string, change func(string) string) string {
	var b, run strings.Builder
	flush := func() {
		if run.Len() > 0 {
			b.WriteString(change(run.String()))
			run.Reset()
		}
	}
	class := 0
	for _, r := range s {
		next := 0
		if unicode.IsLetter(r) {
			next = 1
		} else if unicode.IsDigit(r) {
			next = 2
		}
		if next != class {
			flush()
		}
		class = next
		if class == 0 {
			b.WriteRune(r)
		} else {
			run.WriteRune(r)
		}
	}
	flush()
	return b.String()
}

// thin drops the alternatives that say the same as an earlier one on every
// probe, and then the dearest ones.
func (l *learner) thin(readings []*Reading, rows []lang.Row) (kept []*Reading) {
	seen := map[uint64]bool{}
	for _, r := range readings {
		for i, part := range r.Parts {
			if part.Exprs != nil {
				r.Parts[i].Exprs = l.thinExprs(part.Exprs, rows)
			}
		}
		print := l.print(rows, func(row lang.Row) (string, bool) {
			text, ok, _ := r.settle(row)
			return text, ok
		})
		if !seen[print] && len(kept) < keptReadings {
			kept = append(kept, r)
		}
		seen[print] = true
	}
	return kept
}

func (l *learner) thinExprs(exprs []lang.Expr, rows []lang.Row) (kept []lang.Expr) {
	seen := map[uint64]bool{}
	for _, e := range exprs {
		print := l.print(rows, e.Eval)
		if !seen[print] && len(kept) < keptExprs {
			kept = append(kept, e)
		}
		seen[print] = true
	}
	return kept
}

// print returns a fingerprint of what eval gives on the rows.
func (l *learner) print(rows []lang.Row, eval func(lang.Row) (string, bool)) uint64 {
	h := fnv.New64a()
	for _, row := range rows {
		l.budget.spend(4)
		text, ok := eval(row)
		if !ok {
			text = "\x00"
		}
		_, _ = h.Write([]byte(text)) // a hash never fails
		_, _ = h.Write([]byte{1})
	}
	return h.Sum64()
}

// Mutations returns texts like s that differ in what a program might rely on.
func Mutations(s string) []string { return mutations(s, s) }
