package synth

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"signalbox/maintenance/author/form"
	"signalbox/maintenance/author/lang"
	"signalbox/rule"
)

// realFamily is one family of a real set: what is learned from, and what is
// held out.
type realFamily struct {
	name        string
	learn, held []Example
}

// readReal reads SET.learn.jsonl and SET.held.jsonl.
func readReal(t *testing.T, folder, set string) []*realFamily {
	t.Helper()
	byName := map[string]*realFamily{}
	var list []*realFamily
	for _, part := range []string{"learn", "held"} {
		file, err := os.Open(filepath.Join(folder, set+"."+part+".jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		lines := bufio.NewScanner(file)
		lines.Buffer(nil, 64<<20)
		for lines.Scan() {
			var line struct {
				ID, Family string
				Task       struct{ Input []*string }
				Outcome    struct{ Output any }
			}
			if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
				t.Fatal(err)
			}
			f := byName[line.Family]
			if f == nil {
				f = &realFamily{name: line.Family}
				byName[line.Family] = f
				list = append(list, f)
			}
			e := Example{ID: line.ID, Target: realTarget(t, line.Outcome.Output)}
			for _, column := range line.Task.Input {
				if column == nil {
					column = new(string)
				}
				e.Columns = append(e.Columns, *column)
			}
			if part == "learn" {
				f.learn = append(f.learn, e)
			} else {
				f.held = append(f.held, e)
			}
		}
	}
	return list
}

func realTarget(t *testing.T, output any) Target {
	t.Helper()
	value, err := rule.ValueOf(output)
	if err != nil {
		t.Fatal(err)
	}
	node, texts, err := form.Split(value)
	if err != nil {
		return Target{Form: err.Error()}
	}
	return Target{Form: node.String(), Text: texts}
}

// parts splits like ingest does: few examples are all visible.
func (f *realFamily) parts() (visible, hidden []Example) {
	list := slices.Clone(f.learn)
	slices.SortFunc(list, func(a, b Example) int {
		return cmp.Compare(rule.DigestOf([]byte("salt"+strings.Join(a.Columns, "|"))), rule.DigestOf([]byte("salt"+strings.Join(b.Columns, "|"))))
	})
	n := len(list)
	if n < 6 {
		return list, nil
	}
	quota := max(2, n/4)
	if n >= 12 {
		list = list[n/8:]
	}
	return list[quota:], list[:quota]
}

// outcome is what became of a family.
type outcome struct {
	err                error
	submits            int
	right, wrong, fell int
	took               time.Duration
	notes              []string
}

// maintain learns, checks against the hidden cases and learns again from a
// revealed one, as the loop does; then it answers what was held out.
func (f *realFamily) maintain() (o outcome) {
	visible, hidden := f.parts()
	start := used()
	for o.submits = 1; ; o.submits++ {
		tree, err := Learn(visible, Settings{})
		o.took = used() - start
		if err != nil {
			o.err = err
			break
		}
		guard := NewGuard(visible, 0)
		right, wrong, _ := score(tree, guard, hidden)
		floor := (len(hidden)+1)/2 <= right
		seen, _, _ := score(tree, guard, visible)
		if len(wrong) == 0 && floor && seen*2 >= len(visible) {
			o.right, wrong, o.fell = score(tree, guard, f.held)
			o.wrong = len(wrong)
			o.notes = wrong
			return o
		}
		if o.submits == 3 || len(hidden) == 0 {
			o.err = fmt.Errorf("refused: %d wrong, %d of %d right, %d of %d visible", len(wrong), right, len(hidden), seen, len(visible))
			break
		}
		visible, hidden = reveal(tree, guard, visible, hidden)
	}
	o.fell = len(f.held)
	return o
}

// reveal moves the first hidden case that isn't right to the visible ones.
func reveal(tree *Tree, guard Guard, visible, hidden []Example) ([]Example, []Example) {
	for i, e := range hidden {
		if right, _, _ := score(tree, guard, []Example{e}); right == 0 {
			return append(slices.Clone(visible), e), append(slices.Clone(hidden[:i]), hidden[i+1:]...)
		}
	}
	return visible, hidden
}

func score(tree *Tree, guard Guard, list []Example) (right int, wrong []string, fell int) {
	for _, e := range list {
		if !guard.Accepts(e.Columns) {
			if os.Getenv("SIGNALBOX_NOTES") != "" {
				fmt.Printf("NOTE %s %q guard\n", e.ID, e.Columns)
			}
			fell++
			continue
		}
		got, ok, note := tree.Answer(lang.NewRow(e.Columns))
		if !ok && os.Getenv("SIGNALBOX_NOTES") != "" {
			fmt.Printf("NOTE %s %q want %q: %s\n", e.ID, e.Columns, e.Target.Text, note)
		}
		switch {
		case !ok:
			fell++
		case got.Equal(e.Target):
			right++
		default:
			wrong = append(wrong, fmt.Sprintf("%q → %q, want %q", e.Columns, got.Text, e.Target.Text))
		}
	}
	return right, wrong, fell
}

// TestRealSets prints what is learned from the sets in the folder that
// SIGNALBOX_REALDATA names.
func TestRealSets(t *testing.T) {
	folder := os.Getenv("SIGNALBOX_REALDATA")
	if folder == "" {
		t.Skip("SIGNALBOX_REALDATA names no folder")
	}
	sets := strings.Fields(cmp.Or(os.Getenv("SIGNALBOX_SETS"), "prose_text"))
	for _, set := range sets {
		measure(t, folder, set)
	}
}

func measure(t *testing.T, folder, set string) {
	var families, active, clean, dirty, right, wrong, fell int
	var times []time.Duration
	for _, f := range readReal(t, folder, set) {
		inputs := map[string]bool{}
		for _, e := range append(slices.Clone(f.learn), f.held...) {
			inputs[strings.Join(e.Columns, "\x00")] = true
		}
		if len(inputs) < 4 || !strings.Contains(f.name, os.Getenv("SIGNALBOX_ONLY")) {
			continue
		}
		o := f.maintain()
		families++
		right, wrong, fell = right+o.right, wrong+o.wrong, fell+o.fell
		times = append(times, o.took)
		switch {
		case o.wrong > 0:
			dirty++
		case o.right > 0:
			clean++
		}
		if o.err == nil {
			active++
		}
		t.Logf("%-45s learn=%d held=%d right=%d wrong=%d fell=%d submits=%d %.2fs %v %s",
			f.name, len(f.learn), len(f.held), o.right, o.wrong, o.fell, o.submits, o.took.Seconds(), o.err, strings.Join(o.notes[:min(3, len(o.notes))], " ; "))
	}
	slices.Sort(times)
	t.Logf("SET %s: families=%d active=%d clean=%d with_wrong=%d | held right=%d wrong=%d fell=%d (%.1f%% right, %.2f%% wrong of answered) | time median=%.2fs p90=%.2fs max=%.2fs",
		set, families, active, clean, dirty, right, wrong, fell, 100*float64(right)/float64(right+wrong+fell), 100*float64(wrong)/float64(max(1, right+wrong)),
		times[len(times)/2].Seconds(), times[len(times)*9/10].Seconds(), times[len(times)-1].Seconds())
}

// used returns the processor time of this process: the clock says little on a
// busy machine.
func used() time.Duration {
	var usage syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage) // never fails for the process itself
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
