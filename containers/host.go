package containers

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
)

var workspacePattern = regexp.MustCompile(`^[A-Za-z0-9:._-]{1,128}$`)

// bootID names this boot of this host. A kernel program that runs elsewhere
// reads another.
func bootID() (string, error) {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(text)), err
}

// process names one process of this boot: a PID alone is used again.
type process struct {
	pid       int
	start     uint64 // in clock ticks since boot
	namespace string // of its PID, since the number means nothing in another
}

func thisProcess() (process, error) {
	namespace, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return process{}, err
	}
	start, err := startTime(os.Getpid())
	return process{pid: os.Getpid(), start: start, namespace: namespace}, err
}

func (p process) String() string { return fmt.Sprintf("%d %d %s", p.pid, p.start, p.namespace) }

// parseProcess reads what String wrote.
func parseProcess(text string) (process, error) {
	fields := strings.Fields(text)
	if len(fields) != 3 {
		return process{}, fmt.Errorf("process %q: want pid, start time and namespace", text)
	}
	pid, err := strconv.Atoi(fields[0])
	if err != nil || pid <= 0 {
		return process{}, fmt.Errorf("process %q: no pid", text)
	}
	start, err := strconv.ParseUint(fields[1], 10, 64)
	if err != nil {
		return process{}, fmt.Errorf("process %q: no start time", text)
	}
	return process{pid: pid, start: start, namespace: fields[2]}, nil
}

// dead says whether the process is known to be gone. One of another PID
// namespace can't be seen from here, so it counts as alive.
func (p process) dead() bool {
	namespace, err := os.Readlink("/proc/self/ns/pid")
	if err != nil || namespace != p.namespace {
		return false
	}
	start, err := startTime(p.pid)
	if os.IsNotExist(err) {
		return true
	}
	return err == nil && start != p.start
}

// startTime returns when a process started. Its name may hold any character,
// so fields are counted from the last parenthesis.
func startTime(pid int) (uint64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	_, after, ok := cutLast(string(text), ")")
	fields := strings.Fields(after)
	const startField = 19 // field 22 of proc(5), the third being the first here
	if !ok || len(fields) <= startField {
		return 0, fmt.Errorf("/proc/%d/stat has another form", pid)
	}
	return strconv.ParseUint(fields[startField], 10, 64)
}

func cutLast(text, separator string) (before, after string, found bool) {
	at := strings.LastIndex(text, separator)
	if at < 0 {
		return text, "", false
	}
	return text[:at], text[at+len(separator):], true
}
