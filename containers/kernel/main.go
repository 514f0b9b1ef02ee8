// The runtime must not hold the container's cgroup files open, nor ask for the
// system calls to read them.
//
//go:debug containermaxprocs=0
//go:debug updatemaxprocs=0
package main

import (
	"flag"
	"fmt"
	"io"
	"os"

	"signalbox/rule/frame"
)

const exitBroken = 3

func main() {
	memory := flag.Int64("memory", 0, "the container's memory limit in `bytes`; three quarters of it become RLIMIT_DATA")
	testbed := flag.String("testbed", "/testbed", "the `folder` of an executor's files")
	draft := flag.String("draft", "/draft", "the `folder` of an editor's files")
	flag.Parse()
	if err := harden(*memory); err != nil {
		end(err)
	}
	id, err := bootID()
	if err != nil {
		end(err)
	}
	out := newWriter(os.Stdout)
	out.sendJSON(0, frame.KindHello, frame.Hello{Protocol: frame.Protocol, BootID: id})
	requests := newQueue()
	go requests.fill(os.Stdin)
	k := &kernel{testbed: *testbed, draft: *draft}
	for {
		r := requests.next()
		kind, body := k.answer(r.kind, r.body)
		out.send(r.id, kind, body)
	}
}

// end ends the process for good: with code 0 where the host has closed stdin.
func end(err error) {
	if err == io.EOF {
		os.Exit(0)
	}
	fmt.Fprintln(os.Stderr, "kernel:", err)
	os.Exit(exitBroken)
}
