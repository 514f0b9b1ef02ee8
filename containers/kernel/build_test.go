package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"signalbox/rule"
	"signalbox/rule/frame"
)

// build makes the kernel as the Makefile does, out of the module in folder.
func build(folder, output string, more ...string) error {
	arguments := append([]string{"build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w -buildid=", "-o", output}, more...)
	cmd := exec.Command("go", append(arguments, "./containers/kernel")...)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOAMD64=v1")
	if out, err := cmd.CombinedOutput(); err != nil {
		return &buildError{string(out), err}
	}
	return nil
}

type buildError struct {
	output string
	err    error
}

func (e *buildError) Error() string { return e.err.Error() + ": " + e.output }

// shipped is the folder of the kernel as it is shipped, once a test wants it.
var shipped struct {
	once   sync.Once
	folder string
	err    error
}

// realKernel returns the path of the shipped kernel, which is built once.
func realKernel(t testing.TB) string {
	t.Helper()
	shipped.once.Do(func() {
		if shipped.folder, shipped.err = os.MkdirTemp("", "kernel"); shipped.err == nil {
			shipped.err = build("../..", filepath.Join(shipped.folder, "kernel"))
		}
	})
	if shipped.err != nil {
		t.Fatal(shipped.err)
	}
	return filepath.Join(shipped.folder, "kernel")
}

// TestReproducible builds from a copy of the source elsewhere, and under CI also
// without the build cache: the bytes must be the same.
func TestReproducible(t *testing.T) {
	want, err := os.ReadFile(realKernel(t))
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := t.TempDir()
	for _, part := range []string{"go.mod", "go.sum", "rule", "editor", "containers/kernel"} {
		if err := copyTo(filepath.Join(elsewhere, part), filepath.Join("../..", part)); err != nil {
			t.Fatal(err)
		}
	}
	more := []string{}
	if os.Getenv("CI") == "true" {
		more = []string{"-a"}
	}
	again := filepath.Join(elsewhere, "kernel")
	if err := build(elsewhere, again, more...); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(again)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("two builds differ: %s and %s", rule.DigestOf(got), rule.DigestOf(want))
	}
	if folder, err := filepath.Abs("../.."); err != nil || bytes.Contains(want, []byte(folder)) {
		t.Errorf("the kernel names the folder that it was built in: %v", err)
	}
}

func copyTo(to, from string) error {
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return os.CopyFS(to, os.DirFS(from))
	}
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o644)
}

// TestStatic refuses a kernel that would need a loader, which its image lacks.
func TestStatic(t *testing.T) {
	program, err := os.ReadFile(realKernel(t))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(program, []byte("\x7fELF")) || bytes.Contains(program, []byte("ld-linux")) {
		t.Error("the kernel is not a static ELF program")
	}
}

// TestImports holds the kernel to what its room may use.
func TestImports(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", "{{join .Imports \"\\n\"}}", "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	allowed := []string{"signalbox/rule", "signalbox/editor", "signalbox/containers/kernel/", "go.starlark.net/", "golang.org/x/sys/"}
	imports := strings.Fields(string(out))
	if len(imports) < 20 {
		t.Fatalf("go list names %d imports only", len(imports))
	}
	for _, name := range imports {
		domain, _, _ := strings.Cut(name, "/")
		ok := !strings.Contains(domain, ".") && domain != "signalbox"
		for _, prefix := range allowed {
			ok = ok || strings.HasPrefix(name, prefix)
		}
		if !ok {
			t.Errorf("the kernel imports %s", name)
		}
	}
}

func TestHardened(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = []string{asKernel + "=hardened"}
	out, err := cmd.Output()
	if want := "dumpable 0 data 824633720832/824633720832"; err != nil || string(out) != want {
		t.Errorf("got %q, %v, want %q", out, err, want)
	}
}

// TestMemory runs the shipped kernel out of its data limit, with a control that
// stays within it.
func TestMemory(t *testing.T) {
	source := executor("return result(output=len('x' * int(task.instruction)))")
	c := start(t, realKernel(t), "-memory", "268435456")
	c.load(rule.RoleExecutor, source)
	ask := func(n string) []byte {
		body, err := rule.Canonical(frame.Execute{Task: rule.Document{Instruction: n}, Args: "{}"})
		if err != nil {
			t.Fatal(err)
		}
		return body
	}
	if kind, body := c.ask(frame.KindExecute, ask("10000000")); kind != frame.KindReply || !bytes.Contains(body, []byte("10000000")) {
		t.Errorf("within the limit: %s %s", kind, body)
	}
	c.send(frame.KindExecute, ask("200000000"))
	// Go's runtime has several ways to die of this; all give code 2.
	if code := c.ended(); code != 2 || c.stderr.Len() == 0 {
		t.Errorf("exit code %d, stderr %.300q", code, c.stderr.String())
	}
}

// TestLargestTree shows that a tree at its limits fits a container of 256 MiB.
func TestLargestTree(t *testing.T) {
	c := start(t, realKernel(t), "-memory", "268435456")
	c.load(rule.RoleExecutor, executor("return result(output=len(testbed.glob('**')))"))
	files := frame.Tree{}
	for i := range rule.MaxTreeFiles {
		files["folder/"+strings.Repeat("n", 100)+string(rune('a'+i%26))+strings.Repeat("m", i/26)] = bytes.Repeat([]byte{byte(i)}, rule.MaxTreeBytes/rule.MaxTreeFiles)
	}
	if kind, body := c.tree(files); kind != frame.KindReady {
		t.Fatalf("tree: %s %.300s", kind, body)
	}
	if got := c.execute(true); got != `reply {"outcome":{"output":2000}}` {
		t.Errorf("got %.300s", got)
	}
}
