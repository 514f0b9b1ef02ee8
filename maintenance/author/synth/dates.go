package synth

import (
	"slices"

	"signalbox/maintenance/author/lang"
)

// clock is a change of the time of day with its price.
type clock struct {
	do    lang.Clock
	price int
}

var clocks = allClocks()

func allClocks() []clock {
	list := []clock{{}}
	for _, minutes := range []int{5, 10, 15, 20, 30, 60, 90, 120, 180, 240, 360, 720} {
		for i, mode := range []lang.Mode{lang.Floor, lang.Ceil, lang.Half} {
			for j, off := range []lang.Clock{{}, {Steps: 1}, {Steps: 1, Seconds: -60}, {Steps: 1, Seconds: -1}} {
				off.Minutes, off.Mode = minutes, mode
				list = append(list, clock{off, 70 + 10*i + 15*j})
			}
		}
	}
	return list
}

// dates adds the parts of dates that the column holds in every sample: of one
// layout, or of the several layouts that a mixed history needs.
func (s *space) dates(column int) {
	for i := range lang.Layouts {
		s.dateFields(&lang.DateOf{Column: column, Layouts: []*lang.Layout{&lang.Layouts[i]}, Price: 120 + 10 + i})
	}
	for i, layouts := range s.mixed(column) {
		s.dateFields(&lang.DateOf{Column: column, Layouts: layouts, Price: 120 + 40 + 10*len(layouts) + i})
	}
}

// mixed returns the sets of layouts that together read every sample. Of the
// layouts that can be mistaken for each other a set has at most one of each
// kind, and none that no sample needs.
func (s *space) mixed(column int) (sets [][]*lang.Layout) {
	for _, skip := range [][]string{{"DMY", "DDMMYYYY", "DMYY"}, {"MDY", "MMDDYYYY", "MDYY"}, {"MDY", "DDMMYYYY", "MDYY"}, {"DMY", "MMDDYYYY", "DMYY"}} {
		set := s.cover(column, skip)
		if len(set) < 2 || sameSet(sets, set) {
			continue
		}
		sets = append(sets, set)
		if other := otherCentury(set); other != nil && s.covers(column, other) {
			sets = append(sets, other)
		}
	}
	return sets
}

// otherCentury returns the set with the other reading of two-digit years, or
// nil where it has none.
func otherCentury(set []*lang.Layout) []*lang.Layout {
	other := slices.Clone(set)
	for i, layout := range set {
		if layout.Name != twoDigits {
			continue
		}
		for j := range lang.Layouts {
			if lang.Layouts[j].Name == twoDigits+"_30" {
				other[i] = &lang.Layouts[j]
				return other
			}
		}
	}
	return nil
}

const twoDigits = "DAY_MONTH_YY"

func (s *space) covers(column int, set []*lang.Layout) bool {
	source := &lang.DateOf{Column: column, Layouts: set}
	return !slices.ContainsFunc(s.samples, func(x sample) bool {
		_, ok := source.Read(x.row)
		return !ok
	})
}

func (s *space) cover(column int, skip []string) (set []*lang.Layout) {
	left := s.samples
	for i := range lang.Layouts {
		layout := &lang.Layouts[i]
		if layout.Name == "MONTH_YEAR" {
			break
		}
		if layout.Name == twoDigits+"_30" || layout.Name == skip[0] || layout.Name == skip[1] || layout.Name == skip[2] {
			continue
		}
		var rest []sample
		for _, sample := range left {
			s.budget.spend(4)
			if _, ok := layout.Read(sample.row[column].S); !ok {
				rest = append(rest, sample)
			}
		}
		if len(rest) < len(left) {
			set = append(set, layout)
		}
		left = rest
	}
	if len(left) > 0 {
		return nil
	}
	return set
}

func sameSet(sets [][]*lang.Layout, set []*lang.Layout) bool {
	for _, other := range sets {
		same := len(other) == len(set)
		for i := 0; same && i < len(set); i++ {
			same = other[i] == set[i]
		}
		if same {
			return true
		}
	}
	return false
}

// dateFields adds every field and clock of a source that reads all samples.
func (s *space) dateFields(source *lang.DateOf) {
	hours := true
	for _, sample := range s.samples {
		s.budget.spend(4)
		m, ok := source.Read(sample.row)
		if !ok {
			return
		}
		hours = hours && m.Hour >= 0
	}
	for i, c := range clocks {
		if i > 0 && !hours {
			return
		}
		for _, field := range lang.Fields {
			if i > 0 && !field.Field.OfClock() {
				continue
			}
			s.try(&lang.DateOf{Column: source.Column, Layouts: source.Layouts, Clock: c.do,
				Field: field.Field, Price: source.Price + c.price + field.Cost})
		}
	}
}
