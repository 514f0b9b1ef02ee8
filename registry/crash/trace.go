package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// call is one system call of a writer: the N-th of its name in its thread.
type call struct {
	name string
	n    int
}

func (c call) String() string { return fmt.Sprintf("%s %d", c.name, c.n) }

// changing are the calls that may change what is on disk; looking are others that
// a writer makes, at which it is killed too.
var (
	changing = []string{
		"open", "openat", "write", "pwrite64", "fsync", "fdatasync", "rename", "renameat", "renameat2", "unlink", "unlinkat",
		"mkdir", "mkdirat", "ftruncate", "fallocate", "fchmod", "fchmodat", "rmdir",
	}
	looking = []string{"close", "read", "pread64", "fstat", "newfstatat", "lseek", "flock", "fcntl", "getdents64", "statfs", "mmap", "munmap"}
)

func (c call) changes() bool { return slices.Contains(changing, c.name) }

// patience is how long a writer may take at most.
const patience = time.Minute

// tracer runs writers under strace.
type tracer struct{ strace, self string }

func newTracer() (tracer, error) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		return tracer{}, fmt.Errorf("strace is missing: please install it")
	}
	self, err := os.Executable()
	return tracer{strace, self}, err
}

// run has strace run the writer and says how it ended.
func (t tracer) run(ctx context.Context, name, stage string, options ...string) (acked, killed bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	arguments := append(slices.Concat([]string{"-f", "-qq"}, options), t.self, "writer", name, stage)
	command := exec.CommandContext(ctx, t.strace, arguments...)
	command.Env = []string{"GOMAXPROCS=1", "GODEBUG=asyncpreemptoff=1", "TMPDIR=" + stage}
	var stderr bytes.Buffer
	command.Stderr = &stderr
	out, err := command.Output()
	acked = strings.HasSuffix(string(out), acknowledged)
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		status, _ := exit.Sys().(syscall.WaitStatus)
		killed = status.Signaled() && status.Signal() == syscall.SIGKILL
		if !killed {
			err = fmt.Errorf("%s", strings.TrimSpace(stderr.String()))
		}
	}
	return acked, killed, err
}

// plain runs the writer without strace.
func (t tracer) plain(ctx context.Context, name, stage string) (acked bool, err error) {
	command := exec.CommandContext(ctx, t.self, "writer", name, stage)
	var stderr bytes.Buffer
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, strings.TrimSpace(stderr.String()))
	}
	return strings.HasSuffix(string(out), acknowledged), err
}

// calls runs the writer to its end and returns what it called after BEGIN.
func (t tracer) calls(ctx context.Context, name, stage string) ([]call, error) {
	log := filepath.Join(stage, "strace.log")
	traced := strings.Join(slices.Concat(changing, looking), ",")
	acked, _, err := t.run(ctx, name, stage, "-o", log, "-e", "trace="+traced, "-e", "signal=none")
	if err != nil || !acked {
		return nil, fmt.Errorf("a writer that nobody disturbs (%s): acknowledged %v, %w", name, acked, err)
	}
	data, err := os.ReadFile(log)
	if err != nil {
		return nil, err
	}
	return parseCalls(string(data))
}

// parseCalls reads a log of strace -f: the calls of the thread that wrote BEGIN,
// counted by name from the thread's start, those after BEGIN returned.
func parseCalls(log string) ([]call, error) {
	thread, _, found := strings.Cut(lineWith(log, `"BEGIN\n"`), " ")
	if !found {
		return nil, fmt.Errorf("strace's log has no write of BEGIN")
	}
	var after []call
	counts := map[string]int{}
	begun := false
	for line := range strings.Lines(log) {
		who, what, _ := strings.Cut(line, " ")
		name, _, isCall := strings.Cut(strings.TrimSpace(what), "(")
		if who != thread || !isCall || strings.HasPrefix(name, "<") {
			continue
		}
		counts[name]++
		if begun {
			after = append(after, call{name, counts[name]})
		}
		begun = begun || strings.Contains(line, `"BEGIN\n"`)
	}
	return after, nil
}

func lineWith(text, part string) string {
	for line := range strings.Lines(text) {
		if strings.Contains(line, part) {
			return line
		}
	}
	return ""
}

// kill kills the writer before the call.
func (t tracer) kill(ctx context.Context, name, stage string, at call) (acked, killed bool, err error) {
	acked, killed, err = t.run(ctx, name, stage, "-o", "/dev/null", "-e", "trace="+at.name, "-e", "signal=none",
		"-e", fmt.Sprintf("inject=%s:signal=KILL:when=%d", at.name, at.n))
	if killed {
		err = nil
	}
	return acked, killed, err
}

// fail makes the call fail, or lie, as fault says ("error=EIO", "retval=1").
func (t tracer) fail(ctx context.Context, name, stage string, at call, fault string) (acked bool, err error) {
	acked, _, err = t.run(ctx, name, stage, "-o", "/dev/null", "-e", "trace="+at.name, "-e", "signal=none",
		"-e", fmt.Sprintf("inject=%s:%s:when=%d", at.name, fault, at.n))
	return acked, err
}
