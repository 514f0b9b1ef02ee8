package maintenance

import (
	"context"
	"fmt"

	"signalbox/editor"
	"signalbox/rule"
	"signalbox/rule/frame"
)

// part is a part of a draft that an edit_… action opens. Patterns are as
// editor.Only takes them.
type part struct {
	about    string
	patterns []string
}

func (p part) holds(path string) bool { return editor.Only(p.patterns...)(path) }

// parts are all of them. Helpers belong to both programs.
var parts = map[action]part{
	"edit_contract": {"manifest.json and README.md", []string{rule.ManifestFile, rule.ReadmeFile}},
	"edit_trigger":  {"trigger.star and helper *.star files", []string{"*.star", "!" + rule.ExecutorFile}},
	"edit_executor": {"execute.star and helper *.star files", []string{"*.star", "!" + rule.TriggerFile}},
	"add_tests":     {"tests/*.json", []string{"tests/*.json"}},
}

// createRule shows the draft, which the host has made already.
func (s *session) createRule() (answer, error) {
	data := struct {
		Manifest string   `json:"manifest"`
		Files    []string `json:"files"`
	}{s.draft.Manifest(), s.draft.Tree().Paths()}
	return answer{OK: true, Code: "created", Message: "The draft is at /draft. Open a part with an edit_… action.", Data: data}, nil
}

// open makes one part of the draft writable, and no other.
func (s *session) open(a action) (answer, error) {
	opened := parts[a]
	s.part = opened
	files := []string{}
	for _, p := range s.draft.Tree().Paths() {
		if opened.holds(p) {
			files = append(files, editor.Root+"/"+p)
		}
	}
	data := struct {
		Files []string `json:"files"`
	}{files}
	return answer{OK: true, Code: "opened", Message: fmt.Sprintf("%s can be changed now, and nothing else.", opened.about), Data: data}, nil
}

// editCall executes a call of the editor. What it changes is on disk before the
// model hears of it; a change that can't be kept is taken back by starting the
// editor anew from the draft.
func (s *session) editCall(ctx context.Context, arguments string) (result, error) {
	if err := s.startEditor(ctx); err != nil {
		return result{}, err
	}
	reply, err := s.editor.Call(ctx, frame.Edit{
		Session: s.draft.Identity().Attempt, Args: []byte(arguments), Writable: s.part.patterns,
	})
	if err != nil {
		return result{}, fmt.Errorf("editing the draft: %w", err)
	}
	var edited editor.Result
	if err := rule.Decode(reply, &edited); err != nil {
		return result{}, fmt.Errorf("reading the editor's reply: %w", err)
	}
	if edited.Change != nil {
		if err := s.keep(*edited.Change); err != nil {
			return complain(err.Error()), s.stopEditor()
		}
	}
	return result{text: edited.Text, gist: edited.Text, failed: !edited.OK}, nil
}

// keep writes an editor's change to the draft. The editor runs elsewhere and is
// not believed: what it changed has to be open, and to follow from what is here.
func (s *session) keep(change editor.Change) error {
	if !s.part.holds(change.Path) {
		return fmt.Errorf("the file %s/%s is not open for changes, and nothing was changed", editor.Root, change.Path)
	}
	if change.Removed || change.Undo {
		return fmt.Errorf("the file %s/%s was to be edited and not removed: nothing was changed", editor.Root, change.Path)
	}
	// Only how the file is made is the editor's to say, not by whom or with which mode.
	change.Session, change.Mode = s.draft.Identity().Attempt, newFileMode
	return s.draft.Apply(change)
}

// newFileMode is the mode of files that a model makes. An edit keeps the mode.
const newFileMode = 0o644

func (s *session) startEditor(ctx context.Context) error {
	if s.editor != nil {
		return nil
	}
	opened, err := s.deps.OpenEditor(ctx, s.draft.Tree())
	if err != nil {
		return fmt.Errorf("starting the editor: %w", err)
	}
	s.editor = opened
	return nil
}

func (s *session) stopEditor() error {
	if s.editor == nil {
		return nil
	}
	err := s.editor.Close()
	s.editor = nil
	return err
}
