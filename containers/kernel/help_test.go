package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"signalbox/rule"
	"signalbox/rule/frame"
)

// asKernel makes the test binary be the kernel program, so that the tests speak
// with a process of its own over pipes, as the host does.
const asKernel = "KERNEL_TEST_AS"

func TestMain(m *testing.M) {
	switch os.Getenv(asKernel) {
	case "kernel":
		main()
	case "hardened":
		printHardened()
		return
	}
	code := m.Run()
	_ = os.RemoveAll(shipped.folder)
	os.Exit(code)
}

// printHardened shows what harden leaves behind.
func printHardened() {
	if err := harden(1 << 40); err != nil {
		end(err)
	}
	dumpable, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0)
	if err != nil {
		end(err)
	}
	var data unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_DATA, &data); err != nil {
		end(err)
	}
	fmt.Printf("dumpable %d data %d/%d", dumpable, data.Cur, data.Max)
}

// child is a kernel process and the host's ends of its streams.
type child struct {
	t       testing.TB
	cmd     *exec.Cmd
	stdin   io.WriteCloser
	out     *frame.Reader
	stderr  bytes.Buffer
	testbed string
	draft   string
	last    uint64
	hello   frame.Hello
}

// start runs a kernel, which ends with the test at the latest.
func start(t testing.TB, program string, arguments ...string) *child {
	t.Helper()
	c := &child{t: t, testbed: t.TempDir(), draft: t.TempDir()}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	arguments = append(arguments, "-testbed", c.testbed, "-draft", c.draft)
	c.cmd = exec.CommandContext(ctx, program, arguments...)
	c.cmd.Env = []string{asKernel + "=kernel"}
	c.cmd.Stderr = &c.stderr
	var err error
	if c.stdin, err = c.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	stdout, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cancel(); _ = c.cmd.Wait() })
	c.out = frame.NewReader(stdout, 32<<20)
	header, body := c.read()
	if header.Kind != frame.KindHello || header.ID != 0 {
		t.Fatalf("the first frame is %+v", header)
	}
	if err := rule.Decode(body, &c.hello); err != nil {
		t.Fatal(err)
	}
	return c
}

func startSelf(t testing.TB) *child {
	t.Helper()
	return start(t, os.Args[0])
}

// loaded starts a kernel with a rule's source.
func loaded(t testing.TB, role rule.Role, source map[string]string) *child {
	t.Helper()
	c := startSelf(t)
	c.load(role, source)
	return c
}

func (c *child) load(role rule.Role, source map[string]string) {
	c.t.Helper()
	if kind, body := c.askJSON(frame.KindLoad, frame.Load{Role: role, Steps: 1_000_000, Source: source}); kind != frame.KindReady || len(body) > 0 {
		c.t.Fatalf("load is answered by %s %s", kind, body)
	}
}

func (c *child) read() (frame.Header, []byte) {
	c.t.Helper()
	header, body, err := c.out.Read()
	if err != nil {
		_ = c.cmd.Process.Kill()
		_ = c.cmd.Wait() // stderr is complete from here on
		c.t.Fatalf("reading an answer: %v; stderr %q", err, c.stderr.String())
	}
	return header, body
}

func (c *child) send(kind frame.Kind, body []byte) uint64 {
	c.t.Helper()
	c.last++
	if err := frame.Write(c.stdin, c.last, kind, body); err != nil {
		c.t.Fatal(err)
	}
	return c.last
}

// ask sends a frame and returns its answer.
func (c *child) ask(kind frame.Kind, body []byte) (frame.Kind, []byte) {
	c.t.Helper()
	id := c.send(kind, body)
	header, answer := c.read()
	if header.ID != id {
		c.t.Fatalf("request %d is answered with id %d", id, header.ID)
	}
	return header.Kind, answer
}

func (c *child) askJSON(kind frame.Kind, body any) (frame.Kind, []byte) {
	c.t.Helper()
	data, err := rule.Canonical(body)
	if err != nil {
		c.t.Fatal(err)
	}
	return c.ask(kind, data)
}

// fails asks and wants a failure frame.
func (c *child) fails(kind frame.Kind, body []byte) frame.Failed {
	c.t.Helper()
	got, answer := c.ask(kind, body)
	var failed frame.Failed
	if err := rule.Decode(answer, &failed); got != frame.KindFailure || err != nil {
		c.t.Fatalf("%s frame with %.100q is answered by %s %.200s, %v", kind, body, got, answer, err)
	}
	return failed
}

// ended waits for the process and returns its exit code.
func (c *child) ended() int {
	c.t.Helper()
	if _, _, err := c.out.Read(); err == nil {
		c.t.Error("there is one more answer")
	}
	_ = c.cmd.Wait()
	return c.cmd.ProcessState.ExitCode()
}

func task(instruction string) []byte {
	data, err := rule.Canonical(rule.Document{Instruction: instruction})
	if err != nil {
		panic(err)
	}
	return data
}

// trigger is a rule's source whose trigger has the given body.
func trigger(body string) map[string]string {
	return map[string]string{rule.TriggerFile: "def trigger(task):\n  " + body + "\n"}
}

func executor(body string) map[string]string {
	return map[string]string{rule.ExecutorFile: "def execute(task, args):\n  " + body + "\n"}
}
