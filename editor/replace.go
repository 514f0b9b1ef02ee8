package editor

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Bounds of a search: how many matches are looked at, and how many line numbers
// an error names.
const (
	maxMatches    = 1_000
	maxMatchLines = 20
)

// replace puts new_str where old_str stands, if it stands in one place only.
func (e *Editor) replace(c call, where location) (string, *Change, error) {
	replacement := ""
	if c.NewStr != nil {
		replacement = *c.NewStr
	}
	return e.edit(c.session, where, func(body []byte) (edit, error) {
		found := search(body, *c.OldStr)
		switch {
		case *c.OldStr == replacement:
			return edit{}, noChange()
		case len(found) == 0:
			return edit{}, noMatch(where, body, *c.OldStr)
		case len(found) > 1:
			return edit{}, manyMatches(body, found, *c.OldStr)
		}
		m := found[0]
		return edit{start: m.start, end: m.end, text: adoptMatch(body, m, replacement)}, nil
	})
}

// edit replaces body[start:end] by text.
type edit struct {
	start, end int
	text       []byte
}

// edit reads a file, asks decide for the edit of its body, and makes it.
func (e *Editor) edit(session string, where location, decide func(body []byte) (edit, error)) (string, *Change, error) {
	f, err := e.tree.read(where, e.limits.FileBytes)
	if err != nil {
		return "", nil, err
	}
	defer f.close()
	text, err := parseText(f.data)
	if err != nil {
		return "", nil, err
	}
	made, err := decide(text.body)
	if err != nil {
		return "", nil, err
	}
	after := document{mark: text.mark, body: slices.Concat(text.body[:made.start], made.text, text.body[made.end:])}
	change, err := e.write(Change{Session: session, Path: where.rel, After: after.bytes()}, f)
	if err != nil {
		return "", nil, err
	}
	first := lineOf(after.body, made.start)
	return e.edited(where, change.After, first, first+bytes.Count(made.text, []byte("\n"))), change, nil
}

// write replaces the bytes of a file that was read by what the change says.
func (e *Editor) write(change Change, f *file) (*Change, error) {
	where := at(change.Path)
	change.Before, change.Mode = f.data, f.mode()
	if bytes.Equal(change.Before, change.After) {
		return nil, noChange()
	}
	if err := e.checkQuota(where, int64(len(change.Before)), int64(len(change.After)), false); err != nil {
		return nil, err
	}
	return e.commit(change, func(ready func() error) error { return e.tree.swap(where, f, change.After, ready) })
}

// match is where old_str stands in a body.
type match struct{ start, end int }

// search returns the matches of old in a body, overlapping ones included. A
// "\n" in old matches "\r\n" too, because that is how a view shows it; an old
// with a "\r\n" of its own is taken as it is.
func search(body []byte, old string) []match {
	if strings.Contains(old, "\r\n") {
		return slices.DeleteFunc(find(body, old), func(m match) bool { return splitsEnding(body, m) })
	}
	folded, removed := fold(body)
	found := find(folded, old)
	for i, m := range found {
		found[i] = match{start: unfold(removed, m.start), end: unfold(removed, m.end)}
	}
	return found
}

func find(body []byte, old string) []match {
	var found []match
	for from := 0; len(found) < maxMatches; {
		i := bytes.Index(body[from:], []byte(old))
		if i < 0 {
			break
		}
		found = append(found, match{start: from + i, end: from + i + len(old)})
		from += i + 1
	}
	return found
}

// splitsEnding says whether a match begins or ends within a "\r\n".
func splitsEnding(body []byte, m match) bool {
	within := func(i int) bool {
		return i > 0 && i < len(body) && body[i-1] == '\r' && body[i] == '\n'
	}
	return within(m.start) || within(m.end)
}

// fold returns a body with "\r\n" written as "\n", and where in the result each
// such "\n" is.
func fold(body []byte) (folded []byte, removed []int) {
	if !bytes.Contains(body, []byte("\r\n")) {
		return body, nil
	}
	for i, c := range body {
		if c == '\r' && i+1 < len(body) && body[i+1] == '\n' {
			removed = append(removed, len(folded))
			continue
		}
		folded = append(folded, c)
	}
	return folded, removed
}

// unfold returns where in the body an offset of the folded one is; of a "\n"
// that stands for "\r\n" it is the place of the "\r".
func unfold(removed []int, offset int) int {
	before, _ := slices.BinarySearch(removed, offset)
	return offset + before
}

// adoptMatch gives the newlines of a replacement the line endings of the text
// that it replaces.
func adoptMatch(body []byte, m match, replacement string) []byte {
	var there []string
	for i := m.start; i < m.end; i++ {
		if body[i] == '\n' {
			there = append(there, endingAt(body, i))
		}
	}
	rest := endingNear(body, m.end)
	if len(there) > 0 {
		rest = there[len(there)-1]
	}
	return adopt(replacement, there, rest)
}

func noChange() error {
	return refuse("no_change", "No replacement was performed. `new_str` and `old_str` must be different.")
}

// linePrefix is the number that a view puts before a line.
var linePrefix = regexp.MustCompile(`(?m)^ *\d+(\t|  )`)

func noMatch(where location, body []byte, old string) error {
	text := fmt.Sprintf("No replacement was performed, old_str `%s` did not appear verbatim in %s.", shorten(old, maxShownText), where.shown)
	if bare := linePrefix.ReplaceAllString(old, ""); bare != old && bare != "" && len(search(body, bare)) > 0 {
		text += " Please give old_str without the line-number prefix."
	}
	return &refusal{code: "no_match", text: text}
}

func manyMatches(body []byte, found []match, old string) error {
	var lines []string
	last, counted := 0, 0
	number := 1
	for _, m := range found {
		number += bytes.Count(body[counted:m.start], []byte("\n"))
		counted = m.start
		if number == last {
			continue
		}
		if last = number; len(lines) == maxMatchLines {
			lines = append(lines, "…")
			break
		}
		lines = append(lines, strconv.Itoa(number))
	}
	return refuse("many_matches", "No replacement was performed. Multiple occurrences of old_str `%s` in lines [%s]. Please ensure it is unique",
		shorten(old, maxShownText), strings.Join(lines, ", "))
}
