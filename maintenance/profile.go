package maintenance

import (
	"context"

	"signalbox/rule"
)

// profiled sums up the draft's work on visible cases.
type profiled struct {
	Cases       int `json:"cases"`
	Matched     int `json:"matched"`
	Abstained   int `json:"abstained"`
	Guarded     int `json:"stopped_by_guard"`
	Timeouts    int `json:"timeouts"`
	Failures    int `json:"failures"`
	ArgsBytes   int `json:"largest_args_bytes"`
	OutputBytes int `json:"largest_output_bytes"`
	SourceBytes int `json:"source_bytes"`
}

// profile says how large the draft's work on visible cases is. Times are left
// out: they differ from run to run, and a replay has to be exact. What is too
// slow shows as a timeout.
func (s *session) profile(ctx context.Context) (answer, error) {
	draft, err := s.program()
	if err != nil {
		return answer{}, err
	}
	sum := profiled{SourceBytes: draft.Source.Tree().Bytes()}
	for _, c := range visibleOf(s.view.Cases, s.draft.Identity().Family) {
		sum.Cases++
		if !draft.Manifest.Guard.Allows(c.Task.Document()) {
			sum.Guarded++
			continue
		}
		if err := s.measure(ctx, draft, c, &sum); err != nil {
			return answer{}, err
		}
	}
	return answer{OK: true, Code: "profiled", Message: "Sizes and counts over the visible cases of this family.", Data: sum}, nil
}

// measure runs one case and adds it to the sum.
func (s *session) measure(ctx context.Context, draft rule.Program, c rule.Case, sum *profiled) error {
	reply, err := s.trigger(ctx, draft, c.Task.Document())
	if err != nil {
		return err
	}
	failure := reply.Failure
	if reply.Verdict == rule.Match {
		sum.Matched++
		sum.ArgsBytes = max(sum.ArgsBytes, len(reply.Args))
		done, err := s.execute1(ctx, draft, c.Task, reply.Args)
		if err != nil {
			return err
		}
		failure = done.Failure
		if done.Outcome != nil {
			sum.OutputBytes = max(sum.OutputBytes, len(done.Outcome.Output))
		}
	}
	switch {
	case reply.Verdict == rule.Abstain:
		sum.Abstained++
	case failure == rule.FailureTimeout:
		sum.Timeouts++
	case failure != "":
		sum.Failures++
	}
	return nil
}
