package rule

import (
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"
)

// Limits of a task and of an outcome, in bytes.
const (
	MaxInstructionBytes = 64 << 10
	MaxValueBytes       = 1 << 20
)

// Task is what a caller wants done. Files is nil where the work has no tree.
type Task struct {
	Instruction string            `json:"instruction"`
	Input       Value             `json:"input,omitzero"`
	Files       map[string]string `json:"files,omitzero"`
}

// ParseTask decodes and checks one task.
func ParseTask(data []byte) (Task, error) {
	var task Task
	if err := Decode(data, &task); err != nil {
		return Task{}, fmt.Errorf("reading task: %w", err)
	}
	return task, task.Check()
}

// UnmarshalJSON decodes a task strictly. A file that is null is refused: a task
// has no deleted files, and an empty one would be a guess.
func (t *Task) UnmarshalJSON(data []byte) error {
	var wire struct {
		Document `json:",inline"`
		Files    map[string]*string `json:"files,omitzero"`
	}
	if err := Decode(data, &wire); err != nil {
		return err
	}
	*t = Task{Instruction: wire.Instruction, Input: wire.Input}
	if wire.Files == nil {
		return nil
	}
	t.Files = make(map[string]string, len(wire.Files))
	for p, text := range wire.Files {
		if text == nil {
			return fmt.Errorf("file %q of the task is null: want its text", p)
		}
		t.Files[p] = *text
	}
	return nil
}

// Check returns the first reason why the task can't be taken.
func (t Task) Check() error {
	switch {
	case t.Instruction == "":
		return fmt.Errorf("task has no instruction")
	case len(t.Instruction) > MaxInstructionBytes:
		return fmt.Errorf("instruction has %d bytes: the limit is %d", len(t.Instruction), MaxInstructionBytes)
	case !utf8.ValidString(t.Instruction):
		return fmt.Errorf("instruction is not UTF-8")
	case len(t.Input) > MaxValueBytes:
		return fmt.Errorf("input has %d bytes: the limit is %d", len(t.Input), MaxValueBytes)
	}
	for _, p := range slices.Sorted(maps.Keys(t.Files)) {
		if !utf8.ValidString(t.Files[p]) {
			return fmt.Errorf("file %q of the task is not UTF-8", p)
		}
	}
	return t.Tree().CheckPublic()
}

// Tree returns the task's files as a tree; nil where it has none.
func (t Task) Tree() Tree {
	if t.Files == nil {
		return nil
	}
	return TreeOf(t.Files)
}

// Document is the part of a task that a trigger sees: no tree.
type Document struct {
	Instruction string `json:"instruction"`
	Input       Value  `json:"input,omitzero"`
}

// Document returns the task without its tree.
func (t Task) Document() Document { return Document{Instruction: t.Instruction, Input: t.Input} }

// Digest names the task: instruction, input and the digest of each file. tree
// stands for the task's own files where it isn't nil (a caller's folder).
func (t Task) Digest(tree Tree) Digest {
	if tree == nil {
		tree = t.Tree()
	}
	named := struct {
		Document `json:",inline"`
		Files    map[string]Digest `json:"files,omitzero"`
	}{Document: t.Document()}
	if tree != nil {
		named.Files = tree.files()
	}
	digest, err := DigestJSON(named)
	if err != nil {
		return ""
	}
	return digest
}
