package proofs

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"signalbox/rule"
)

// The files of a host key, in the folder that GenerateKey and LoadKey are given.
const (
	keyFile       = "host.ed25519"
	PublicKeyFile = "host.pub"
)

// Key is the host's signing key. LoadKey makes one.
type Key struct{ private ed25519.PrivateKey }

// Public returns the half that verifies.
func (k *Key) Public() PublicKey {
	return PublicKey{key: k.private.Public().(ed25519.PublicKey)}
}

// PublicKey is the half of a host key that verifies. The zero PublicKey
// verifies nothing.
type PublicKey struct{ key ed25519.PublicKey }

// IsZero says that there is no key.
func (p PublicKey) IsZero() bool { return len(p.key) != ed25519.PublicKeySize }

// Fingerprint names the key: the digest of its 32 bytes.
func (p PublicKey) Fingerprint() rule.Digest { return rule.DigestOf(p.key) }

// GenerateKey makes a new host key in dir, which must exist: host.ed25519 (mode
// 0600) and host.pub. It refuses where either is there already, and then makes
// neither. It returns after both and the folder are on disk.
func GenerateKey(dir string) error {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return fmt.Errorf("generating host key: %w", err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return fmt.Errorf("generating host key: %w", err)
	}
	open, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		return fmt.Errorf("generating host key: %w", err)
	}
	beside := filepath.Join(dir, PublicKeyFile)
	if err := create(beside, 0o644, encodePEM("PUBLIC KEY", open)); err != nil {
		return fmt.Errorf("generating host key: %w", err)
	}
	if err := create(filepath.Join(dir, keyFile), 0o600, encodePEM("PRIVATE KEY", secret)); err != nil {
		return fmt.Errorf("generating host key: %w", errors.Join(err, os.Remove(beside)))
	}
	return syncFolder(dir)
}

func encodePEM(kind string, data []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: data})
}

// LoadKey reads the host key in dir. It returns ErrNoKey where the file is
// missing, a link, open to group or others, short or malformed, or where
// host.pub beside it belongs to another key.
func LoadKey(dir string) (*Key, error) {
	path := filepath.Join(dir, keyFile)
	data, err := readGuarded(path, 0o077)
	if err != nil {
		return nil, err
	}
	private, err := parsePrivate(data)
	if err != nil {
		return nil, fmt.Errorf("%w: %q: %v", ErrNoKey, path, err)
	}
	key := &Key{private: private}
	public, err := LoadPublicKey(filepath.Join(dir, PublicKeyFile))
	if err != nil {
		return nil, err
	}
	if !public.key.Equal(key.Public().key) {
		return nil, fmt.Errorf("%w: %q isn't the public half of %q", ErrNoKey, PublicKeyFile, path)
	}
	return key, nil
}

// LoadPublicKey reads a public key file. It returns ErrNoKey where the file is
// missing, a link, writable by group or others, or malformed.
func LoadPublicKey(path string) (PublicKey, error) {
	data, err := readGuarded(path, 0o022)
	if err != nil {
		return PublicKey{}, err
	}
	public, err := parsePublic(data)
	if err != nil {
		return PublicKey{}, fmt.Errorf("%w: %q: %v", ErrNoKey, path, err)
	}
	return PublicKey{key: public}, nil
}
