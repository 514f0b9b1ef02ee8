package editor

import (
	"slices"
	"strings"
)

// check holds the arguments against the command: what it needs is there, and
// what it doesn't read is absent or an empty filler.
func (c *call) check() error {
	present := map[string]bool{
		"file_text": c.FileText != nil, "old_str": c.OldStr != nil, "new_str": c.NewStr != nil,
		"insert_line": c.InsertLine != nil, "view_range": c.ViewRange != nil,
	}
	for _, name := range uses[c.Command] {
		optional := name == "view_range" || name == "new_str" && c.Command == "str_replace"
		if !present[name] && !optional {
			return required(name, c.Command)
		}
	}
	for _, name := range parameters {
		if !present[name] || slices.Contains(uses[c.Command], name) {
			continue
		}
		if !c.filler(name) {
			return refuse("unused_parameter", "Parameter `%s` is not used by command: %s", name, c.Command)
		}
		c.repaired = true
	}
	return c.checkTexts()
}

// filler says whether an unused parameter carries nothing.
func (c *call) filler(name string) bool {
	switch name {
	case "file_text":
		return *c.FileText == ""
	case "old_str":
		return *c.OldStr == ""
	case "new_str":
		return *c.NewStr == ""
	case "insert_line":
		return *c.InsertLine == 0
	}
	return len(c.ViewRange) == 0
}

func (c *call) checkTexts() error {
	if c.Command == "str_replace" && *c.OldStr == "" {
		return refuse("empty_parameter", "Parameter `old_str` is empty for command: str_replace")
	}
	for name, text := range map[string]*string{"file_text": c.FileText, "new_str": c.NewStr} {
		if text != nil && strings.ContainsRune(*text, 0) {
			return refuse("nul", "Parameter `%s` holds a NUL character, which no file may hold.", name)
		}
	}
	if n := len(c.ViewRange); n != 0 && n != 2 {
		return refuse("bad_range", "Invalid `view_range`. It should be a list of two integers.")
	}
	return nil
}
