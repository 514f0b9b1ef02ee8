package registry

import (
	"fmt"
	"strings"
	"syscall"
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

// TestIngestIsQuick counts processor time, so that a busy machine doesn't matter.
// 6,000 lines take about half a second; the race detector takes ten times that,
// and work that grows with the square of the lines takes minutes.
func TestIngestIsQuick(t *testing.T) {
	r := newHome(t)
	text := bigHistory(6000)
	before, started := processorTime(t), time.Now()
	report := ingest(t, r, text)
	used := processorTime(t) - before
	t.Logf("6,000 lines (%d kB): %v of processor time, %v in all", len(text)>>10, used, time.Since(started))
	if report.Total() != 6000 {
		t.Errorf("taken %v, want 6000", report.Taken)
	}
	if used > 20*time.Second {
		t.Errorf("used %v", used)
	}
}

// TestRepetitionIsQuick repeats one task thousands of times, and one instruction
// with thousands of trees: both are groups that everything in them is compared to.
func TestRepetitionIsQuick(t *testing.T) {
	r := newHome(t)
	var text strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&text, `{"id":"same-%d","family":"f","task":{"instruction":"do","input":1},"outcome":{"output":1}}`+"\n", i)
		fmt.Fprintf(&text, `{"id":"tree-%d","family":"g","task":{"instruction":"list","files":{"a":"%d"}},"outcome":{"output":%d}}`+"\n", i, i, i)
	}
	before := processorTime(t)
	report := ingest(t, r, text.String())
	if used := processorTime(t) - before; used > 20*time.Second {
		t.Errorf("used %v", used)
	}
	if report.Total() != 3001 || report.Known != 2999 {
		t.Errorf("taken %d, known %d: want 3001, 2999", report.Total(), report.Known)
	}
}

// processorTime is what this process has used so far.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	must(t, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
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
