package proofs

import (
	"bytes"
	"testing"

	"signalbox/rule"
)

// FuzzVerify asserts that nothing verifies but the one envelope that was signed
// (its key ID aside), and that whatever opens is in the one form.
func FuzzVerify(f *testing.F) {
	key := testKey(f, 1)
	envelope := mustSign(f, key, testPredicate())
	payload := payloadOf(f, envelope)
	f.Add([]byte(envelope))
	f.Add([]byte(reseal(f, testKey(f, 2), payload)))
	f.Add([]byte(`{"payload":"e30=","payloadType":"application/vnd.in-toto+json","signatures":[{"keyid":"","sig":"AAAA"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		verified, err := Verify(data, key.Public())
		if err == nil && verified.ID() != envelope.ID() {
			t.Errorf("a proof that nobody signed: %s", data)
		}
		if id := Envelope(data).ID(); err == nil && id != verified.ID() {
			t.Errorf("named %s and %s", id, verified.ID())
		}
	})
}

// FuzzStatement asserts that a payload which is taken has no other spelling.
func FuzzStatement(f *testing.F) {
	key := testKey(f, 1)
	payload := payloadOf(f, mustSign(f, key, testPredicate()))
	f.Add(payload)
	for _, m := range mutations(f, payload)[:50] {
		f.Add(m.payload)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		predicate, err := decodeStatement(data)
		if err != nil {
			return
		}
		again, err := rule.Canonical(newStatement(predicate))
		if err != nil || !bytes.Equal(again, data) {
			t.Errorf("another spelling is taken: %s", data)
		}
	})
}

// FuzzKeys asserts that key files never panic, and load only as 32 bytes.
func FuzzKeys(f *testing.F) {
	f.Add([]byte(linePrefix + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n"))
	f.Add(encodePEM("PRIVATE KEY", []byte("x")))
	f.Fuzz(func(t *testing.T, data []byte) {
		if public, err := parsePublic(data); err == nil && (PublicKey{key: public}).IsZero() {
			t.Error("a short public key was taken")
		}
		if private, err := parsePrivate(data); err == nil && (&Key{private: private}).Public().IsZero() {
			t.Error("a short private key was taken")
		}
	})
}
