// Package admission takes a collection from the registry to a signed proof: it
// chooses the members, has the oracle check all of them over the whole suite,
// and signs what a passed report states with the host's key.
//
// Both the command line (validate) and maintenance (a draft that is submitted)
// prove here, so that there is one way to a proof. The package activates nothing:
// registry.Activate takes the proof, and checks everything again under its lock.
package admission

import (
	"context"
	"fmt"

	"signalbox/oracle"
	"signalbox/proofs"
	"signalbox/registry"
	"signalbox/rule"
)

// Office proves collections of one workspace. AllowUnheld takes families that
// have no hidden case; it is bound by the proof. Tool names the program's
// version.
type Office struct {
	Registry    *registry.Registry
	Programs    oracle.Programs
	AllowUnheld bool
	Tool        string
}

// Proven is a collection with the report that it passed with, and its proof.
type Proven struct {
	Proposal oracle.Proposal
	Report   *oracle.Report
	Proof    proofs.Verified
	Envelope []byte
}

// Proposal returns the programs with the suite and base of the snapshot. A nil
// mapping is the one of the manifests.
func (o *Office) Proposal(ctx context.Context, s *registry.Snapshot, programs []rule.Program, mapping rule.Mapping) (oracle.Proposal, error) {
	cases, err := s.Cases(ctx)
	if err != nil {
		return oracle.Proposal{}, err
	}
	policy := oracle.DefaultPolicy()
	policy.AllowUnheld = o.AllowUnheld
	state := s.State()
	policy.Floor, policy.Repeats = state.Policy.Floor, state.Policy.Repeats
	return oracle.Proposal{
		Programs: programs, Mapping: mapping, Cases: cases, Policy: policy, Suite: state.Suite.Digest,
		Base: proofs.Base{Generation: s.Generation(), Serial: s.Serial()}, Tool: o.Tool,
	}, nil
}

// Check runs the proposal over its cases. Refusals are in the report.
func (o *Office) Check(ctx context.Context, p oracle.Proposal, progress func(done, total int)) (*oracle.Report, error) {
	return oracle.Check(ctx, o.Programs, p, progress)
}

// Sign returns the proof of a passed report.
func (o *Office) Sign(report *oracle.Report, p oracle.Proposal) (Proven, error) {
	predicate, err := oracle.Predicate(report, p)
	if err != nil {
		return Proven{}, err
	}
	key, err := proofs.LoadKey(o.Registry.Keys())
	if err != nil {
		return Proven{}, fmt.Errorf("signing the proof: %w", err)
	}
	envelope, err := proofs.Sign(key, predicate)
	if err != nil {
		return Proven{}, fmt.Errorf("signing the proof: %w", err)
	}
	verified, err := proofs.Verify(envelope, key.Public())
	if err != nil {
		return Proven{}, fmt.Errorf("verifying the proof just signed: %w", err)
	}
	return Proven{Proposal: p, Report: report, Proof: verified, Envelope: envelope}, nil
}
