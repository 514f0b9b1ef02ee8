package containers

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/docker/docker/api/types/image"

	"signalbox/rule"
)

// needDocker skips without a daemon, and fails under CI.
func needDocker(t testing.TB) {
	t.Helper()
	d, err := openDocker(t.Context())
	if err == nil {
		d.Close()
		return
	}
	if os.Getenv("CI") == "true" {
		t.Fatalf("no Docker under CI: %v", err)
	}
	t.Skipf("no Docker: %v", err)
}

// TestMain takes away the images of the kernels that only these tests have.
func TestMain(m *testing.M) {
	code := m.Run()
	if d, err := openDocker(context.Background()); err == nil {
		for folder, program := range builds.done {
			if strings.HasPrefix(folder, "./testdata") {
				removeImages(d, rule.DigestOf(program))
			}
		}
		removeImages(d, rule.DigestOf([]byte(notAProgram)))
		d.Close()
	}
	os.Exit(code)
}

func removeImages(d *docker, kernel rule.Digest) {
	refs, _ := d.Images(context.Background(), labelKernel+"="+string(kernel))
	for _, ref := range refs {
		d.api.ImageRemove(context.Background(), ref, image.RemoveOptions{})
	}
}

// notAProgram is a kernel that no machine can run.
const notAProgram = "not a program"

// build compiles a static program of this module once a test run.
func build(t testing.TB, folder string) []byte {
	t.Helper()
	builds.Lock()
	defer builds.Unlock()
	if program, ok := builds.done[folder]; ok {
		return program
	}
	to := filepath.Join(t.TempDir(), "program")
	command := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w -buildid=", "-o", to, folder)
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("building %s: %v\n%s", folder, err, out)
	}
	program, err := os.ReadFile(to)
	if err != nil {
		t.Fatal(err)
	}
	builds.done[folder] = program
	return program
}

var builds = struct {
	sync.Mutex
	done map[string][]byte
}{done: map[string][]byte{}}

// fakeEngine opens an engine whose kernel is testdata/fake, in a workspace of
// its own, and asserts at the end that it left no container.
func fakeEngine(t testing.TB) *Engine { return openEngine(t, build(t, "./testdata/fake")) }

func openEngine(t testing.TB, kernel []byte) *Engine {
	t.Helper()
	needDocker(t)
	workspace := "test-" + randomName()
	e, err := Open(t.Context(), Options{Workspace: workspace, Kernel: kernel})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Errorf("closing: %v", err)
		}
		if left := containersOf(t, workspace); len(left) > 0 {
			t.Errorf("%d containers are left", len(left))
		}
	})
	return e
}

func containersOf(t testing.TB, workspace string) []listedContainer {
	t.Helper()
	d, err := openDocker(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	left, err := d.List(context.Background(), labelWorkspace+"="+workspace)
	if err != nil {
		t.Fatal(err)
	}
	return left
}

// programIn returns a rule program in the engine's environment, made of
// trigger text; limits may be changed first.
func programIn(t testing.TB, e *Engine, trigger string) rule.Program {
	t.Helper()
	env, err := e.Starlark(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	source, manifest, err := rule.ParseSource(rule.TreeOf(map[string]string{
		rule.ManifestFile: `{"schema":1,"name":"test","family":"test","summary":"","environment":"starlark",
			"guard":{"pattern":"\\A(?:.*)\\z"},"args_schema":{"type":"object"},"result_schema":{}}`,
		rule.TriggerFile: trigger, rule.ExecutorFile: "# execute",
	}))
	if err != nil {
		t.Fatal(err)
	}
	return rule.Program{
		Member:   rule.Member{Rule: "test", Revision: source.Digest(), Environment: env.Digest()},
		Manifest: manifest, Source: source, Environment: env,
	}
}

func tasksOf(instructions ...string) []rule.Document {
	var tasks []rule.Document
	for _, text := range instructions {
		tasks = append(tasks, rule.Document{Instruction: text})
	}
	return tasks
}

func say(reply rule.TriggerReply) string {
	if reply.Failure != "" {
		return string(reply.Failure)
	}
	return string(reply.Verdict)
}

// golden compares text with a file of testdata; UPDATE=1 writes it.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if os.Getenv("UPDATE") == "1" {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs (UPDATE=1 writes it):\n%s", name, diffLines(string(want), string(got)))
	}
}

func diffLines(want, got string) string {
	var out strings.Builder
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range max(len(w), len(g)) {
		var a, b string
		if i < len(w) {
			a = w[i]
		}
		if i < len(g) {
			b = g[i]
		}
		if a != b {
			fmt.Fprintf(&out, "-%s\n+%s\n", a, b)
		}
	}
	return out.String()
}
