package emit

import (
	"fmt"
	"strings"

	"signalbox/maintenance/author/lang"
	"signalbox/maintenance/author/synth"
)

// trigger returns the text of trigger.star.
func (r Rule) trigger() string {
	var body strings.Builder
	body.WriteString("def trigger(task):\n")
	if len(r.Template.Slots) == 0 {
		body.WriteString("    if task.instruction != INSTRUCTION:\n        return no_match(\"another instruction\")\n")
	} else {
		body.WriteString("    found = re.full(INSTRUCTION, task.instruction)\n    if found == None:\n        return no_match(\"another instruction\")\n")
	}
	if r.Table != nil {
		r.tableTrigger(&body)
		return r.heading("Which tasks these are: those with a table.") + libraryOfTables(body.String()) + r.instruction() + body.String()
	}
	r.writeInput(&body)
	r.writeGuard(&body)
	body.WriteString("    return match({\"columns\": c})\n")
	head := r.heading("Which tasks these are, and the texts in them.") + loads(body.String()) + constants(body.String())
	return head + r.instruction() + r.kinds() + body.String()
}

func (r Rule) heading(what string) string {
	return "# " + what + "\n# Family: " + strings.Join(strings.Fields(string(r.Family)), " ") + "\n\n"
}

func (r Rule) instruction() string {
	if len(r.Template.Slots) == 0 {
		return "INSTRUCTION = " + lang.Quote(r.Template.Fixed[0]) + "\n\n"
	}
	pattern := strings.TrimSuffix(strings.TrimPrefix(r.Template.Pattern(), `\A(?:`), `)\z`)
	return "# The groups are the parts that vary.\nINSTRUCTION = " + lang.Quote(pattern) + "\n\n"
}

func (r Rule) writeInput(body *strings.Builder) {
	if r.Input == nil {
		body.WriteString("    if task.has_input:\n        return no_match(\"an input, where none is expected\")\n")
	} else {
		body.WriteString("    x = task.input\n")
		checks := append([]string{"task.has_input"}, r.Input.Checks("x")...)
		fmt.Fprintf(body, "    if not (%s):\n        return no_match(\"an input of another form\")\n", strings.Join(checks, " and "))
	}
	body.WriteString("    c = [\n")
	for _, column := range r.columns() {
		fmt.Fprintf(body, "        %s,  # %s\n", column.expr, strings.Join(strings.Fields(column.name), " "))
	}
	body.WriteString("    ]\n")
}

// kinds returns the constants that say which texts there is evidence for.
func (r Rule) kinds() string {
	var out strings.Builder
	out.WriteString("# The kinds of characters that the examples have, column by column.\nKINDS = [\n")
	for i := range r.Guard.Kinds {
		fmt.Fprintf(&out, "    r\"%s\",\n", r.Guard.Pattern(i))
	}
	out.WriteString("]\n\n")
	out.WriteString(r.always())
	if r.Guard.Shapes == nil {
		return out.String()
	}
	out.WriteString("# The shapes of the examples: there are too few to trust another.\nSHAPES = [\n")
	for _, shapes := range r.Guard.Shapes {
		var quoted []string
		for _, shape := range shapes {
			quoted = append(quoted, lang.Quote(shape))
		}
		fmt.Fprintf(&out, "    [%s],\n", strings.Join(quoted, ", "))
	}
	out.WriteString("]\n\n")
	return out.String()
}

// always returns the constant that says what every example has.
func (r Rule) always() string {
	if strings.Join(r.Guard.Always, "") == "" {
		return ""
	}
	var out strings.Builder
	out.WriteString("# What every example has, column by column.\nALWAYS = [\n")
	for _, kinds := range r.Guard.Always {
		var quoted []string
		for _, kind := range kinds {
			quoted = append(quoted, "r\"["+synth.KindPattern(kind)+"]\"")
		}
		fmt.Fprintf(&out, "    [%s],\n", strings.Join(quoted, ", "))
	}
	out.WriteString("]\n\n")
	return out.String()
}

func (r Rule) writeGuard(body *strings.Builder) {
	refuse := "abstain"
	if r.Shared {
		refuse = "no_match"
	}
	body.WriteString("    for i, s in enumerate(c):\n")
	fmt.Fprintf(body, "        if re.full(KINDS[i], s) == None:\n            return %s(\"column %%d has characters that no example has\" %% (i + 1))\n", refuse)
	if r.always() != "" {
		fmt.Fprintf(body, "        for kind in ALWAYS[i]:\n            if re.find(kind, s) == None:\n                return %s(\"column %%d lacks what every example has\" %% (i + 1))\n", refuse)
	}
	if r.Guard.Shapes != nil {
		fmt.Fprintf(body, "        if shape(s) not in SHAPES[i]:\n            return %s(\"column %%d has a shape that no example has: certify one like it\" %% (i + 1))\n", refuse)
	}
	for _, p := range r.Guard.Must {
		fmt.Fprintf(body, "    if not (%s):\n        return %s(\"like a case that must fall back\")\n", p.Star(), refuse)
	}
}
