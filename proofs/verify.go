package proofs

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"

	"github.com/secure-systems-lab/go-securesystemslib/dsse"

	"signalbox/rule"
)

// Verified is a proof whose signature and form hold. Verify alone makes one;
// the zero Verified proves nothing and has an empty ID.
type Verified struct {
	id        rule.Digest
	predicate Predicate
	envelope  Envelope
}

// ID names the proof: the digest of its payload.
func (v Verified) ID() rule.Digest { return v.id }

// Predicate returns what the proof states. The copy is the caller's own.
func (v Verified) Predicate() Predicate { return v.predicate.clone() }

// Envelope returns a copy of the envelope that was verified.
func (v Verified) Envelope() Envelope { return bytes.Clone(v.envelope) }

// Verify checks an envelope against the host's public key and returns what it
// states. It returns ErrBad where the proof doesn't hold, and ErrNoKey where
// public is the zero key, so that nothing is known.
func Verify(envelope []byte, public PublicKey) (Verified, error) {
	if public.IsZero() {
		return Verified{}, fmt.Errorf("verifying proof: %w", ErrNoKey)
	}
	opened, err := open(envelope)
	if err != nil {
		return Verified{}, fmt.Errorf("%w: %v", ErrBad, err)
	}
	payload, err := opened.verify(public)
	if err != nil {
		return Verified{}, fmt.Errorf("%w: the signature isn't this host's (key %s)", ErrBad, public.Fingerprint().Short())
	}
	predicate, err := decodeStatement(payload)
	if err != nil {
		return Verified{}, fmt.Errorf("%w: %v", ErrBad, err)
	}
	return Verified{id: rule.DigestOf(payload), predicate: predicate, envelope: bytes.Clone(envelope)}, nil
}

// verify returns the bytes that the signature covers. The envelope's key ID is
// left out, so that it can't decide anything.
func (o opened) verify(public PublicKey) ([]byte, error) {
	verifier, err := dsse.NewEnvelopeVerifier(hostVerifier{public})
	if err != nil {
		return nil, err
	}
	_, payload, err := verifier.VerifyAndDecode(context.Background(), &dsse.Envelope{
		PayloadType: payloadType,
		Payload:     base64.StdEncoding.EncodeToString(o.payload),
		Signatures:  []dsse.Signature{{Sig: o.signature}},
	})
	return payload, err
}
