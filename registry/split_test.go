package registry

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"signalbox/rule"
)

func TestQuotas(t *testing.T) {
	for n, want := range map[int][2]int{
		0: {0, 0}, 5: {0, 0}, 6: {2, 0}, 8: {2, 0}, 11: {2, 0}, 12: {3, 1}, 16: {4, 2}, 100: {25, 12},
	} {
		admission, sealed := quotas(n)
		if admission != want[0] || sealed != want[1] {
			t.Errorf("quotas(%d) = %d, %d: want %v", n, admission, sealed, want)
		}
	}
}

// drawCases draws cases of few families, some of one task.
func drawCases(t *rapid.T) ([]rule.Case, []taskKey) {
	n := rapid.IntRange(0, 60).Draw(t, "cases")
	cases, tasks := make([]rule.Case, n), make([]taskKey, n)
	for i := range n {
		fallback := rapid.IntRange(0, 4).Draw(t, "fallback") == 0
		number := rapid.IntRange(0, 40).Draw(t, "task")*2 + map[bool]int{true: 1}[fallback]
		cases[i] = rule.Case{ID: fmt.Sprint("c", i), Family: rule.Family([]string{"a", "b"}[number%4/2]), Fallback: fallback}
		tasks[i] = rule.DigestOf(fmt.Append(nil, number))
	}
	return cases, tasks
}

func partsOf(cases []rule.Case) map[string]rule.Part {
	parts := map[string]rule.Part{}
	for _, c := range cases {
		parts[c.ID] = c.Part
	}
	return parts
}

func TestSplitLaws(t *testing.T) {
	salt := []byte("salt")
	rapid.Check(t, func(t *rapid.T) {
		cases, tasks := drawCases(t)
		order := rapid.Permutation(slices.Collect(indices(len(cases)))).Draw(t, "order")
		shuffled, shuffledTasks := make([]rule.Case, len(cases)), make([]taskKey, len(cases))
		for i, at := range order {
			shuffled[i], shuffledTasks[i] = cases[at], tasks[at]
		}
		split(cases, tasks, salt)
		split(shuffled, shuffledTasks, salt)
		want := partsOf(cases)
		for id, part := range partsOf(shuffled) {
			if part != want[id] {
				t.Fatalf("case %s is %q in one order and %q in another", id, want[id], part)
			}
		}
		checkQuotas(t, cases, tasks)
		split(cases, tasks, []byte("another salt"))
		for id, part := range partsOf(cases) {
			if part != want[id] {
				t.Fatalf("case %s moved from %q to %q", id, want[id], part)
			}
		}
	})
}

func indices(n int) func(func(int) bool) {
	return func(yield func(int) bool) {
		for i := range n {
			if !yield(i) {
				return
			}
		}
	}
}

// checkQuotas asserts one side for each task, exact quotas, and that nothing
// that must fall back is sealed.
func checkQuotas(t *rapid.T, cases []rule.Case, tasks []taskKey) {
	side := map[taskKey]rule.Part{}
	count := map[kind]map[rule.Part]int{}
	for i, c := range cases {
		if part, ok := side[tasks[i]]; ok {
			if part != c.Part {
				t.Fatalf("task of %s is both %q and %q", c.ID, part, c.Part)
			}
			continue
		}
		side[tasks[i]] = c.Part
		k := kind{c.Family, c.Fallback}
		if count[k] == nil {
			count[k] = map[rule.Part]int{}
		}
		count[k][c.Part]++
	}
	for k, parts := range count {
		n := parts[rule.VisiblePart] + parts[rule.AdmissionPart] + parts[rule.SealedPart]
		admission, sealed := quotas(n)
		if k.fallback {
			sealed = 0
		}
		if parts[rule.AdmissionPart] != admission || parts[rule.SealedPart] != sealed || parts[""] != 0 {
			t.Fatalf("%v: %v of %d: want %d for admission, %d sealed", k, parts, n, admission, sealed)
		}
	}
}

// TestSplitGrowsSticky adds cases batch by batch: what had a part keeps it, and
// the quotas are never exceeded.
func TestSplitGrowsSticky(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var cases []rule.Case
		var tasks []taskKey
		for range rapid.IntRange(1, 6).Draw(t, "batches") {
			before := partsOf(cases)
			for range rapid.IntRange(0, 15).Draw(t, "size") {
				id := fmt.Sprint("c", len(cases))
				cases = append(cases, rule.Case{ID: id, Family: "f"})
				tasks = append(tasks, rule.DigestOf([]byte(id)))
			}
			split(cases, tasks, []byte("salt"))
			admission, sealed := 0, 0
			for _, c := range cases {
				if was, ok := before[c.ID]; ok && was != c.Part {
					t.Fatalf("case %s moved from %q to %q", c.ID, was, c.Part)
				}
				switch c.Part {
				case rule.AdmissionPart:
					admission++
				case rule.SealedPart:
					sealed++
				}
			}
			if most, mostSealed := quotas(len(cases)); admission > most || sealed > mostSealed {
				t.Fatalf("%d for admission and %d sealed of %d", admission, sealed, len(cases))
			}
		}
	})
}

func TestSaltDecides(t *testing.T) {
	choose := func(salt string) string {
		cases, tasks := make([]rule.Case, 40), make([]taskKey, 40)
		for i := range cases {
			cases[i] = rule.Case{ID: fmt.Sprint(i), Family: "f"}
			tasks[i] = rule.DigestOf(fmt.Append(nil, i))
		}
		split(cases, tasks, []byte(salt))
		return fmt.Sprint(partsOf(cases))
	}
	first := choose("one")
	if choose("one") != first {
		t.Error("one salt, two splits")
	}
	if choose("two") == first {
		t.Error("the salt doesn't matter")
	}
}
