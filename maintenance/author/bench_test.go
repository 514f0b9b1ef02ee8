package author

import (
	"bufio"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"signalbox/rule"
)

// figures are one line of the table: what came of a set's families.
type figures struct {
	Set        string  `json:"set"`
	Confidence string  `json:"confidence"`
	Raw        bool    `json:"raw"` // with the cases whose gold is known to be bad
	Families   int     `json:"families"`
	Active     int     `json:"active"`
	Unheld     int     `json:"unheld"` // active with no hidden case
	Clean      int     `json:"clean"`
	WithWrong  int     `json:"with_wrong"`
	Right      int     `json:"right"`
	Wrong      int     `json:"wrong"`
	Fell       int     `json:"fell"`
	RightShare float64 `json:"right_percent"`
	WrongShare float64 `json:"wrong_percent_of_answered"`
	Median     float64 `json:"median_seconds"`
	P90        float64 `json:"p90_seconds"`
	Max        float64 `json:"max_seconds"`
	PeakMiB    int     `json:"peak_mib"`
	times      []time.Duration
}

func (f *figures) add(o outcome) {
	f.Families++
	f.Right, f.Wrong, f.Fell = f.Right+o.right, f.Wrong+o.wrong, f.Fell+o.fell
	f.times = append(f.times, o.took)
	switch {
	case o.wrong > 0:
		f.WithWrong++
	case o.right > 0:
		f.Clean++
	}
	if o.err == nil {
		f.Active++
		if o.unheld {
			f.Unheld++
		}
	}
}

func (f *figures) close() {
	f.RightShare = 100 * float64(f.Right) / float64(max(1, f.Right+f.Wrong+f.Fell))
	f.WrongShare = 100 * float64(f.Wrong) / float64(max(1, f.Right+f.Wrong))
	slices.Sort(f.times)
	if n := len(f.times); n > 0 {
		f.Median, f.P90, f.Max = f.times[n/2].Seconds(), f.times[n*9/10].Seconds(), f.times[n-1].Seconds()
	}
	f.PeakMiB = peakMiB()
}

const tableHead = "| set | families | active (unheld) | clean | with a wrong | right | wrong of answered | median, p90, max | peak |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n"

func (f figures) row() string {
	name := f.Set
	if !f.Raw {
		name += " without known bad"
	}
	return fmt.Sprintf("| %s | %d | %d (%d) | %d | %d | %d of %d, %.1f %% | %d of %d, %.2f %% | %.2f s, %.2f s, %.1f s | %d MiB |\n", name, f.Families, f.Active, f.Unheld, f.Clean, f.WithWrong,
		f.Right, f.Right+f.Wrong+f.Fell, f.RightShare, f.Wrong, f.Right+f.Wrong, f.WrongShare, f.Median, f.P90, f.Max, f.PeakMiB)
}

// peakMiB returns the most memory that the process had since it was last asked,
// and 0 where the system doesn't say.
func peakMiB() int {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	kib, _ := strconv.Atoi(strings.Fields(rest + " 0")[0])
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) // else the peak is that of all sets so far
	return kib >> 10
}

// TestBenchAuthor measures the author on the example sets in the folder that
// SIGNALBOX_REALDATA names (SET.learn.jsonl with SET.held.jsonl), with a
// simulated product: the search and its guards answer, not the containers.
//
// SIGNALBOX_SETS and SIGNALBOX_ONLY choose sets and families; SIGNALBOX_KNOWN_BAD
// names the list of bad gold, SIGNALBOX_JSON and SIGNALBOX_PLOT files to write,
// SIGNALBOX_DETAIL one for what became of each family. A plot measures at every
// confidence.
func TestBenchAuthor(t *testing.T) {
	folder := os.Getenv("SIGNALBOX_REALDATA")
	if folder == "" {
		t.Skip("SIGNALBOX_REALDATA names no folder")
	}
	levels := confidences[1:2]
	if os.Getenv("SIGNALBOX_PLOT") != "" {
		levels = confidences
	}
	detail := created(t, os.Getenv("SIGNALBOX_DETAIL"))
	bad := readBad(t, os.Getenv("SIGNALBOX_KNOWN_BAD"))
	var all []figures
	for _, set := range setsIn(t, folder) {
		families := readReal(t, folder, set)
		for _, level := range levels {
			raw, clean := measure(set, families, level, bad, detail)
			all = append(all, raw)
			if clean.Families > 0 {
				all = append(all, clean)
			}
		}
	}
	report(t, all)
}

func created(t *testing.T, path string) *os.File {
	t.Helper()
	if path == "" {
		path = os.DevNull
	}
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() }) // it only says more
	return file
}

func setsIn(t *testing.T, folder string) (sets []string) {
	t.Helper()
	if named := os.Getenv("SIGNALBOX_SETS"); named != "" {
		return strings.Fields(named)
	}
	paths, err := filepath.Glob(filepath.Join(folder, "*.learn.jsonl"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no SET.learn.jsonl in %q: %v", folder, err)
	}
	for _, path := range paths {
		sets = append(sets, strings.TrimSuffix(filepath.Base(path), ".learn.jsonl"))
	}
	return sets
}

// measure runs the families of a set; clean has no families where no gold of
// the set is known to be bad.
func measure(set string, families []*realFamily, level confidence, bad map[string]map[rule.Value]bool, detail *os.File) (raw, clean figures) {
	raw = figures{Set: set, Confidence: level.name, Raw: true}
	clean = figures{Set: set, Confidence: level.name}
	peakMiB()
	listed := false
	for _, f := range families {
		if f.distinctInputs() < 4 || !strings.Contains(f.name, os.Getenv("SIGNALBOX_ONLY")) {
			continue
		}
		o := f.maintain(level)
		fmt.Fprintf(detail, "%-45s learn=%d held=%d right=%d wrong=%d fell=%d submits=%d cost=%d foretold=%d %.2fs %v\n", f.name, len(f.learn), len(f.held), o.right, o.wrong, o.fell, o.submits, o.dearest, o.foretold, o.took.Seconds(), o.err)
		for _, line := range append(slices.Clone(o.wrongs), o.fallen...) {
			fmt.Fprintf(detail, "    %s\n", line)
		}
		raw.add(o)
		if bad[f.name] != nil {
			listed = true
			o = f.without(bad[f.name]).maintain(level)
		}
		clean.add(o)
	}
	raw.close()
	clean.close()
	clean.PeakMiB = raw.PeakMiB
	if !listed {
		clean = figures{}
	}
	return raw, clean
}

func report(t *testing.T, all []figures) {
	t.Helper()
	table := "Simulated: the search and its guards answer on the case split of ingest; no container, no router.\n"
	for _, level := range confidences {
		rows := ""
		for _, f := range all {
			if f.Confidence == level.name {
				rows += f.row()
			}
		}
		if rows != "" {
			table += "\nConfidence: " + level.name + "\n\n" + tableHead + rows
		}
	}
	fmt.Print(table)
	if path := os.Getenv("SIGNALBOX_JSON"); path != "" {
		data, err := json.Marshal(map[string]any{"simulated": true, "figures": all}, json.Deterministic(true))
		if err == nil {
			err = os.WriteFile(path, append(data, '\n'), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if path := os.Getenv("SIGNALBOX_PLOT"); path != "" {
		if err := os.WriteFile(path, []byte(plot(all)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// readReal reads a set's families, in the order in which they come.
func readReal(t *testing.T, folder, set string) (list []*realFamily) {
	t.Helper()
	learn, order := readCases(t, filepath.Join(folder, set+".learn.jsonl"))
	held, more := readCases(t, filepath.Join(folder, set+".held.jsonl"))
	for _, name := range append(order, slices.DeleteFunc(more, func(name string) bool { return learn[name] != nil })...) {
		list = append(list, &realFamily{name, learn[name], held[name]})
	}
	return list
}

// readBad reads a list of cases whose gold is bad: family, input and more, with
// tabs between.
func readBad(t *testing.T, path string) map[string]map[rule.Value]bool {
	t.Helper()
	bad := map[string]map[rule.Value]bool{}
	if path == "" {
		return bad
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(string(text), "\n") {
		cells := strings.Split(line, "\t")
		if len(cells) < 2 || cells[0] == "family" {
			continue
		}
		if bad[cells[0]] == nil {
			bad[cells[0]] = map[rule.Value]bool{}
		}
		for _, input := range []any{cells[1], []string{cells[1]}} {
			value, err := rule.ValueOf(input)
			if err != nil {
				t.Fatal(err)
			}
			bad[cells[0]][value] = true
		}
	}
	return bad
}

func readCases(t *testing.T, path string) (map[string][]briefCase, []string) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	byFamily := map[string][]briefCase{}
	var order []string
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var line struct {
			briefCase
			Family string `json:"family"`
		}
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			t.Fatal(err)
		}
		if byFamily[line.Family] == nil {
			order = append(order, line.Family)
		}
		byFamily[line.Family] = append(byFamily[line.Family], line.briefCase)
	}
	return byFamily, order
}

// level is where a confidence stands among the others.
func level(name string) int {
	return slices.IndexFunc(confidences, func(c confidence) bool { return c.name == name })
}

// byConfidence returns a set's raw figures, the boldest first.
func byConfidence(all []figures, set string) (list []figures) {
	for _, f := range all {
		if f.Set == set && f.Raw {
			list = append(list, f)
		}
	}
	slices.SortStableFunc(list, func(a, b figures) int { return cmp.Compare(level(a.Confidence), level(b.Confidence)) })
	return list
}
