package containers

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// destroy ends a container and removes it, and returns once its cgroup folders
// are gone, and with them every process of it, or an error that says what
// stayed. folders are those of the container; nil where they aren't known yet.
//
// The engine's own kill isn't enough: where the first thread of PID 1 is dead
// and others live, the engine reports success, and processes and folders stay.
// So this host kills what is in the folders itself, where it may.
func destroy(ctx context.Context, d daemon, id string, folders []string) error {
	if folders == nil {
		folders = foldersOf(ctx, d, id)
	}
	if !killAll(folders) {
		// There is nothing running, or it isn't this user's to kill; then the
		// engine does, and removal says how that went.
		_ = d.Kill(ctx, id)
	}
	if err := removeUntilGone(ctx, d, id); err != nil {
		return err
	}
	return awaitGone(ctx, id, folders)
}

// foldersOf asks the engine for the container's process and returns its cgroup
// folders; nil where it doesn't run.
func foldersOf(ctx context.Context, d daemon, id string) []string {
	state, found, err := d.State(ctx, id)
	if err != nil || !found || state.PID <= 0 {
		return nil
	}
	// The first thread's own file says nothing once it is dead.
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/cgroup", state.PID))
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		if groups, err := parseGroups(string(text)); err == nil && groups.belongTo(state.ID) {
			return groups.folders()
		}
	}
	return nil
}

// killAll sends SIGKILL to every process in the folders, which hold the same
// ones, and says whether there was one that could be killed.
func killAll(folders []string) bool {
	folder := firstExisting(folders)
	if folder == "" {
		return false
	}
	killed := false
	// A process whose first thread is dead is listed among threads alone.
	for _, list := range []string{"cgroup.procs", "tasks", "cgroup.threads"} {
		text, err := os.ReadFile(filepath.Join(folder, list))
		if err != nil {
			continue
		}
		for field := range strings.FieldsSeq(string(text)) {
			pid, err := strconv.Atoi(field)
			if err == nil && pid > 1 && syscall.Kill(pid, syscall.SIGKILL) == nil {
				killed = true
			}
		}
	}
	return killed
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

// awaitGone waits for the cgroup folders to vanish and kills what is still in
// them. The folder of a container that its runtime has lost is taken away here,
// which only works once it is empty.
func awaitGone(ctx context.Context, id string, folders []string) error {
	const patience = 100 * time.Millisecond
	wait := time.Millisecond
	for {
		left := firstExisting(folders)
		if left == "" {
			return nil
		}
		killAll(folders)
		if wait > patience {
			_ = syscall.Rmdir(left)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("container %s is removed, but cgroup folder %s stays: %w", short(id), left, ErrUnavailable)
		case <-time.After(wait):
			wait = min(2*wait, 2*patience)
		}
	}
}

func firstExisting(folders []string) string {
	for _, folder := range folders {
		if _, err := os.Stat(folder); err == nil {
			return folder
		}
	}
	return ""
}

func short(id string) string { return id[:min(12, len(id))] }
