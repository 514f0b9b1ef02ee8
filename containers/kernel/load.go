package main

import (
	"signalbox/containers/kernel/star"
	"signalbox/containers/kernel/tree"
	"signalbox/editor"
	"signalbox/rule"
	"signalbox/rule/frame"
)

// load takes the role and the source. A load that fails can be tried again.
func (k *kernel) load(body []byte) error {
	var load frame.Load
	if err := rule.Decode(body, &load); err != nil {
		return refusal("reading load frame: %v", err)
	}
	var err error
	switch load.Role {
	case rule.RoleTrigger:
		k.program, err = star.Load(load.Role, load.Source, load.Steps)
	case rule.RoleExecutor:
		err = k.loadExecutor(load)
	case rule.RoleEditor:
		err = k.loadDraft(load.Source)
	default:
		return refusal("reading load frame: unknown role %q", load.Role)
	}
	if err == nil {
		k.role = load.Role
	}
	return err
}

func (k *kernel) loadExecutor(load frame.Load) error {
	program, err := star.Load(load.Role, load.Source, load.Steps)
	if err != nil {
		return err
	}
	if k.files, err = tree.Open(k.testbed, 0o400); err != nil {
		return err
	}
	k.program = program
	return nil
}

// loadDraft puts the draft's files in place and opens the editor on them.
func (k *kernel) loadDraft(source map[string]string) error {
	files, err := tree.Open(k.draft, 0o644)
	if err != nil {
		return err
	}
	defer files.Close()
	if err := files.Fill(rule.TreeOf(source)); err != nil {
		return refusal("reading load frame: %v", err)
	}
	k.editor, err = editor.Open(k.draft, editor.Options{})
	return err
}

// edit serves one call of the editor's tool, or an undo. What the editor
// refuses is a reply, not a failure.
func (k *kernel) edit(body []byte) ([]byte, error) {
	var call frame.Edit
	if err := rule.Decode(body, &call); err != nil {
		return nil, refusal("reading edit frame: %v", err)
	}
	k.editor.SetWritable(editor.Only(call.Writable...))
	if call.Undo != nil {
		return rule.Canonical(k.editor.Undo(call.Session, *call.Undo))
	}
	return rule.Canonical(k.editor.Run(call.Session, call.Args))
}
