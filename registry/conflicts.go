package registry

import (
	"fmt"
	"slices"

	"signalbox/rule"
)

// candidate is a certified line on its way to becoming a case.
type candidate struct {
	line     int
	c        rule.Case
	task     taskKey
	document string
}

func newCandidate(line int, c rule.Case) candidate {
	return candidate{line: line, c: c, task: c.Task.Digest(nil), document: documentKey(c.Task)}
}

// documentKey is equal for tasks that a trigger can't tell apart.
func documentKey(t rule.Task) string { return string(t.Input) + "\x00" + t.Instruction }

// sameWord says whether two cases certify the same of one task.
func sameWord(a, b candidate) bool {
	return a.c.Family == b.c.Family && a.task == b.task && a.c.Fallback == b.c.Fallback &&
		a.c.Args == b.c.Args && a.c.Outcome.Equal(b.c.Outcome)
}

// disagreement returns why two cases can't both count, "" where they can. It is
// symmetric.
func disagreement(a, b candidate) string {
	switch {
	case a.c.ID == b.c.ID && !sameWord(a, b):
		return "the same id with other content"
	case a.task == b.task && a.c.Family == b.c.Family && !sameWord(a, b):
		return "the same task with another outcome"
	case a.document == b.document && a.c.Family != b.c.Family && !(a.c.Fallback && b.c.Fallback):
		return fmt.Sprintf("the same instruction and input in families %q and %q", min(a.c.Family, b.c.Family), max(a.c.Family, b.c.Family))
	}
	return ""
}

// index finds the cases that one could disagree with, or repeat.
type index struct {
	byID       map[string][]int
	byTask     map[taskKey][]int
	byDocument map[string][]int
	all        []candidate
}

func newIndex(capacity int) *index {
	return &index{
		byID: make(map[string][]int, capacity), byTask: make(map[taskKey][]int, capacity),
		byDocument: make(map[string][]int, capacity), all: make([]candidate, 0, capacity),
	}
}

// add keeps the candidate. A group gets it only if it adds a word that the group
// doesn't have, so that a task repeated ten thousand times costs no more.
func (x *index) add(c candidate) {
	at := len(x.all)
	x.all = append(x.all, c)
	said := func(at int) bool { return sameWord(c, x.all[at]) }
	told := func(at int) bool { return c.c.Family == x.all[at].c.Family && c.c.Fallback == x.all[at].c.Fallback }
	appendUnless(x.byID, c.c.ID, at, said)
	appendUnless(x.byTask, c.task, at, said)
	appendUnless(x.byDocument, c.document, at, told)
}

func appendUnless[K comparable](groups map[K][]int, key K, at int, there func(int) bool) {
	if !slices.ContainsFunc(groups[key], there) {
		groups[key] = append(groups[key], at)
	}
}

// groups returns the lists that c shares something with.
func (x *index) groups(c candidate) [][]int {
	return [][]int{x.byID[c.c.ID], x.byTask[c.task], x.byDocument[c.document]}
}

// against returns the first of the indexed cases that c disagrees with.
func (x *index) against(c candidate) (other candidate, why string) {
	for _, group := range x.groups(c) {
		for _, at := range group {
			if why := disagreement(c, x.all[at]); why != "" {
				return x.all[at], why
			}
		}
	}
	return candidate{}, ""
}

// repeats says whether an indexed case says the same already.
func (x *index) repeats(c candidate) bool {
	for _, at := range x.byTask[c.task] {
		if sameWord(c, x.all[at]) {
			return true
		}
	}
	return false
}

// place names a case for a message.
func (c candidate) place() string {
	if c.line > 0 {
		return fmt.Sprintf("case %q (line %d)", c.c.ID, c.line)
	}
	return fmt.Sprintf("case %q, which is known", c.c.ID)
}
