package maintenance

import (
	"context"
	"fmt"
	"path"
	"strings"

	"signalbox/editor"
	"signalbox/rule"
)

// part is a part of a draft that an edit_… action opens.
type part struct {
	action action
	about  string
	holds  func(p string) bool
}

// parts are all of them. Helpers belong to both programs.
var parts = map[action]part{
	"edit_contract": {about: "manifest.json and README.md", holds: func(p string) bool {
		return p == rule.ManifestFile || p == rule.ReadmeFile
	}},
	"edit_trigger": {about: "trigger.star and helper *.star files", holds: func(p string) bool {
		return isStar(p) && p != rule.ExecutorFile
	}},
	"edit_executor": {about: "execute.star and helper *.star files", holds: func(p string) bool {
		return isStar(p) && p != rule.TriggerFile
	}},
	"add_tests": {about: "tests/*.json", holds: func(p string) bool {
		return path.Dir(p) == "tests" && strings.HasSuffix(p, ".json")
	}},
}

func isStar(p string) bool { return !strings.Contains(p, "/") && strings.HasSuffix(p, ".star") }

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
	opened.action = a
	s.part = &opened
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
	if refusal := s.closed(arguments); refusal != "" {
		return complain(refusal), nil
	}
	if err := s.startEditor(ctx); err != nil {
		return result{}, err
	}
	edited, err := s.editor.Call(ctx, s.draft.Identity().Attempt, []byte(arguments))
	if err != nil {
		return result{}, err
	}
	if edited.Change != nil {
		if err := s.keep(*edited.Change); err != nil {
			return complain(err.Error()), s.stopEditor()
		}
	}
	return result{text: edited.Text, gist: edited.Text, failed: !edited.OK}, nil
}

// closed returns why the call would change a file that is not open, "" where it
// may go on. Arguments that can't be read go on too: the editor says why.
func (s *session) closed(arguments string) string {
	var args editor.Args
	if rule.Decode([]byte(arguments), &args) != nil || args.Command == "view" {
		return ""
	}
	p, inside := strings.CutPrefix(args.Path, editor.Root+"/")
	if !inside || rule.CheckPath(p) != nil {
		return ""
	}
	return s.notOpen(p)
}

func (s *session) notOpen(p string) string {
	if s.part == nil {
		return fmt.Sprintf("The file %s/%s is not open. Open a part of the draft with an edit_… action of the rule tool first.", editor.Root, p)
	}
	if !s.part.holds(p) {
		return fmt.Sprintf("The file %s/%s is not open: %s opened %s.", editor.Root, p, s.part.action, s.part.about)
	}
	return ""
}

// keep writes an editor's change to the draft. The editor runs elsewhere and is
// not believed: what it changed has to be open, and to follow from what is here.
func (s *session) keep(change editor.Change) error {
	if refusal := s.notOpen(change.Path); refusal != "" {
		return fmt.Errorf("%s Nothing was changed", refusal)
	}
	before, had := s.draft.Tree()[change.Path]
	if had == change.Created || had && string(before) != string(change.Before) {
		return fmt.Errorf("the file %s/%s is not what it was when it was edited: view it again. Nothing was changed", editor.Root, change.Path)
	}
	after := change.After
	if after == nil {
		after = []byte{}
	}
	if change.Removed {
		after = nil
	}
	return s.draft.Write(change.Path, after)
}

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
