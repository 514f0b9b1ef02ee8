package registry

import (
	"context"
	"fmt"

	"signalbox/rule"
)

// Certify takes lines that are kept as unverified, by their IDs, as cases that an
// operator certifies one by one: a model's own answers too. An ID that no
// unverified line has, or that lines with different content have, is an error and
// then nothing is taken.
func (r *Registry) Certify(ctx context.Context, ids []string, by string, change Change) (IngestReport, error) {
	if by == "" {
		return IngestReport{}, fmt.Errorf("certifying: by whom is missing")
	}
	snapshot, err := r.Snapshot(ctx)
	if err != nil {
		return IngestReport{}, fmt.Errorf("certifying: %w", err)
	}
	unverified, err := snapshot.Unverified(ctx)
	if err != nil {
		return IngestReport{}, fmt.Errorf("certifying: %w", err)
	}
	found := map[string]rule.Case{}
	for _, c := range unverified {
		other, twice := found[c.ID]
		if twice && !sameWord(newCandidate(0, c), newCandidate(0, other)) {
			found[c.ID] = rule.Case{}
			continue
		}
		found[c.ID] = c
	}
	var lines []Line
	for i, id := range ids {
		c, ok := found[id]
		switch {
		case !ok:
			return IngestReport{}, fmt.Errorf("certifying: unverified line %q: %w", id, ErrUnknown)
		case c.ID == "":
			return IngestReport{}, fmt.Errorf("certifying: several unverified lines have the id %q and different content: ingest the right one", id)
		}
		lines = append(lines, Line{Number: i + 1, Case: c})
	}
	return r.Ingest(ctx, lines, IngestOptions{CertifiedBy: by, From: "certified case by case", caseByCase: true}, change)
}

// Unverified returns all history lines that nobody certified, the oldest file
// first.
func (s *Snapshot) Unverified(context.Context) ([]rule.Case, error) {
	var all []rule.Case
	for _, u := range s.state.Unverified {
		cases, err := s.registry.loadCases("unverified lines", Sealed{Digest: u.Digest, Cases: u.Lines})
		if err != nil {
			return nil, err
		}
		all = append(all, cases...)
	}
	return all, nil
}
