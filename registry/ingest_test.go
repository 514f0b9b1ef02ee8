package registry

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"signalbox/rule"
)

// line is one history line.
func line(id, family, input, outcome string) string {
	return fmt.Sprintf(`{"id":%q,"family":%q,"task":{"instruction":"do it","input":%s},"outcome":%s}`+"\n", id, family, input, outcome)
}

func casesByID(t *testing.T, r *Registry) map[string]rule.Case {
	t.Helper()
	cases, err := snapshot(t, r).Cases(t.Context())
	must(t, err)
	byID := map[string]rule.Case{}
	for _, c := range cases {
		byID[c.ID] = c
	}
	return byID
}

func TestIngestSplitsAndCounts(t *testing.T) {
	r := newHome(t)
	report := ingest(t, r, history("squares", 16)+line("near", "squares", `"x"`, `{"fallback":true}`))
	want := map[rule.Part]int{rule.VisiblePart: 11, rule.AdmissionPart: 4, rule.SealedPart: 2}
	for part, n := range want {
		if report.Taken[part] != n {
			t.Errorf("%s: %d, want %d", part, report.Taken[part], n)
		}
	}
	if report.Total() != 17 || report.Fallback != 1 || report.Known+report.Unverified+len(report.Rejected) != 0 {
		t.Errorf("report: %+v", report)
	}
	s := snapshot(t, r)
	if s.Generation() != 2 || s.Serial().N != 2 || s.State().Suite.Cases != 15 || s.State().Sealed.Cases != 2 {
		t.Errorf("state: %+v", s.State())
	}
	cases, err := s.Cases(t.Context())
	must(t, err)
	sealed, err := s.SealedForAudit(t.Context())
	must(t, err)
	hidden := map[string]bool{}
	for _, c := range sealed {
		hidden[c.ID] = true
		if c.Part != rule.SealedPart || c.Fallback {
			t.Errorf("sealed case %+v", c)
		}
	}
	for _, c := range cases {
		if hidden[c.ID] || c.Part == rule.SealedPart || c.CertifiedBy != "ann" {
			t.Errorf("suite case %+v", c)
		}
	}
	counts, err := s.SealedCounts(t.Context())
	must(t, err)
	if len(cases) != 15 || len(sealed) != 2 || counts["squares"] != 2 {
		t.Errorf("%d in the suite, %d sealed, counts %v", len(cases), len(sealed), counts)
	}
}

func TestIngestIsIdempotent(t *testing.T) {
	r := newHome(t)
	text := history("squares", 16)
	ingest(t, r, text)
	before := readFile(t, r.path(registryFile))
	report := ingest(t, r, text+text)
	if report.Known != 32 || report.Total() != 0 || len(report.Rejected) != 0 {
		t.Errorf("report: %+v", report)
	}
	if string(readFile(t, r.path(registryFile))) != string(before) {
		t.Error("nothing was new, and the registry changed")
	}
}

func TestOrderOfLinesDoesNotMatter(t *testing.T) {
	lines := strings.SplitAfter(strings.TrimSpace(history("squares", 20)+history("cubes", 20)), "\n")
	lines[len(lines)-1] += "\n"
	r := newHome(t)
	ingest(t, r, strings.Join(lines, ""))
	want := snapshot(t, r).State().Suite.Digest
	back := make([]string, len(lines))
	for i, line := range lines {
		back[len(lines)-1-i] = line
	}
	other := newHome(t)
	must(t, os.WriteFile(other.path("keys/"+saltFile), readFile(t, r.path("keys/"+saltFile)), 0o600))
	ingest(t, other, strings.Join(back, ""))
	if got := snapshot(t, other).State().Suite; got.Digest != want || got.Parts != snapshot(t, r).State().Suite.Parts {
		t.Error("lines in another order gave another suite")
	}
}

func TestUncertifiedIsUsedForNothing(t *testing.T) {
	r := newHome(t)
	lines := parse(t, history("squares", 8))
	for range 2 { // the second time nothing is new
		report, err := r.Ingest(t.Context(), lines, IngestOptions{From: "log"}, ann)
		must(t, err)
		if report.Unverified != 8 || report.Total() != 0 {
			t.Errorf("report: %+v", report)
		}
	}
	s := snapshot(t, r)
	if s.Generation() != 1 || s.Serial().N != 2 || s.State().Suite.Cases != 0 || s.State().Sealed.Cases != 0 || len(s.State().Unverified) != 1 {
		t.Errorf("state: %+v", s.State())
	}
	kept, err := s.Unverified(t.Context())
	if err != nil || len(kept) != 8 || kept[0].CertifiedBy != "" {
		t.Errorf("kept %d, %v", len(kept), err)
	}
}

func TestModelLogsAreUnverifiedWhateverTheFlag(t *testing.T) {
	r := newHome(t)
	with := func(source string) string {
		return strings.Replace(line("id-"+source, "f", `"`+source+`"`, `{"output":1}`), `"outcome"`, `"source":"`+source+`","outcome"`, 1)
	}
	report := ingest(t, r, with("model")+with("model:gpt")+with("models of cars"))
	if report.Unverified != 2 || report.Total() != 1 {
		t.Errorf("report: %+v", report)
	}
	for _, ids := range [][]string{{"nobody"}, {"id-model", "nobody"}} {
		if _, err := r.Certify(t.Context(), ids, "ann", ann); !errors.Is(err, ErrUnknown) {
			t.Errorf("certifying %v: %v, want ErrUnknown", ids, err)
		}
	}
	if _, err := r.Certify(t.Context(), []string{"id-model"}, "", ann); err == nil {
		t.Error("certified by nobody: want an error")
	}
	report, err := r.Certify(t.Context(), []string{"id-model"}, "bob", ann)
	must(t, err)
	if report.Total() != 1 || casesByID(t, r)["id-model"].CertifiedBy != "bob" {
		t.Errorf("report: %+v", report)
	}
}

func TestCertifyRefusesAnAmbiguousID(t *testing.T) {
	r := newHome(t)
	for _, output := range []string{"1", "2"} {
		_, err := r.Ingest(t.Context(), parse(t, line("a", "f", "1", `{"output":`+output+`}`)), IngestOptions{}, ann)
		must(t, err)
	}
	if _, err := r.Certify(t.Context(), []string{"a"}, "ann", ann); err == nil || !strings.Contains(err.Error(), "several") {
		t.Errorf("got %v, want an error about several lines", err)
	}
}

func TestDisagreements(t *testing.T) {
	one := line("one", "f", "1", `{"output":1}`)
	cases := []struct {
		name, known, file string
		taken, repeats    int
		rejected          string // ids and a word of each reason
	}{
		{"same line twice", "", one + one, 1, 1, ""},
		{"same task under another id", one, line("two", "f", "1", `{"output":1}`), 0, 1, ""},
		{"same id, other outcome, in one file", "", one + line("one", "f", "1", `{"output":2}`), 0, 0, "1 one:same id;2 one:same id"},
		{"same id, other task, known", one, line("one", "f", "2", `{"output":1}`), 0, 0, "1 one:same id"},
		{"same task, other outcome, in one file", "", one + line("two", "f", "1", `{"output":2}`), 0, 0, `1 one:"two" (line 2);2 two:"one" (line 1)`},
		{"third line agrees with one of two that disagree", "", one + line("two", "f", "1", `{"output":2}`) + line("three", "f", "1", `{"output":1}`), 0, 0,
			"1 one:another outcome;2 two:another outcome;3 three:another outcome"},
		{"same task, other outcome, known", one, line("two", "f", "1", `{"output":2}`), 0, 0, `1 two:"one", which is known`},
		{"same task, must fall back", one, line("two", "f", "1", `{"fallback":true}`), 0, 0, "1 two:another outcome"},
		{"same task in another family", one, line("two", "g", "1", `{"output":1}`), 0, 0, "1 two:families"},
		{"same task must fall back in two families", line("a", "f", "1", `{"fallback":true}`), line("b", "g", "1", `{"fallback":true}`), 1, 0, ""},
		{"others go on", one, line("two", "f", "1", `{"output":2}`) + line("three", "f", "3", `{"output":3}`), 1, 0, "1 two:another outcome"},
		{"same document, other files", strings.Replace(one, `"input":1`, `"files":{"a":"1"}`, 1),
			strings.Replace(line("two", "f", "1", `{"output":2}`), `"input":1`, `"files":{"a":"2"}`, 1), 1, 0, ""},
		{"null input is not no input", strings.Replace(one, `,"input":1`, ``, 1), line("two", "f", "null", `{"output":2}`), 1, 0, ""},
		{"args differ", one, strings.Replace(line("two", "f", "1", `{"output":1}`), `"outcome"`, `"args":{},"outcome"`, 1), 0, 0, "1 two:another outcome"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := newHome(t)
			if c.known != "" && ingest(t, r, c.known).Total() != 1 {
				t.Fatal("the known case wasn't taken")
			}
			report := ingest(t, r, c.file)
			if report.Total() != c.taken || report.Known != c.repeats {
				t.Errorf("taken %d, known %d: want %d, %d", report.Total(), report.Known, c.taken, c.repeats)
			}
			checkRejected(t, report.Rejected, c.rejected)
		})
	}
}

func checkRejected(t *testing.T, got []Rejected, want string) {
	t.Helper()
	var wanted []string
	if want != "" {
		wanted = strings.Split(want, ";")
	}
	if len(got) != len(wanted) {
		t.Fatalf("rejected %+v, want %q", got, want)
	}
	for i, w := range wanted {
		at, word, _ := strings.Cut(w, ":")
		if fmt.Sprintf("%d %s", got[i].Line, got[i].ID) != at || !strings.Contains(got[i].Reason, word) {
			t.Errorf("rejected %+v, want %s with %q", got[i], at, word)
		}
	}
}

func TestStrictRefusesAll(t *testing.T) {
	r := newHome(t)
	text := line("one", "f", "1", `{"output":1}`) + `{"id":"bad"}` + "\n"
	report, err := r.Ingest(t.Context(), parse(t, text), IngestOptions{CertifiedBy: "ann", Strict: true}, ann)
	if err == nil || !strings.Contains(err.Error(), "line 2") || len(report.Rejected) != 1 {
		t.Errorf("got %+v, %v: want an error about line 2", report, err)
	}
	if s := snapshot(t, r); s.Serial().N != 1 {
		t.Errorf("serial %d: something was committed", s.Serial().N)
	}
	report, err = r.Ingest(t.Context(), parse(t, text), IngestOptions{CertifiedBy: "ann"}, ann)
	must(t, err)
	if report.Total() != 1 || len(report.Rejected) != 1 {
		t.Errorf("without strict: %+v", report)
	}
}

func TestSupersedeKeepsBoth(t *testing.T) {
	r := newHome(t)
	ingest(t, r, history("squares", 16))
	before := casesByID(t, r)
	sealed, err := snapshot(t, r).SealedForAudit(t.Context())
	must(t, err)
	// One case of each part gets another outcome, one of them must fall back.
	text, parts := "", map[string]rule.Part{}
	for id, c := range before {
		if len(parts) < 2 && !containsPart(parts, c.Part) {
			parts["new-"+id] = c.Part
			text += correction(c, `{"output":"corrected"}`)
		}
	}
	parts["new-"+sealed[0].ID], parts["new-"+sealed[1].ID] = rule.SealedPart, rule.AdmissionPart
	text += correction(sealed[0], `{"output":"corrected"}`) + correction(sealed[1], `{"fallback":true}`)
	report, err := r.Ingest(t.Context(), parse(t, text), IngestOptions{CertifiedBy: "bob", Supersede: true}, ann)
	must(t, err)
	if report.Total() != 4 || report.Superseded != 4 || len(report.Rejected) != 0 {
		t.Fatalf("report: %+v", report)
	}
	state := snapshot(t, r).State()
	if state.Superseded.Cases != 4 || state.Suite.Cases+state.Sealed.Cases != 16 {
		t.Errorf("suite %+v, sealed %+v, superseded %+v", state.Suite, state.Sealed, state.Superseded)
	}
	book, err := r.openCasebook(state)
	must(t, err)
	for _, c := range book.cases {
		if want, ok := parts[c.ID]; ok && c.Part != want {
			t.Errorf("case %s is %q, want %q", c.ID, c.Part, want)
		}
	}
	again, err := r.Ingest(t.Context(), parse(t, text), IngestOptions{CertifiedBy: "bob", Supersede: true}, ann)
	must(t, err)
	if again.Known != 4 || again.Superseded != 0 {
		t.Errorf("once more: %+v", again)
	}
}

func containsPart(parts map[string]rule.Part, part rule.Part) bool {
	for _, p := range parts {
		if p == part {
			return true
		}
	}
	return false
}

// correction is a line for c's task under another id.
func correction(c rule.Case, outcome string) string {
	return fmt.Sprintf(`{"id":"new-%s","family":%q,"task":{"instruction":%q,"input":%s},"outcome":%s}`+"\n", c.ID, c.Family, c.Task.Instruction, c.Task.Input, outcome)
}

func TestGenerationMovesOnlyWithTheSuite(t *testing.T) {
	r := newHome(t)
	ingest(t, r, history("squares", 12))
	before := snapshot(t, r)
	_, err := r.Ingest(t.Context(), parse(t, line("log", "f", "1", `{"output":1}`)), IngestOptions{}, ann)
	must(t, err)
	after := snapshot(t, r)
	if after.Generation() != before.Generation() || after.Serial().N != before.Serial().N+1 {
		t.Errorf("unverified lines: generation %d → %d, serial %d → %d", before.Generation(), after.Generation(), before.Serial().N, after.Serial().N)
	}
	ingest(t, r, line("one", "f", "1", `{"output":1}`))
	if got := snapshot(t, r).Generation(); got != before.Generation()+1 {
		t.Errorf("a new case: generation %d, want %d", got, before.Generation()+1)
	}
}

func TestIngestChecksItsOptions(t *testing.T) {
	r := newHome(t)
	lines := parse(t, goodLine)
	for name, err := range map[string]error{
		"nobody":    second(r.Ingest(t.Context(), lines, IngestOptions{}, Change{})),
		"long name": second(r.Ingest(t.Context(), lines, IngestOptions{CertifiedBy: strings.Repeat("x", 501)}, ann)),
		"long why":  second(r.Ingest(t.Context(), lines, IngestOptions{}, Change{Who: "a", Why: strings.Repeat("x", 501)})),
	} {
		if err == nil {
			t.Errorf("%s: want an error", name)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func TestSaltThatIsLost(t *testing.T) {
	for name, spoil := range map[string]func(path string) error{
		"missing": os.Remove,
		"short":   func(p string) error { return os.WriteFile(p, []byte("ab\n"), 0o600) },
		"open":    func(p string) error { return os.Chmod(p, 0o644) },
	} {
		r := newHome(t)
		must(t, spoil(r.path("keys/"+saltFile)))
		if _, err := r.Ingest(t.Context(), parse(t, history("f", 3)), IngestOptions{CertifiedBy: "ann"}, ann); err == nil {
			t.Errorf("%s: want an error", name)
		}
		if s := snapshot(t, r); s.Serial().N != 1 {
			t.Errorf("%s: something was committed", name)
		}
	}
}
