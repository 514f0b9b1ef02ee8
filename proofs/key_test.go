package proofs

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// generated returns a folder with a fresh key.
func generated(t *testing.T) (dir string, key *Key) {
	t.Helper()
	dir = t.TempDir()
	if err := GenerateKey(dir); err != nil {
		t.Fatal(err)
	}
	key, err := LoadKey(dir)
	if err != nil {
		t.Fatal(err)
	}
	return dir, key
}

func TestGeneratedKeySigns(t *testing.T) {
	dir, key := generated(t)
	public, err := LoadPublicKey(filepath.Join(dir, PublicKeyFile))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Verify(mustSign(t, key, testPredicate()), public); err != nil {
		t.Error(err)
	}
	info, err := os.Stat(filepath.Join(dir, keyFile))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v: want 0600", info.Mode(), err)
	}
	if public.Fingerprint() != key.Public().Fingerprint() || public.IsZero() {
		t.Error("the two files name different keys")
	}
}

func TestGenerateKeyKeepsWhatIsThere(t *testing.T) {
	dir, key := generated(t)
	if err := GenerateKey(dir); err == nil {
		t.Error("a key was made over another")
	}
	again, err := LoadKey(dir)
	if err != nil || again.Public().Fingerprint() != key.Public().Fingerprint() {
		t.Errorf("the key changed: %v", err)
	}
	if err := GenerateKey(filepath.Join(dir, "missing")); err == nil {
		t.Error("a key was made in a folder that isn't there")
	}
}

func TestOneLineKeys(t *testing.T) {
	dir, key := generated(t)
	seed := base64.StdEncoding.EncodeToString(key.private.Seed())
	public := base64.StdEncoding.EncodeToString(key.Public().key)
	write(t, filepath.Join(dir, keyFile), linePrefix+seed+"\n", 0o600)
	write(t, filepath.Join(dir, PublicKeyFile), linePrefix+public, 0o644)
	again, err := LoadKey(dir)
	if err != nil {
		t.Fatal(err)
	}
	if again.Public().Fingerprint() != key.Public().Fingerprint() {
		t.Error("the line holds another key")
	}
}

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := errors.Join(os.WriteFile(path, []byte(text), mode), os.Chmod(path, mode)); err != nil {
		t.Fatal(err)
	}
}

// TestLoadKeyRefuses pairs with generated, which loads the unchanged folder.
func TestLoadKeyRefuses(t *testing.T) {
	elliptical, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(elliptical)
	if err != nil {
		t.Fatal(err)
	}
	link := func(t *testing.T, path string) {
		if err := errors.Join(os.Rename(path, path+".real"), os.Symlink(path+".real", path)); err != nil {
			t.Fatal(err)
		}
	}
	text := func(content string) func(*testing.T, string) {
		return func(t *testing.T, path string) { write(t, path, content, 0o600) }
	}
	mode := func(m os.FileMode) func(*testing.T, string) {
		return func(t *testing.T, path string) {
			if err := os.Chmod(path, m); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, test := range []struct {
		name, file string
		change     func(*testing.T, string)
	}{
		{"group readable", keyFile, mode(0o640)},
		{"world readable", keyFile, mode(0o604)},
		{"group writable", keyFile, mode(0o620)},
		{"symlink", keyFile, link},
		{"missing", keyFile, func(t *testing.T, path string) { os.Remove(path) }},
		{"folder", keyFile, func(t *testing.T, path string) { os.Remove(path); os.Mkdir(path, 0o700) }},
		{"empty", keyFile, text("")},
		{"garbage", keyFile, text("key")},
		{"short line", keyFile, text(linePrefix + "AAAA\n")},
		{"long line", keyFile, text(linePrefix + strings.Repeat("A", 88) + "\n")},
		{"url base64 line", keyFile, text(linePrefix + strings.Repeat("_", 43) + "=\n")},
		{"truncated", keyFile, func(t *testing.T, path string) { os.Truncate(path, 60) }},
		{"too long", keyFile, text(strings.Repeat(" ", maxKeyFile+1))},
		{"another kind of key", keyFile, text(string(encodePEM("PRIVATE KEY", der)))},
		{"another block", keyFile, text(string(encodePEM("CERTIFICATE", der)))},
		{"another key", keyFile, text(linePrefix + strings.Repeat("A", 43) + "=\n")},
		{"public missing", PublicKeyFile, func(t *testing.T, path string) { os.Remove(path) }},
		{"public symlink", PublicKeyFile, link},
		{"public group writable", PublicKeyFile, mode(0o664)},
		{"public world writable", PublicKeyFile, mode(0o646)},
		{"public short", PublicKeyFile, text(linePrefix + "AAAA\n")},
		{"public garbage", PublicKeyFile, text("key")},
		{"public another key", PublicKeyFile, text(linePrefix + strings.Repeat("A", 43) + "=\n")},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir, _ := generated(t)
			test.change(t, filepath.Join(dir, test.file))
			if _, err := LoadKey(dir); !errors.Is(err, ErrNoKey) || errors.Is(err, ErrBad) {
				t.Errorf("loaded: %v, want ErrNoKey", err)
			}
		})
	}
}
