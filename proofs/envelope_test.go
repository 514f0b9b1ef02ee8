package proofs

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	intoto "github.com/in-toto/attestation/go/v1"
	"github.com/secure-systems-lab/go-securesystemslib/dsse"
	"google.golang.org/protobuf/encoding/protojson"

	"signalbox/rule"
)

// withPayload puts another payload under an envelope's signature.
func withPayload(t testing.TB, envelope Envelope, payload []byte) Envelope {
	t.Helper()
	return rewire(t, envelope, func(w *wire) { w.Payload = base64.StdEncoding.EncodeToString(payload) })
}

func rewire(t testing.TB, envelope Envelope, change func(*wire)) Envelope {
	t.Helper()
	var w wire
	if err := rule.Decode(envelope, &w); err != nil {
		t.Fatal(err)
	}
	change(&w)
	data, err := rule.Canonical(w)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestPAE holds DSSE's own vectors: what is signed is what everyone signs.
func TestPAE(t *testing.T) {
	for _, vector := range []struct{ kind, body, want string }{
		{"", "", "DSSEv1 0  0 "},
		{"http://example.com/HelloWorld", "hello world", "DSSEv1 29 http://example.com/HelloWorld 11 hello world"},
		{"http://example.com/HelloWorld", "ಠ", "DSSEv1 29 http://example.com/HelloWorld 3 ಠ"},
	} {
		if got := string(dsse.PAE(vector.kind, []byte(vector.body))); got != vector.want {
			t.Errorf("PAE(%q, %q) = %q, want %q", vector.kind, vector.body, got, vector.want)
		}
	}
}

// TestOthersCanRead verifies with the standard library over a PAE written by
// hand, and reads the payload with in-toto's own types.
func TestOthersCanRead(t *testing.T) {
	key := testKey(t, 1)
	envelope := mustSign(t, key, testPredicate())
	var e dsse.Envelope
	if err := json.Unmarshal(envelope, &e); err != nil {
		t.Fatal(err)
	}
	payload := payloadOf(t, envelope)
	signature, err := base64.StdEncoding.DecodeString(e.Signatures[0].Sig)
	if err != nil {
		t.Fatal(err)
	}
	signed := append([]byte("DSSEv1 28 application/vnd.in-toto+json "+itoa(len(payload))+" "), payload...)
	if !ed25519.Verify(key.Public().key, signed, signature) {
		t.Error("the signature isn't over DSSE's encoding")
	}
	var read intoto.Statement
	if err := protojson.Unmarshal(payload, &read); err != nil {
		t.Fatal(err)
	}
	if err := read.Validate(); err != nil {
		t.Error(err)
	}
	if len(read.Subject) != 3 || read.Subject[0].Name != "dates" || read.PredicateType != PredicateType {
		t.Errorf("in-toto reads %v", read.Subject)
	}
}

func itoa(n int) string {
	text, _ := json.Marshal(n)
	return string(text)
}

func TestKeyIDDecidesNothing(t *testing.T) {
	key := testKey(t, 1)
	envelope := mustSign(t, key, testPredicate())
	stranger := testKey(t, 2)
	claimed := reseal(t, stranger, payloadOf(t, envelope))
	own := rewire(t, claimed, func(w *wire) { w.Signatures[0].KeyID = key.Public().Fingerprint().Hex() })
	if _, err := Verify(own, key.Public()); !errors.Is(err, ErrBad) {
		t.Errorf("a stranger's signature with the host's key ID: %v, want ErrBad", err)
	}
	for _, id := range []string{"", "else", stranger.Public().Fingerprint().Hex()} {
		other := rewire(t, envelope, func(w *wire) { w.Signatures[0].KeyID = id })
		verified, err := Verify(other, key.Public())
		if err != nil || verified.ID() != envelope.ID() {
			t.Errorf("the host's signature with key ID %q: %v", id, err)
		}
	}
}

// TestMalleableEnvelopes tries other spellings of an envelope that verifies.
func TestMalleableEnvelopes(t *testing.T) {
	key := testKey(t, 1)
	envelope := string(mustSign(t, key, testPredicate()))
	good := wire{}
	if err := rule.Decode([]byte(envelope), &good); err != nil {
		t.Fatal(err)
	}
	url := strings.NewReplacer("+", "-", "/", "_")
	if url.Replace(good.Signatures[0].Sig) == good.Signatures[0].Sig {
		t.Fatal("the fixture's signature has no character that URL base64 spells otherwise")
	}
	signatures := func(n ...wireSignature) string {
		return string(rewire(t, Envelope(envelope), func(w *wire) { w.Signatures = n }))
	}
	one := good.Signatures[0]
	bad := map[string]string{
		"empty":                  "",
		"not JSON":               "proof",
		"null":                   "null",
		"array":                  "[" + envelope + "]",
		"trailing space":         envelope + " ",
		"trailing newline":       envelope + "\n",
		"second document":        envelope + envelope,
		"leading space":          " " + envelope,
		"byte order mark":        "\ufeff" + envelope,
		"unknown name":           strings.Replace(envelope, "{", `{"extra":1,`, 1),
		"duplicate payload":      strings.Replace(envelope, "{", `{"payload":"e30=",`, 1),
		"name in capitals":       strings.Replace(envelope, `"payload"`, `"Payload"`, 1),
		"escaped":                strings.Replace(envelope, `"payload"`, `"\u0070ayload"`, 1),
		"no signature":           signatures(),
		"two signatures":         signatures(one, one),
		"a bad one first":        signatures(wireSignature{Sig: "AAAA"}, one),
		"a bad one after":        signatures(one, wireSignature{Sig: "AAAA"}),
		"empty signature":        signatures(wireSignature{}),
		"short signature":        signatures(wireSignature{Sig: "AAAA"}),
		"url base64 signature":   signatures(wireSignature{Sig: url.Replace(one.Sig)}),
		"unpadded signature":     signatures(wireSignature{Sig: strings.TrimRight(one.Sig, "=")}),
		"line break in base64":   signatures(wireSignature{Sig: one.Sig[:20] + "\n" + one.Sig[20:]}),
		"signature unknown name": strings.Replace(envelope, `"sig"`, `"cert":"","sig"`, 1),
		"payload with a break":   string(rewire(t, Envelope(envelope), func(w *wire) { w.Payload = w.Payload[:8] + "\r\n" + w.Payload[8:] })),
		"payload empty":          string(rewire(t, Envelope(envelope), func(w *wire) { w.Payload = "" })),
		"over the limit":         envelope + strings.Repeat(" ", maxEnvelope),
	}
	for name, text := range bad {
		if _, err := Verify([]byte(text), key.Public()); !errors.Is(err, ErrBad) {
			t.Errorf("%s: %v, want ErrBad", name, err)
		}
	}
	if _, err := Verify([]byte(envelope), key.Public()); err != nil {
		t.Errorf("control: %v", err)
	}
}

// TestURLBase64Payload needs a payload that the two alphabets spell otherwise.
func TestURLBase64Payload(t *testing.T) {
	key := testKey(t, 1)
	p := testPredicate()
	for _, tool := range []string{"a?>?>?>", "ab?>?>?>", "abc?>?>?>"} {
		p.Tool = tool
		envelope := mustSign(t, key, p)
		url := rewire(t, envelope, func(w *wire) { w.Payload = strings.NewReplacer("+", "-", "/", "_").Replace(w.Payload) })
		if string(url) == string(envelope) {
			continue
		}
		if _, err := Verify(url, key.Public()); !errors.Is(err, ErrBad) {
			t.Errorf("url base64: %v, want ErrBad", err)
		}
		return
	}
	t.Fatal("no payload has + or / in base64")
}

func TestPayloadTypeConfusion(t *testing.T) {
	key := testKey(t, 1)
	envelope := mustSign(t, key, testPredicate())
	payload := payloadOf(t, envelope)
	for _, kind := range []string{"", "application/json", "application/vnd.in-toto+json ", "APPLICATION/VND.IN-TOTO+JSON"} {
		signed, err := seal(key, kind, payload)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Verify(signed, key.Public()); !errors.Is(err, ErrBad) {
			t.Errorf("type %q, signed so: %v, want ErrBad", kind, err)
		}
		relabelled := rewire(t, signed, func(w *wire) { w.PayloadType = payloadType })
		if _, err := Verify(relabelled, key.Public()); !errors.Is(err, ErrBad) {
			t.Errorf("type %q, relabelled: %v, want ErrBad", kind, err)
		}
	}
}

func TestStatementTypes(t *testing.T) {
	key := testKey(t, 1)
	for name, change := range map[string]func(*statement){
		"legacy statement": func(s *statement) { s.Type = "https://in-toto.io/Statement/v0.1" },
		"other predicate":  func(s *statement) { s.PredicateType = "https://slsa.dev/provenance/v1" },
		"later version":    func(s *statement) { s.PredicateType = "https://signalbox.dev/admission/v2" },
		"no subject":       func(s *statement) { s.Subject = nil },
		"a subject less":   func(s *statement) { s.Subject = s.Subject[1:] },
		"subject renamed":  func(s *statement) { s.Subject[0].Name = "other" },
		"subject revised":  func(s *statement) { s.Subject[0].Digest["sha256"] = rule.DigestOf([]byte("other")).Hex() },
		"second algorithm": func(s *statement) { s.Subject[0].Digest["sha1"] = strings.Repeat("0", 40) },
		"subjects swapped": func(s *statement) { s.Subject[0], s.Subject[1] = s.Subject[1], s.Subject[0] },
		"members unsorted": func(s *statement) {
			m := s.Predicate.Members
			m[0], m[1] = m[1], m[0]
		},
		"other collection": func(s *statement) { s.Predicate.Collection = rule.DigestOf([]byte("other")) },
		"promise more":     func(s *statement) { s.Predicate.DoesNotProve = []string{} },
	} {
		s := newStatement(testPredicate())
		change(&s)
		payload, err := rule.Canonical(s)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Verify(reseal(t, key, payload), key.Public()); !errors.Is(err, ErrBad) {
			t.Errorf("%s: %v, want ErrBad", name, err)
		}
	}
}
