package oracle

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"

	"signalbox/rule"
)

// summarise turns what was found into a report.
func (l *plan) summarise(p Proposal, out []decided) *Report {
	report := &Report{
		Collection: p.Members().Digest(), Policy: p.Policy.Bound(),
		Refusals: []Refusal{}, Rules: []RuleReport{}, Families: []FamilyReport{},
	}
	l.count(out, report)
	for _, f := range l.inOrder() {
		if len(f.rules) == 0 {
			continue
		}
		report.Refusals = append(report.Refusals, l.judgeFamily(f)...)
		f.report.Unheld = f.report.Hidden.Positive == 0
		report.Families = append(report.Families, f.report)
	}
	for _, r := range l.rules {
		r.report.Refused = r.finds.counts
		report.Rules = append(report.Rules, r.report)
		report.Refusals = append(report.Refusals, r.finds.listed...)
		report.Omitted += r.finds.omitted
	}
	sortRefusals(report.Refusals)
	report.Counts.Probes = len(l.probes)
	report.Matrix = l.digest(out)
	return report
}

// count fills the families' coverage and the totals.
func (l *plan) count(out []decided, report *Report) {
	for i, c := range l.cases {
		f := l.families[c.Family]
		served := len(f.rules) > 0
		switch {
		case c.Fallback:
			report.Counts.MustFallBack++
			f.report.MustFallBack++
		case !served:
			report.Counts.Unserved++
		default:
			report.Counts.Positive++
			f.count(c, out[i])
		}
		if served && !c.Fallback && out[i].result == resultRight {
			report.Counts.Covered++
		}
	}
	report.Counts.Uncovered = report.Counts.Positive - report.Counts.Covered
}

func (f *family) count(c rule.Case, d decided) {
	coverage := &f.report.Visible
	if c.Part != rule.VisiblePart {
		coverage = &f.report.Hidden
	}
	coverage.Positive++
	if d.result == resultRight {
		coverage.Covered++
	}
	if d.result == resultUncovered && coverage.Positive-coverage.Covered <= maxListed {
		f.report.Uncovered = append(f.report.Uncovered, Uncovered{Case: c.ID, Part: c.Part, Reason: d.reason})
	}
}

// rounding forgives what a product of floats may be too large by.
const rounding = 1e-9

// judgeFamily returns why a served family as a whole refuses the collection:
// the floor missed, a rule that covers nothing, or no hidden cases.
func (l *plan) judgeFamily(f *family) []Refusal {
	var refusals []Refusal
	floor := func(part rule.Part, coverage Coverage) {
		if float64(coverage.Covered) < l.policy.Floor*float64(coverage.Positive)-rounding {
			refusals = append(refusals, Refusal{
				Kind: KindFloor, Family: f.name, Part: part,
				Detail: fmt.Sprintf("covers %d of %d cases: the floor is %v", coverage.Covered, coverage.Positive, l.policy.Floor),
			})
		}
	}
	floor(rule.VisiblePart, f.report.Visible)
	floor(rule.AdmissionPart, f.report.Hidden)
	if f.report.Hidden.Positive == 0 && !l.policy.AllowUnheld {
		refusals = append(refusals, Refusal{Kind: KindUnheld, Family: f.name, Detail: "has no hidden cases, and the policy wants some"})
	}
	for _, r := range f.rules {
		if r.report.Visible+r.report.Hidden == 0 {
			r.finds.add(Refusal{Kind: KindUncovered, Rule: r.report.Rule, Family: f.name, Detail: "covers no case of its family"})
		}
	}
	return refusals
}

// digest names the matrix: each rule's cells over the cases and its probes, and
// what each case came to. Equal findings have equal digests.
func (l *plan) digest(out []decided) rule.Digest {
	hash := sha256.New()
	for _, r := range l.rules {
		cells := make([]byte, len(l.cases))
		for i := range l.cases {
			cells[i] = byte(r.cells[l.caseDoc[i]])
		}
		member := r.program.Member
		writeLine(hash, string(member.Rule), string(member.Revision), string(member.Environment), string(cells), string(r.probed))
	}
	for i, c := range l.cases {
		writeLine(hash, c.ID, string(c.Part), string(c.Family), string(out[i].result), string(out[i].reason))
	}
	return rule.Digest("sha256:" + hex.EncodeToString(hash.Sum(nil)))
}

// writeLine writes the texts quoted, so that no text can pose as two.
func writeLine(w io.Writer, texts ...string) {
	fmt.Fprintf(w, "%q\n", texts)
}
