package emit

import (
	"fmt"
	"strings"

	"signalbox/maintenance/author/lang"
	"signalbox/maintenance/author/synth"
)

// executor returns the text of execute.star.
func (r Rule) executor() string {
	if r.Table != nil {
		body := r.tableExecutor()
		return r.heading("The table, where every reading of the examples gives the same.") + libraryOfTables(body) + body
	}
	w := &writer{rule: r}
	var body string
	if r.Edit == nil {
		tree := w.branch(r.Tree, "    ")
		body = w.leaves.String() + "def execute(task, args):\n    c = args[\"columns\"]\n" + tree
	} else {
		body = w.edit()
	}
	return r.heading("The answer, where every reading of the examples gives the same.") + r.questions() + loads(body) + constants(body) + body
}

// questions returns a comment that says which examples to certify next.
func (r Rule) questions() string {
	if len(r.Questions) == 0 {
		return ""
	}
	out := "# An example like one of these, certified, would decide what is open now:\n"
	for _, question := range r.Questions {
		out += "#   " + strings.Join(strings.Fields(question), " ") + "\n"
	}
	return out + "\n"
}

// writer writes a tree: its leaves as functions, its branches as conditions.
type writer struct {
	rule     Rule
	leaves   strings.Builder
	kinds    int
	branches int
}

// branch returns the statements that answer for a tree.
func (w *writer) branch(t *synth.Tree, indent string) string {
	if t.Leaf != nil {
		w.kinds++
		name := fmt.Sprintf("kind_%d", w.kinds)
		w.leaf(name, t.Leaf)
		return indent + "return " + name + "(c)\n"
	}
	w.branches++
	name := fmt.Sprintf("first_kind_%d", w.branches)
	var tests []string
	for _, p := range t.Predicates {
		tests = append(tests, indent+"    "+p.Star()+",\n")
	}
	out := fmt.Sprintf("%s%s = sure([\n%s%s])\n", indent, name, strings.Join(tests, ""), indent)
	out += fmt.Sprintf("%sif %s == None:\n%s    return %s\n", indent, name, indent, w.abstain(`"the ways to tell the kinds of input apart disagree"`))
	out += fmt.Sprintf("%sif %s:\n", indent, name) + w.branch(t.Yes, indent+"    ")
	return out + w.branch(t.No, indent)
}

// abstain returns the expression that gives no answer. In an edit the tree only
// gives a line, or None and why.
func (w *writer) abstain(note string) string {
	if w.rule.Edit != nil {
		return "None, " + note
	}
	return "abstain(" + note + ")"
}

// leaf writes the function of one kind of input.
func (w *writer) leaf(name string, l *synth.Leaf) {
	fmt.Fprintf(&w.leaves, "# From %d examples: %s.\n", l.Support, examples(l.Cases))
	fmt.Fprintf(&w.leaves, "# %d of them were foretold before they were shown.\n", l.Foretold)
	fmt.Fprintf(&w.leaves, "def %s(c):\n    t, note = gather([\n", name)
	for _, element := range l.Elements {
		w.leaves.WriteString("        settle([\n")
		for _, reading := range element.Readings {
			w.leaves.WriteString("            [\n")
			for _, part := range reading.Parts {
				w.part(part)
			}
			w.leaves.WriteString("            ],\n")
		}
		if element.Empty {
			w.leaves.WriteString("        ], empty = True),\n")
		} else {
			w.leaves.WriteString("        ]),\n")
		}
	}
	fmt.Fprintf(&w.leaves, "    ])\n    if t == None:\n        return %s\n", w.abstain("note"))
	if w.rule.Edit != nil {
		w.leaves.WriteString("    return t[0], \"\"\n\n")
		return
	}
	node := w.rule.Outputs[l.Form]
	for _, i := range node.Scalars() {
		fmt.Fprintf(&w.leaves, "    if not scalar(t[%d]):\n        return abstain(\"no plain number\")\n", i)
	}
	fmt.Fprintf(&w.leaves, "    return result(output = %s)\n\n", node.Build())
}

func (w *writer) part(p synth.Part) {
	const indent = "                "
	if p.Exprs == nil {
		w.leaves.WriteString(indent + lang.Quote(p.Const) + ",\n")
		return
	}
	if len(p.Exprs) == 1 {
		w.leaves.WriteString(indent + "[" + p.Exprs[0].Star() + "],\n")
		return
	}
	w.leaves.WriteString(indent + "[\n")
	for _, e := range p.Exprs {
		w.leaves.WriteString(indent + "    " + e.Star() + ",\n")
	}
	w.leaves.WriteString(indent + "],\n")
}

// maxNamed is how many examples a comment names.
const maxNamed = 4

func examples(ids []string) string {
	text := strings.Join(strings.Fields(strings.Join(ids[:min(len(ids), maxNamed)], ", ")), " ")
	if len(ids) > maxNamed {
		text += ", …"
	}
	return text
}
