package emit

import (
	"fmt"
	"strings"

	"signalbox/maintenance/author/lang"
	"signalbox/maintenance/author/synth"
)

// Edit says that the rule changes one line of one file: the only line with a
// key, as "key: value" or "key = value". Path and key are fixed, or they are
// the args' column of that number. The tree's first column is the old line, its
// text the new one; Line is the guard of old lines.
type Edit struct {
	Path, Key             string
	PathColumn, KeyColumn int // -1: fixed
	Line                  synth.Guard
}

// KeyPattern is the form of a line with a key, which is its group.
const KeyPattern = `\s*(?:- )?["']?([\p{L}0-9_.-]+)["']?\s*[:=](?:[^:=].*)?`

// edit returns the program of a rule that changes a line.
func (w *writer) edit() string {
	e := w.rule.Edit
	tree := w.branch(w.rule.Tree, "    ")
	var b strings.Builder
	b.WriteString("# A line with a key.\nKEYED = r\"\"\"" + KeyPattern + "\"\"\"\n\n")
	b.WriteString(Rule{Guard: e.Line}.kinds())
	b.WriteString(w.leaves.String())
	b.WriteString("# The new line, and why there is none.\ndef new_line(c):\n" + tree + "\n")
	b.WriteString("def has_key(line, key):\n    found = re.full(KEYED, line)\n    return found != None and found[1] == key\n\n")
	fmt.Fprintf(&b, "def execute(task, args):\n    given = args[\"columns\"]\n    path, key = %s, %s\n", fixedOr(e.Path, e.PathColumn), fixedOr(e.Key, e.KeyColumn))
	b.WriteString("    if path not in testbed.glob(\"**\"):\n        return abstain(\"there is no such file\")\n")
	b.WriteString("    lines = testbed.read(path).split(\"\\n\")\n    places = [i for i, line in enumerate(lines) if has_key(line, key)]\n")
	b.WriteString("    if len(places) != 1:\n        return abstain(\"%d lines have the key, want one\" % len(places))\n    at = places[0]\n")
	var guard strings.Builder
	Rule{Guard: e.Line}.writeGuard(&guard)
	b.WriteString(strings.Replace(guard.String(), "enumerate(c)", "enumerate([lines[at]])", 1))
	b.WriteString("    line, note = new_line([lines[at]] + given)\n    if line == None:\n        return abstain(note)\n")
	b.WriteString("    return result(files = {path: \"\\n\".join(lines[:at] + [line] + lines[at + 1:])})\n")
	return b.String()
}

func fixedOr(text string, column int) string {
	if column < 0 {
		return lang.Quote(text)
	}
	return fmt.Sprintf("given[%d]", column)
}
