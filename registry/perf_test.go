package registry

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// bigHistory is n lines over families of 30, each with an input of some size.
func bigHistory(n int) string {
	var out strings.Builder
	text := strings.Repeat("some words of an input ", 20)
	for i := range n {
		family := fmt.Sprintf("family-%d", i/30)
		fmt.Fprintf(&out, `{"id":"c%d","family":%q,"task":{"instruction":"Transform: %s","input":["%s",%d]},"outcome":{"output":"%s"},"source":"log"}`+"\n",
			i, family, family, text, i, text)
	}
	return out.String()
}

// TestIngestIsQuick has a wide margin: on two cores 6,000 lines take well under
// two seconds, and the race detector makes that several times as much.
func TestIngestIsQuick(t *testing.T) {
	r := newHome(t)
	text := bigHistory(6000)
	started := time.Now()
	report := ingest(t, r, text)
	took := time.Since(started)
	t.Logf("6,000 lines (%d kB) in %v", len(text)>>10, took)
	if report.Total() != 6000 {
		t.Errorf("taken %v, want 6000", report.Taken)
	}
	if took > 20*time.Second {
		t.Errorf("took %v", took)
	}
	started = time.Now()
	again := ingest(t, r, text)
	t.Logf("once more: %v", time.Since(started))
	if again.Known != 6000 || again.Total() != 0 {
		t.Errorf("once more: %+v", again)
	}
	started = time.Now()
	cases, err := snapshot(t, r).Cases(t.Context())
	must(t, err)
	t.Logf("loading %d cases: %v", len(cases), time.Since(started))
}

// TestSnapshotDoesNotReadTheSuite takes every object away: a snapshot must not
// notice.
func TestSnapshotDoesNotReadTheSuite(t *testing.T) {
	small, big := newHome(t), newHome(t)
	ingest(t, small, bigHistory(30))
	ingest(t, big, bigHistory(3000))
	sizes := map[string]int{}
	for name, r := range map[string]*Registry{"small": small, "big": big} {
		sizes[name] = len(readFile(t, r.path(registryFile)))
	}
	if difference := sizes["big"] - sizes["small"]; difference < -20 || difference > 20 {
		t.Errorf("registry.json has %v bytes: it grows with the suite", sizes)
	}
	suite := big.objects.Path(snapshot(t, big).State().Suite.Digest)
	removeObject(t, suite)
	s := snapshot(t, big)
	if _, err := s.Cases(t.Context()); err == nil {
		t.Error("the suite was read from somewhere")
	}
}
