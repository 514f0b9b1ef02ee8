package admission

import (
	"context"
	"slices"

	"signalbox/oracle"
	"signalbox/proofs"
	"signalbox/rule"
)

// Result is what came of proving a collection. Proof and Envelope are there
// where the report passed. Dropped are the rules that were left out on the way.
type Result struct {
	Proposal oracle.Proposal
	Report   *oracle.Report
	Proof    proofs.Verified
	Envelope []byte
	Dropped  []rule.Name
}

// Prove checks the proposal and signs it if it passes. With dropFailing it
// leaves out what is refused and checks the rest again, until that passes or
// nothing is left; the report is then the last one that had members.
func (o *Office) Prove(ctx context.Context, p oracle.Proposal, dropFailing bool, progress func(done, total int)) (Result, error) {
	result := Result{Dropped: []rule.Name{}}
	for {
		report, err := o.Check(ctx, p, progress)
		if err != nil {
			return Result{}, err
		}
		result.Proposal, result.Report = p, report
		if report.Passed() {
			break
		}
		smaller := oracle.DropFailing(report, p)
		if !dropFailing || len(smaller.Programs) == 0 || len(smaller.Programs) == len(p.Programs) {
			return result, nil
		}
		result.Dropped = append(result.Dropped, missing(p, smaller)...)
		p = smaller
	}
	proven, err := o.Sign(result.Report, p)
	if err != nil {
		return Result{}, err
	}
	result.Proof, result.Envelope = proven.Proof, proven.Envelope
	slices.Sort(result.Dropped)
	return result, nil
}

// missing returns the rules of p that smaller hasn't.
func missing(p, smaller oracle.Proposal) (names []rule.Name) {
	for _, program := range p.Programs {
		kept := slices.ContainsFunc(smaller.Programs, func(q rule.Program) bool { return q.Member == program.Member })
		if !kept {
			names = append(names, program.Member.Rule)
		}
	}
	return names
}
