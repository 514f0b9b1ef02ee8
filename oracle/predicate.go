package oracle

import (
	"fmt"

	"signalbox/proofs"
	"signalbox/rule"
)

// Predicate returns what a proof of a passed report states. It refuses a report
// that didn't pass, or that is of another collection or policy.
func Predicate(report *Report, p Proposal) (proofs.Predicate, error) {
	members := p.Members()
	switch {
	case !report.Passed():
		return proofs.Predicate{}, fmt.Errorf("stating proof: the collection has %d refusals", len(report.Refusals))
	case report.Collection != members.Digest():
		return proofs.Predicate{}, fmt.Errorf("stating proof: the report is of collection %s, the proposal is %s", report.Collection, members.Digest())
	case report.Policy != p.Policy.Bound():
		return proofs.Predicate{}, fmt.Errorf("stating proof: the report and the proposal have different policies")
	}
	environments := make(map[rule.Digest]rule.Environment)
	for _, program := range p.Programs {
		environments[program.Member.Environment] = program.Environment
	}
	predicate := proofs.Predicate{
		Members: members, Environments: environments, Mapping: p.mapping(),
		Suite:  proofs.Suite{Digest: p.Suite, Cases: len(p.Cases)},
		Policy: report.Policy, Base: p.Base, Matrix: report.Matrix, Counts: report.Counts,
		StartedAt: report.StartedAt, FinishedAt: report.FinishedAt, Tool: p.Tool,
	}
	for _, f := range report.Families {
		if f.Unheld {
			predicate.Unheld = append(predicate.Unheld, f.Family)
		}
	}
	return predicate, nil
}
