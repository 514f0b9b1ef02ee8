package main

import (
	"context"
	"fmt"
	"strings"
)

// kills kills writers before their system calls. A short run keeps to the calls
// that change something.
func (h *harness) kills(ctx context.Context, b budget) error {
	mine := h.points(b.kills, func(ref reference, at call) bool {
		return ref.name != naiveAct && (b.kills >= fullKills || at.changes())
	})
	control := h.points(20, func(ref reference, at call) bool { return ref.name == naiveAct && at.changes() })
	return each(append(control, mine...), func(p point) error {
		return h.onStage(p.ref.name, func(stage string) error {
			acked, killed, err := h.tracer.kill(ctx, p.ref.name, stage, p.at)
			if err != nil {
				return fmt.Errorf("killing at %s: %w", p, err)
			}
			v := p.ref.check(ctx, stage, acked)
			h.mu.Lock()
			defer h.mu.Unlock()
			if p.ref.name == naiveAct {
				h.tally.naive(&h.tally.naiveKills, v)
				return nil
			}
			if killed {
				h.tally.kills++
			}
			h.tally.add("killed at "+p.String(), v)
			return nil
		})
	})
}

// faultsOf are the ways in which calls fail. A write that returns less than was
// written, having written nothing, is a disk that lies; SQLite can't notice that
// and says so, so pwrite64 only fails.
var faultsOf = map[string][]string{
	"open":      {"error=EMFILE", "error=EIO", "error=EROFS"},
	"openat":    {"error=EMFILE", "error=EIO", "error=EROFS", "error=ENOSPC"},
	"write":     {"error=ENOSPC", "error=EIO", "retval=1"},
	"pwrite64":  {"error=ENOSPC", "error=EIO"},
	"fsync":     {"error=EIO", "error=ENOSPC"},
	"fdatasync": {"error=EIO"},
	"renameat":  {"error=EIO", "error=EROFS", "error=ENOSPC"},
	"rename":    {"error=EIO", "error=EROFS"},
	"mkdirat":   {"error=ENOSPC", "error=EROFS"},
	"fchmod":    {"error=EIO"},
	"ftruncate": {"error=EIO"},
	"pread64":   {"error=EIO"},
	"flock":     {"error=ENOLCK"},
}

// faults makes single calls fail. The writer must say so, or have done it.
func (h *harness) faults(ctx context.Context, b budget) error {
	type fault struct {
		point
		how string
	}
	var found []fault
	for _, p := range h.points(all, func(ref reference, _ call) bool { return ref.name != naiveAct }) {
		for _, how := range faultsOf[p.at.name] {
			// A new key file is checked when it is first used, not when it's written.
			if p.ref.name == initAct && strings.HasPrefix(how, "retval") {
				continue
			}
			found = append(found, fault{p, how})
		}
	}
	return each(spread(found, b.faults), func(f fault) error {
		return h.onStage(f.ref.name, func(stage string) error {
			acked, err := h.tracer.fail(ctx, f.ref.name, stage, f.at, f.how)
			v := f.ref.check(ctx, stage, acked)
			h.mu.Lock()
			defer h.mu.Unlock()
			h.tally.faults++
			if err != nil {
				h.tally.refused++
			}
			h.tally.add(fmt.Sprintf("%s at %s", f.how, f.point), v)
			return nil
		})
	})
}
