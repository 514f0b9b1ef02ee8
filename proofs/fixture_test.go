package proofs

import (
	"crypto/ed25519"
	"testing"
	"time"

	"signalbox/rule"
)

func testKey(t testing.TB, seed byte) *Key {
	t.Helper()
	bytes := make([]byte, ed25519.SeedSize)
	bytes[0] = seed
	return &Key{private: ed25519.NewKeyFromSeed(bytes)}
}

func testEnvironment(name string) rule.Environment {
	return rule.Environment{
		Name: name, Runtime: rule.StarlarkEnvironment,
		ImageID: rule.DigestOf([]byte("image" + name)), Kernel: rule.DigestOf([]byte("kernel")),
		Limits: rule.Limits{
			Memory: 64 << 20, CPUs: 1.5, Processes: 16, OpenFiles: 32, FileSize: 1 << 20, TmpfsSize: 2 << 20,
			TmpfsInodes: 100, Steps: 1000, ReplyBytes: 1 << 20, LoadDeadline: time.Second,
			CallDeadline: 2 * time.Second, StartDeadline: 3 * time.Second,
		},
		Seccomp: map[rule.Role]rule.Digest{
			rule.RoleTrigger: rule.DigestOf([]byte("t")), rule.RoleExecutor: rule.DigestOf([]byte("e")),
		},
		Engine: rule.Engine{
			Docker: "28", Runtime: "runc", RuntimeCommit: "abc", LinuxKernel: "6", Architecture: "amd64", Cgroup: "v2",
		},
	}
}

// testPredicate has a value other than zero in every field.
func testPredicate() Predicate {
	starlark, process := testEnvironment("starlark"), testEnvironment("python")
	process.Runtime = "process"
	return Predicate{
		Members: rule.Collection{
			{Rule: "upper", Revision: rule.DigestOf([]byte("u")), Environment: starlark.Digest()},
			{Rule: "dates", Revision: rule.DigestOf([]byte("d")), Environment: process.Digest()},
			{Rule: "lower", Revision: rule.DigestOf([]byte("l")), Environment: starlark.Digest()},
		},
		Environments: map[rule.Digest]rule.Environment{starlark.Digest(): starlark, process.Digest(): process},
		Mapping:      rule.Mapping{"letters": {"upper", "lower"}, "days": {"dates"}},
		Suite:        Suite{Digest: rule.DigestOf([]byte("suite")), Cases: 40},
		Policy:       Policy{Floor: 0.5, Repeats: 2, Probes: true, ScopeWords: rule.DigestOf([]byte("w")), AllowUnheld: true},
		Base:         Base{Generation: 7, Serial: rule.Serial{N: 12, Prev: rule.DigestOf([]byte("before"))}},
		Matrix:       rule.DigestOf([]byte("matrix")),
		Counts: Counts{
			Positive: 30, Covered: 28, Uncovered: 2, MustFallBack: 4, Unserved: 6, Probes: 300, TriggerCalls: 680, ExecutorCalls: 60,
		},
		Unheld:     []rule.Family{"letters", "days"},
		StartedAt:  time.Date(2026, 1, 2, 3, 4, 5, 6, time.FixedZone("", 3600)),
		FinishedAt: time.Date(2026, 1, 2, 4, 4, 5, 6, time.UTC),
		Tool:       "signalbox test",
	}
}

func mustSign(t testing.TB, key *Key, p Predicate) Envelope {
	t.Helper()
	envelope, err := Sign(key, p)
	if err != nil {
		t.Fatal(err)
	}
	return envelope
}

// payloadOf returns the bytes that an envelope carries.
func payloadOf(t testing.TB, envelope Envelope) []byte {
	t.Helper()
	opened, err := open(envelope)
	if err != nil {
		t.Fatal(err)
	}
	return opened.payload
}

// reseal signs any payload, as a holder of the key could.
func reseal(t testing.TB, key *Key, payload []byte) Envelope {
	t.Helper()
	envelope, err := seal(key, payloadType, payload)
	if err != nil {
		t.Fatal(err)
	}
	return envelope
}
