package oracle

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"signalbox/rule"
)

// large returns a world of n rules and families with m cases each, whose guards
// are patterns.
func large(n, m int) *world {
	w := newWorld()
	w.proposal.Cases, w.proposal.Programs = nil, nil
	for i := range n {
		name := rule.Name(fmt.Sprintf("rule-%d", i))
		ask := fmt.Sprintf("Queue %d: convert to upper case", i)
		program := program(name, rule.Family(name), rule.Guard{Pattern: `\A(?:` + ask + `)\z`})
		w.proposal.Programs = append(w.proposal.Programs, program)
		plain := upper()
		w.fake.rules[name] = fakeRule{execute: plain.execute, trigger: func(task rule.Document) rule.TriggerReply {
			if task.Instruction != ask || !strings.HasPrefix(string(task.Input), `"`) {
				return noMatch
			}
			return match(`{}`)
		}}
		for k := range m {
			part := []rule.Part{rule.VisiblePart, rule.AdmissionPart}[k%2]
			word := fmt.Sprintf("word %d", k)
			w.add(rule.Case{ID: fmt.Sprintf("%d-%d", i, k), Family: rule.Family(name), Part: part,
				Task: rule.Task{Instruction: ask, Input: shown(word)}, Outcome: *outputs(strings.ToUpper(word)).Outcome})
		}
	}
	return w
}

// TestScale bounds what the oracle itself costs: under 64 MiB held, and calls
// that grow with rules times cases, not probes. BenchmarkCheck is larger.
func TestScale(t *testing.T) {
	w := large(100, 10)
	started := time.Now()
	report := w.check(t)
	if !report.Passed() {
		t.Fatalf("refused %q", found(report)[:1])
	}
	cases, probes := 2*100*1000, report.Counts.Probes
	own, foreign := 2*probes, 2*100*(foreignDenied*3/2)
	if got := report.Counts.TriggerCalls; got < cases+own || got > cases+own+foreign {
		t.Errorf("%d trigger calls: want %d for cases, %d for own probes and at most %d for others'", got, cases, own, foreign)
	}
	var memory runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&memory)
	if memory.HeapAlloc > 64<<20 {
		t.Errorf("%d MiB held", memory.HeapAlloc>>20)
	}
	t.Logf("%d trigger calls in %v", report.Counts.TriggerCalls, time.Since(started))
	runtime.KeepAlive(report)
}

// BenchmarkCheck has 200 rules over 2,000 cases, at no cost of the programs.
func BenchmarkCheck(b *testing.B) {
	w := large(200, 10)
	b.ReportAllocs()
	for b.Loop() {
		report, err := Check(context.Background(), w.fake, w.proposal, nil)
		if err != nil || !report.Passed() {
			b.Fatal(err)
		}
		b.ReportMetric(float64(report.Counts.TriggerCalls), "calls/op")
	}
}
