package oracle

import (
	"slices"

	"signalbox/rule"
)

// DropFailing returns the proposal without the rules that the report refuses.
// The caller checks it again, and drops again, until it passes or nothing is
// left. A rule is dropped for what it did itself; of two rules of a family that
// conflict, the one that covers less; of a family that misses the floor all
// rules, unless that may be the doing of rules which are dropped now.
func DropFailing(report *Report, p Proposal) Proposal {
	dropped := make(map[rule.Name]bool)
	for _, r := range report.Refusals {
		if r.Rule != "" && r.Kind != KindConflict && !(r.Kind == KindUncovered && report.spoiled(r.Family)) {
			dropped[r.Rule] = true
		}
	}
	for _, r := range report.Refusals {
		if r.Kind == KindConflict {
			report.dropRivals(append([]rule.Name{r.Rule}, r.Rivals...), dropped)
		}
	}
	direct := len(dropped) > 0
	for _, r := range report.Refusals {
		familyWide := r.Kind == KindFloor || r.Kind == KindUnheld
		if familyWide && !(direct && r.Kind == KindFloor && report.spoiled(r.Family)) {
			for _, name := range report.family(r.Family).Rules {
				dropped[name] = true
			}
		}
	}
	return p.without(dropped)
}

// dropRivals drops all but the one that covers most of the rules in a conflict.
func (r *Report) dropRivals(names []rule.Name, dropped map[rule.Name]bool) {
	names = slices.DeleteFunc(names, func(name rule.Name) bool { return dropped[name] })
	best := slices.MaxFunc(append(names, ""), func(a, b rule.Name) int { return r.covers(a) - r.covers(b) })
	for _, name := range names {
		if name != best {
			dropped[name] = true
		}
	}
}

// covers returns how many cases a rule covers; -1 where there is no such rule.
func (r *Report) covers(name rule.Name) int {
	for _, row := range r.Rules {
		if row.Rule == name {
			return row.Visible + row.Hidden
		}
	}
	return -1
}

func (r *Report) family(name rule.Family) FamilyReport {
	for _, f := range r.Families {
		if f.Family == name {
			return f
		}
	}
	return FamilyReport{Family: name}
}

// spoiled says whether cases of the family would come to something else without
// the rules of other families, or of its own, that stand in the way.
func (r *Report) spoiled(name rule.Family) bool {
	return r.family(name).Disturbed > 0 || slices.ContainsFunc(r.Refusals, func(refusal Refusal) bool {
		return refusal.Kind == KindConflict && refusal.Family == name
	})
}
