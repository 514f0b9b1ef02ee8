package registry

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"signalbox/rule"
)

// wantRolledBack asserts that nobody uses the registry any more.
func wantRolledBack(t *testing.T, r *Registry) {
	t.Helper()
	before := readFile(t, r.path(registryFile))
	if _, err := r.Snapshot(t.Context()); !errors.Is(err, ErrRolledBack) {
		t.Errorf("Snapshot: %v, want ErrRolledBack", err)
	}
	if err := touch(r, ann); !errors.Is(err, ErrRolledBack) {
		t.Errorf("a commit: %v, want ErrRolledBack", err)
	}
	if again, err := Open(r.Dir(), Options{LockTimeout: time.Second}); !errors.Is(err, ErrRolledBack) {
		t.Errorf("Open: %v, want ErrRolledBack", err)
		must(t, again.Close())
	}
	if string(readFile(t, r.path(registryFile))) != string(before) {
		t.Error("the registry changed")
	}
}

func TestOlderRegistryPutBack(t *testing.T) {
	r := newHome(t)
	old := readFile(t, r.path(registryFile))
	must(t, touch(r, ann))
	must(t, touch(r, ann))
	now := readFile(t, r.path(registryFile))
	replaceFile(t, r.path(registryFile), old)
	wantRolledBack(t, r)
	replaceFile(t, r.path(registryFile), now)
	must(t, touch(r, ann)) // the control: the right one works again
}

// TestOtherRegistryWithTheSameNumber is ABA: the count is right, the content
// isn't.
func TestOtherRegistryWithTheSameNumber(t *testing.T) {
	r := newHome(t)
	must(t, touch(r, Change{Who: "ann", Why: "one"}))
	state, _, err := parseState(readFile(t, r.path(registryFile)))
	must(t, err)
	state.Log[1].Why = "two"
	other, err := state.encode()
	must(t, err)
	replaceFile(t, r.path(registryFile), other)
	wantRolledBack(t, r)
}

func TestRegistryAheadOfTheMark(t *testing.T) {
	next := func(t *testing.T, r *Registry, by uint64, prev rule.Digest) []byte {
		t.Helper()
		state, _, err := parseState(readFile(t, r.path(registryFile)))
		must(t, err)
		state.Serial = rule.Serial{N: state.Serial.N + by, Prev: prev}
		data, err := state.encode()
		must(t, err)
		return data
	}
	t.Run("one, with the right predecessor", func(t *testing.T) {
		r := newHome(t)
		replaceFile(t, r.path(registryFile), next(t, r, 1, rule.DigestOf(readFile(t, r.path(registryFile)))))
		if n := snapshot(t, r).Serial().N; n != 2 {
			t.Errorf("serial %d, want 2", n)
		}
		must(t, touch(r, ann))
		mark, err := r.ledger.Mark(t.Context())
		if err != nil || mark.Serial != 3 {
			t.Errorf("mark %+v, %v: want 3", mark, err)
		}
	})
	t.Run("one, with another predecessor", func(t *testing.T) {
		r := newHome(t)
		replaceFile(t, r.path(registryFile), next(t, r, 1, rule.DigestOf([]byte("other"))))
		wantRolledBack(t, r)
	})
	t.Run("two", func(t *testing.T) {
		r := newHome(t)
		replaceFile(t, r.path(registryFile), next(t, r, 2, rule.DigestOf(readFile(t, r.path(registryFile)))))
		wantRolledBack(t, r)
	})
}

func TestOlderLedgerPutBack(t *testing.T) {
	r := newHome(t)
	must(t, r.ledger.Close())
	old := readFile(t, r.path(ledgerFile))
	fresh := reopen(t, r)
	must(t, touch(fresh, ann))
	must(t, touch(fresh, ann))
	must(t, fresh.ledger.Close())
	for _, suffix := range []string{"-wal", "-shm"} {
		_ = os.Remove(r.path(ledgerFile) + suffix)
	}
	must(t, os.WriteFile(r.path(ledgerFile), old, 0o600))
	if _, err := Open(r.Dir(), Options{}); !errors.Is(err, ErrRolledBack) {
		t.Errorf("got %v, want ErrRolledBack", err)
	}
}

func TestMissingLedger(t *testing.T) {
	r := newHome(t)
	must(t, r.ledger.Close())
	must(t, os.Remove(r.path(ledgerFile)))
	_, err := Open(r.Dir(), Options{})
	if !errors.Is(err, ErrDamaged) {
		t.Errorf("got %v, want ErrDamaged", err)
	}
	if _, err := os.Lstat(r.path(ledgerFile)); !errors.Is(err, os.ErrNotExist) {
		t.Error("a fresh ledger was made")
	}
}

func TestMissingRegistry(t *testing.T) {
	r := newHome(t)
	must(t, os.Remove(r.path(registryFile)))
	for name, err := range map[string]error{
		"Open":     second(Open(r.Dir(), Options{})),
		"Snapshot": second(r.Snapshot(t.Context())),
		"a commit": touch(r, ann),
	} {
		if err == nil || errors.Is(err, ErrNotInitialised) {
			t.Errorf("%s: got %v: a lost registry isn't a new home", name, err)
		}
	}
	if _, err := os.Lstat(r.path(registryFile)); !errors.Is(err, os.ErrNotExist) {
		t.Error("a fresh registry was made")
	}
}

func TestNotInitialised(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	must(t, os.WriteFile(file, nil, 0o600))
	for _, path := range []string{filepath.Join(dir, "none"), dir, file} {
		if _, err := Open(path, Options{}); !errors.Is(err, ErrNotInitialised) {
			t.Errorf("%q: got %v, want ErrNotInitialised", path, err)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("opening made something: %v, %v", entries, err)
	}
}
