package containers

import (
	"fmt"
	"testing"

	"signalbox/rule"
)

// BenchmarkStart is a cold start to the first answer, and the removal.
func BenchmarkStart(b *testing.B) {
	e := fakeEngine(b)
	program := programIn(b, e, "#")
	for b.Loop() {
		residents := e.Residents(1)
		if reply := residents.Trigger(b.Context(), program, rule.Document{Instruction: "ok"}); say(reply) != "no_match" {
			b.Fatalf("%+v", reply)
		}
		if err := residents.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCall is one call of a resident.
func BenchmarkCall(b *testing.B) {
	e := fakeEngine(b)
	residents := e.Residents(1)
	defer residents.Close()
	program := programIn(b, e, "#")
	for b.Loop() {
		if reply := residents.Trigger(b.Context(), program, rule.Document{Instruction: "ok"}); say(reply) != "no_match" {
			b.Fatalf("%+v", reply)
		}
	}
}

// BenchmarkPipelined is one call of many in a slice.
func BenchmarkPipelined(b *testing.B) {
	e := fakeEngine(b)
	residents := e.Residents(1)
	defer residents.Close()
	program := programIn(b, e, "#")
	tasks := make([]rule.Document, 1_000)
	for i := range tasks {
		tasks[i] = rule.Document{Instruction: fmt.Sprintf("match %d", i)}
	}
	for b.Loop() {
		for i, reply := range residents.Triggers(b.Context(), program, tasks) {
			if say(reply) != "match" {
				b.Fatalf("%d: %+v", i, reply)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*len(tasks)), "µs/task")
}
