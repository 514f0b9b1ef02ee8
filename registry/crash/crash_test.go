package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestMain lets the test binary be the writer.
func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == "writer" {
		os.Exit(writer(os.Args[2], os.Args[3]))
	}
	if dir := memory(); dir != "" {
		_ = os.Setenv("TMPDIR", dir)
	}
	os.Exit(m.Run())
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// newHarness is a harness that has studied its acts, where strace works.
func newHarness(t *testing.T) *harness {
	t.Helper()
	if out, err := exec.Command("strace", "-f", "-e", "trace=none", "true").CombinedOutput(); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("strace doesn't work: %v: %s", err, out)
		}
		t.Skipf("strace doesn't work: %v: %s", err, out)
	}
	tracer, err := newTracer()
	must(t, err)
	dir := t.TempDir()
	return &harness{tracer: tracer, dir: dir, template: filepath.Join(dir, "template")}
}

// TestShortAttack makes a few attacks of each kind that needs no root.
func TestShortAttack(t *testing.T) {
	h := newHarness(t)
	must(t, h.study(t.Context(), "lock", naiveAct, "save-proposal"))
	b := budget{kills: 12, faults: 12, states: 24, commits: 40}
	must(t, h.kills(t.Context(), b))
	must(t, h.faults(t.Context(), b))
	must(t, h.states(t.Context(), b))
	must(t, h.together(t.Context(), b))
	if got := h.tally; got.commits != 40 || got.reads == 0 || got.kills < 10 || got.faults != 12 || got.states != 24 || got.refused == 0 || !got.passed(false) {
		t.Errorf("%+v", got)
	}
}

// TestMissingSyncIsFound takes each sync out of what a commit did: unless another
// one does the same, a crash then loses the commit or breaks the registry.
func TestMissingSyncIsFound(t *testing.T) {
	h := newHarness(t)
	must(t, h.study(t.Context(), "lock"))
	ref := h.refs[0]
	whole := h.recorded(t, ref.name)
	if bad := h.bad(t, ref, whole); bad != 0 {
		t.Fatalf("%d bad states of a commit that nobody disturbed", bad)
	}
	nothing := recording{base: whole.base}
	for _, o := range whole.ops {
		if o.kind != opSync {
			nothing.ops = append(nothing.ops, o)
		}
	}
	if len(nothing.ops) == len(whole.ops) || h.bad(t, ref, nothing) == 0 {
		t.Error("a commit without any sync survives every crash")
	}
	// The folder's: rename alone doesn't last, whatever the ledger does afterwards.
	folder := -1
	for _, o := range whole.ops {
		if o.kind == opRename {
			folder = o.node
		}
	}
	unsynced := recording{base: whole.base}
	for _, o := range whole.ops {
		if o.kind != opSync || o.node != folder {
			unsynced.ops = append(unsynced.ops, o)
		}
	}
	if h.bad(t, ref, unsynced) == 0 {
		t.Error("a commit without a sync of its folder survives every crash")
	}
}

func (h *harness) recorded(t *testing.T, name string) (r recording) {
	t.Helper()
	must(t, h.onStage(name, func(stage string) (err error) {
		r, err = h.tracer.record(t.Context(), name, stage)
		return err
	}))
	return r
}

// bad counts the states of a recording that aren't as they must be.
func (h *harness) bad(t *testing.T, ref reference, r recording) (bad int) {
	t.Helper()
	for _, s := range spread(ref.different(r), 60) {
		stage := t.TempDir()
		must(t, s.disk.save(stage))
		if v := ref.check(t.Context(), stage, s.acked); v.corrupt || v.lost {
			bad++
		}
	}
	return bad
}

// TestCheckFindsWhatIsWrong damages a home in ways that an attack could.
func TestCheckFindsWhatIsWrong(t *testing.T) {
	template := filepath.Join(t.TempDir(), "template")
	must(t, build(t.Context(), template))
	old, err := stateOf(template)
	must(t, err)
	ref := reference{name: "lock", old: old, new: []byte("something else")}
	for name, c := range map[string]struct {
		spoil         func(dir string) error
		acked         bool
		corrupt, lost bool
	}{
		"nothing":           {func(string) error { return nil }, false, false, false},
		"acknowledged":      {func(string) error { return nil }, true, false, true},
		"registry is empty": {func(dir string) error { return os.WriteFile(filepath.Join(dir, registryFile), nil, 0o600) }, false, true, false},
		"registry is gone":  {func(dir string) error { return os.Remove(filepath.Join(dir, registryFile)) }, false, true, false},
		"ledger is gone":    {func(dir string) error { return os.Remove(filepath.Join(dir, "ledger.db")) }, false, true, false},
		"a stray object": {func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "objects", "sha256", "stray"), nil, 0o600)
		}, false, true, false},
		"left behind": {func(dir string) error { return os.WriteFile(filepath.Join(dir, ".half"), nil, 0o600) }, false, true, false},
	} {
		stage := t.TempDir()
		must(t, prepare(template, stage, "lock"))
		must(t, c.spoil(filepath.Join(stage, home)))
		if v := ref.check(t.Context(), stage, c.acked); v.corrupt != c.corrupt || v.lost != c.lost || v.corrupt && v.why == "" {
			t.Errorf("%s: %+v", name, v)
		}
	}
}

func TestTally(t *testing.T) {
	good := tally{kills: 1000, cuts: 200, cutsRan: true, naiveKills: 1, naiveCuts: 1}
	if got := good.String(); got != "crash: kill_points=1000 power_cuts=200 corrupt=0 lost=0 naive_failed=yes" || !good.passed(true) {
		t.Errorf("%s, passed %v", got, good.passed(true))
	}
	for name, spoil := range map[string]func(*tally){
		"corrupt":               func(t *tally) { t.add("here", verdict{corrupt: true}) },
		"lost":                  func(t *tally) { t.add("here", verdict{lost: true}) },
		"few kills":             func(t *tally) { t.kills-- },
		"few cuts":              func(t *tally) { t.cuts-- },
		"naive survived a kill": func(t *tally) { t.naiveKills = 0 },
		"naive survived a cut":  func(t *tally) { t.naiveCuts = 0 },
		"naive in every state":  func(t *tally) { t.states = 5 },
	} {
		bad := good
		spoil(&bad)
		if bad.passed(true) {
			t.Errorf("%s: passed with %s", name, &bad)
		}
	}
}

func TestParseCalls(t *testing.T) {
	log := `10 openat(AT_FDCWD, "/a", O_RDONLY) = 3
11 openat(AT_FDCWD, "/other thread", O_RDONLY) = 4
10 write(1, "BEGIN\n", 6) = 6
11 fsync(4) = 0
10 openat(AT_FDCWD, "/b", O_RDONLY) = 5
10 --- SIGURG {si_signo=SIGURG} ---
10 <... futex resumed>) = 0
10 write(5, "x", 1) = 1
10 +++ exited with 0 +++
`
	got, err := parseCalls(log)
	if err != nil || len(got) != 2 || got[0] != (call{"openat", 2}) || got[1] != (call{"write", 2}) {
		t.Errorf("got %v, %v", got, err)
	}
	if _, err := parseCalls(strings.ReplaceAll(log, "BEGIN", "x")); err == nil {
		t.Error("a log without BEGIN: want an error")
	}
}
