package synth

import (
	"encoding/binary"
	"strconv"
	"strings"

	"signalbox/maintenance/author/lang"
)

// arithmetic is an operation with its price.
type arithmetic struct {
	do    lang.Arithmetic
	price int
}

var operations = allOperations()

// allOperations returns what a number may go through, plainest first.
func allOperations() []arithmetic {
	list := []arithmetic{{}}
	for _, power := range []int{1, 2, 3, 6, 9, -1, -2, -3, -6, -9} {
		list = append(list, arithmetic{lang.Arithmetic{Power: power}, 100})
	}
	units := []lang.Decimal{{N: 1, K: 2}, {N: 5, K: 2}, {N: 1, K: 1}, {N: 25, K: 2}, {N: 5, K: 1}, {N: 1}, {N: 2}, {N: 5}, {N: 10}, {N: 15},
		{N: 20}, {N: 25}, {N: 30}, {N: 50}, {N: 60}, {N: 100}, {N: 250}, {N: 500}, {N: 1000}, {N: 10000}, {N: 100000}}
	for _, unit := range units {
		for _, mode := range []lang.Mode{lang.Floor, lang.Ceil, lang.Half, lang.Trunc, lang.Even} {
			list = appendRounding(list, lang.Arithmetic{Mode: mode, Unit: unit})
		}
	}
	return list
}

func appendRounding(list []arithmetic, do lang.Arithmetic) []arithmetic {
	price := 90
	if do.Mode == lang.Trunc || do.Mode == lang.Even {
		price = 130
	}
	list = append(list, arithmetic{do, price})
	if do.Mode != lang.Floor && do.Mode != lang.Ceil {
		return list
	}
	for _, steps := range []int64{1, -1} {
		do.Steps = steps
		list = append(list, arithmetic{do, price + 40})
	}
	if do.Unit.K == 0 && do.Unit.N >= 2 {
		do.Steps, do.Plus = 1, -1
		list = append(list, arithmetic{do, price + 50})
		do.Steps, do.Plus = 0, 1
		list = append(list, arithmetic{do, price + 60})
		do.Steps, do.Plus = -1, 1
		list = append(list, arithmetic{do, price + 60})
		if do.Mode == lang.Floor && do.Unit.N >= 10 {
			do.Steps, do.Plus, do.Before = 1, -1, 1 // where the last number of a range is the next one's
			list = append(list, arithmetic{do, price + 90})
		}
	}
	return list
}

// format is a way to write a number with its price.
type format struct {
	f     lang.NumberFormat
	price int
}

var formats = allFormats()

func allFormats() (list []format) {
	add := func(f lang.NumberFormat, price int) { list = append(list, format{f, price}) }
	for places := -1; places <= 9; places++ {
		price := 0
		if places >= 0 {
			price = 20 + 2*places
		}
		add(lang.NumberFormat{Places: places}, price)
		add(lang.NumberFormat{Places: places, Comma: true}, price+60)
		add(lang.NumberFormat{Places: places, Plain: true}, price+50)
		for _, mark := range []string{",", ".", " ", "'"} {
			add(lang.NumberFormat{Places: places, Group: mark, Comma: mark == "."}, price+40)
		}
		add(lang.NumberFormat{Places: places, Group: ",", Lakh: true}, price+50)
	}
	for width := 2; width <= 12; width++ {
		for places := -1; places <= 3; places++ {
			add(lang.NumberFormat{Places: places, Width: width}, 60+2*width+2*places)
		}
	}
	return list
}

// numbers adds number tokens, computed with and written again.
func (s *space) numbers(column int) {
	if !strings.ContainsAny(s.samples[0].out, "0123456789") {
		return
	}
	seen := map[string]bool{}
	for _, class := range []lang.Class{lang.Number, lang.Digits} {
		for _, n := range []int{1, -1, 2, 3, 4} {
			source := &lang.NumberOf{Column: column, Class: class, Nth: n}
			read, key, ok := s.read(source)
			if !ok {
				continue
			}
			price := 140 + 30 + countPrice(n) + 10*int(class-lang.Digits)/int(lang.Number)
			if seen[key] {
				price += 40
			}
			seen[key] = true
			s.number(source, read, price)
		}
	}
}

// read returns the numbers that the source reads in the samples, and their
// name.
func (s *space) read(source *lang.NumberOf) (list []lang.Decimal, key string, ok bool) {
	for _, sample := range s.samples {
		d, ok := source.Read(sample.row)
		if !ok {
			return nil, "", false
		}
		list = append(list, d)
	}
	return list, nameOf(list), true
}

func nameOf(list []lang.Decimal) string {
	var key []byte
	for _, d := range list {
		key = binary.AppendVarint(binary.AppendVarint(key, d.N), int64(d.K))
	}
	return string(key)
}

// written is a format with what it makes of the samples' numbers.
type written struct {
	format
	values []string
}

// number adds what every operation and format make of the numbers that the
// source reads.
func (s *space) number(source *lang.NumberOf, read []lang.Decimal, price int) {
	digits := make([]string, len(s.samples))
	for i, sample := range s.samples {
		digits[i] = digitsOf(sample.out)
	}
	known := map[string][]written{}
	for _, op := range operations {
		results, ok := s.operate(op.do, read, digits)
		if !ok {
			continue
		}
		key := nameOf(results)
		list, done := known[key]
		if !done {
			list = s.write(results)
			known[key] = list
		}
		if op.do.Power != 0 {
			s.try(&lang.NumberOf{Column: source.Column, Class: source.Class, Nth: source.Nth,
				Do: op.do, Format: lang.NumberFormat{Places: -1, Kept: true}, Price: price + op.price + 20})
		}
		for _, w := range list {
			s.budget.spend(4)
			s.add(&lang.NumberOf{Column: source.Column, Class: source.Class, Nth: source.Nth,
				Do: op.do, Format: w.f, Price: price + op.price + w.price}, w.values)
		}
	}
}

// operate applies an operation to all numbers. It is false where no format can
// make an output of one of the results.
func (s *space) operate(do lang.Arithmetic, read []lang.Decimal, digits []string) ([]lang.Decimal, bool) {
	results := make([]lang.Decimal, len(read))
	for i, d := range read {
		result, ok := do.Apply(d)
		if !ok || !s.budget.spend(4) || !holdsWhole(digits[i], result) {
			return nil, false
		}
		results[i] = result
	}
	return results, true
}

// write returns the formats that make a part of every output.
func (s *space) write(results []lang.Decimal) (list []written) {
	for _, f := range formats {
		values := make([]string, len(results))
		for i, d := range results {
			s.budget.spend(1)
			values[i] = f.f.Write(d)
			if !strings.Contains(s.samples[i].out, values[i]) {
				values = nil
				break
			}
		}
		if values != nil {
			list = append(list, written{f, values})
		}
	}
	return list
}

// digitsOf returns the digits of s alone.
func digitsOf(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, s)
}

// holdsWhole says whether the digits may hold the whole part of d, rounded one
// way or the other: otherwise no format needs to be tried.
func holdsWhole(digits string, d lang.Decimal) bool {
	if d.N < 0 {
		d.N = -d.N
	}
	whole := d.N
	for range d.K {
		whole /= 10
	}
	return strings.Contains(digits, strconv.FormatInt(whole, 10)) || strings.Contains(digits, strconv.FormatInt(whole+1, 10))
}
