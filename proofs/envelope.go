package proofs

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"

	"github.com/secure-systems-lab/go-securesystemslib/dsse"

	"signalbox/rule"
)

// payloadType is DSSE's type for in-toto statements. No other is accepted.
const payloadType = "application/vnd.in-toto+json"

// maxEnvelope bounds an envelope, in bytes.
const maxEnvelope = 8 << 20

// Envelope is a DSSE envelope as it is stored.
type Envelope []byte

// ID names the proof in the envelope: the digest of its payload, whether or not
// its signature holds. It is "" where there is no well-formed envelope.
func (e Envelope) ID() rule.Digest {
	opened, err := open(e)
	if err != nil {
		return ""
	}
	return rule.DigestOf(opened.payload)
}

// Sign states p and signs it. An error says that p contradicts itself; nothing
// is signed then.
func Sign(key *Key, p Predicate) (Envelope, error) {
	if key == nil {
		return nil, fmt.Errorf("signing proof: %w", ErrNoKey)
	}
	payload, err := newStatement(p).encode()
	if err == nil && len(payload) > maxEnvelope/2 {
		err = fmt.Errorf("statement has %d bytes: the limit is %d", len(payload), maxEnvelope/2)
	}
	if err != nil {
		return nil, fmt.Errorf("signing proof: %w", err)
	}
	return seal(key, payloadType, payload)
}

func seal(key *Key, kind string, payload []byte) (Envelope, error) {
	signer, err := dsse.NewEnvelopeSigner(hostSigner{key})
	if err != nil {
		return nil, fmt.Errorf("signing proof: %w", err)
	}
	envelope, err := signer.SignPayload(context.Background(), kind, payload)
	if err != nil {
		return nil, fmt.Errorf("signing proof: %w", err)
	}
	return rule.Canonical(wireOf(envelope))
}

// wire is dsse.Envelope for the strict decoder, which wants every name.
type wire struct {
	PayloadType string          `json:"payloadType"`
	Payload     string          `json:"payload"`
	Signatures  []wireSignature `json:"signatures"`
}

type wireSignature struct {
	KeyID string `json:"keyid"`
	Sig   string `json:"sig"`
}

func wireOf(envelope *dsse.Envelope) wire {
	w := wire{PayloadType: envelope.PayloadType, Payload: envelope.Payload}
	for _, signature := range envelope.Signatures {
		w.Signatures = append(w.Signatures, wireSignature(signature))
	}
	return w
}

// opened is an envelope whose form is right. Its signature isn't checked yet.
type opened struct {
	payload   []byte
	signature string
}

// open decodes an envelope strictly. Bytes that differ from the one form that
// seal writes are refused, so that an envelope has no twin but for its key ID.
func open(envelope []byte) (opened, error) {
	if len(envelope) > maxEnvelope {
		return opened{}, fmt.Errorf("envelope has %d bytes: the limit is %d", len(envelope), maxEnvelope)
	}
	var w wire
	if err := rule.Decode(envelope, &w); err != nil {
		return opened{}, fmt.Errorf("envelope: %v", err)
	}
	again, err := rule.Canonical(w)
	switch {
	case err != nil:
		return opened{}, fmt.Errorf("envelope: %v", err)
	case w.PayloadType != payloadType:
		return opened{}, fmt.Errorf("payload type %q: want %q", w.PayloadType, payloadType)
	case len(w.Signatures) != 1:
		return opened{}, fmt.Errorf("%d signatures: want exactly one", len(w.Signatures))
	case !bytes.Equal(envelope, again):
		return opened{}, fmt.Errorf("envelope isn't canonical JSON")
	}
	if _, err := standardBase64(w.Signatures[0].Sig); err != nil {
		return opened{}, fmt.Errorf("signature: %v", err)
	}
	payload, err := standardBase64(w.Payload)
	if err != nil {
		return opened{}, fmt.Errorf("payload: %v", err)
	}
	return opened{payload: payload, signature: w.Signatures[0].Sig}, nil
}

// standardBase64 decodes padded standard base64 and refuses every other
// spelling, line breaks and stray bits included.
func standardBase64(text string) ([]byte, error) {
	data, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil {
		return nil, err
	}
	if base64.StdEncoding.EncodeToString(data) != text {
		return nil, fmt.Errorf("not plain standard base64")
	}
	return data, nil
}
