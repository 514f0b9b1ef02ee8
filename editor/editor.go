package editor

import (
	"errors"
	"fmt"
	"sync"

	"golang.org/x/sys/unix"
	"signalbox/rule"
)

// Name is the tool's name, and Root is where a model finds the tree.
const (
	Name = "str_replace_editor"
	Root = "/draft"
)

// Options bound an editor; a zero field means the value of its comment.
type Options struct {
	FileBytes   int64 // size of one file: rule.MaxSourceBytes
	TreeBytes   int64 // size of all files together: rule.MaxSourceBytes
	Files       int   // files in the tree, and folders: rule.MaxSourceFiles
	Depth       int   // elements of a path below the root: rule.MaxPathDepth
	ResultChars int   // characters of a result: 16,000
	UndoDepth   int   // changes kept for each session and file: 100
	UndoBytes   int64 // bytes kept for undo in all: 16 MiB

	// Keep, where it is set, is called with each change when its bytes are synced
	// beside the file, just before they take the file's place, so that what the
	// tree shows was stored before. An error refuses the change. A change that was
	// kept and then can't be made is kept again as what takes it back. Keep must
	// not call the editor.
	Keep func(Change) error
}

// Result answers one call. Text is what the model reads; Code is "" where OK,
// else one of the package's stable codes. Path is the path that the call was
// about as the model knows it, or "" where it named none inside. Change is set
// where something was changed.
type Result struct {
	OK       bool    `json:"ok"`
	Code     string  `json:"code"`
	Text     string  `json:"text"`
	Path     string  `json:"path"`
	Repaired bool    `json:"repaired,omitzero"`
	Change   *Change `json:"change,omitzero"`
}

// Editor edits one tree. Its methods may be called from many goroutines; calls
// run one after another.
type Editor struct {
	mu       sync.Mutex
	tree     *tree
	limits   Options
	writable func(path string) bool
	history  history
}

// Open returns an editor of the tree in the folder root, whose path is the
// caller's and may lead through links. Temporary files that a crash left in the
// tree are removed.
func Open(root string, o Options) (*Editor, error) {
	tree, err := openTree(root)
	if err != nil {
		return nil, fmt.Errorf("opening draft %q: %w", root, err)
	}
	o = o.withDefaults()
	tree.sweep(".", rule.MaxPathDepth)
	return &Editor{tree: tree, limits: o, history: newHistory(o)}, nil
}

func (o Options) withDefaults() Options {
	o.FileBytes = orElse(o.FileBytes, rule.MaxSourceBytes)
	o.TreeBytes = orElse(o.TreeBytes, rule.MaxSourceBytes)
	o.Files = orElse(o.Files, rule.MaxSourceFiles)
	o.Depth = min(orElse(o.Depth, rule.MaxPathDepth), rule.MaxPathDepth)
	o.ResultChars = max(orElse(o.ResultChars, 16_000), minResultChars)
	o.UndoDepth = orElse(o.UndoDepth, 100)
	o.UndoBytes = orElse(o.UndoBytes, 16<<20)
	return o
}

func orElse[N int | int64](n, otherwise N) N {
	if n <= 0 {
		return otherwise
	}
	return n
}

// Close lets go of the tree. Later calls are refused.
func (e *Editor) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	err := unix.Close(e.tree.fd)
	e.tree.fd = -1
	return err
}

// SetWritable says which files may be changed from now on: allowed gets paths
// relative to the root. nil allows all. Undo, Apply and Revert don't ask.
func (e *Editor) SetWritable(allowed func(path string) bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.writable = allowed
}

// Run does one call of the tool: args is the JSON object that the model sent.
// Undo belongs to the session.
func (e *Editor) Run(session string, args []byte) Result {
	call, err := parseCall(args)
	if err != nil {
		return refused("", call.repaired, err)
	}
	call.session = session
	e.mu.Lock()
	defer e.mu.Unlock()
	at, err := e.locate(call.Path, call.Command)
	if err != nil {
		return refused("", call.repaired, err)
	}
	text, change, err := e.do(call, at)
	if err != nil {
		return refused(at.shown, call.repaired, explain(at, call.Command, err))
	}
	return Result{OK: true, Text: text, Path: at.shown, Repaired: call.repaired, Change: change}
}

// do runs the command. A change that it returns is on disk.
func (e *Editor) do(call call, at location) (string, *Change, error) {
	if call.Command == "view" {
		text, err := e.view(call, at)
		return text, nil, err
	}
	if e.writable != nil && at.rel != "." && !e.writable(at.rel) { // the root is no file
		return "", nil, notOpen(at)
	}
	switch call.Command {
	case "create":
		return e.create(call, at)
	case "str_replace":
		return e.replace(call, at)
	}
	return e.insert(call, at)
}

// commit makes a change and records it in the history. made makes it on disk,
// and calls ready when all that is left to do is the step that shows it.
func (e *Editor) commit(change Change, made func(ready func() error) error) (*Change, error) {
	kept := false
	err := made(func() error {
		if e.limits.Keep == nil {
			return nil
		}
		if err := e.limits.Keep(change); err != nil {
			return notKept()
		}
		kept = true
		return nil
	})
	if err != nil && kept && !errors.Is(err, errUncertain) {
		if back := e.limits.Keep(change.undone()); back != nil {
			return nil, fmt.Errorf("%w: it is stored all the same", errUncertain)
		}
	}
	if err != nil {
		return nil, err
	}
	e.history.record(change)
	return &change, nil
}

func refused(path string, repaired bool, err error) Result {
	refusal := asRefusal(err)
	return Result{Code: refusal.code, Text: refusal.text, Path: path, Repaired: repaired}
}
