package main

import (
	"bytes"
	"testing"

	"signalbox/rule"
	"signalbox/rule/frame"
)

const benchBody = `found = re.full(r"Convert (\d+) (\w+) to (\w+)", task.instruction)
  return match({"n": int(found[1])}) if found else no_match()`

func BenchmarkCallOneByOne(b *testing.B) {
	c := start(b, realKernel(b))
	c.load(rule.RoleTrigger, trigger(benchBody))
	body := task("Convert 12 miles to km")
	for b.Loop() {
		if kind, _ := c.ask(frame.KindTrigger, body); kind != frame.KindReply {
			b.Fatal(kind)
		}
	}
}

// BenchmarkCallsPipelined writes 64 requests at a time; ns/op is for one call.
func BenchmarkCallsPipelined(b *testing.B) {
	const ahead = 64
	c := start(b, realKernel(b))
	c.load(rule.RoleTrigger, trigger(benchBody))
	var wire bytes.Buffer
	for i := range ahead {
		if err := frame.Write(&wire, uint64(i), frame.KindTrigger, task("Convert 12 miles to km")); err != nil {
			b.Fatal(err)
		}
	}
	b.ResetTimer()
	for i := 0; i < b.N; i += ahead {
		if _, err := c.stdin.Write(wire.Bytes()); err != nil {
			b.Fatal(err)
		}
		for range ahead {
			c.read()
		}
	}
}
