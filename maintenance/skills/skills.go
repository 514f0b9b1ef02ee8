// Package skills holds the short guides that an author can read while it writes
// a rule: one for each action of the rule tool, and a few on subjects. They are
// markdown files that ship inside the program. The starlark and modules guides
// are the text of the kernel's own DIALECT.md, and a test keeps them so; another
// runs the programs that the guides show.
package skills

import (
	"embed"
	"slices"
	"strings"
)

//go:embed *.md
var files embed.FS

// subjects are the guides that belong to no single action.
var subjects = []string{"contract", "starlark", "modules", "triggers"}

// grouped names the guide of each action that shares one with others.
var grouped = map[string]string{
	"list_rules":         "browsing",
	"find_similar_rules": "browsing",
	"inspect_rule":       "browsing",
	"activate_rule":      "requests",
	"disable_rule":       "requests",
	"rollback_rule":      "requests",
	"split_rule":         "requests",
	"merge_rules":        "requests",
}

// actions are the actions of the rule tool, in its own order.
var actions = []string{
	"list_rules", "find_similar_rules", "inspect_rule", "create_rule", "edit_trigger", "edit_executor",
	"edit_contract", "add_tests", "submit_rule", "validate_rule", "profile_rule", "check_conflicts",
	"diagnose_rule", "activate_rule", "disable_rule", "rollback_rule", "split_rule", "merge_rules",
}

// Names returns every name that Guide knows.
func Names() []string { return slices.Concat(actions, subjects) }

// Guide returns the guide of an action or a subject as markdown.
func Guide(name string) (string, bool) {
	if !slices.Contains(actions, name) && !slices.Contains(subjects, name) {
		return "", false
	}
	file := name
	if group, ok := grouped[name]; ok {
		file = group
	}
	text, err := files.ReadFile(file + ".md")
	if err != nil {
		return "", false
	}
	return strings.TrimSpace(string(text)) + "\n", true
}
