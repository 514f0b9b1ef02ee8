package objects

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"signalbox/rule"
)

func newStore(t *testing.T) *Store {
	t.Helper()
	store, err := Create(filepath.Join(t.TempDir(), "objects"))
	if err != nil {
		t.Fatal(err)
	}
	return store
}

func mustPut(t *testing.T, s *Store, text string) rule.Digest {
	t.Helper()
	digest, err := s.Put([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return digest
}

func TestPutGet(t *testing.T) {
	s := newStore(t)
	for _, text := range []string{"", "a", strings.Repeat("x", 1<<20)} {
		digest := mustPut(t, s, text)
		if digest != rule.DigestOf([]byte(text)) {
			t.Errorf("digest %s is not the content's", digest)
		}
		got, err := s.Get(digest)
		if err != nil || string(got) != text {
			t.Errorf("Get gave %d bytes, %v", len(got), err)
		}
		info, err := os.Stat(s.Path(digest))
		if err != nil || info.Mode().Perm() != 0o400 {
			t.Errorf("mode %v, %v: want 0400", info.Mode(), err)
		}
	}
}

func TestPutIsIdempotent(t *testing.T) {
	s := newStore(t)
	digest := mustPut(t, s, "once")
	before, err := os.Stat(s.Path(digest))
	if err != nil {
		t.Fatal(err)
	}
	mustPut(t, s, "once")
	after, err := os.Stat(s.Path(digest))
	if err != nil || !os.SameFile(before, after) {
		t.Errorf("the second Put replaced the file (%v)", err)
	}
}

func TestConcurrentPuts(t *testing.T) {
	s := newStore(t)
	var group sync.WaitGroup
	for range 16 {
		group.Go(func() {
			if _, err := s.Put([]byte("shared")); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	strays := 0
	objects := 0
	err := s.Each(func(rule.Digest) error { objects++; return nil }, func(string) { strays++ })
	if err != nil || objects != 1 || strays != 0 {
		t.Errorf("%d objects, %d strays, %v: want 1, 0", objects, strays, err)
	}
}

func TestDamageIsNamed(t *testing.T) {
	damage := map[string]func(t *testing.T, path string){
		"one bit":    func(t *testing.T, path string) { rewrite(t, path, func(b []byte) []byte { b[0] ^= 1; return b }) },
		"truncated":  func(t *testing.T, path string) { rewrite(t, path, func(b []byte) []byte { return b[:len(b)-1] }) },
		"empty":      func(t *testing.T, path string) { rewrite(t, path, func([]byte) []byte { return nil }) },
		"more bytes": func(t *testing.T, path string) { rewrite(t, path, func(b []byte) []byte { return append(b, 'x') }) },
		"writable": func(t *testing.T, path string) {
			if err := os.Chmod(path, 0o666); err != nil {
				t.Fatal(err)
			}
		},
		"symbolic link": func(t *testing.T, path string) {
			other := path + ".other"
			if err := os.Rename(path, other); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(other, path); err != nil {
				t.Fatal(err)
			}
		},
		"folder": func(t *testing.T, path string) {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(path, 0o700); err != nil {
				t.Fatal(err)
			}
		},
	}
	for name, apply := range damage {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			digest := mustPut(t, s, "precious")
			if _, err := s.Get(digest); err != nil {
				t.Fatal(err)
			}
			apply(t, s.Path(digest))
			_, err := s.Get(digest)
			if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), string(digest)) || !strings.Contains(err.Error(), s.Path(digest)) {
				t.Errorf("Get: %v: want ErrDamaged with path and digest", err)
			}
			if _, err := s.Put([]byte("precious")); !errors.Is(err, ErrDamaged) {
				t.Errorf("Put over a damaged object: %v: want ErrDamaged", err)
			}
		})
	}
}

// rewrite changes a read-only file in place, as a failing disk would.
func rewrite(t *testing.T, path string, change func([]byte) []byte) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, change(data), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestGetMissing(t *testing.T) {
	s := newStore(t)
	if _, err := s.Get(rule.DigestOf([]byte("never stored"))); !errors.Is(err, ErrMissing) {
		t.Errorf("got %v, want ErrMissing", err)
	}
	for _, bad := range []rule.Digest{"", "sha256:", "sha256:../../../etc/passwd", "md5:00"} {
		if _, err := s.Get(bad); err == nil || errors.Is(err, ErrMissing) {
			t.Errorf("digest %q: got %v, want an error about the digest", bad, err)
		}
	}
}

func TestOpen(t *testing.T) {
	s := newStore(t)
	if _, err := Open(s.dir); err != nil {
		t.Errorf("a good store: %v", err)
	}
	if _, err := Create(s.dir); err == nil {
		t.Error("Create over a store: want an error")
	}
	if _, err := Open(s.dir + ".none"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
	link := s.dir + ".link"
	if err := os.Symlink(s.dir, link); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(link); err == nil {
		t.Error("a symbolic link: want an error")
	}
	if err := os.Chmod(s.dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(s.dir); err == nil {
		t.Error("a folder for all: want an error")
	}
}

func TestTreeRoundTrip(t *testing.T) {
	s := newStore(t)
	rapid.Check(t, func(t *rapid.T) {
		tree := rule.Tree{}
		for path, text := range rapid.MapOfN(rapid.StringMatching(`[a-z]{1,4}(/[a-z]{1,4}){0,2}\.txt`), rapid.SliceOf(rapid.Byte()), 0, 5).Draw(t, "tree") {
			tree[path] = text
		}
		digest, err := s.PutTree(tree)
		if err != nil {
			t.Fatal(err)
		}
		if digest != tree.Digest() {
			t.Fatalf("stored as %s, the tree is %s", digest, tree.Digest())
		}
		got, err := s.GetTree(digest)
		if err != nil || len(got) != len(tree) {
			t.Fatalf("got %d files, %v: want %d", len(got), err, len(tree))
		}
		for path := range tree {
			if !bytes.Equal(got[path], tree[path]) {
				t.Fatalf("file %q differs", path)
			}
		}
	})
}

func TestGetTreeRefuses(t *testing.T) {
	s := newStore(t)
	file := mustPut(t, s, "text")
	for name, table := range map[string]string{
		"not JSON":       "hello",
		"a list":         `["a"]`,
		"path outside":   `{"../a":"` + string(file) + `"}`,
		"duplicate path": `{"a":"` + string(file) + `","a":"` + string(file) + `"}`,
		"no digest":      `{"a":"` + "x" + `"}`,
		"missing file":   `{"a":"` + string(rule.DigestOf([]byte("gone"))) + `"}`,
	} {
		if _, err := s.GetTree(mustPut(t, s, table)); err == nil {
			t.Errorf("%s: want an error", name)
		}
	}
	if _, err := s.GetTree(mustPut(t, s, `{"a":"`+string(file)+`"}`)); err != nil {
		t.Errorf("a good table: %v", err)
	}
}

func TestEachTellsStrays(t *testing.T) {
	s := newStore(t)
	digest := mustPut(t, s, "one")
	left := filepath.Join(filepath.Dir(s.Path(digest)), ".half123")
	if err := os.WriteFile(left, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var objects []rule.Digest
	var strays []string
	err := s.Each(func(d rule.Digest) error { objects = append(objects, d); return nil }, func(p string) { strays = append(strays, p) })
	if err != nil || len(objects) != 1 || objects[0] != digest || len(strays) != 1 || strays[0] != left {
		t.Errorf("objects %v, strays %v, %v", objects, strays, err)
	}
	stop := errors.New("stop")
	if err := s.Each(func(rule.Digest) error { return stop }, func(string) {}); !errors.Is(err, stop) {
		t.Errorf("got %v, want the visitor's error", err)
	}
}

func TestPutWithoutRoom(t *testing.T) {
	s := newStore(t)
	if err := os.RemoveAll(filepath.Join(s.dir, "sha256")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Put([]byte("x")); err == nil {
		t.Error("want an error where the folder is gone")
	}
}

// TestSweep removes what a killed writer left, but nothing while one writes.
func TestSweep(t *testing.T) {
	s := newStore(t)
	left := filepath.Join(s.pending(), ".abc123")
	if err := os.WriteFile(left, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	var strays []string
	if err := s.Each(func(rule.Digest) error { return nil }, func(path string) { strays = append(strays, path) }); err != nil || len(strays) != 1 {
		t.Errorf("strays %v, %v: want %q", strays, err, left)
	}
	unlock, err := s.lockPending(unix.LOCK_SH)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Sweep(); err != nil {
		t.Errorf("while someone writes: %v", err)
	}
	if _, err := os.Stat(left); err != nil {
		t.Errorf("swept while someone writes: %v", err)
	}
	unlock()
	if err := s.Sweep(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(left); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("still there: %v", err)
	}
}

// TestPendingFolderOfAnOlderStore is made when it is needed.
func TestPendingFolderOfAnOlderStore(t *testing.T) {
	s := newStore(t)
	for _, use := range []func() error{s.Sweep, func() error { _, err := s.Put([]byte("x")); return err }} {
		if err := os.RemoveAll(s.pending()); err != nil {
			t.Fatal(err)
		}
		if err := use(); err != nil {
			t.Error(err)
		}
	}
}
