package proofs

import (
	"context"
	"crypto"
	"crypto/ed25519"
	"fmt"
)

// hostSigner is a Key as the DSSE library wants one.
type hostSigner struct{ key *Key }

// Sign signs data as it is.
func (s hostSigner) Sign(_ context.Context, data []byte) ([]byte, error) {
	return ed25519.Sign(s.key.private, data), nil
}

// KeyID returns the hint that envelopes carry: the fingerprint's digits.
func (s hostSigner) KeyID() (string, error) { return s.key.Public().Fingerprint().Hex(), nil }

// hostVerifier is a PublicKey as the DSSE library wants one.
type hostVerifier struct{ key PublicKey }

// Verify returns an error where the signature isn't the key's.
func (v hostVerifier) Verify(_ context.Context, data, signature []byte) error {
	if v.key.IsZero() || !ed25519.Verify(v.key.key, data, signature) {
		return fmt.Errorf("signature doesn't verify")
	}
	return nil
}

// KeyID returns the fingerprint's digits.
func (v hostVerifier) KeyID() (string, error) { return v.key.Fingerprint().Hex(), nil }

// Public returns the key itself.
func (v hostVerifier) Public() crypto.PublicKey { return v.key.key }
