package synth

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"signalbox/maintenance/author/lang"
)

// Limits of the positions of one column.
const (
	maxPlaces      = 420
	maxPerPlace    = 6
	maxLiterals    = 40
	maxCharacters  = 10
	maxShift       = 4
	shiftPrice     = 70
	shiftStepPrice = 12
)

// place is a tuple of offsets, one a sample, with the positions that name it.
type place struct {
	at    []int
	names []*lang.Position
}

// counts are the tokens that a position may be counted to.
var counts = []int{1, 2, 3, 4, 5, 6, -1, -2, -3}

func countPrice(n int) int {
	if n < 0 {
		return 5 + 12*(-n-1)
	}
	return 12 * (n - 1)
}

// positions returns all candidate positions in a column, unevaluated.
func (s *space) positions(column int) (all []*lang.Position) {
	all = append(all, &lang.Position{Anchor: lang.FromStart, Price: 5}, &lang.Position{Anchor: lang.FromEnd, Price: 5})
	for class := lang.Class(0); class < lang.Classes; class++ {
		all = appendEdges(all, lang.Position{Anchor: lang.AtToken, Class: class, Price: class.Cost()})
	}
	for _, literal := range s.literals(column) {
		price := 30
		if len(literal) > 1 {
			price = 45
		}
		all = appendEdges(all, lang.Position{Anchor: lang.AtLiteral, Literal: literal, Price: price})
	}
	for n := 1; n <= maxCharacters; n++ {
		all = append(all, &lang.Position{Anchor: lang.FromStart, Nth: n, Price: 80 + 6*n},
			&lang.Position{Anchor: lang.FromEnd, Nth: n, Price: 80 + 6*n})
	}
	return all
}

// appendEdges adds both edges of the tokens, and the places near the first and
// last ones.
func appendEdges(all []*lang.Position, p lang.Position) []*lang.Position {
	base := p.Price
	for _, n := range counts {
		for _, end := range []bool{false, true} {
			p.Nth, p.End, p.Shift, p.Price = n, end, 0, base+countPrice(n)
			edge := p
			all = append(all, &edge)
			if n > 3 || n < -2 || p.Anchor == lang.AtToken && p.Class == lang.Punct {
				continue
			}
			for shift := -maxShift; shift <= maxShift; shift++ {
				if shift == 0 {
					continue
				}
				moved := edge
				moved.Shift = shift
				moved.Price += shiftPrice + shiftStepPrice*max(shift, -shift)
				all = append(all, &moved)
			}
		}
	}
	return all
}

// literals returns punctuation and words that are in every sample's column.
func (s *space) literals(column int) (literals []string) {
	first := s.samples[0].row[column]
	candidates := map[string]bool{}
	for _, r := range first.S {
		if !lang.IsLetterOrDigit(r) {
			candidates[string(r)] = true
		}
	}
	for _, span := range gaps(first) {
		candidates[first.S[span.From:span.To]] = true
	}
	for _, span := range first.Tokens(lang.Alnum) {
		if span.To-span.From >= 2 {
			candidates[first.S[span.From:span.To]] = true
		}
	}
	for literal := range candidates {
		if s.everywhere(column, literal) {
			literals = append(literals, literal)
		}
	}
	sortLiterals(literals, first, s.samples[0].out)
	return literals[:min(len(literals), maxLiterals)]
}

// sortLiterals puts first what stands next to the output in the first sample,
// or where the output isn't a piece of it, the shortest.
func sortLiterals(literals []string, t *lang.Text, out string) {
	at := -1
	if out != "" {
		at = strings.Index(t.S, out)
	}
	distance := func(literal string) int {
		if at < 0 {
			return len(literal)
		}
		nearest := len(t.S)
		for _, span := range t.Literal(literal) {
			nearest = min(nearest, max(at-span.To, span.To-at), max(at+len(out)-span.From, span.From-at-len(out)))
		}
		return nearest
	}
	slices.SortFunc(literals, func(a, b string) int { return cmp.Or(distance(a)-distance(b), cmp.Compare(a, b)) })
}

func (s *space) everywhere(column int, literal string) bool {
	for _, sample := range s.samples {
		if !strings.Contains(sample.row[column].S, literal) {
			return false
		}
	}
	return true
}

// gaps returns the runs between letters and digits.
func gaps(t *lang.Text) (list []lang.Span) {
	at := 0
	for _, span := range append(slices.Clone(t.Tokens(lang.Alnum)), lang.Span{From: len(t.S), To: len(t.S)}) {
		if span.From > at {
			list = append(list, lang.Span{From: at, To: span.From})
		}
		at = span.To
	}
	return list
}

// places evaluates the positions and merges those that can't be told apart.
func (s *space) places(column int) []*place {
	byKey := map[string]*place{}
	var list []*place
	var key []byte
	for _, position := range s.positions(column) {
		at := make([]int, len(s.samples))
		key = key[:0]
		for i, sample := range s.samples {
			s.budget.spend(1)
			if at[i] = position.At(sample.row[column]); at[i] < 0 {
				break
			}
			key = append(strconv.AppendInt(key, int64(at[i]), 10), ',')
		}
		if at[len(at)-1] < 0 || slices.Contains(at, -1) {
			continue
		}
		if byKey[string(key)] == nil {
			byKey[string(key)] = &place{at: at}
			list = append(list, byKey[string(key)])
		}
		byKey[string(key)].names = append(byKey[string(key)].names, position)
	}
	for _, p := range list {
		slices.SortStableFunc(p.names, func(a, b *lang.Position) int { return a.Price - b.Price })
		p.names = p.names[:min(len(p.names), maxPerPlace)]
	}
	slices.SortStableFunc(list, func(a, b *place) int { return a.names[0].Price - b.names[0].Price })
	return list[:min(len(list), maxPlaces)]
}

// cuts adds the pieces between two places that are part of every output, in
// any case of letters.
func (s *space) cuts(column int) {
	places := s.places(column)
	reach := make([][]int, len(s.samples))
	for i, sample := range s.samples {
		reach[i] = reaches(sample.row[column].S, sample.out)
	}
	for _, a := range places {
		if !s.budget.spend(len(places)) {
			return
		}
		for _, b := range places {
			if between(a, b, reach) {
				s.cut(column, a, b)
			}
		}
	}
}

func between(a, b *place, reach [][]int) bool {
	for i, from := range a.at {
		if b.at[i] < from || b.at[i] > reach[i][from] {
			return false
		}
	}
	return true
}

// reaches returns for each offset of in how far a piece from there is part of
// out, whatever the case of its letters.
func reaches(in, out string) []int {
	low, lowOut := strings.ToLower(in), strings.ToLower(out)
	if len(low) != len(in) {
		low, lowOut = in, out
	}
	reach := make([]int, len(in)+1)
	end := 0
	for from := range low {
		end = max(end, from)
		for end < len(low) {
			_, size := utf8.DecodeRuneInString(low[end:])
			if !strings.Contains(lowOut, low[from:end+size]) {
				break
			}
			end += size
		}
		reach[from] = end
	}
	reach[len(in)] = len(in)
	return reach
}

func (s *space) cut(column int, a, b *place) {
	values := make([]string, len(s.samples))
	for letters := lang.Same; letters < lang.Cases; letters++ {
		changed := letters == lang.Same
		for i, sample := range s.samples {
			piece := sample.row[column].S[a.at[i]:b.at[i]]
			values[i] = letters.Apply(piece)
			changed = changed || values[i] != piece
		}
		if !changed || !s.useful(values) {
			continue
		}
		for x, from := range a.names {
			for y, to := range b.names {
				if x+y < maxPerPlace {
					s.add(&lang.Cut{Column: column, A: from, B: to, Case: letters}, values)
				}
			}
		}
	}
}
