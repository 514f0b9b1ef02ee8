package registry

import (
	"context"
	"errors"
	"fmt"

	"signalbox/proofs"
	"signalbox/registry/objects"
	"signalbox/rule"
)

// Problem is something that Fsck found. Advice says what to do.
type Problem struct{ What, Advice string }

const restore = "restore the file from a backup of this home; nothing is repaired by guessing"

// Fsck derives everything again that the workspace says of itself: the ledger's
// own check, the mark, every object's digest, every reference, every source and
// every proof's signature. It changes nothing. The error says that it couldn't
// look.
func (r *Registry) Fsck(ctx context.Context) ([]Problem, error) {
	found := &findings{}
	found.add(r.ledger.Check(ctx), "restore the ledger from a backup; don't start a new one: limits would start again")
	if err := r.fsckObjects(found); err != nil {
		return nil, fmt.Errorf("checking objects: %w", err)
	}
	if _, err := proofs.LoadKey(r.Keys()); err != nil {
		found.add(err, "restore the key; with another key, every proof has to be made again")
	}
	_, err := r.salt()
	found.add(err, "restore the salt; with another one, new cases are split without regard to the old")
	now, err := r.read(ctx)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		found.add(err, "put the registry back that was committed last, or restore registry and ledger from one backup")
		return found.problems, nil
	}
	defer func() { _ = now.file.Close() }()
	r.fsckState(now.state, found)
	return found.problems, nil
}

type findings struct{ problems []Problem }

func (f *findings) add(err error, advice string) {
	if err != nil {
		f.problems = append(f.problems, Problem{What: err.Error(), Advice: advice})
	}
}

// fsckObjects reads every object there is.
func (r *Registry) fsckObjects(found *findings) error {
	visit := func(digest rule.Digest) error {
		_, err := r.objects.Get(digest)
		if err != nil && !errors.Is(err, objects.ErrDamaged) {
			return err
		}
		found.add(err, restore)
		return nil
	}
	return r.objects.Each(visit, func(path string) {
		found.add(fmt.Errorf("%q is no object", path), "a killed writer left it, or someone put it there: remove it")
	})
}

// fsckState follows every reference of the registry.
func (r *Registry) fsckState(state *State, found *findings) {
	_, err := r.openCasebook(state)
	found.add(err, restore)
	for _, u := range state.Unverified {
		_, err := r.loadCases("unverified lines", Sealed{Digest: u.Digest, Cases: u.Lines})
		found.add(err, restore)
	}
	for name, known := range state.Rules {
		for _, revision := range known.Revisions {
			member := rule.Member{Rule: name, Revision: revision.Digest, Environment: state.Current[revision.Environment]}
			_, err := r.program(state, member)
			found.add(err, restore)
		}
	}
	for _, past := range state.Past {
		r.fsckProof(state, past.Proof, past.Envelope, found)
	}
	for _, proposed := range state.Proposals {
		r.fsckProof(state, proposed.Proof, proposed.Envelope, found)
	}
	if state.Active != nil {
		r.fsckProof(state, state.Active.Proof, state.Active.Envelope, found)
	}
}

func (r *Registry) fsckProof(state *State, proof, envelope rule.Digest, found *findings) {
	verified, err := r.verify(state, envelope)
	if err == nil && verified.ID() != proof {
		err = fmt.Errorf("proof %s is kept as %s", verified.ID(), proof)
	}
	found.add(err, "validate the collection again: signalbox validate")
}
