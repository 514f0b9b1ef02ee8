package registry

import (
	"fmt"
	"strings"
	"testing"
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

// BenchmarkIngest is one file of history into an empty home. Its time grows with
// the lines, not with their square.
func BenchmarkIngest(b *testing.B) {
	for _, n := range []int{600, 6000} {
		text := bigHistory(n)
		b.Run(fmt.Sprint(n, " lines"), func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				r := newHome(b)
				b.StartTimer()
				if report := ingest(b, r, text); report.Total() != n {
					b.Fatalf("taken %v, want %d", report.Taken, n)
				}
			}
		})
	}
}

// repetition repeats one task n times, and one instruction with n trees: both are
// groups that everything in them is compared to.
func repetition(n int) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, `{"id":"same-%d","family":"f","task":{"instruction":"do","input":1},"outcome":{"output":1}}`+"\n", i)
		fmt.Fprintf(&text, `{"id":"tree-%d","family":"g","task":{"instruction":"list","files":{"a":"%d"}},"outcome":{"output":%d}}`+"\n", i, i, i)
	}
	return text.String()
}

func TestRepetition(t *testing.T) {
	report := ingest(t, newHome(t), repetition(100))
	if report.Total() != 101 || report.Known != 99 {
		t.Errorf("taken %d, known %d: want 101, 99", report.Total(), report.Known)
	}
}

func BenchmarkRepetition(b *testing.B) {
	text := repetition(3000)
	for b.Loop() {
		b.StopTimer()
		r := newHome(b)
		b.StartTimer()
		ingest(b, r, text)
	}
}

// BenchmarkAuthorise is what a route pays after the registry has changed, and
// BenchmarkCommit what a change pays.
func BenchmarkAuthorise(b *testing.B) {
	r, _ := activated(b)
	for b.Loop() {
		_, err := snapshot(b, r).Authorise(b.Context(), &engine{})
		must(b, err)
	}
}

func BenchmarkCommit(b *testing.B) {
	r := newHome(b)
	for b.Loop() {
		must(b, touch(r, ann))
	}
}

// TestSnapshotDoesNotReadTheSuite takes every object away: a snapshot must not
// notice.
func TestSnapshotDoesNotReadTheSuite(t *testing.T) {
	small, big := newHome(t), newHome(t)
	ingest(t, small, bigHistory(30))
	ingest(t, big, bigHistory(600))
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
