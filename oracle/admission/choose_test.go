package admission

import (
	"maps"
	"testing"

	"signalbox/registry"
	"signalbox/rule"
)

func revisions(states ...registry.RevisionState) registry.Rule {
	known := registry.Rule{Family: "f"}
	for i, state := range states {
		known.Revisions = append(known.Revisions, registry.Revision{Digest: digest(i), State: state})
	}
	return known
}

func digest(i int) rule.Digest { return rule.DigestOf([]byte{byte(i)}) }

// TestStanding chooses among a rule's revisions, in the order of their adding.
func TestStanding(t *testing.T) {
	const proposed, active, retired, disabled = registry.RevisionProposed, registry.RevisionActive, registry.RevisionRetired, registry.RevisionDisabled
	for name, c := range map[string]struct {
		revisions  []registry.RevisionState
		all, alone int // the index that is chosen, -1 for none
	}{
		"one proposed":                     {[]registry.RevisionState{proposed}, 0, -1},
		"one active":                       {[]registry.RevisionState{active}, 0, 0},
		"a proposal after the active one":  {[]registry.RevisionState{active, proposed}, 1, 0},
		"a proposal before the active one": {[]registry.RevisionState{proposed, active}, 1, 1},
		"the newest of two proposals":      {[]registry.RevisionState{proposed, proposed}, 1, -1},
		"retired and disabled":             {[]registry.RevisionState{retired, disabled}, -1, -1},
		"rolled back":                      {[]registry.RevisionState{active, retired}, 0, 0},
	} {
		state := &registry.State{Rules: map[rule.Name]registry.Rule{"r": revisions(c.revisions...)}}
		for only, want := range map[bool]int{false: c.all, true: c.alone} {
			expected := map[rule.Name]rule.Digest{}
			if want >= 0 {
				expected["r"] = digest(want)
			}
			if got := standing(state, only); !maps.Equal(got, expected) {
				t.Errorf("%s (active only: %v): chose %v, want %v", name, only, got, expected)
			}
		}
	}
}

func TestFind(t *testing.T) {
	state := &registry.State{Rules: map[rule.Name]registry.Rule{"r": revisions(registry.RevisionRetired, registry.RevisionActive)}}
	for name, want := range map[string]rule.Digest{
		"r": digest(1), "r@" + digest(0).Hex(): digest(0), "r@" + digest(0).Short(): digest(0), "r@sha256:" + digest(1).Hex(): digest(1),
	} {
		if _, got, err := find(state, name); err != nil || got != want {
			t.Errorf("find(%q) = %s, %v, want %s", name, got, err, want)
		}
	}
	for _, name := range []string{"s", "r@0123456789", "", "@"} {
		if _, _, err := find(state, name); err == nil {
			t.Errorf("find(%q) found something", name)
		}
	}
}
