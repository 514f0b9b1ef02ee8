package containers

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"signalbox/rule"
	"signalbox/rule/frame"
)

// DraftEditor is an editor container with one draft's tree in it and nothing
// else. What it changes is in its replies: the container's copy is thrown away.
// It is safe for concurrent use; calls go one at a time.
type DraftEditor struct {
	mu   sync.Mutex
	cell *cell
	// broken is why the program ended, after which it answers nothing.
	broken error
}

// EditDraft starts an editor on a copy of a draft's texts. The caller closes it.
// The error is ErrUnavailable or ErrEnvironmentChanged, or says why the tree
// can't be edited.
func (e *Engine) EditDraft(ctx context.Context, tree rule.Tree) (*DraftEditor, error) {
	env, err := e.Starlark(ctx)
	if err != nil {
		return nil, err
	}
	started, err := e.start(ctx, env, rule.RoleEditor)
	if err != nil {
		return nil, err
	}
	if err := started.load(ctx, tree); err != nil {
		return nil, errors.Join(fmt.Errorf("opening draft: %w", err), started.Close())
	}
	return &DraftEditor{cell: started}, nil
}

// Call makes one call of the editor's tool, or an undo, and returns the
// editor's own result as JSON, which the caller decodes. A refusal by the editor
// is such a result; an error says that there is none: then the container has
// been ended, nothing of the call counts, and each further Call returns
// ErrUnavailable.
func (d *DraftEditor) Call(ctx context.Context, call frame.Edit) ([]byte, error) {
	body, err := rule.Canonical(call)
	if err != nil {
		return nil, fmt.Errorf("writing editor call: %w", err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.broken != nil {
		return nil, fmt.Errorf("editor has ended (%v): %w", d.broken, ErrUnavailable)
	}
	got, err := d.cell.call(ctx, frame.KindEdit, body)
	if err == nil && got.failed != nil {
		err = got.failed
	}
	if err != nil {
		d.broken = err
		return nil, errors.Join(fmt.Errorf("calling editor: %v: %w", err, ErrUnavailable), d.cell.Close())
	}
	return got.body, nil
}

// Close ends the editor and removes its container.
func (d *DraftEditor) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.broken == nil {
		d.broken = errors.New("closed")
	}
	return d.cell.Close()
}
