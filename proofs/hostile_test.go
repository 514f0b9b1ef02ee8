package proofs

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"signalbox/rule"
)

// TestEveryByteOfAnEnvelope cuts the file and flips bits all over it: at each
// byte outside the payload, and at every 13th inside, whose parts have a test of
// their own. Nothing verifies but what changes the key ID alone.
func TestEveryByteOfAnEnvelope(t *testing.T) {
	key := testKey(t, 1)
	envelope := mustSign(t, key, testPredicate())
	id := key.Public().Fingerprint().Hex()
	from := bytes.Index(envelope, []byte(id))
	hint := func(at int) bool { return at >= from && at < from+len(id) }
	payload := bytes.Index(envelope, []byte(`"payloadType"`))
	tried, refused := 0, 0
	for at := range envelope {
		if at > 30 && at < payload-30 && at%13 != 0 {
			continue
		}
		tried++
		if _, err := Verify(envelope[:at], key.Public()); !errors.Is(err, ErrBad) {
			t.Errorf("cut to %d bytes: %v, want ErrBad", at, err)
		}
		changed := bytes.Clone(envelope)
		changed[at] ^= 1
		verified, err := Verify(changed, key.Public())
		if err == nil && (!hint(at) || verified.ID() != envelope.ID()) {
			t.Errorf("bit flipped at byte %d of %q: verifies", at, envelope[max(0, at-20):at+1])
		}
		if err != nil {
			refused++
		}
	}
	if tried < 500 || refused < tried-len(id) {
		t.Errorf("%d of %d flips are refused", refused, tried)
	}
}

// TestEveryByteOfAKey damages key files on disk. Whatever still loads is not
// the key that it was.
func TestEveryByteOfAKey(t *testing.T) {
	dir, key := generated(t)
	for _, file := range []string{keyFile, PublicKeyFile} {
		path := filepath.Join(dir, file)
		good, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for at := range good {
			for what, bad := range map[string][]byte{"cut": good[:at], "flipped": flipped(good, at)} {
				write(t, path, string(bad), 0o600)
				loaded, err := LoadKey(dir)
				if err == nil && loaded.Public().Fingerprint() != key.Public().Fingerprint() {
					t.Errorf("%s %s at %d: another key is loaded", file, what, at)
				}
				if err != nil && !errors.Is(err, ErrNoKey) {
					t.Errorf("%s %s at %d: %v, want ErrNoKey", file, what, at, err)
				}
			}
		}
		write(t, path, string(good), 0o600)
	}
	if _, err := LoadKey(dir); err != nil {
		t.Errorf("control: %v", err)
	}
}

func flipped(data []byte, at int) []byte {
	changed := bytes.Clone(data)
	changed[at] ^= 1
	return changed
}

// drawPredicate draws predicates that hold together.
func drawPredicate(t *rapid.T) Predicate {
	p := testPredicate()
	starlark := testEnvironment("starlark")
	starlark.Limits.CallDeadline = time.Duration(rapid.Int64Range(1, 1e12).Draw(t, "deadline"))
	starlark.Limits.Memory = rapid.Int64Range(1, 1<<40).Draw(t, "memory")
	p.Environments = map[rule.Digest]rule.Environment{starlark.Digest(): starlark}
	p.Members, p.Mapping, p.Unheld = nil, rule.Mapping{}, nil
	names := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z0-9][a-z0-9-]{0,20}`), 1, 8, rapid.ID).Draw(t, "names")
	families := rapid.SliceOfNDistinct(rapid.StringMatching(`[ -~é]{1,40}`), 1, 4, rapid.ID).Draw(t, "families")
	for _, name := range names {
		revision := rule.DigestOf([]byte(rapid.String().Draw(t, "source")))
		p.Members = append(p.Members, rule.Member{Rule: rule.Name(name), Revision: revision, Environment: starlark.Digest()})
		family := rule.Family(rapid.SampledFrom(families).Draw(t, "family"))
		p.Mapping[family] = append(p.Mapping[family], rule.Name(name))
	}
	for family := range p.Mapping {
		if rapid.Bool().Draw(t, "unheld") {
			p.Unheld = append(p.Unheld, family)
		}
	}
	p.Policy.Floor = rapid.Float64Range(0, 1).Draw(t, "floor")
	p.Base.Generation = rule.Generation(rapid.Uint64Range(0, 1<<50).Draw(t, "generation"))
	p.FinishedAt = p.StartedAt.Add(time.Duration(rapid.Int64Range(0, 1e15).Draw(t, "took")))
	p.Tool = rapid.StringN(1, 40, -1).Draw(t, "tool")
	return p
}

// TestRoundTrip: what is signed is what is read, in whatever order it was given,
// and its name is the name of its content.
func TestRoundTrip(t *testing.T) {
	key := testKey(t, 1)
	rapid.Check(t, func(t *rapid.T) {
		p := drawPredicate(t)
		envelope, err := Sign(key, p)
		if err != nil {
			t.Fatal(err)
		}
		verified, err := Verify(envelope, key.Public())
		if err != nil {
			t.Fatal(err)
		}
		if got, want := verified.Predicate(), p.normal(); !reflect.DeepEqual(canonical(t, got), canonical(t, want)) {
			t.Fatalf("read %+v\nsigned %+v", got, want)
		}
		shuffled := p.clone()
		slices.Reverse(shuffled.Members)
		slices.Reverse(shuffled.Unheld)
		for _, names := range shuffled.Mapping {
			slices.Reverse(names)
		}
		again, err := Sign(key, shuffled)
		if err != nil || again.ID() != envelope.ID() {
			t.Fatalf("in another order it is named %s, not %s: %v", again.ID(), envelope.ID(), err)
		}
		shuffled.Base.Generation++
		other, err := Sign(key, shuffled)
		if err != nil || other.ID() == envelope.ID() {
			t.Fatalf("another statement has the same name: %v", err)
		}
	})
}

func canonical(t *rapid.T, v any) string {
	data, err := rule.Canonical(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestReplay puts the parts of one good proof into another: none of the mixtures
// verifies. Proofs of another generation, rule or weaker profile are good proofs
// of something else, and their names and content say so.
func TestReplay(t *testing.T) {
	key := testKey(t, 1)
	good := mustSign(t, key, testPredicate())
	for name, change := range map[string]func(*Predicate){
		"older generation": func(p *Predicate) { p.Base.Generation-- },
		"other serial":     func(p *Predicate) { p.Base.Serial.Prev = rule.DigestOf([]byte("elsewhere")) },
		"other rule":       func(p *Predicate) { p.Members[0].Revision = rule.DigestOf([]byte("other")) },
		"other suite":      func(p *Predicate) { p.Suite.Digest = rule.DigestOf([]byte("other")) },
		"lower floor":      func(p *Predicate) { p.Policy.Floor = 0 },
		"no probes":        func(p *Predicate) { p.Policy.Probes = false },
		"weaker profile": func(p *Predicate) {
			old := p.Members[0].Environment
			weaker := p.Environments[old]
			weaker.Seccomp = map[rule.Role]rule.Digest{rule.RoleTrigger: rule.DigestOf([]byte("unconfined"))}
			delete(p.Environments, old)
			p.Environments[weaker.Digest()] = weaker
			for i := range p.Members {
				if p.Members[i].Environment == old {
					p.Members[i].Environment = weaker.Digest()
				}
			}
		},
	} {
		p := testPredicate()
		change(&p)
		other := mustSign(t, key, p)
		verified, err := Verify(other, key.Public())
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if verified.ID() == good.ID() || reflect.DeepEqual(verified.Predicate(), testPredicate().normal()) {
			t.Errorf("%s: can't be told from the first", name)
		}
		mixed := withPayload(t, other, payloadOf(t, good))
		if _, err := Verify(mixed, key.Public()); !errors.Is(err, ErrBad) {
			t.Errorf("%s: its signature on the first one's payload: %v, want ErrBad", name, err)
		}
	}
}

// TestWeakerProfileKeepsItsName: an environment can't be described otherwise
// than it is named, even by the host's own signature.
func TestWeakerProfileKeepsItsName(t *testing.T) {
	key := testKey(t, 1)
	s := newStatement(testPredicate())
	for digest, environment := range s.Predicate.Environments {
		environment.Limits.Memory *= 2
		s.Predicate.Environments[digest] = environment
		break
	}
	payload, err := rule.Canonical(s)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Verify(reseal(t, key, payload), key.Public()); !errors.Is(err, ErrBad) {
		t.Errorf("%v, want ErrBad", err)
	}
}

// TestEnvelopeIDNeedsForm: what isn't an envelope has no name.
func TestEnvelopeIDNeedsForm(t *testing.T) {
	for _, text := range []string{"", "{}", "null", `{"payload":"e30=","payloadType":"x","signatures":[]}`} {
		if id := Envelope(text).ID(); id != "" {
			t.Errorf("%q is named %s", text, id)
		}
	}
	stranger := mustSign(t, testKey(t, 2), testPredicate())
	if stranger.ID() == "" || stranger.ID() != mustSign(t, testKey(t, 1), testPredicate()).ID() {
		t.Error("the name depends on who signed")
	}
}

// TestDeepAndLargePayloads are refused before anything is built of them.
func TestDeepAndLargePayloads(t *testing.T) {
	key := testKey(t, 1)
	for name, payload := range map[string][]byte{
		"deep":      append(bytes.Repeat([]byte("["), 1000), bytes.Repeat([]byte("]"), 1000)...),
		"empty":     nil,
		"a number":  []byte("1e999"),
		"a BOM":     append([]byte("\ufeff"), payloadOf(t, mustSign(t, key, testPredicate()))...),
		"a newline": append(payloadOf(t, mustSign(t, key, testPredicate())), '\n'),
		"not UTF-8": []byte("{\"_type\":\"\xff\"}"),
	} {
		if _, err := Verify(reseal(t, key, payload), key.Public()); !errors.Is(err, ErrBad) {
			t.Errorf("%s: %v, want ErrBad", name, err)
		}
	}
	p := testPredicate()
	p.Tool = string(bytes.Repeat([]byte("x"), maxEnvelope/2))
	if envelope, err := Sign(key, p); err == nil {
		t.Errorf("an envelope of %d bytes was made", len(envelope))
	}
	p.Tool = p.Tool[:1<<16]
	if _, err := Verify(mustSign(t, key, p), key.Public()); err != nil {
		t.Errorf("control: %v", err)
	}
}
