// Package objects keeps immutable files named by the digest of their bytes:
// objects/sha256/ab/cdef…. Rule sources, suites, proofs and certified trees live
// here; registry.json says which of them count.
//
// Put returns only when the object and its folder entry are on disk, so that
// whoever names an object afterwards can rely on it. Get hashes what it reads:
// an object is its digest, and one that isn't is reported with path and digest,
// never repaired and never returned. A tree is an object too: a canonical JSON
// table from path to the digest of the file, so its digest is rule.Tree.Digest.
//
// Nothing is ever changed or removed, and the store doesn't know what an object
// means or whether anything still names it. What a killed writer left half
// written lies in objects/pending, where Sweep removes it.
package objects

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"signalbox/rule"
)

// Errors that callers branch on.
var (
	// ErrMissing is returned when no object has the digest.
	ErrMissing = errors.New("object is missing")
	// ErrDamaged is returned when the bytes at an object's path have another
	// digest, or the path is not a private regular file.
	ErrDamaged = errors.New("object is damaged")
)

// Store is a folder of objects. It is safe for concurrent use, by several
// processes too.
type Store struct{ dir string }

// Create makes the folder for a new store. It must not exist.
func Create(dir string) (*Store, error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, fmt.Errorf("creating object store: %w", err)
	}
	if err := os.Mkdir(filepath.Join(dir, "sha256"), 0o700); err != nil {
		return nil, fmt.Errorf("creating object store: %w", err)
	}
	if err := os.Mkdir(filepath.Join(dir, pendingFolder), 0o700); err != nil {
		return nil, fmt.Errorf("creating object store: %w", err)
	}
	if err := syncFolder(dir); err != nil {
		return nil, err
	}
	return &Store{dir: dir}, nil
}

// Open returns the store in dir. A folder that isn't there, is a symbolic link
// or can be written by others is an error.
func Open(dir string) (*Store, error) {
	info, err := os.Lstat(dir)
	if err != nil {
		return nil, fmt.Errorf("opening object store: %w", err)
	}
	if !info.IsDir() || info.Mode().Perm()&0o022 != 0 {
		return nil, fmt.Errorf("opening object store %q: want a folder that only its owner writes, got %s", dir, info.Mode())
	}
	return &Store{dir: dir}, nil
}

// Path returns where the object is, or would be. The digest must be one that
// rule.ParseDigest accepts.
func (s *Store) Path(digest rule.Digest) string {
	hexes := digest.Hex()
	if len(hexes) < 3 {
		return filepath.Join(s.dir, "sha256", "none")
	}
	return filepath.Join(s.dir, "sha256", hexes[:2], hexes[2:])
}

// Put stores data and returns its digest. An object that is there already is
// read again and must be whole.
func (s *Store) Put(data []byte) (rule.Digest, error) {
	digest := rule.DigestOf(data)
	path := s.Path(digest)
	_, err := s.Get(digest)
	switch {
	case err == nil:
		return digest, syncFolder(filepath.Dir(path))
	case !errors.Is(err, ErrMissing):
		return "", fmt.Errorf("storing object: %w", err)
	}
	if err := s.write(path, data); err != nil {
		return "", fmt.Errorf("storing object %s: %w", digest.Short(), err)
	}
	return digest, nil
}

// makeFolder makes one of the 256 folders and makes its entry last.
func makeFolder(folder string) error {
	err := os.Mkdir(folder, 0o700)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return syncFolder(filepath.Dir(folder))
}

// Get returns the object's bytes. The error names path and digest, and is
// ErrMissing or ErrDamaged where it is one of these.
func (s *Store) Get(digest rule.Digest) ([]byte, error) {
	if _, err := rule.ParseDigest(string(digest)); err != nil {
		return nil, fmt.Errorf("reading object: %w", err)
	}
	path := s.Path(digest)
	data, err := readPrivate(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("reading object %s at %q: %w", digest, path, ErrMissing)
	}
	if err != nil {
		return nil, fmt.Errorf("reading object %s: %w", digest, err)
	}
	if got := rule.DigestOf(data); got != digest {
		return nil, fmt.Errorf("reading object %s at %q: its bytes have digest %s: %w", digest, path, got, ErrDamaged)
	}
	return data, nil
}

// readPrivate reads a regular file that nobody but its owner writes, without
// following a link.
func readPrivate(path string) ([]byte, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, syscall.ELOOP) {
		return nil, fmt.Errorf("%q is a symbolic link: %w", path, ErrDamaged)
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Mode().Perm()&0o022 != 0 {
		return nil, fmt.Errorf("%q has mode %s, want a regular file that only its owner writes: %w", path, info.Mode(), ErrDamaged)
	}
	return io.ReadAll(file)
}

// syncFolder makes the entries of a folder durable. rename alone doesn't.
func syncFolder(folder string) error {
	file, err := os.Open(folder)
	if err != nil {
		return fmt.Errorf("syncing folder: %w", err)
	}
	defer func() { _ = file.Close() }()
	if err := file.Sync(); err != nil {
		return fmt.Errorf("syncing folder %q: %w", folder, err)
	}
	return nil
}
