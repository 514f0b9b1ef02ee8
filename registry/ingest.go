package registry

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"signalbox/rule"
)

// IngestOptions say how history is taken. CertifiedBy names the operator who
// certifies it; without one every line is kept as unverified. From names where
// the lines come from, for people. Supersede lets a line take the place of known
// cases that it disagrees with; both are kept. Strict refuses the whole file
// where any line is rejected.
type IngestOptions struct {
	CertifiedBy string
	From        string
	Supersede   bool
	Strict      bool

	caseByCase bool // a model's own answers may be certified
}

// Rejected is a line that wasn't taken.
type Rejected struct {
	Line   int
	ID     string
	Reason string
}

// IngestReport counts what became of the lines. Known ones were there already,
// or say again what another line says of the same task.
type IngestReport struct {
	Taken      map[rule.Part]int
	Fallback   int // of those taken, how many must fall back
	Known      int
	Unverified int
	Superseded int
	Rejected   []Rejected
}

// Total returns how many cases were taken.
func (r IngestReport) Total() (n int) {
	for _, taken := range r.Taken {
		n += taken
	}
	return n
}

// Ingest takes history lines in one commit. Lines that can't be taken are in the
// report and don't keep the others out, unless the options say so. Two lines of
// one file that disagree are both rejected. The generation moves only where the
// suite does, and nothing is committed where nothing is new.
func (r *Registry) Ingest(ctx context.Context, lines []Line, o IngestOptions, change Change) (IngestReport, error) {
	report := IngestReport{Taken: map[rule.Part]int{}}
	if len(o.CertifiedBy) > maxWord || len(o.From) > maxWord {
		return report, fmt.Errorf("ingesting: a name is longer than %d bytes", maxWord)
	}
	sorted := sortLines(lines, o, &report)
	err := r.commit(ctx, change, "ingest", func(state *State) error {
		report := &report
		book, err := r.openCasebook(state)
		if err != nil {
			return err
		}
		taken := judge(book, sorted.certified, o.Supersede, report)
		slices.SortFunc(report.Rejected, func(a, b Rejected) int { return a.Line - b.Line })
		if o.Strict && len(report.Rejected) > 0 {
			first := report.Rejected[0]
			return fmt.Errorf("line %d rejected: %s", first.Line, first.Reason)
		}
		kept, err := r.keepUnverified(state, sorted.unverified, o.From)
		if err != nil {
			return err
		}
		if len(taken) == 0 && !kept {
			return errUnchanged
		}
		if len(taken) == 0 {
			return nil
		}
		return r.enter(state, book, taken, report)
	})
	if err != nil {
		return report, fmt.Errorf("ingesting: %w", err)
	}
	return report, nil
}

// sortedLines are a file's lines by what may become of them.
type sortedLines struct {
	certified  []candidate
	unverified []rule.Case
}

func sortLines(lines []Line, o IngestOptions, report *IngestReport) sortedLines {
	var sorted sortedLines
	for _, line := range lines {
		switch {
		case line.Reason != "":
			report.Rejected = append(report.Rejected, Rejected{Line: line.Number, ID: line.Case.ID, Reason: line.Reason})
		case o.CertifiedBy == "" || modelSource(line.Case.Source) && !o.caseByCase:
			sorted.unverified = append(sorted.unverified, line.Case)
		default:
			line.Case.CertifiedBy = o.CertifiedBy
			sorted.certified = append(sorted.certified, newCandidate(line.Number, line.Case))
		}
	}
	report.Unverified = len(sorted.unverified)
	return sorted
}

// modelSource says whether a line's source is a model's own answers: those are
// certified case by case and never by a flag for a file.
func modelSource(source string) bool {
	return source == "model" || strings.HasPrefix(source, "model:")
}

// judge decides which candidates become cases. Known cases that one supersedes
// move aside in the book.
func judge(book *casebook, candidates []candidate, supersede bool, report *IngestReport) []candidate {
	known := newIndex(len(book.cases))
	for _, c := range book.cases {
		known.add(newCandidate(0, c))
	}
	file := newIndex(len(candidates))
	for _, c := range candidates {
		file.add(c)
	}
	accepted := newIndex(len(candidates))
	var taken []candidate
	for _, c := range candidates {
		other, why := file.against(c)
		if why == "" && !supersede {
			other, why = known.against(c)
		}
		switch {
		case why != "":
			report.Rejected = append(report.Rejected, Rejected{Line: c.line, ID: c.c.ID, Reason: fmt.Sprintf("case %q: %s has %s", c.c.ID, other.place(), why)})
		case known.repeats(c) || accepted.repeats(c):
			report.Known++
		default:
			accepted.add(c)
			taken = append(taken, c)
		}
	}
	if supersede {
		report.Superseded = book.supersede(taken)
	}
	return taken
}

// supersede moves the cases that the new ones disagree with aside. A new case of
// the same task is on the side where the old one was: it was seen, or it wasn't.
func (b *casebook) supersede(taken []candidate) int {
	accepted := newIndex(len(taken))
	for _, c := range taken {
		accepted.add(c)
	}
	parts := map[taskKey]rule.Part{}
	stay := b.cases[:0:0]
	for _, c := range b.cases {
		old := newCandidate(0, c)
		if _, why := accepted.against(old); why == "" {
			stay = append(stay, c)
			continue
		}
		parts[old.task] = c.Part
		b.superseded = append(b.superseded, c)
	}
	moved := len(b.cases) - len(stay)
	b.cases = stay
	for i := range taken {
		taken[i].c.Part = inherit(parts[taken[i].task], taken[i].c.Fallback)
	}
	return moved
}

// inherit returns the part of a case that takes another one's place. Those that
// must fall back are never sealed.
func inherit(part rule.Part, fallback bool) rule.Part {
	if part == rule.SealedPart && fallback {
		return rule.AdmissionPart
	}
	return part
}

// enter splits the new cases into parts and saves the book.
func (r *Registry) enter(state *State, book *casebook, taken []candidate, report *IngestReport) error {
	salt, err := r.salt()
	if err != nil {
		return err
	}
	before := len(book.cases)
	for _, c := range taken {
		book.cases = append(book.cases, c.c)
	}
	tasks := make([]taskKey, len(book.cases))
	for i, c := range book.cases {
		if i < before {
			tasks[i] = c.Task.Digest(nil)
		} else {
			tasks[i] = taken[i-before].task
		}
	}
	split(book.cases, tasks, salt)
	for _, c := range book.cases[before:] {
		report.Taken[c.Part]++
		if c.Fallback {
			report.Fallback++
		}
	}
	return r.saveCasebook(state, book)
}

// keepUnverified stores lines that nobody certified, and says whether they are
// new.
func (r *Registry) keepUnverified(state *State, cases []rule.Case, from string) (bool, error) {
	if len(cases) == 0 {
		return false, nil
	}
	data, err := encodeCases(cases)
	if err != nil {
		return false, err
	}
	digest, err := r.objects.Put(data)
	if err != nil {
		return false, err
	}
	if slices.ContainsFunc(state.Unverified, func(u Unverified) bool { return u.Digest == digest }) {
		return false, nil
	}
	lines := bytes.Count(data, []byte{'\n'})
	state.Unverified = append(state.Unverified, Unverified{Digest: digest, Lines: lines, From: from, When: now()})
	return true, nil
}
