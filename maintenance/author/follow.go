package author

import (
	"fmt"
	"regexp"
	"strconv"
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
	Line     *int    `json:"insert_line,omitzero"`
	Range    []int   `json:"view_range,omitzero"`
}

// toolReply is the JSON that the rule tool answers with.
type toolReply struct {
	OK      bool   `json:"ok"`
	Code    string `json:"code"`
	Message string `json:"message"`
	Data    struct {
		Manifest  string         `json:"manifest"`
		Files     []string       `json:"files"`
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
	unseen    map[string]string // files that were there before, with what was seen of them
	open      string            // the edit_… action that was granted last
	submitted bool
	refusals  []toolReply
	tried     map[string]string // what the files held at the last refusal
	mishaps   []string          // replies that were no success, since the last success
}

// follow reads the messages: the brief, and every tool call with its reply.
func follow(messages []message) (*conversation, error) {
	c := &conversation{files: map[string]string{}, unseen: map[string]string{}}
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
		for _, path := range answer.Data.Files {
			if strings.HasSuffix(path, ".star") {
				c.unseen[path] = ""
			}
		}
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
	case args.Command == "view":
		return c.noteView(path, text)
	case args.Command == "create" && args.FileText != nil && strings.HasPrefix(text, "New file created successfully"):
		c.files[path] = *args.FileText
	case args.Command != "create" && args.NewStr != nil && strings.Contains(text, "has been edited successfully"):
		c.files[path] = *args.NewStr
	default:
		return false
	}
	return true
}

var viewed = regexp.MustCompile(`(?m)^ *([0-9]+)  (.*)$`)
var total = regexp.MustCompile(`which has a total of ([0-9]+) lines`)

// noteView takes the lines of a file that was there before. When the last one
// was seen, the file's text is known.
func (c *conversation) noteView(path, text string) bool {
	count := total.FindStringSubmatch(text)
	if count == nil {
		return false
	}
	before := strings.Count(c.unseen[path], "\n")
	seen := before
	for _, m := range viewed.FindAllStringSubmatch(text, -1) {
		if m[1] == strconv.Itoa(seen+1) {
			c.unseen[path] += m[2] + "\n"
			seen++
		}
	}
	if strconv.Itoa(seen) == count[1] {
		c.files[path] = c.unseen[path]
		if strings.Contains(text, "NOTE: no newline at end of file.") {
			c.files[path] = strings.TrimSuffix(c.files[path], "\n")
		}
		delete(c.unseen, path)
	}
	return seen > before
}
