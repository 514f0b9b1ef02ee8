package emit

import (
	"fmt"
	"strings"

	"signalbox/maintenance/author/lang"
	"signalbox/maintenance/author/table"
	"signalbox/rule"
)

// tableSchema is that of a list of rows of texts.
func tableSchema() rule.Schema {
	text := rule.Schema{Type: "string"}
	return rule.Schema{Type: "array", Items: &rule.Schema{Type: "array", Items: &text}}
}

// tableArgs is the schema of the args of a rule over tables.
func tableArgs() rule.Schema {
	no := false
	return rule.Schema{Type: "object", Required: []string{"table"}, AdditionalProperties: &no, Properties: map[string]rule.Schema{"table": tableSchema()}}
}

// tableTrigger returns the trigger's statements after the instruction was read.
func (r Rule) tableTrigger(body *strings.Builder) {
	refuse := "abstain"
	if r.Shared {
		refuse = "no_match"
	}
	body.WriteString("    x = task.input\n    if not (task.has_input and is_table(x)):\n        return no_match(\"no table\")\n")
	fmt.Fprintf(body, "    for row in x:\n        if len(row) not in [%s]:\n            return %s(\"no example has a row of %%d cells\" %% len(row))\n", numbers(r.Table.Widths), refuse)
	body.WriteString("    return match({\"table\": x})\n")
}

// tableExecutor returns the program of a rule over tables.
func (r Rule) tableExecutor() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# From %d examples, %d of them foretold: all of these programs are right on all of them.\n", r.Table.Support, r.Table.Foretold)
	var calls []string
	for i, program := range r.Table.Programs {
		fmt.Fprintf(&b, "def reading_%d(t):\n", i+1)
		for _, step := range program {
			b.WriteString("    t = " + step.Star() + "\n")
		}
		b.WriteString("    return t\n\n")
		calls = append(calls, fmt.Sprintf("reading_%d(x)", i+1))
	}
	b.WriteString("def execute(task, args):\n    x = args[\"table\"]\n")
	fmt.Fprintf(&b, "    t, note = agreed([%s])\n    if t == None:\n        return abstain(note)\n    return result(output = t)\n", strings.Join(calls, ", "))
	return b.String()
}

func numbers(list []int) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(list), " ", ", "), "[]")
}

// libraryOfTables loads what the text calls of the library of tables.
func libraryOfTables(text string) string {
	names := called(text, lang.Definitions(table.Library))
	if names == "" {
		return ""
	}
	return fmt.Sprintf("load(%q, %s)\n\n", table.LibraryFile, names)
}
