// Command crash attacks the registry with faults that are real, and counts what
// survived. It is the harness of make crash, not a part of signalbox.
//
// Each lifecycle operation runs in a process of its own, which writes ACK to its
// standard output after the operation has returned. strace kills that process
// before each of its system calls, or makes one of them fail; on a loop-mounted
// ext4 the file system is shut down without flushing its journal right after the
// kill, which is a power cut; and what the operation wrote is recorded and every
// state that a crash could leave is put together and opened. Afterwards the home
// must hold the old state or the new one, whole, and the new one where there was
// an ACK; the next commit must work, leave no temporary file behind, and fsck
// must find nothing.
//
// A naive writer, which writes registry.json in place, takes part in the same
// sweeps and must fail them: that shows that they bite. What needs root is left
// out where there is none, with a word. Nothing here is about programs in
// containers.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"runtime"
)

// full is the least that the long form has to do.
const (
	fullKills = 1000
	fullCuts  = 200
)

// budget says how much of each attack to make; 0 leaves it out.
type budget struct{ kills, cuts, faults, states, commits int }

func init() {
	// The writer's calls are counted by thread.
	runtime.LockOSThread()
}

func main() {
	if len(os.Args) == 4 && os.Args[1] == "writer" {
		os.Exit(writer(os.Args[2], os.Args[3]))
	}
	var b budget
	whole := flag.Bool("full", false, "make every kill and every crash state, and at least 200 power cuts")
	flag.IntVar(&b.kills, "kills", 150, "kill points")
	flag.IntVar(&b.cuts, "cuts", 30, "power cuts")
	flag.IntVar(&b.faults, "faults", 100, "failing system calls")
	flag.IntVar(&b.states, "states", 300, "crash states")
	flag.IntVar(&b.commits, "commits", 500, "commits by two processes at once, with readers")
	flag.Parse()
	if *whole {
		b = budget{kills: all, cuts: 2 * fullCuts, faults: all, states: all, commits: 10_000}
	}
	tally, err := attack(context.Background(), b)
	if err != nil {
		fmt.Fprintf(os.Stderr, "crash: %v\n", err)
		os.Exit(1)
	}
	for _, finding := range tally.findings {
		fmt.Println(finding)
	}
	fmt.Printf("crash: faults=%d refused=%d states=%d commits=%d reads=%d\n", tally.faults, tally.refused, tally.states, tally.commits, tally.reads)
	fmt.Println(tally)
	if !tally.passed(*whole) {
		os.Exit(1)
	}
}

// all is more than there is of anything.
const all = 1 << 30
