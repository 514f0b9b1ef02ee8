package containers

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/strslice"
	"github.com/docker/docker/pkg/stdcopy"
	"github.com/go-json-experiment/json"

	"signalbox/rule"
)

// setupCalls is what the editor's conformance suite needs beside the editor's
// own calls: to lay traps (links, pipes, devices, mounts), to run itself as a
// child that is killed or has fewer calls, and to print.
var setupCalls = []string{
	"clone", "dup3", "getcwd", "geteuid", "getppid", "getuid", "kill", "linkat", "lseek", "mknodat", "mount", "pidfd_open",
	"pidfd_send_signal", "pipe2", "seccomp", "symlinkat", "truncate", "umask", "umount2", "uname", "waitid", "wait4",
}

// TestEditorConformsInAContainer runs the editor's whole conformance suite, all
// 107 rows, in a container from scratch that is the editor role's: its draft on
// the same tmpfs, no network, a read-only root, no other mount, the same memory.
// What the role forbids and the suite's traps need is given back and no more:
// root with the capabilities to mount and to make devices, the calls of
// setupCalls, no bound on a file's size (a sparse file of 1 TiB is a trap).
// TestConformanceRows in editor does what needs no trap through the role itself.
func TestEditorConformsInAContainer(t *testing.T) {
	needDocker(t)
	e := openEngine(t, buildTest(t, "../editor"))
	env, err := e.Starlark(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	d := e.daemon.(*docker)
	t.Cleanup(func() { removeImages(d, env.Kernel) })
	plan, err := planFor(env, string(env.ImageID), rule.RoleEditor, e.labels)
	if err != nil {
		t.Fatal(err)
	}
	plan.User = "0:0"
	plan.Env = append(plan.Env, "TMPDIR=/draft")
	plan.Tmpfs["/draft"] = strings.ReplaceAll(plan.Tmpfs["/draft"], "uid=65532,gid=65532", "uid=0,gid=0")
	plan.Ulimits = slices.DeleteFunc(plan.Ulimits, func(u Ulimit) bool { return u.Name == "fsize" })
	config, host, err := render(plan)
	if err != nil {
		t.Fatal(err)
	}
	config.Cmd = strslice.StrSlice{"-test.run=^TestConformance$", "-test.v", "-test.count=1"}
	host.CapAdd = []string{"SYS_ADMIN", "MKNOD"}
	host.SecurityOpt = []string{"no-new-privileges", "apparmor=unconfined", "seccomp=" + widened(t, rule.RoleEditor)}
	output := runContainer(t, d, config, host)
	passed := regexp.MustCompile(`(?m)^    --- PASS: TestConformance/[A-Z]\d+ `).FindAllString(output, -1)
	if len(passed) != 107 || !strings.Contains(output, "\n--- PASS: TestConformance ") || strings.Contains(output, "--- SKIP") {
		t.Fatalf("%d of 107 rows pass in the container:\n%s", len(passed), output)
	}
}

// widened returns the list of a role's unconditionally allowed calls, and
// setupCalls, as a profile.
func widened(t *testing.T, role rule.Role) string {
	t.Helper()
	text, err := profile(role)
	if err != nil {
		t.Fatal(err)
	}
	type group struct {
		Names  []string `json:"names"`
		Action string   `json:"action"`
	}
	var was struct {
		DefaultAction string   `json:"defaultAction"`
		Architectures []string `json:"architectures"`
		Syscalls      []group  `json:"syscalls"`
	}
	if err := json.Unmarshal([]byte(text), &was); err != nil {
		t.Fatal(err)
	}
	allowed := was.Syscalls[0]
	allowed.Names = append(allowed.Names, setupCalls...)
	was.Syscalls = []group{allowed}
	wide, err := rule.Canonical(was)
	if err != nil {
		t.Fatal(err)
	}
	return string(wide)
}

// buildTest compiles a package's test binary, static.
func buildTest(t *testing.T, folder string) []byte {
	t.Helper()
	to := filepath.Join(t.TempDir(), "test")
	command := exec.Command("go", "test", "-c", "-trimpath", "-ldflags=-s -w", "-o", to, folder)
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("building the tests of %s: %v\n%s", folder, err, out)
	}
	program, err := os.ReadFile(to)
	if err != nil {
		t.Fatal(err)
	}
	return program
}

// runContainer returns what a container of its own prints until it ends.
func runContainer(t *testing.T, d *docker, config *container.Config, host *container.HostConfig) string {
	t.Helper()
	created, err := d.api.ContainerCreate(t.Context(), config, host, nil, nil, "signalbox-"+randomName())
	if err != nil {
		t.Fatal(err)
	}
	defer d.Remove(t.Context(), created.ID)
	stream, err := d.Attach(t.Context(), created.ID)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	if err := d.Start(t.Context(), created.ID); err != nil {
		t.Fatal(err)
	}
	if err := stream.SetReadDeadline(time.Now().Add(2 * time.Minute)); err != nil {
		t.Fatal(err)
	}
	var output bytes.Buffer
	if _, err := stdcopy.StdCopy(&output, &output, stream); err != nil && err != io.EOF {
		t.Fatalf("reading what the container prints: %v\n%s", err, output.String())
	}
	return output.String()
}
