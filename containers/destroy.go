package containers

import (
	"context"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"
)

// destroy ends a container and removes it, and returns once its process and its
// cgroup folders are gone, or an error that says what stayed. pid is that of its
// program on this host, 0 where it isn't known.
//
// The engine's own kill isn't enough: where the first thread of PID 1 is dead
// and others live, the engine reports success and process and cgroups stay. So
// this host kills PID 1 itself where it may.
func destroy(ctx context.Context, d daemon, id string, pid int) error {
	folders := killFromHost(pid, id)
	if folders == nil {
		// Not ours to kill, or gone already; the engine says the same by an error.
		_ = d.Kill(ctx, id)
	}
	if err := removeUntilGone(ctx, d, id); err != nil {
		return err
	}
	return awaitGone(ctx, id, pid, folders)
}

// killFromHost kills the container's first process and returns its cgroup
// folders; nil where the process isn't that container's or may not be killed.
func killFromHost(pid int, id string) []string {
	groups, err := readGroups(pid)
	if err != nil || !groups.belongTo(id) {
		return nil
	}
	if syscall.Kill(pid, syscall.SIGKILL) != nil {
		return nil
	}
	return groups.folders()
}

// removeUntilGone asks for removal again after an error, since an engine
// refuses while a process is still dying.
func removeUntilGone(ctx context.Context, d daemon, id string) error {
	wait := 50 * time.Millisecond
	for {
		err := d.Remove(ctx, id)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("container %s stays: %w", short(id), err)
		case <-time.After(wait):
			wait = min(2*wait, 2*time.Second)
		}
	}
}

// awaitGone waits for the process and the cgroup folders to vanish.
func awaitGone(ctx context.Context, id string, pid int, folders []string) error {
	wait := time.Millisecond
	for {
		left := whatStays(id, pid, folders)
		if left == "" {
			return nil
		}
		killFromHost(pid, id)
		select {
		case <-ctx.Done():
			return fmt.Errorf("container %s is removed, but %s stays: %w", short(id), left, ErrUnavailable)
		case <-time.After(wait):
			wait = min(2*wait, 200*time.Millisecond)
		}
	}
}

func whatStays(id string, pid int, folders []string) string {
	if groups, err := readGroups(pid); err == nil && groups.belongTo(id) {
		return fmt.Sprintf("process %d", pid)
	}
	for _, folder := range folders {
		if !strings.Contains(folder, id) {
			continue
		}
		if _, err := os.Stat(folder); err == nil {
			return "cgroup folder " + folder
		}
	}
	return ""
}

func short(id string) string { return id[:min(12, len(id))] }
