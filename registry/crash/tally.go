package main

import "fmt"

// tally counts what was done and what was found.
type tally struct {
	kills, cuts, faults, states int
	refused                     int // faults that ended in an error
	commits, reads              int // made and read at once
	corrupt, lost               int
	cutsRan                     bool
	findings                    []string

	// How often the naive writer failed each kind of attack.
	naiveKills, naiveCuts, naiveStates int
}

// verdict is what one attack came to.
type verdict struct {
	acked         bool
	corrupt, lost bool
	why           string
}

func (t *tally) add(where string, v verdict) {
	if v.corrupt {
		t.corrupt++
	}
	if v.lost {
		t.lost++
	}
	const most = 50
	if (v.corrupt || v.lost) && len(t.findings) < most {
		t.findings = append(t.findings, fmt.Sprintf("crash: %s: %s", where, v.why))
	}
}

// naive counts what became of the naive writer.
func (t *tally) naive(failures *int, v verdict) {
	if v.corrupt || v.lost {
		*failures++
	}
}

// naiveFailed says whether the naive writer failed every kind of attack.
func (t *tally) naiveFailed() bool {
	return t.naiveKills > 0 && (t.states == 0 || t.naiveStates > 0) && (!t.cutsRan || t.naiveCuts > 0)
}

// passed says whether the registry survived, and the attacks were worth it.
func (t *tally) passed(whole bool) bool {
	if t.corrupt > 0 || t.lost > 0 || !t.naiveFailed() {
		return false
	}
	return !whole || t.kills >= fullKills && (t.cuts >= fullCuts || !t.cutsRan)
}

func (t *tally) String() string {
	failed := map[bool]string{true: "yes", false: "no"}[t.naiveFailed()]
	return fmt.Sprintf("crash: kill_points=%d power_cuts=%d corrupt=%d lost=%d naive_failed=%s", t.kills, t.cuts, t.corrupt, t.lost, failed)
}
