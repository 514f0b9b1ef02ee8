package editor

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

var noTime = time.Unix(1, 0)

var syscallNumbers = map[string]uint32{"openat2": unix.SYS_OPENAT2, "statx": unix.SYS_STATX}

// denySyscalls makes the named system calls of this process fail from now on,
// as a container's seccomp profile would: "openat2=38,statx=1".
func denySyscalls(list string) error {
	const allow, fail = 0x7fff0000, 0x00050000 // SECCOMP_RET_ALLOW, SECCOMP_RET_ERRNO
	program := []unix.SockFilter{{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0}}
	for _, item := range strings.Split(list, ",") {
		name, errno, _ := strings.Cut(item, "=")
		var number uint32
		if _, err := fmt.Sscan(errno, &number); err != nil {
			return err
		}
		program = append(program,
			unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: syscallNumbers[name], Jf: 1},
			unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: fail | number})
	}
	program = append(program, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: allow})
	filter := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	const setFilter, allThreads = 1, 1 // SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC
	if _, _, errno := unix.Syscall(unix.SYS_SECCOMP, setFilter, allThreads, uintptr(unsafe.Pointer(&filter))); errno != 0 {
		return errno
	}
	return nil
}

// withoutOpenat2 runs the cases of links, pipes, limits and races again in a
// process in which openat2 fails as it does on old kernels and in old
// containers, and asserts that an editor is refused where mounts can't be told
// apart either.
func withoutOpenat2(t *testing.T) {
	if os.Getenv(seccompEnv) != "" {
		t.Skip("this is that process")
	}
	all := []string{"H5", "H6", "H7", "H8", "H9", "H10", "H11", "H12", "H13", "H14", "H16", "C5", "C7", "C11", "R1", "R28", "U2", "U7", "V17", "V22"}
	for errno, cases := range map[syscall.Errno][]string{unix.ENOSYS: all, unix.EPERM: {"H5", "H6", "H16", "R1"}} {
		got := runChild(t, fmt.Sprintf("openat2=%d", errno), "^TestConformance$/^("+strings.Join(cases, "|")+")$")
		if n := strings.Count(got, "--- PASS: TestConformance/"); n != len(cases) || strings.Contains(got, "--- SKIP") && os.Getuid() == 0 {
			t.Fatalf("%d of %d cases passed without openat2:\n%s", n, len(cases), got)
		}
		got = runChild(t, fmt.Sprintf("openat2=%d,statx=%d", errno, errno), "^TestFailsClosed$")
		if !strings.Contains(got, "--- PASS: TestFailsClosed") {
			t.Fatalf("without openat2 and statx:\n%s", got)
		}
	}
}

func runChild(t *testing.T, denied, run string) string {
	t.Helper()
	child := exec.Command(os.Args[0], "-test.run="+run, "-test.v", "-test.count=1")
	child.Env = append(os.Environ(), seccompEnv+"="+denied)
	output, err := child.CombinedOutput()
	if err != nil {
		t.Fatalf("without %s: %v\n%s", denied, err, output)
	}
	return string(output)
}

// TestFailsClosed is run by case H22 in a process that has neither openat2 nor
// statx.
func TestFailsClosed(t *testing.T) {
	e, err := Open(t.TempDir(), Options{})
	if os.Getenv(seccompEnv) == "" {
		must(t, err)
		must(t, e.Close())
		return
	}
	if err == nil || !strings.Contains(err.Error(), "openat2") {
		t.Fatalf("got %v, want a refusal", err)
	}
}
