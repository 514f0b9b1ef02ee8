package proofs

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
)

// maxKeyFile bounds a key file, in bytes.
const maxKeyFile = 4096

// linePrefix opens the one-line form of a key: the seed or the public key, 32
// bytes in standard base64.
const linePrefix = "ed25519:"

func parsePrivate(data []byte) (ed25519.PrivateKey, error) {
	if line, ok := strings.CutPrefix(string(data), linePrefix); ok {
		seed, err := parseLine(line)
		if err != nil {
			return nil, err
		}
		return ed25519.NewKeyFromSeed(seed), nil
	}
	der, err := parsePEM(data, "PRIVATE KEY")
	if err != nil {
		return nil, err
	}
	parsed, err := x509.ParsePKCS8PrivateKey(der)
	if err != nil {
		return nil, fmt.Errorf("not a PKCS #8 private key")
	}
	private, ok := parsed.(ed25519.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("key is a %T: want ed25519", parsed)
	}
	return private, nil
}

func parsePublic(data []byte) (ed25519.PublicKey, error) {
	if line, ok := strings.CutPrefix(string(data), linePrefix); ok {
		return parseLine(line)
	}
	der, err := parsePEM(data, "PUBLIC KEY")
	if err != nil {
		return nil, err
	}
	parsed, err := x509.ParsePKIXPublicKey(der)
	if err != nil {
		return nil, fmt.Errorf("not a PKIX public key")
	}
	public, ok := parsed.(ed25519.PublicKey)
	if !ok {
		return nil, fmt.Errorf("key is a %T: want ed25519", parsed)
	}
	return public, nil
}

// parseLine returns the 32 bytes of a one-line key.
func parseLine(line string) ([]byte, error) {
	data, err := base64.StdEncoding.Strict().DecodeString(strings.TrimSuffix(line, "\n"))
	if err != nil {
		return nil, fmt.Errorf("not standard base64 after %q", linePrefix)
	}
	if len(data) != ed25519.SeedSize {
		return nil, fmt.Errorf("%d bytes after %q: want %d", len(data), linePrefix, ed25519.SeedSize)
	}
	return data, nil
}

// parsePEM returns the only block of data, which must be of the given kind.
func parsePEM(data []byte, kind string) ([]byte, error) {
	block, rest := pem.Decode(data)
	if block == nil {
		return nil, fmt.Errorf("neither PEM nor a line that begins with %q", linePrefix)
	}
	if block.Type != kind || len(block.Headers) > 0 || len(rest) > 0 {
		return nil, fmt.Errorf("want exactly one PEM block %q without headers", kind)
	}
	return block.Bytes, nil
}

// readGuarded reads a small regular file that is no link and has none of the
// forbidden mode bits. What it looks at is the open file, not the path.
func readGuarded(path string, forbidden fs.FileMode) ([]byte, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, syscall.ELOOP) {
		return nil, fmt.Errorf("%w: %q is a symbolic link", ErrNoKey, path)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrNoKey, err)
	}
	defer file.Close()
	info, err := file.Stat()
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: %v", ErrNoKey, err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%w: %q is not a regular file", ErrNoKey, path)
	case info.Mode().Perm()&forbidden != 0:
		return nil, fmt.Errorf("%w: %q has mode %04o: take %04o away (chmod)", ErrNoKey, path, info.Mode().Perm(), info.Mode().Perm()&forbidden)
	case info.Size() > maxKeyFile:
		return nil, fmt.Errorf("%w: %q has %d bytes: the limit is %d", ErrNoKey, path, info.Size(), maxKeyFile)
	}
	data, err := io.ReadAll(io.LimitReader(file, maxKeyFile))
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrNoKey, err)
	}
	return data, nil
}

// create writes a new file and syncs it. It never opens one that exists.
func create(path string, mode fs.FileMode, data []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	return errors.Join(err, file.Sync(), file.Close())
}

func syncFolder(dir string) error {
	folder, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
