package proofs

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/secure-systems-lab/go-securesystemslib/dsse"

	"signalbox/rule"
)

// TestOneSpelling signs, with the host's own key, the same statement spelled
// otherwise. Only the spelling that Sign writes is taken.
func TestOneSpelling(t *testing.T) {
	key := testKey(t, 1)
	payload := string(payloadOf(t, mustSign(t, key, testPredicate())))
	var document map[string]any
	if err := json.Unmarshal([]byte(payload), &document); err != nil {
		t.Fatal(err)
	}
	indented, err := json.MarshalIndent(document, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	predicate := document["predicate"].(map[string]any)
	for name, text := range map[string]string{
		"indented":          string(indented),
		"a space":           strings.Replace(payload, ":", ": ", 1),
		"a number":          strings.Replace(payload, `"floor":0.5`, `"floor":5e-1`, 1),
		"a longer number":   strings.Replace(payload, `"floor":0.5`, `"floor":0.50`, 1),
		"a fraction":        strings.Replace(payload, `"repeats":2`, `"repeats":2.0`, 1),
		"an escape":         strings.Replace(payload, `"upper"`, `"\u0075pper"`, 1),
		"a time zone":       strings.Replace(payload, `4:05.000000006Z"`, `4:05.000000006+00:00"`, 1),
		"a time's digits":   strings.Replace(payload, `4:05.000000006Z"`, `4:05.0000000060Z"`, 1),
		"another order":     `{"predicate":` + text(t, predicate) + `,` + strings.Replace(payload, `"predicate":`+text(t, predicate)+`,`, "", 1)[1:],
		"a name in capital": strings.Replace(payload, `"suite"`, `"Suite"`, 1),
		"null for a list":   strings.Replace(payload, `"unheld":["days","letters"]`, `"unheld":null`, 1),
		"null for a digest": strings.Replace(payload, `"matrix":"`+string(testPredicate().Matrix)+`"`, `"matrix":null`, 1),
		"an unknown name":   strings.Replace(payload, `"tool":`, `"tools":[],"tool":`, 1),
		"an annotation":     strings.Replace(payload, `"name":"dates"`, `"annotations":{},"name":"dates"`, 1),
	} {
		if text == payload {
			t.Errorf("%s: nothing was respelled", name)
			continue
		}
		if _, err := Verify(reseal(t, key, []byte(text)), key.Public()); !errors.Is(err, ErrBad) {
			t.Errorf("%s: %v, want ErrBad", name, err)
		}
	}
	if _, err := Verify(reseal(t, key, []byte(payload)), key.Public()); err != nil {
		t.Errorf("control: %v", err)
	}
}

func text(t *testing.T, v any) string {
	t.Helper()
	data, err := rule.Canonical(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestTheLibraryAgrees: an envelope of ours verifies with the DSSE library as
// anyone uses it, key ID and all, and one of the library's with us.
func TestTheLibraryAgrees(t *testing.T) {
	key := testKey(t, 1)
	envelope := mustSign(t, key, testPredicate())
	var e dsse.Envelope
	if err := json.Unmarshal(envelope, &e); err != nil {
		t.Fatal(err)
	}
	verifier, err := dsse.NewEnvelopeVerifier(hostVerifier{key.Public()})
	if err != nil {
		t.Fatal(err)
	}
	accepted, err := verifier.Verify(context.Background(), &e)
	if err != nil || len(accepted) != 1 || accepted[0].KeyID != key.Public().Fingerprint().Hex() {
		t.Errorf("the library accepts %v: %v", accepted, err)
	}
	e.PayloadType = "application/json"
	if _, err := verifier.Verify(context.Background(), &e); err == nil {
		t.Error("the library accepts another type, so this test can't fail")
	}
	if err := (hostVerifier{}).Verify(context.Background(), nil, nil); err == nil {
		t.Error("the zero key verifies")
	}
}

// TestErrorsKeepSecrets: no error quotes what a private key file holds.
func TestErrorsKeepSecrets(t *testing.T) {
	dir, _ := generated(t)
	secret := "c2VjcmV0c2VjcmV0c2VjcmV0"
	for _, content := range []string{secret, linePrefix + secret, linePrefix + "!" + secret,
		"-----BEGIN PRIVATE KEY-----\n" + secret + "\n-----END PRIVATE KEY-----\n"} {
		write(t, filepath.Join(dir, keyFile), content, 0o600)
		_, err := LoadKey(dir)
		if !errors.Is(err, ErrNoKey) || strings.Contains(err.Error(), "c2Vjcm") || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q gives %v", content, err)
		}
	}
}

// TestHalfAKey: a public key that is there already keeps a private one from
// being made beside it under the same name.
func TestHalfAKey(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, PublicKeyFile), "theirs", 0o644)
	if err := GenerateKey(dir); err == nil {
		t.Error("a key was made over half of another")
	}
	data, err := os.ReadFile(filepath.Join(dir, PublicKeyFile))
	if err != nil || string(data) != "theirs" {
		t.Errorf("host.pub holds %q, %v", data, err)
	}
	if _, err := os.Lstat(filepath.Join(dir, keyFile)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a private key is left: %v", err)
	}
	dir, _ = generated(t)
	if err := os.Remove(filepath.Join(dir, PublicKeyFile)); err != nil {
		t.Fatal(err)
	}
	if err := GenerateKey(dir); err == nil {
		t.Error("a key was made over the other half")
	}
	if _, err := os.Lstat(filepath.Join(dir, PublicKeyFile)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("another key's public half is left: %v", err)
	}
	if _, err := LoadPublicKey(filepath.Join(dir, "missing")); !errors.Is(err, ErrNoKey) || !strings.Contains(err.Error(), "missing") {
		t.Errorf("a missing file: %v, want ErrNoKey with its name", err)
	}
}
