package containers

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"signalbox/rule"
)

func TestOpenRefusesEnginesElsewhere(t *testing.T) {
	for _, host := range []string{"tcp://127.0.0.1:2375", "ssh://user@host", "npipe:////./pipe/docker", "unix:///nonexistent/docker.sock"} {
		t.Setenv("DOCKER_HOST", host)
		if e, err := Open(t.Context(), Options{Workspace: "w"}); !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), fmt.Sprintf("%q", host)) {
			t.Errorf("%s: %v, %v; want ErrUnavailable that quotes it", host, e, err)
		}
	}
}

// engineThatSays is an engine with facts and nothing else.
type engineThatSays struct {
	daemon
	facts engineFacts
}

func (e engineThatSays) Facts(context.Context) (engineFacts, error) { return e.facts, nil }
func (e engineThatSays) Watch(ctx context.Context, standing func(), _ func(string)) error {
	standing()
	<-ctx.Done()
	return ctx.Err()
}
func (e engineThatSays) List(context.Context, ...string) ([]listedContainer, error) { return nil, nil }
func (e engineThatSays) Close() error                                               { return nil }

var capable = engineFacts{
	Docker: "20.10", API: "1.41", Runtime: "runc 1.1.5", Cgroup: "v1 cgroupfs",
	Seccomp: true, MemoryLimit: true, SwapLimit: true, PidsLimit: true, CPU: true,
}

func TestOpenNamesWhatIsMissing(t *testing.T) {
	for missing, take := range map[string]func(*engineFacts){
		"":               func(*engineFacts) {},
		"API 1.41":       func(f *engineFacts) { f.API = "1.40" },
		"API":            func(f *engineFacts) { f.API = "new" },
		"runtime":        func(f *engineFacts) { f.Runtime = "" },
		"seccomp":        func(f *engineFacts) { f.Seccomp = false },
		"memory limits":  func(f *engineFacts) { f.MemoryLimit = false },
		"swap limits":    func(f *engineFacts) { f.SwapLimit = false },
		"process limits": func(f *engineFacts) { f.PidsLimit = false },
		"CPU limits":     func(f *engineFacts) { f.CPU = false },
		"remapping":      func(f *engineFacts) { f.UserNamespaces = true },
	} {
		facts := capable
		take(&facts)
		e, err := openWith(t.Context(), engineThatSays{facts: facts}, Options{Workspace: "w", Kernel: []byte("k")})
		if missing == "" {
			if err != nil {
				t.Fatalf("control: %v", err)
			}
			if err := e.Close(); err != nil {
				t.Error(err)
			}
			continue
		}
		if !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), missing) {
			t.Errorf("without %s: %v", missing, err)
		}
	}
	for _, workspace := range []string{"", "a b", "a,b", strings.Repeat("w", 129)} {
		if _, err := openWith(t.Context(), engineThatSays{facts: capable}, Options{Workspace: workspace}); err == nil {
			t.Errorf("workspace %q was taken", workspace)
		}
	}
}

// TestStarlarkIsReused: the second engine finds the first one's image.
func TestStarlarkIsReused(t *testing.T) {
	kernel := build(t, "./testdata/fake")
	one, two := openEngine(t, kernel), openEngine(t, kernel)
	first, err := one.Starlark(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	refs, err := one.daemon.Images(t.Context(), labelKernel+"="+string(first.Kernel))
	if err != nil || len(refs) != 1 {
		t.Fatalf("images of the kernel: %q, %v", refs, err)
	}
	two.daemon = noLoad{two.daemon}
	second, err := two.Starlark(t.Context())
	if err != nil || first.Digest() != second.Digest() {
		t.Errorf("environments %s and %s, %v", first.Digest(), second.Digest(), err)
	}
	if first.Engine.Docker == "" || first.Engine.Runtime == "" || first.Engine.LinuxKernel == "" || first.Engine.Cgroup == "" {
		t.Errorf("engine is not described: %+v", first.Engine)
	}
	if err := two.Check(t.Context(), first); err != nil {
		t.Error(err)
	}
}

// noLoad fails where an image would be loaded.
type noLoad struct{ daemon }

func (noLoad) Load(context.Context, io.Reader) error {
	return errors.New("loaded again")
}

// TestCheckNamesBothValues changes each part that a proof binds.
func TestCheckNamesBothValues(t *testing.T) {
	e := fakeEngine(t)
	env, err := e.Starlark(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Check(t.Context(), env); err != nil {
		t.Fatalf("control: %v", err)
	}
	other := rule.DigestOf([]byte("other"))
	for what, change := range map[string]func(*rule.Environment){
		string(other):         func(x *rule.Environment) { x.ImageID = other },
		"kernel program":      func(x *rule.Environment) { x.Kernel = other },
		"was 1, is 268435456": func(x *rule.Environment) { x.Limits.Memory = 1 },
		"was 1ns, is 2s":      func(x *rule.Environment) { x.Limits.CallDeadline = 1 },
		"was 19.03, is":       func(x *rule.Environment) { x.Engine.Docker = "19.03" },
		"was crun, is runc":   func(x *rule.Environment) { x.Engine.Runtime = "crun" },
		"was 2.6, is":         func(x *rule.Environment) { x.Engine.LinuxKernel = "2.6" },
		"seccomp profile of ex": func(x *rule.Environment) {
			x.Seccomp = map[rule.Role]rule.Digest{rule.RoleTrigger: x.Seccomp[rule.RoleTrigger]}
		},
	} {
		changed := env
		change(&changed)
		if err := e.Check(t.Context(), changed); !errors.Is(err, ErrEnvironmentChanged) || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
	stranger := env
	stranger.Runtime = "process"
	if err := e.Check(t.Context(), stranger); !errors.Is(err, ErrUnavailable) {
		t.Errorf("unknown runtime: %v", err)
	}
	residents := e.Residents(1)
	defer residents.Close()
	program := programIn(t, e, "#")
	program.Environment.Engine.Docker = "19.03"
	if reply := residents.Trigger(t.Context(), program, rule.Document{}); reply.Failure != rule.FailureEnvironment {
		t.Errorf("trigger in a changed environment: %+v", reply)
	}
	if reply := residents.Execute(t.Context(), program, rule.Document{}, "{}", nil); reply.Failure != rule.FailureEnvironment {
		t.Errorf("executor in a changed environment: %+v", reply)
	}
}

// TestEngineChangeEmptiesResidents: after the engine reported a change each
// resident starts afresh, and is checked again.
func TestEngineChangeEmptiesResidents(t *testing.T) {
	e := fakeEngine(t)
	residents := e.Residents(1)
	defer residents.Close()
	program := programIn(t, e, "#")
	first := started(t, residents, program)
	e.forget()
	if started(t, residents, program) == first {
		t.Error("a resident outlived a change of the engine")
	}
}

func TestWithoutKernel(t *testing.T) {
	e, err := openWith(t.Context(), engineThatSays{facts: capable}, Options{Workspace: "w", Kernel: []byte{}})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if _, err := e.Starlark(t.Context()); !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "make build") {
		t.Errorf("err = %v, want one that says what to do", err)
	}
}

// TestCloseLeavesNothing: containers at work go too, and later starts are
// refused.
func TestCloseLeavesNothing(t *testing.T) {
	needDocker(t)
	workspace := "test-" + randomName()
	e, err := Open(t.Context(), Options{Workspace: workspace, Kernel: build(t, "./testdata/fake")})
	if err != nil {
		t.Fatal(err)
	}
	residents := e.Residents(2)
	program := programIn(t, e, "#")
	started(t, residents, program)
	done := make(chan rule.TriggerReply)
	go func() {
		done <- residents.Trigger(context.Background(), program, rule.Document{Instruction: "sleep 1500"})
	}()
	time.Sleep(100 * time.Millisecond)
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	if reply := <-done; reply.Failure == "" {
		t.Errorf("a call outlived its container: %+v", reply)
	}
	if left := containersOf(t, workspace); len(left) > 0 {
		t.Errorf("%d containers are left", len(left))
	}
	if reply := residents.Trigger(t.Context(), program, rule.Document{Instruction: "ok"}); reply.Failure != rule.FailureUnavailable {
		t.Errorf("after Close: %+v", reply)
	}
}

// TestReapOnlyOurs kills a process that holds a container, and reaps that one:
// not another workspace's, not a living owner's.
func TestReapOnlyOurs(t *testing.T) {
	if os.Getenv("SIGNALBOX_TEST_HOLD") != "" {
		holdContainer(t)
		return
	}
	e := fakeEngine(t)
	workspace := e.labels[labelWorkspace]
	residents := e.Residents(1)
	defer residents.Close()
	program := programIn(t, e, "#")
	mine := started(t, residents, program)
	foreign := openEngine(t, build(t, "./testdata/fake"))
	orphanIn(t, workspace)
	orphanIn(t, foreign.labels[labelWorkspace])
	if n := len(containersOf(t, workspace)); n != 2 {
		t.Fatalf("%d containers, want a living one and an orphan", n)
	}
	if reaped, err := e.Reap(t.Context()); reaped != 1 || err != nil {
		t.Errorf("reaped %d, %v", reaped, err)
	}
	if again := started(t, residents, program); again != mine {
		t.Error("a living owner's container was reaped")
	}
	if n := len(containersOf(t, foreign.labels[labelWorkspace])); n != 1 {
		t.Errorf("another workspace has %d containers, want 1", n)
	}
	if reaped, err := foreign.Reap(t.Context()); reaped != 1 || err != nil {
		t.Errorf("the other reaped %d, %v", reaped, err)
	}
}

// orphanIn leaves a container of the workspace whose owner died by SIGKILL. The
// owner is stopped first, so that its connection, at whose end the program
// would go by itself, is noticed late: what matters is the container.
func orphanIn(t *testing.T, workspace string) {
	t.Helper()
	owner := exec.Command(os.Args[0], "-test.run", "^TestReapOnlyOurs$")
	owner.Env = append(os.Environ(), "SIGNALBOX_TEST_HOLD="+workspace)
	out, err := owner.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := owner.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || line != "holding\n" {
		t.Errorf("owner said %q, %v", line, err)
	}
	owner.Process.Kill()
	owner.Wait()
}

func holdContainer(t *testing.T) {
	e, err := Open(t.Context(), Options{Workspace: os.Getenv("SIGNALBOX_TEST_HOLD"), Kernel: build(t, "./testdata/fake")})
	if err != nil {
		t.Fatal(err)
	}
	started(t, e.Residents(1), programIn(t, e, "#"))
	fmt.Println("holding")
	select {}
}

func TestAbandoned(t *testing.T) {
	self, err := thisProcess()
	if err != nil {
		t.Fatal(err)
	}
	reused, gone, elsewhere := self, self, self
	reused.start++
	gone.pid = 1 << 30
	elsewhere.namespace, elsewhere.pid = "pid:[1]", 1<<30
	for _, c := range []struct {
		name        string
		boot, owner string
		want        bool
	}{
		{"alive", "now", self.String(), false},
		{"dead", "now", gone.String(), true},
		{"its PID in other hands", "now", reused.String(), true},
		{"of a namespace that can't be seen", "now", elsewhere.String(), false},
		{"of another boot", "before", self.String(), true},
		{"unreadable", "now", "1 x", false},
		{"without owner", "before", "", false},
		{"without boot", "", gone.String(), false},
	} {
		labels := map[string]string{labelBoot: c.boot, labelOwner: c.owner, labelRole: "trigger"}
		if got := abandoned(labels, "now"); got != c.want {
			t.Errorf("%s: abandoned = %v", c.name, got)
		}
	}
}

func TestProcessRoundTrip(t *testing.T) {
	self, err := thisProcess()
	if err != nil {
		t.Fatal(err)
	}
	back, err := parseProcess(self.String())
	if err != nil || back != self || self.start == 0 {
		t.Errorf("%v came back as %v, %v", self, back, err)
	}
}
