package main

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	// gcPercent keeps a resident small: half of the heap is garbage at most.
	gcPercent = 50
	// maxStack bounds Go's own recursion, in bytes, so that a deeply nested
	// value ends a call's process with a reason.
	maxStack = 64 << 20
)

// harden sets up the process: nobody may look into it, its data has a bound
// below the container's, and signals don't end it.
func harden(memory int64) error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("forbidding dumps: %w", err)
	}
	if memory > 0 {
		limit := unix.Rlimit{Cur: uint64(memory / 4 * 3), Max: uint64(memory / 4 * 3)}
		if err := unix.Setrlimit(unix.RLIMIT_DATA, &limit); err != nil {
			return fmt.Errorf("limiting data to %d bytes: %w", limit.Cur, err)
		}
	}
	debug.SetGCPercent(gcPercent)
	debug.SetMaxStack(maxStack)
	go drain()
	return nil
}

// drain takes the signals that would end a Go program, which a PID 1 without
// handlers never gets. stdin is how the host ends this one.
func drain() {
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGTERM, unix.SIGUSR1, unix.SIGUSR2, unix.SIGALRM)
	for range caught {
	}
}

// bootID names the boot of the kernel that this process runs under.
func bootID() (string, error) {
	fd, err := unix.Open("/proc/sys/kernel/random/boot_id", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", fmt.Errorf("reading boot ID: %w", err)
	}
	defer unix.Close(fd)
	var buffer [64]byte
	n, err := unix.Read(fd, buffer[:])
	if err != nil || n == 0 {
		return "", fmt.Errorf("reading boot ID: %d bytes, %w", n, orUnexpected(err))
	}
	return strings.TrimSpace(string(buffer[:n])), nil
}

func orUnexpected(err error) error {
	if err == nil {
		return io.ErrUnexpectedEOF
	}
	return err
}
