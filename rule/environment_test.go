package rule

import (
	"testing"
	"time"
)

// TestEnvironmentIsNamedByAllOfIt changes one part at a time; the library that
// writes JSON takes durations only with an option, and without it nothing here
// would have a name.
func TestEnvironmentIsNamedByAllOfIt(t *testing.T) {
	base := Environment{Name: "starlark", Limits: Limits{CallDeadline: time.Second}}
	if base.Digest() == "" {
		t.Fatalf("digest %q", base.Digest())
	}
	for what, change := range map[string]func(*Environment){
		"name":     func(e *Environment) { e.Name = "other" },
		"image":    func(e *Environment) { e.ImageID = DigestOf(nil) },
		"deadline": func(e *Environment) { e.Limits.CallDeadline++ },
		"memory":   func(e *Environment) { e.Limits.Memory++ },
		"seccomp":  func(e *Environment) { e.Seccomp = map[Role]Digest{RoleTrigger: DigestOf(nil)} },
		"engine":   func(e *Environment) { e.Engine.Docker = "28" },
	} {
		other := base
		change(&other)
		if other.Digest() == base.Digest() {
			t.Errorf("%s: not part of the name", what)
		}
	}
	data, err := Canonical(base)
	var read Environment
	if err != nil || Decode(data, &read) != nil || read.Digest() != base.Digest() {
		t.Errorf("%s isn't read as it was written: %v", data, err)
	}
}
