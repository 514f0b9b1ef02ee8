package author

import (
	"fmt"
	"strings"
)

// The tools, as every model has them.
const (
	ruleTool   = "rule"
	editorTool = "str_replace_editor"
)

// root is where the editor sees the draft.
const root = "/draft/"

// ruleArgs and editorArgs are the arguments of the two tools that are used.
type ruleArgs struct {
	Action string         `json:"action"`
	Data   map[string]any `json:"data"`
}

type editorArgs struct {
	Command  string  `json:"command"`
	Path     string  `json:"path"`
	FileText *string `json:"file_text,omitzero"`
	OldStr   *string `json:"old_str,omitzero"`
	NewStr   *string `json:"new_str,omitzero"`
}

// toolReply is the JSON that the rule tool answers with.
type toolReply struct {
	OK      bool   `json:"ok"`
	Code    string `json:"code"`
	Message string `json:"message"`
	Data    struct {
		Manifest  string         `json:"manifest"`
		Submitted bool           `json:"submitted"`
		Revealed  []briefCase    `json:"revealed"`
		Hidden    map[string]int `json:"hidden_failures"`
		Failures  []struct {
			Case   string `json:"case"`
			Kind   string `json:"kind"`
			Detail string `json:"detail"`
		} `json:"failures"`
	} `json:"data"`
}

// conversation is what has come of the messages so far.
type conversation struct {
	brief     brief
	turns     int
	files     map[string]string // what the draft's files hold, as far as known
	open      string            // the edit_… action that was granted last
	submitted bool
	refusals  []toolReply
	tried     map[string]string // what the files held at the last refusal
	mishaps   []string          // replies that were no success, since the last success
}

// follow reads the messages: the brief, and every tool call with its reply.
func follow(messages []message) (*conversation, error) {
	c := &conversation{files: map[string]string{}}
	calls := map[string]function{}
	found := false
	for _, m := range messages {
		switch m.Role {
		case "user":
			if found {
				continue
			}
			b, err := parseBrief(m.text())
			if err != nil {
				return nil, err
			}
			c.brief, found = b, true
		case "assistant":
			c.turns++
			for _, call := range m.ToolCalls {
				calls[call.ID] = call.Function
			}
		case "tool":
			call, known := calls[m.ToolCallID]
			if !known {
				return nil, fmt.Errorf("a tool reply to an unknown call %q", m.ToolCallID)
			}
			delete(calls, m.ToolCallID)
			c.note(call, m.text())
		}
	}
	if !found {
		return nil, fmt.Errorf("no user message with a task block")
	}
	return c, nil
}

// note takes one tool reply into account.
func (c *conversation) note(call function, text string) {
	ok := false
	switch call.Name {
	case ruleTool:
		ok = c.noteRule(call, text)
	case editorTool:
		ok = c.noteEdit(call, text)
	}
	if ok {
		c.mishaps = nil
	} else {
		c.mishaps = append(c.mishaps, text)
	}
}

func (c *conversation) noteRule(call function, text string) bool {
	var args ruleArgs
	var answer toolReply
	if decode([]byte(call.Arguments), &args) != nil || decode([]byte(text), &answer) != nil {
		return false
	}
	if args.Action == "submit_rule" && !answer.OK {
		c.refusals = append(c.refusals, answer)
		c.tried = map[string]string{}
		for path, content := range c.files {
			c.tried[path] = content
		}
		return true
	}
	if !answer.OK {
		return false
	}
	switch args.Action {
	case "create_rule":
		c.files["manifest.json"] = answer.Data.Manifest
	case "submit_rule":
		c.submitted = true
	default:
		c.open = args.Action
	}
	return true
}

// noteEdit tells success by the editor's sentences.
func (c *conversation) noteEdit(call function, text string) bool {
	var args editorArgs
	if decode([]byte(call.Arguments), &args) != nil {
		return false
	}
	path := strings.TrimPrefix(args.Path, root)
	switch {
	case args.Command == "create" && args.FileText != nil && strings.HasPrefix(text, "New file created successfully"):
		c.files[path] = *args.FileText
	case args.Command == "str_replace" && args.NewStr != nil && strings.Contains(text, "has been edited successfully"):
		c.files[path] = *args.NewStr
	default:
		return false
	}
	return true
}
