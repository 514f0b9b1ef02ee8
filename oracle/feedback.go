package oracle

import (
	"slices"

	"signalbox/rule"
)

// Feedback is what an author may be told of a report: refusals on visible cases
// in full, those on hidden cases by kind and number only.
type Feedback struct {
	Shown  []Refusal
	Hidden map[Kind]int
}

// Feedback returns what the author of a rule may be told. A floor that is missed
// on hidden cases is a hidden refusal, without its numbers. Whoever reveals a
// hidden case takes it from Report.Refusals, and records that.
func (r *Report) Feedback(name rule.Name) Feedback {
	feedback := Feedback{Shown: []Refusal{}, Hidden: map[Kind]int{}}
	family := r.familyServed(name)
	for _, refusal := range r.Refusals {
		if refusal.Rule != name && !slices.Contains(refusal.Rivals, name) && (refusal.Rule != "" || refusal.Family != family) {
			continue
		}
		if refusal.Part == rule.AdmissionPart {
			feedback.Hidden[refusal.Kind]++
		} else {
			feedback.Shown = append(feedback.Shown, refusal)
		}
	}
	return feedback
}

func (r *Report) familyServed(name rule.Name) rule.Family {
	for _, row := range r.Rules {
		if row.Rule == name {
			return row.Family
		}
	}
	return ""
}
