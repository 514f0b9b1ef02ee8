package star

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.starlark.net/starlark"

	"signalbox/rule"
)

// answer is what match, no_match, abstain and result return. It is opaque to
// programs. abstain fills both replies.
type answer struct {
	name     string
	trigger  rule.TriggerReply
	executor rule.ExecutorReply
}

func (a *answer) String() string        { return a.name + "(…)" }
func (a *answer) Type() string          { return "answer" }
func (a *answer) Freeze()               {}
func (a *answer) Truth() starlark.Bool  { return true }
func (a *answer) Hash() (uint32, error) { return 0, fmt.Errorf("unhashable type: answer") }

var answers = map[string]function{
	"match":    match,
	"no_match": noMatch,
	"abstain":  abstain,
	"result":   result,
}

func match(thread *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var understood *starlark.Dict
	var words string
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "args", &understood, "note?", &words); err != nil {
		return nil, err
	}
	value, err := exact(thread, understood)
	if err != nil {
		return nil, fmt.Errorf("match: args: %w", err)
	}
	return &answer{name: "match", trigger: rule.TriggerReply{Verdict: rule.Match, Args: value, Note: note(words)}}, nil
}

func noMatch(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var words string
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "note?", &words); err != nil {
		return nil, err
	}
	return &answer{name: "no_match", trigger: rule.TriggerReply{Verdict: rule.NoMatch, Note: note(words)}}, nil
}

func abstain(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var words string
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "note?", &words); err != nil {
		return nil, err
	}
	words = note(words)
	return &answer{
		name:     "abstain",
		trigger:  rule.TriggerReply{Verdict: rule.Abstain, Note: words},
		executor: rule.ExecutorReply{Abstained: true, Note: words},
	}, nil
}

func result(thread *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if len(args) > 0 {
		return nil, fmt.Errorf("result: want output=… or files=… by name")
	}
	var output starlark.Value
	var files *starlark.Dict
	if err := starlark.UnpackArgs(b.Name(), nil, kwargs, "output?", &output, "files?", &files); err != nil {
		return nil, err
	}
	outcome := &rule.Outcome{}
	var err error
	if output != nil {
		if outcome.Output, err = exact(thread, output); err != nil {
			return nil, fmt.Errorf("result: output: %w", err)
		}
	}
	if files != nil {
		if outcome.Files, err = changes(thread, files); err != nil {
			return nil, fmt.Errorf("result: files: %w", err)
		}
	}
	if err := outcome.Check(); err != nil {
		return nil, fmt.Errorf("result: %w", err)
	}
	return &answer{name: "result", executor: rule.ExecutorReply{Outcome: outcome}}, nil
}

// changes reads the files of a result: path → new text, or None.
func changes(thread *starlark.Thread, files *starlark.Dict) (map[string]*string, error) {
	changed := make(map[string]*string, files.Len())
	for _, item := range files.Items() {
		p, ok := starlark.AsString(item[0])
		if !ok {
			return nil, fmt.Errorf("a path is a %s: want a string", item[0].Type())
		}
		if item[1] == starlark.None {
			changed[p] = nil
			continue
		}
		text, ok := starlark.AsString(item[1])
		if !ok {
			return nil, fmt.Errorf("%q: text is a %s: want a string or None", p, item[1].Type())
		}
		charge(thread, len(text))
		changed[p] = &text
	}
	return changed, nil
}

// note makes words fit a reply: control characters but line ends and tabs are
// replaced, and what is too long is cut off at a character.
func note(words string) string {
	words = strings.Map(printable, valid(words))
	if len(words) <= rule.MaxNoteBytes {
		return words
	}
	cut := rule.MaxNoteBytes
	for cut > 0 && !utf8.RuneStart(words[cut]) {
		cut--
	}
	return words[:cut]
}

func printable(r rune) rune {
	if unicode.IsControl(r) && r != '\n' && r != '\t' {
		return utf8.RuneError
	}
	return r
}
