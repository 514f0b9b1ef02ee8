package registry

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"maps"
	"slices"

	"signalbox/rule"
)

// Families below minHeld distinct positive tasks are all visible; below
// minSealed none of theirs is sealed.
const (
	minHeld   = 6
	minSealed = 12
)

// quotas returns how many of n distinct tasks are for the oracle alone and how
// many for the audit alone.
func quotas(n int) (admission, sealed int) {
	if n < minHeld {
		return 0, 0
	}
	admission = max(2, n/4)
	if n >= minSealed {
		sealed = n / 8
	}
	return admission, sealed
}

// taskKey names a task for the split.
type taskKey = rule.Digest

// kind of tasks: positive ones and those that must fall back are split apart.
type kind struct {
	family   rule.Family
	fallback bool
}

// split assigns a part to every case that has none. What has a part keeps it,
// and cases of one task are always on one side. tasks[i] names cases[i]'s task.
// The result doesn't depend on the order of the cases, and nobody who doesn't
// know the salt can foresee it.
func split(cases []rule.Case, tasks []taskKey, salt []byte) {
	assigned := map[taskKey]rule.Part{}
	all := map[kind]map[taskKey]bool{}
	for i, c := range cases {
		if c.Part != "" {
			assigned[tasks[i]] = c.Part
		}
		k := kind{c.Family, c.Fallback}
		if all[k] == nil {
			all[k] = map[taskKey]bool{}
		}
		all[k][tasks[i]] = true
	}
	for _, k := range slices.SortedFunc(maps.Keys(all), compareKinds) {
		splitKind(k, all[k], assigned, salt)
	}
	for i := range cases {
		if cases[i].Part == "" {
			cases[i].Part = assigned[tasks[i]]
		}
	}
}

func compareKinds(a, b kind) int {
	if a.family != b.family {
		return bytes.Compare([]byte(a.family), []byte(b.family))
	}
	if a.fallback == b.fallback {
		return 0
	}
	if b.fallback {
		return -1
	}
	return 1
}

// splitKind fills the quotas of one kind from its unassigned tasks, in order of
// their salted hashes.
func splitKind(k kind, tasks map[taskKey]bool, assigned map[taskKey]rule.Part, salt []byte) {
	admission, sealed := quotas(len(tasks))
	if k.fallback {
		sealed = 0
	}
	type ranked struct {
		task taskKey
		rank []byte
	}
	var free []ranked
	for task := range tasks {
		switch assigned[task] {
		case "":
			free = append(free, ranked{task, rank(task, salt)})
		case rule.AdmissionPart:
			admission--
		case rule.SealedPart:
			sealed--
		}
	}
	slices.SortFunc(free, func(a, b ranked) int { return bytes.Compare(a.rank, b.rank) })
	for _, r := range free {
		switch {
		case admission > 0:
			assigned[r.task], admission = rule.AdmissionPart, admission-1
		case sealed > 0:
			assigned[r.task], sealed = rule.SealedPart, sealed-1
		default:
			assigned[r.task] = rule.VisiblePart
		}
	}
}

func rank(task taskKey, salt []byte) []byte {
	mac := hmac.New(sha256.New, salt)
	mac.Write([]byte(task))
	return mac.Sum(nil)
}
