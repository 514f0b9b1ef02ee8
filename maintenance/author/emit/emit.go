// Package emit writes a learned tree as a rule that a maintainer can read: a
// trigger that understands a task and hands its texts over as args, and an
// executor that works from the args alone.
//
// What the trigger and the executor do with an input is exactly what guard and
// tree do with it: tests run both. The package decides nothing; it asks no
// example and no conversation.
package emit

import (
	"fmt"
	"slices"
	"strings"

	"signalbox/maintenance/author/form"
	"signalbox/maintenance/author/lang"
	"signalbox/maintenance/author/prompt"
	"signalbox/maintenance/author/synth"
	"signalbox/maintenance/author/table"
	"signalbox/rule"
)

// Rule is what is to be written.
type Rule struct {
	Family   rule.Family
	Template prompt.Template
	Input    *form.Node            // nil where the tasks have no input
	Outputs  map[string]*form.Node // by skeleton
	Guard    synth.Guard
	Tree     *synth.Tree
	Edit     *Edit        // nil where the rule gives an output
	Table    *table.Rules // nil where it isn't one over tables; then Input, Guard and Tree are not used
	// Questions are inputs that would settle what the readings leave open.
	Questions []string
	// Shared says that other families have tasks with this instruction: then an
	// unknown form of input isn't this rule's at all.
	Shared bool
}

// Files returns trigger.star, execute.star and the helper files that they load.
func (r Rule) Files() map[string]string {
	files := map[string]string{rule.TriggerFile: r.trigger(), rule.ExecutorFile: r.executor()}
	if r.Table != nil {
		files[table.LibraryFile] = table.Library
		return files
	}
	for _, library := range lang.Libraries() {
		for _, text := range []string{files[rule.TriggerFile], files[rule.ExecutorFile]} {
			if strings.Contains(text, "load(\""+library.File+"\"") {
				files[library.File] = library.Text
			}
		}
	}
	return files
}

// Guard returns the manifest's guard: what must be true of a task before the
// trigger is asked.
func (r Rule) ManifestGuard() rule.Guard {
	guard := rule.Guard{Equals: []string{r.Template.Fixed[0]}}
	if len(r.Template.Slots) > 0 {
		guard = rule.Guard{Pattern: r.Template.Pattern()}
	}
	if r.Table != nil {
		schema := tableSchema()
		guard.Input = &schema
		return guard
	}
	if r.Input == nil {
		guard.NoInput = true
		return guard
	}
	schema := r.Input.Schema()
	guard.Input = &schema
	return guard
}

// ArgsSchema returns the schema of the args.
func (r Rule) ArgsSchema() rule.Schema {
	if r.Table != nil {
		return tableArgs()
	}
	no, size := false, len(r.columns())
	text := rule.Schema{Type: "string"}
	return rule.Schema{Type: "object", Required: []string{"columns"}, AdditionalProperties: &no, Properties: map[string]rule.Schema{
		"columns": {Type: "array", Items: &text, MinItems: &size, MaxItems: &size},
	}}
}

// ResultSchema returns the schema of the outputs: that of the one skeleton, or
// any value where there are several.
func (r Rule) ResultSchema() rule.Schema {
	if r.Table != nil {
		return tableSchema()
	}
	if r.Edit != nil {
		return rule.Schema{} // an edit has no output to be judged
	}
	for _, node := range r.Outputs {
		if len(r.Outputs) == 1 {
			return node.Schema()
		}
	}
	return rule.Schema{}
}

// column is one text that the executor gets.
type column struct{ name, expr string }

// columns returns the input's texts and then the slots of the instruction.
func (r Rule) columns() (list []column) {
	if r.Input != nil {
		for _, leaf := range r.Input.Leaves("x") {
			name := "input"
			if leaf.Name != "" {
				name += " " + leaf.Name
			}
			list = append(list, column{name, leaf.Column()})
		}
	}
	for i, slot := range r.Template.Slots {
		expr := fmt.Sprintf("found[%d]", i+1)
		if slot.Quoted() {
			expr += "[1:-1]"
		}
		list = append(list, column{fmt.Sprintf("slot %d of the instruction, a %s", i+1, slot.Name), expr})
	}
	return list
}

// loads returns the load statements for the library's functions that the text
// calls.
func loads(text string) string {
	var out string
	for _, library := range lang.Libraries() {
		if names := called(text, library.Names); names != "" {
			out += fmt.Sprintf("load(%q, %s)\n", library.File, names)
		}
	}
	if out != "" {
		out += "\n"
	}
	return out
}

// called returns those of the names that the text calls, quoted.
func called(text string, names []string) string {
	var list []string
	for _, name := range names {
		if calls(text, name) {
			list = append(list, lang.Quote(name))
		}
	}
	return strings.Join(slices.Sorted(slices.Values(list)), ", ")
}

// calls says whether the text has the name followed by a parenthesis, and no
// letter, point or quote before it.
func calls(text, name string) bool {
	for at := 0; ; {
		next := strings.Index(text[at:], name+"(")
		if next < 0 {
			return false
		}
		at += next
		if at == 0 || !strings.ContainsAny(text[at-1:at], "abcdefghijklmnopqrstuvwxyz_.\"") {
			return true
		}
		at += len(name)
	}
}

func constants(text string) string {
	list := lang.Constants(text)
	if list == nil {
		return ""
	}
	return "# Kinds of tokens, and layouts of dates: a pattern and what its groups mean.\n" + strings.Join(list, "\n") + "\n\n"
}
