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

// EditDraft starts an editor on a copy of a draft's tree. The caller closes it.
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
	err = started.load(ctx, rule.Source{})
	if err == nil {
		err = started.sendTree(ctx, tree)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("opening draft: %w", err), started.Close())
	}
	return &DraftEditor{cell: started}, nil
}

// Call makes one call of the editor's tool, or an undo. A refusal by the editor
// is a reply whose OK is false; an error says that there is no reply: then the
// container has been ended, nothing of the call counts, and each further Call
// returns ErrUnavailable.
func (d *DraftEditor) Call(ctx context.Context, call frame.Edit) (frame.Edited, error) {
	body, err := rule.Canonical(call)
	if err != nil {
		return frame.Edited{}, fmt.Errorf("writing editor call: %w", err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.broken != nil {
		return frame.Edited{}, fmt.Errorf("editor has ended (%v): %w", d.broken, ErrUnavailable)
	}
	edited, err := d.call(ctx, body)
	if err != nil {
		d.broken = err
		return frame.Edited{}, errors.Join(fmt.Errorf("calling editor: %v: %w", err, ErrUnavailable), d.cell.Close())
	}
	return edited, nil
}

func (d *DraftEditor) call(ctx context.Context, body []byte) (frame.Edited, error) {
	got, err := d.cell.call(ctx, frame.KindEdit, body)
	if err != nil {
		return frame.Edited{}, err
	}
	if got.failed != nil {
		return frame.Edited{}, got.failed
	}
	var edited frame.Edited
	if err := rule.Decode(got.body, &edited); err != nil {
		return frame.Edited{}, d.cell.violation("sent a reply that can't be read: %v", err)
	}
	if change := edited.Change; change != nil {
		if err := rule.CheckPath(change.Path); err != nil {
			return frame.Edited{}, d.cell.violation("changed what is no file of a draft: %v", err)
		}
		if !edited.OK || change.Deleted && change.Content != nil {
			return frame.Edited{}, d.cell.violation("sent a change that contradicts itself")
		}
	}
	return edited, nil
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
