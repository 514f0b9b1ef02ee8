package editor

import (
	"fmt"
	"testing"
)

// TestConformance runs every case of the list of behaviours, by its number.
func TestConformance(t *testing.T) {
	cases := conformanceCases()
	if len(cases) != 107 {
		t.Fatalf("%d cases, want all 107", len(cases))
	}
	for _, c := range cases {
		t.Run(c.id, c.run)
	}
}

type conformanceCase struct {
	id  string
	run func(t *testing.T)
}

// on makes a case of a test on a fresh tree.
func on(id string, test func(b *bench)) conformanceCase {
	return conformanceCase{id, func(t *testing.T) { test(newBench(t, Options{})) }}
}

// with is on with options.
func with(id string, o Options, test func(b *bench)) conformanceCase {
	return conformanceCase{id, func(t *testing.T) { test(newBench(t, o)) }}
}

func conformanceCases() []conformanceCase {
	var all []conformanceCase
	seen := map[string]bool{}
	for _, group := range [][]conformanceCase{viewCases, createCases, replaceCases, insertCases, undoCases, hostileCases, machineCases} {
		for _, c := range group {
			if seen[c.id] {
				panic(fmt.Sprintf("case %s twice", c.id))
			}
			seen[c.id] = true
			all = append(all, c)
		}
	}
	return all
}
