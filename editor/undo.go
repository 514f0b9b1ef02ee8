package editor

import "slices"

// history holds the changes that can be undone, in the order in which they were
// made, bounded in number for each session and file, and in bytes for all.
type history struct {
	depth   int
	limit   int64
	bytes   int64
	changes []Change
	dropped map[stack]bool
}

// stack names one session's changes of one file.
type stack struct{ session, path string }

func newHistory(o Options) history {
	return history{depth: o.UndoDepth, limit: o.UndoBytes, dropped: map[stack]bool{}}
}

func (c Change) stack() stack { return stack{session: c.Session, path: c.Path} }
func (c Change) size() int64  { return int64(len(c.Before) + len(c.After)) }

// record adds a change, or takes the latest one off the stack if it undoes it.
func (h *history) record(change Change) {
	if change.Undo {
		if i := h.latest(change.Session, change.Path); i >= 0 {
			h.drop(i)
		}
		return
	}
	h.changes = append(h.changes, change)
	h.bytes += change.size()
	h.trim(change.stack())
}

// trim forgets the oldest changes that are over a bound.
func (h *history) trim(of stack) {
	kept, oldest := 0, -1
	for i, c := range h.changes {
		if c.stack() == of {
			if kept++; oldest < 0 {
				oldest = i
			}
		}
	}
	if kept > h.depth {
		h.forget(oldest)
	}
	for h.bytes > h.limit && len(h.changes) > 0 {
		h.forget(0)
	}
}

func (h *history) forget(i int) {
	h.dropped[h.changes[i].stack()] = true
	h.drop(i)
}

func (h *history) drop(i int) {
	h.bytes -= h.changes[i].size()
	h.changes = slices.Delete(h.changes, i, i+1)
}

// latest returns the index of the latest change of a session and file, or of
// the session where path is "", or -1.
func (h *history) latest(session, path string) int {
	for i := len(h.changes) - 1; i >= 0; i-- {
		if c := h.changes[i]; c.Session == session && (path == "" || c.Path == path) {
			return i
		}
	}
	return -1
}

// Undo takes back the session's latest change of the file at path, a path as
// models know it, or its latest change at all where path is "". It restores
// bytes and mode, and refuses where the file is no longer as the change left
// it. The result's Change has Undo set.
func (e *Editor) Undo(session, path string) Result {
	e.mu.Lock()
	defer e.mu.Unlock()
	where := location{shown: Root}
	if path != "" {
		var err error
		if where, err = e.locate(path, "undo"); err != nil {
			return refused("", false, err)
		}
	}
	i := e.history.latest(session, where.rel)
	if i < 0 {
		return refused(where.shown, false, e.history.floor(session, where))
	}
	return e.revert(e.history.changes[i])
}

// floor is the answer where there is nothing left to undo.
func (h *history) floor(session string, where location) error {
	if h.dropped[stack{session: session, path: where.rel}] {
		return refuse("no_history", "No edit history found for %s: older edits are not kept (at most %d for each file).", where.shown, h.depth)
	}
	return refuse("no_history", "No edit history found for %s.", where.shown)
}

// Latest returns the latest change of any session that can be undone, for
// Revert. The result is false where there is none.
func (e *Editor) Latest() (Change, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if n := len(e.history.changes); n > 0 {
		return e.history.changes[n-1], true
	}
	return Change{}, false
}

// Load restores the history from stored changes, the oldest first.
func (e *Editor) Load(changes []Change) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, change := range changes {
		e.history.record(change)
	}
}
