package proofs

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"signalbox/rule"
)

func TestSignAndVerify(t *testing.T) {
	key := testKey(t, 1)
	envelope := mustSign(t, key, testPredicate())
	verified, err := Verify(envelope, key.Public())
	if err != nil {
		t.Fatal(err)
	}
	payload := payloadOf(t, envelope)
	if verified.ID() != rule.DigestOf(payload) || envelope.ID() != verified.ID() {
		t.Errorf("the proof is named %s and %s, its payload is %s", verified.ID(), envelope.ID(), rule.DigestOf(payload))
	}
	got := verified.Predicate()
	if want := testPredicate().normal(); !reflect.DeepEqual(got, want) {
		t.Errorf("stated %+v\nwant %+v", got, want)
	}
	if !slices.Equal(verified.Envelope(), envelope) {
		t.Error("the envelope isn't the one that was verified")
	}
}

// TestSignNormalises shows that order and time zone don't name another proof.
func TestSignNormalises(t *testing.T) {
	key := testKey(t, 1)
	other := testPredicate()
	slices.Reverse(other.Members)
	slices.Reverse(other.Mapping["letters"])
	slices.Reverse(other.Unheld)
	other.StartedAt = other.StartedAt.UTC()
	if a, b := mustSign(t, key, testPredicate()), mustSign(t, key, other); a.ID() != b.ID() {
		t.Errorf("%s and %s name the same statement", a.ID(), b.ID())
	}
	other.Counts.Probes++
	if a, b := mustSign(t, key, testPredicate()), mustSign(t, key, other); a.ID() == b.ID() {
		t.Error("two statements have one name")
	}
}

func TestVerifiedIsNotShared(t *testing.T) {
	key := testKey(t, 1)
	verified, err := Verify(mustSign(t, key, testPredicate()), key.Public())
	if err != nil {
		t.Fatal(err)
	}
	taken := verified.Predicate()
	taken.Members[0].Rule = "evil"
	taken.Mapping["days"][0] = "evil"
	taken.Mapping["more"] = []rule.Name{"evil"}
	taken.DoesNotProve[0] = "nothing"
	for digest, environment := range taken.Environments {
		environment.Seccomp[rule.RoleEditor] = "none"
		delete(taken.Environments, digest)
	}
	verified.Envelope()[0] = 'x'
	if want := testPredicate().normal(); !reflect.DeepEqual(verified.Predicate(), want) {
		t.Error("a caller changed what was verified")
	}
	if verified.Envelope()[0] != '{' {
		t.Error("a caller changed the envelope")
	}
	if (Verified{}).ID() != "" {
		t.Error("the zero Verified has an ID")
	}
}

func TestDoesNotProveFollowsTheRuntime(t *testing.T) {
	key := testKey(t, 1)
	p := testPredicate()
	says := func(p Predicate) string {
		verified, err := Verify(mustSign(t, key, p), key.Public())
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(verified.Predicate().DoesNotProve, "\n")
	}
	if text := says(p); !strings.Contains(text, notDeterministic) || !strings.Contains(text, "no sealed future test") {
		t.Errorf("a process member isn't named: %s", text)
	}
	starlark := testEnvironment("starlark")
	p.Environments = map[rule.Digest]rule.Environment{starlark.Digest(): starlark}
	for i := range p.Members {
		p.Members[i].Environment = starlark.Digest()
	}
	if text := says(p); strings.Contains(text, notDeterministic) {
		t.Errorf("only starlark, yet: %s", text)
	}
}

// TestSignRefuses pairs with TestSignAndVerify, which takes the unchanged one.
func TestSignRefuses(t *testing.T) {
	python := testEnvironment("python")
	cases := map[string]func(*Predicate){
		"no member":            func(p *Predicate) { p.Members, p.Mapping, p.Environments = nil, nil, nil },
		"a member twice":       func(p *Predicate) { p.Members = append(p.Members, p.Members[0]) },
		"bad rule name":        func(p *Predicate) { p.Members[0].Rule = "Upper Case" },
		"short revision":       func(p *Predicate) { p.Members[0].Revision = "sha256:00" },
		"unknown environment":  func(p *Predicate) { p.Members[0].Environment = rule.DigestOf([]byte("?")) },
		"unused environment":   func(p *Predicate) { python.Name = "more"; p.Environments[python.Digest()] = python },
		"environment misnamed": func(p *Predicate) { p.Environments[p.Members[0].Environment] = python },
		"mapped to none":       func(p *Predicate) { p.Mapping["empty"] = nil },
		"mapped twice":         func(p *Predicate) { p.Mapping["days"] = append(p.Mapping["days"], "upper") },
		"mapped stranger":      func(p *Predicate) { p.Mapping["days"] = append(p.Mapping["days"], "stranger") },
		"serves none":          func(p *Predicate) { p.Mapping["letters"] = []rule.Name{"upper"} },
		"bad family":           func(p *Predicate) { p.Mapping["a\nb"] = p.Mapping["days"]; delete(p.Mapping, "days") },
		"no suite":             func(p *Predicate) { p.Suite.Digest = "" },
		"no cases":             func(p *Predicate) { p.Suite.Cases = 0 },
		"no matrix":            func(p *Predicate) { p.Matrix = "" },
		"no scope words":       func(p *Predicate) { p.Policy.ScopeWords = "" },
		"one repeat":           func(p *Predicate) { p.Policy.Repeats = 1 },
		"floor over one":       func(p *Predicate) { p.Policy.Floor = 1.1 },
		"negative floor":       func(p *Predicate) { p.Policy.Floor = -0.1 },
		"finished early":       func(p *Predicate) { p.FinishedAt = p.StartedAt.Add(-time.Second) },
		"no tool":              func(p *Predicate) { p.Tool = "" },
		"unheld twice":         func(p *Predicate) { p.Unheld[1] = p.Unheld[0] },
		"unheld, not served":   func(p *Predicate) { p.Unheld[1] = "else" },
		"unheld, not allowed":  func(p *Predicate) { p.Policy.AllowUnheld = false },
	}
	key := testKey(t, 1)
	for name, change := range cases {
		t.Run(name, func(t *testing.T) {
			p := testPredicate()
			change(&p)
			if envelope, err := Sign(key, p); err == nil {
				t.Errorf("signed %s", envelope)
			}
			payload, err := rule.Canonical(newStatement(p))
			if err != nil {
				return // NaN and the like can't even be written
			}
			if _, err := Verify(reseal(t, key, payload), key.Public()); !errors.Is(err, ErrBad) {
				t.Errorf("the host's own signature makes it %v, want ErrBad", err)
			}
		})
	}
}

func TestNoKeyIsNotABadProof(t *testing.T) {
	key := testKey(t, 1)
	envelope := mustSign(t, key, testPredicate())
	_, err := Verify(envelope, PublicKey{})
	if !errors.Is(err, ErrNoKey) || errors.Is(err, ErrBad) {
		t.Errorf("without a key: %v, want ErrNoKey", err)
	}
	_, err = Verify(envelope, testKey(t, 2).Public())
	if !errors.Is(err, ErrBad) || errors.Is(err, ErrNoKey) {
		t.Errorf("with another host's key: %v, want ErrBad", err)
	}
	if _, err := Sign(nil, testPredicate()); !errors.Is(err, ErrNoKey) {
		t.Errorf("signing without a key: %v, want ErrNoKey", err)
	}
}
