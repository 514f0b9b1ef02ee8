package registry

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"signalbox/proofs"
	"signalbox/rule"
)

// TestTruncationAndBitFlips damages registry.json at every byte: it is never
// read as anything, and never replaced.
func TestTruncationAndBitFlips(t *testing.T) {
	r, _ := activated(t)
	path := r.path(registryFile)
	good := readFile(t, path)
	damage := func(what string, data []byte) {
		t.Helper()
		must(t, os.WriteFile(path, data, 0o600))
		_, err := r.Snapshot(t.Context())
		if !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrRolledBack) && !errors.Is(err, ErrNewerSchema) {
			t.Fatalf("%s: got %v, want ErrDamaged or ErrRolledBack", what, err)
		}
		if !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), string(rule.DigestOf(data))) && errors.Is(err, ErrDamaged) {
			t.Fatalf("%s: %v names neither path nor digest", what, err)
		}
	}
	for i := range good {
		damage(fmt.Sprintf("cut at %d", i), good[:i])
		flipped := bytes.Clone(good)
		flipped[i] ^= 1 << (i % 8)
		damage(fmt.Sprintf("bit flipped at %d", i), flipped)
	}
	if err := touch(r, ann); err == nil {
		t.Error("a commit over a damaged registry: want an error")
	}
	must(t, os.WriteFile(path, good, 0o600))
	must(t, touch(r, ann))
}

func TestMalformedRegistry(t *testing.T) {
	r := newHome(t)
	good := string(readFile(t, r.path(registryFile)))
	for name, c := range map[string]struct {
		data string
		want error
	}{
		"empty":           {"", ErrDamaged},
		"unknown field":   {strings.Replace(good, `"schema": 1,`, `"schema": 1,`+"\n  "+`"colour": "red",`, 1), ErrDamaged},
		"name twice":      {strings.Replace(good, `"schema": 1,`, `"schema": 1,`+"\n  "+`"schema": 1,`, 1), ErrDamaged},
		"trailing data":   {good + "{}\n", ErrDamaged},
		"no last newline": {strings.TrimSuffix(good, "\n"), ErrDamaged},
		"byte order mark": {"\ufeff" + good, ErrDamaged},
		"compact":         {strings.ReplaceAll(good, "  ", ""), ErrDamaged},
		"huge number":     {strings.Replace(good, `"n": 1`, `"n": 1e999`, 1), ErrDamaged},
		"deep":            {strings.Repeat("[", 1000) + strings.Repeat("]", 1000), ErrDamaged},
		"schema 0":        {strings.Replace(good, `"schema": 1,`, `"schema": 0,`, 1), ErrDamaged},
		"newer schema":    {strings.Replace(good, `"schema": 1,`, `"schema": 2, "unheard": {"of": 1},`, 1), ErrNewerSchema},
	} {
		replaceFile(t, r.path(registryFile), []byte(c.data))
		if _, err := r.Snapshot(t.Context()); !errors.Is(err, c.want) {
			t.Errorf("%s: Snapshot: %v, want %v", name, err, c.want)
		}
		if err := touch(r, ann); !errors.Is(err, c.want) {
			t.Errorf("%s: a commit: %v, want %v", name, err, c.want)
		}
		if got := string(readFile(t, r.path(registryFile))); got != c.data {
			t.Errorf("%s: the file was changed", name)
		}
	}
}

func TestUnsoundStates(t *testing.T) {
	r, member := activated(t)
	for name, spoil := range map[string]func(*State){
		"generation zero":         func(s *State) { s.Generation = 0 },
		"generation above serial": func(s *State) { s.Generation = 99 },
		"no predecessor":          func(s *State) { s.Serial.Prev = "" },
		"no host":                 func(s *State) { s.Host = "" },
		"suite without cases":     func(s *State) { s.Suite.Cases = 0 },
		"sealed cases, no object": func(s *State) { s.Sealed.Digest = "" },
		"environment renamed":     func(s *State) { s.Current["other"] = s.Current["starlark"] },
		"environment not there":   func(s *State) { s.Current["starlark"] = rule.DigestOf([]byte("x")) },
		"environment under another": func(s *State) {
			s.Environments[rule.DigestOf([]byte("x"))] = s.Environments[s.Current["starlark"]]
		},
		"rule without revisions": func(s *State) { s.Rules["empty"] = Rule{Family: "f"} },
		"rule without family":    func(s *State) { s.Rules["squares"] = Rule{Revisions: s.Rules["squares"].Revisions} },
		"revision twice": func(s *State) {
			k := s.Rules["squares"]
			k.Revisions = append(k.Revisions, k.Revisions[0])
			s.Rules["squares"] = k
		},
		"revision state unknown":  func(s *State) { s.Rules["squares"].Revisions[0].State = "great" },
		"active without proof":    func(s *State) { s.Active.Proof = "" },
		"active from the future":  func(s *State) { s.Active.Generation = 99 },
		"active without members":  func(s *State) { s.Active.Members = nil },
		"member without revision": func(s *State) { s.Active.Members[0].Revision = rule.DigestOf([]byte("x")) },
		"member without environment": func(s *State) {
			s.Active.Members[0].Environment = rule.DigestOf([]byte("x"))
		},
		"proposal without proof": func(s *State) { s.Proposals = []Proposed{{Members: rule.Collection{member}}} },
		"past without members":   func(s *State) { s.Past = []Activation{{Proof: s.Active.Proof, Envelope: s.Active.Envelope}} },
	} {
		state, _, err := parseState(readFile(t, r.path(registryFile)))
		must(t, err)
		spoil(state)
		data, err := state.encode()
		must(t, err)
		if _, _, err := parseState(data); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: got %v, want ErrDamaged", name, err)
		}
	}
}

func TestUnsafeFiles(t *testing.T) {
	link := func(p string) error { return errors.Join(os.Rename(p, p+".real"), os.Symlink(p+".real", p)) }
	open := func(p string) error { return os.Chmod(p, 0o644) }
	for name, spoil := range map[string]func(r *Registry) error{
		"registry is a link":      func(r *Registry) error { return link(r.path(registryFile)) },
		"registry open to others": func(r *Registry) error { return open(r.path(registryFile)) },
		"registry is a folder": func(r *Registry) error {
			p := r.path(registryFile)
			return errors.Join(os.Remove(p), os.Mkdir(p, 0o700))
		},
		"home writable for others":  func(r *Registry) error { return os.Chmod(r.Dir(), 0o777) },
		"ledger open to others":     func(r *Registry) error { return open(r.path(ledgerFile)) },
		"objects writable for all":  func(r *Registry) error { return os.Chmod(r.path(objectFolder), 0o777) },
		"objects missing":           func(r *Registry) error { return os.RemoveAll(r.path(objectFolder)) },
		"registry of another owner": func(r *Registry) error { return chownAway(t, r.path(registryFile)) },
	} {
		r := newHome(t)
		must(t, spoil(r))
		again, err := Open(r.Dir(), Options{})
		if !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: got %v, want ErrDamaged", name, err)
		}
		if err == nil {
			must(t, again.Close())
		}
	}
}

func chownAway(t *testing.T, path string) error {
	if os.Geteuid() != 0 {
		return os.Chmod(path, 0o644) // only root can give files away
	}
	return os.Chown(path, 12345, -1)
}

func TestDamagedObjects(t *testing.T) {
	flip := func(t *testing.T, path string) {
		t.Helper()
		data := readFile(t, path)
		data[len(data)/2] ^= 4
		must(t, os.Chmod(path, 0o600))
		must(t, os.WriteFile(path, data, 0o600))
	}
	for name, digest := range map[string]func(*State) rule.Digest{
		"suite":  func(s *State) rule.Digest { return s.Suite.Digest },
		"parts":  func(s *State) rule.Digest { return s.Suite.Parts },
		"sealed": func(s *State) rule.Digest { return s.Sealed.Digest },
		"proof":  func(s *State) rule.Digest { return s.Active.Envelope },
		"source": func(s *State) rule.Digest { return s.Active.Members[0].Revision },
		"source file": func(*State) rule.Digest {
			return rule.DigestOf(source("squares", "squares", "")[rule.TriggerFile])
		},
	} {
		for how, spoil := range map[string]func(*testing.T, string){"flipped": flip, "removed": func(t *testing.T, p string) { must(t, os.Remove(p)) }} {
			r, _ := activated(t)
			s := snapshot(t, r)
			path := r.objects.Path(digest(s.State()))
			spoil(t, path)
			_, authorised := s.Authorise(t.Context(), &engine{})
			_, cases := s.Cases(t.Context())
			_, sealed := s.SealedForAudit(t.Context())
			err := errors.Join(authorised, cases, sealed)
			if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), string(digest(s.State()))) {
				t.Errorf("%s %s: got %v, want ErrDamaged with path and digest", name, how, err)
			}
			problems, err := r.Fsck(t.Context())
			must(t, err)
			if !mentions(problems, path) {
				t.Errorf("%s %s: fsck found %v", name, how, problems)
			}
		}
	}
}

func mentions(problems []Problem, word string) bool {
	for _, p := range problems {
		if strings.Contains(p.What, word) && p.Advice != "" {
			return true
		}
	}
	return false
}

func TestFsck(t *testing.T) {
	r, _ := activated(t)
	ingest(t, r, history("more", 3))
	_, err := r.Ingest(t.Context(), parse(t, history("log", 3)), IngestOptions{}, ann)
	must(t, err)
	problems, err := r.Fsck(t.Context())
	if err != nil || len(problems) != 0 {
		t.Fatalf("a sound home: %v, %v", problems, err)
	}
	for name, c := range map[string]struct {
		spoil func(r *Registry) error
		word  string
	}{
		"key lost":      {func(r *Registry) error { return os.Remove(filepath.Join(r.Keys(), "host.ed25519")) }, "host.ed25519"},
		"salt lost":     {func(r *Registry) error { return os.Remove(filepath.Join(r.Keys(), saltFile)) }, saltFile},
		"stray file":    {func(r *Registry) error { return writeNew(r.path("objects/sha256/stray"), nil) }, "stray"},
		"registry lost": {func(r *Registry) error { return os.Remove(r.path(registryFile)) }, registryFile},
		"other key": {func(r *Registry) error {
			must(t, os.RemoveAll(r.Keys()))
			must(t, os.Mkdir(r.Keys(), 0o700))
			return proofs.GenerateKey(r.Keys())
		}, "fingerprint"},
	} {
		r, _ := activated(t)
		must(t, c.spoil(r))
		problems, err := r.Fsck(t.Context())
		if err != nil || !mentions(problems, c.word) {
			t.Errorf("%s: %v, %v: want a problem about %q", name, problems, err, c.word)
		}
	}
}

func TestMigrationKeepsTheOldFile(t *testing.T) {
	r := newHome(t)
	migrations[0] = func(data []byte) ([]byte, error) {
		return bytes.Replace(data, []byte(`"schema": 0`), []byte(`"schema": 1`), 1), nil
	}
	defer delete(migrations, 0)
	old := bytes.Replace(readFile(t, r.path(registryFile)), []byte(`"schema": 1`), []byte(`"schema": 0`), 1)
	replaceFile(t, r.path(registryFile), old)
	must(t, r.ledger.Raise(t.Context(), markOf(2, rule.DigestOf([]byte("x"))))) // any mark but this one's
	if _, err := r.Snapshot(t.Context()); !errors.Is(err, ErrRolledBack) {
		t.Errorf("got %v: the mark counts for old schemas too", err)
	}
	fresh := newHome(t)
	state, _, err := parseState(readFile(t, fresh.path(registryFile)))
	must(t, err)
	state.Serial = rule.Serial{N: 2, Prev: rule.DigestOf(readFile(t, fresh.path(registryFile)))}
	next, err := state.encode()
	must(t, err)
	old = bytes.Replace(next, []byte(`"schema": 1`), []byte(`"schema": 0`), 1)
	replaceFile(t, fresh.path(registryFile), old)
	for range 2 {
		must(t, touch(fresh, ann))
	}
	if kept := readFile(t, fresh.path(registryFile+".schema0")); !bytes.Equal(kept, old) {
		t.Error("the file of the old schema isn't kept as it was")
	}
	if s := snapshot(t, fresh); s.State().Schema != Schema || s.Serial().N != 4 {
		t.Errorf("schema %d, serial %d", s.State().Schema, s.Serial().N)
	}
}

// FuzzRegistry checks that a registry has one form: what is read is written as
// the same bytes.
func FuzzRegistry(f *testing.F) {
	for _, state := range []*State{seedState(false), seedState(true)} {
		data, err := state.encode()
		must(f, err)
		_, _, err = parseState(data)
		must(f, err) // a seed that is refused would show nothing
		f.Add(data)
	}
	f.Add([]byte(`{"schema":2}`))
	f.Add([]byte(`{}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		state, _, err := parseState(data)
		if err != nil {
			if !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrNewerSchema) {
				t.Fatalf("an error of no kind: %v", err)
			}
			return
		}
		again, err := state.encode()
		if err != nil || !bytes.Equal(again, data) {
			t.Fatalf("read\n%s\nwrote\n%s (%v)", data, again, err)
		}
	})
}

// seedState is a registry that is the same in every run, empty or with an active
// collection.
func seedState(active bool) *State {
	s := firstState(proofs.PublicKey{}, InitOptions{Environments: []rule.Environment{starlark()}, Policy: policy})
	s.Log[0].When = time.Unix(1_700_000_000, 0).UTC()
	if !active {
		return s
	}
	d := rule.DigestOf([]byte("seed"))
	s.Serial, s.Generation = rule.Serial{N: 9, Prev: d}, 3
	s.Suite, s.Sealed = Suite{Digest: d, Cases: 3, Parts: d}, Sealed{Digest: d, Cases: 1}
	s.Unverified = []Unverified{{Digest: d, Lines: 1, From: "log", When: s.Log[0].When}}
	s.Rules = map[rule.Name]Rule{"squares": {Family: "f", Locked: true, Revisions: []Revision{
		{Digest: d, Environment: "starlark", State: RevisionActive, Added: s.Log[0].When, By: "ann", Why: "test"},
	}}}
	members := rule.Collection{{Rule: "squares", Revision: d, Environment: s.Current["starlark"]}}
	s.Active = &Activation{
		Members: members, Mapping: rule.Mapping{"f": {"squares"}}, Suite: d, Proof: d, Envelope: d,
		Generation: 3, Since: s.Log[0].When, By: "ann",
	}
	s.Past = []Activation{*s.Active}
	s.Proposals = []Proposed{{Attempt: "a", Members: members, Mapping: s.Active.Mapping, Proof: d, Envelope: d, Base: 2, When: s.Log[0].When, By: "ann"}}
	return s
}
