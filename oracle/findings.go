package oracle

import (
	"cmp"
	"slices"
	"strings"

	"signalbox/rule"
)

// maxDetail bounds a refusal's detail, and maxShown its values, in bytes.
const (
	maxDetail = 400
	maxShown  = 16 << 10
)

// findings collects the refusals of one rule, at most maxListed of a kind and
// part. It isn't safe for concurrent use.
type findings struct {
	listed  []Refusal
	omitted int
	counts  map[Kind]int
	parts   map[listing]int
}

type listing struct {
	kind Kind
	part rule.Part
}

func newFindings() *findings {
	return &findings{counts: map[Kind]int{}, parts: map[listing]int{}}
}

func (f *findings) add(r Refusal) {
	f.counts[r.Kind]++
	at := listing{r.Kind, r.Part}
	if f.parts[at]++; f.parts[at] > maxListed {
		f.omitted++
		return
	}
	r.Detail = strings.ToValidUTF8(r.Detail[:min(len(r.Detail), maxDetail)], "")
	if len(r.Expected) > maxShown || len(r.Got) > maxShown {
		r.Expected, r.Got = "", ""
	}
	f.listed = append(f.listed, r)
}

// onCase adds a refusal that concerns a case.
func (f *findings) onCase(c rule.Case, r Refusal) {
	r.Family, r.Case, r.Part = c.Family, c.ID, c.Part
	f.add(r)
}

// sortRefusals puts refusals into the report's order: by rule, family, kind,
// case and probe.
func sortRefusals(refusals []Refusal) {
	slices.SortStableFunc(refusals, func(a, b Refusal) int {
		return cmp.Or(cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Family, b.Family), cmp.Compare(a.Kind, b.Kind),
			cmp.Compare(a.Case, b.Case), cmp.Compare(a.Part, b.Part), cmp.Compare(a.Probe, b.Probe))
	})
}

// shown returns v's canonical JSON for people; nothing where it has none.
func shown(v any) rule.Value {
	value, err := rule.ValueOf(v)
	if err != nil {
		return ""
	}
	return value
}
