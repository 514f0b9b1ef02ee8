package author

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Limits of one conversation.
const (
	maxSubmits = 4
	maxMishaps = 2
)

// part is a part of the draft: the action that opens it and its files.
type part struct {
	action string
	holds  func(path string) bool
}

// parts are in the order in which they are written. Helper files go with the
// executor.
var parts = []part{
	{"edit_contract", func(path string) bool { return path == "manifest.json" }},
	{"edit_trigger", func(path string) bool { return path == "trigger.star" }},
	{"edit_executor", func(path string) bool { return strings.HasSuffix(path, ".star") && path != "trigger.star" }},
}

// next returns what the author does now.
func (h *Handler) next(c *conversation) reply {
	switch {
	case c.submitted:
		return reply{text: "The rule passed the check."}
	case len(c.mishaps) > maxMishaps:
		return reply{text: "Giving up: a tool didn't do what it was asked for: " + c.mishaps[len(c.mishaps)-1]}
	}
	study := h.studies.of(c.brief, c.refusals)
	if study.err != nil {
		return reply{text: c.giveUp(study.err.Error())}
	}
	manifest, created := c.files["manifest.json"]
	if !created {
		return call(ruleTool, ruleArgs{Action: "create_rule", Data: map[string]any{}})
	}
	wanted, err := study.files(manifest)
	if err != nil {
		return reply{text: c.giveUp(err.Error())}
	}
	if step, ok := c.edit(wanted); ok {
		return step
	}
	return c.submit(study.rule.Questions)
}

// edit returns the next step towards the wanted files, and false where they all
// stand.
func (c *conversation) edit(wanted map[string]string) (reply, bool) {
	for _, p := range parts {
		for _, path := range slices.Sorted(maps.Keys(wanted)) {
			content := wanted[path]
			if !p.holds(path) || c.files[path] == content {
				continue
			}
			if c.open != p.action {
				return call(ruleTool, ruleArgs{Action: p.action, Data: map[string]any{}}), true
			}
			return c.write(path, content), true
		}
	}
	return reply{}, false
}

// write makes a file hold the content. One that was there before is read first:
// its text has to be named to be replaced.
func (c *conversation) write(path, content string) reply {
	if seen, before := c.unseen[path]; before {
		view := editorArgs{Command: "view", Path: root + path}
		if n := strings.Count(seen, "\n"); n > 0 {
			view.Range = []int{n + 1, -1}
		}
		return call(editorTool, view)
	}
	if old, exists := c.files[path]; exists && old == "" {
		return call(editorTool, editorArgs{Command: "insert", Path: root + path, Line: new(int), NewStr: &content})
	} else if exists {
		return call(editorTool, editorArgs{Command: "str_replace", Path: root + path, OldStr: &old, NewStr: &content})
	}
	return call(editorTool, editorArgs{Command: "create", Path: root + path, FileText: &content})
}

// submit submits what stands, unless that was refused already. open are the
// questions that the rule leaves.
func (c *conversation) submit(open []string) reply {
	switch {
	case c.tried != nil && maps.Equal(c.tried, c.files):
		return reply{text: c.giveUp("the check refused the rule, and what it showed leads to the same rule again" + wanted(open))}
	case len(c.refusals) >= maxSubmits:
		return reply{text: c.giveUp(fmt.Sprintf("the check refused %d versions", maxSubmits) + wanted(open))}
	}
	return call(ruleTool, ruleArgs{Action: "submit_rule", Data: map[string]any{}})
}

// wanted names the next examples to certify.
func wanted(open []string) string {
	if len(open) == 0 {
		return ""
	}
	return "; one more example like " + strings.Join(open, ", or ") + " would decide"
}

func call(tool string, args any) reply { return reply{tool: tool, args: args} }

// giveUp says why there is no rule, with the last refusal.
func (c *conversation) giveUp(why string) string {
	text := "Giving up: " + why + "."
	if len(c.refusals) == 0 {
		return text
	}
	last := c.refusals[len(c.refusals)-1]
	if last.Message != "" {
		text += " The last refusal: " + last.Message
	}
	for _, kind := range slices.Sorted(maps.Keys(last.Data.Hidden)) {
		text += fmt.Sprintf(" Hidden cases, %s: %d.", kind, last.Data.Hidden[kind])
	}
	return text
}
