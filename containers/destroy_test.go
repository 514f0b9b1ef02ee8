package containers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"signalbox/rule"
)

// TestHalfDeadProgramIsRemoved ends the first thread of PID 1 alone: the
// engine's own kill and removal would then report success and leave process and
// cgroup folders.
func TestHalfDeadProgramIsRemoved(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("killing from the host needs root")
	}
	e := fakeEngine(t)
	c, _ := startOne(t, e, rule.RoleTrigger)
	if err := c.load(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	_, err := c.call(t.Context(), "trigger", []byte(`{"instruction":"half-die"}`))
	if failure, _ := failureOf(err); failure != rule.FailureTimeout {
		t.Errorf("half dead: %v", err)
	}
	status, err := readStatus(fmt.Sprintf("/proc/%d/status", c.pid))
	if err != nil || !strings.HasPrefix(status["State"], "Z") || status["Threads"] == "1" {
		t.Errorf("control: state %q, %s threads, %v; want a zombie with live threads", status["State"], status["Threads"], err)
	}
	folders := c.folders
	c.folders = nil // as Reap finds it
	if found := foldersOf(t.Context(), e.daemon, c.id); !slices.Equal(found, folders) {
		t.Errorf("folders %q, want %q", found, folders)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if left := firstExisting(folders); left != "" {
		t.Errorf("%s stays", left)
	}
	within(t, "its process to go", func() bool {
		_, err := os.Stat(fmt.Sprintf("/proc/%d", c.pid))
		return os.IsNotExist(err)
	})
}

// within waits five seconds for something to hold.
func within(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for until := time.Now().Add(5 * time.Second); time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
		if holds() {
			return
		}
	}
	t.Errorf("waited in vain for %s", what)
}

// TestNothingStays looks for process and cgroup folders after an ordinary end.
func TestNothingStays(t *testing.T) {
	e := fakeEngine(t)
	c, seen := startOne(t, e, rule.RoleExecutor)
	folders := seen.groups.folders()
	if firstExisting(folders) != folders[0] || !strings.Contains(folders[0], c.id) {
		t.Errorf("control: folders %q", folders)
	}
	for range 2 {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	if left := firstExisting(folders); left != "" {
		t.Errorf("%s stays", left)
	}
	within(t, "its process to go", func() bool {
		_, err := os.Stat(fmt.Sprintf("/proc/%d", c.pid))
		return os.IsNotExist(err)
	})
}

// stubborn refuses to remove a container a number of times.
type stubborn struct {
	daemon
	refusals, kills, removals int
}

func (s *stubborn) State(context.Context, string) (containerState, bool, error) {
	return containerState{ID: "id", PID: os.Getpid()}, true, nil
}
func (s *stubborn) Kill(context.Context, string) error { s.kills++; return nil }
func (s *stubborn) Remove(context.Context, string) error {
	s.removals++
	if s.removals <= s.refusals {
		return fmt.Errorf("busy: %w", ErrUnavailable)
	}
	return nil
}

func TestRemovalIsTriedAgainAndBounded(t *testing.T) {
	s := &stubborn{refusals: 2}
	if err := destroy(t.Context(), s, "id", nil); err != nil || s.removals != 3 || s.kills != 1 {
		t.Errorf("%v after %d removals and %d kills", err, s.removals, s.kills)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if err := destroy(ctx, &stubborn{refusals: 1_000}, "id", nil); !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "stays") {
		t.Errorf("an engine that never removes: %v", err)
	}
}

// TestFoldersOfOthers: where the engine names a process that isn't the
// container's, nothing of it is touched.
func TestFoldersOfOthers(t *testing.T) {
	if folders := foldersOf(t.Context(), &stubborn{}, "id"); folders != nil {
		t.Errorf("this process's folders %q were taken for a container's", folders)
	}
	if killAll(nil) || killAll([]string{t.TempDir()}) {
		t.Error("something was killed")
	}
}

func TestGreetingFromElsewhere(t *testing.T) {
	e := fakeEngine(t)
	env, err := e.Starlark(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	e.labels[labelBoot] = "another boot"
	if _, err := e.start(t.Context(), env, rule.RoleTrigger); !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "isn't local") {
		t.Errorf("another boot: %v", err)
	}
	if left := containersOf(t, e.labels[labelWorkspace]); len(left) > 0 {
		t.Errorf("%d containers are left", len(left))
	}
}

// TestStartsThatFail: a kernel that can't run, or never greets, is the host's
// trouble, said within the start's deadline.
func TestStartsThatFail(t *testing.T) {
	for want, kernel := range map[string][]byte{
		"exec format error": []byte(notAProgram),
		"greeting":          build(t, "./testdata/mute"),
	} {
		e := openEngine(t, kernel)
		e.limits.StartDeadline = 6 * time.Second
		residents := e.Residents(1)
		reply := residents.Trigger(t.Context(), programIn(t, e, "#"), rule.Document{})
		if reply.Failure != rule.FailureUnavailable || !strings.Contains(reply.Detail, want) {
			t.Errorf("want %q: %+v", want, reply)
		}
		if left := containersOf(t, e.labels[labelWorkspace]); len(left) > 0 {
			t.Errorf("%d containers are left", len(left))
		}
		image, err := e.daemon.Images(t.Context(), labelKernel+"="+string(e.image.Kernel))
		if err != nil || len(image) != 1 {
			t.Errorf("images %q, %v", image, err)
		}
	}
}
