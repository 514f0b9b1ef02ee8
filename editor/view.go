package editor

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// minResultChars is the smallest result length that an editor may be given:
// a heading, a notice and some text have to fit.
const minResultChars = 1_000

// span is a range of lines, from 1, both ends included. set says that a model
// asked for it; last is then shown as it was asked for.
type span struct {
	first, last int
	set         bool
	asked       int
}

// view shows a file, or lists a folder.
func (e *Editor) view(c call, where location) (string, error) {
	f, err := e.tree.read(where, e.limits.FileBytes)
	if errors.Is(err, unix.EISDIR) {
		if c.ViewRange != nil {
			return "", refuse("bad_range", "The `view_range` parameter is not allowed when `path` points to a directory.")
		}
		return e.list(where)
	}
	if err != nil {
		return "", err
	}
	defer f.close()
	if strings.HasSuffix(c.Path, "/") {
		return "", unix.ENOTDIR
	}
	text, err := parseText(f.data)
	if err != nil {
		return "", err
	}
	lines := splitLines(text.body)
	shown, err := rangeOf(c.ViewRange, len(lines))
	if err != nil {
		return "", err
	}
	return e.render("", where, text, lines, shown), nil
}

// rangeOf returns the lines that a view_range means in a file of n lines. An
// empty file has one line to show, an empty one.
func rangeOf(asked []int, n int) (span, error) {
	n = max(n, 1)
	if asked == nil {
		return span{first: 1, last: n}, nil
	}
	first, last := asked[0], asked[1]
	if first < 1 || first > n {
		return span{}, refuse("bad_range", "Invalid `view_range`: [%d, %d]. Its first element `%d` should be within the range of lines of the file: [1, %d]", first, last, first, n)
	}
	if last != -1 && last < first {
		return span{}, refuse("bad_range", "Invalid `view_range`: [%d, %d]. Its second element `%d` should be larger or equal than its first `%d`", first, last, last, first)
	}
	s := span{first: first, last: last, set: true, asked: last}
	if last == -1 || last > n {
		s.last = n
	}
	return s, nil
}

// render writes a sentence, if there is one, then the lines of a span with their
// true numbers, cut at the end of a line where the result would become too long.
func (e *Editor) render(sentence string, where location, text document, lines []line, s span) string {
	var b strings.Builder
	b.WriteString(sentence)
	b.WriteString(heading(where, text, len(lines), s))
	b.WriteString(notes(text, len(lines), s))
	final := ""
	if n := len(text.body); n > 0 && text.body[n-1] != '\n' && s.last == len(lines) {
		final = "NOTE: no newline at end of file.\n"
	}
	budget := e.limits.ResultChars - utf8.RuneCountInString(b.String())
	rows := numbered(text, lines, s)
	if fits(rows, budget-len(final)) {
		b.WriteString(strings.Join(rows, ""))
		b.WriteString(final)
		return b.String()
	}
	b.WriteString(clip(rows, s, budget))
	return b.String()
}

func heading(where location, text document, total int, s span) string {
	h := fmt.Sprintf("Here's the content of %s with line numbers (which has a total of %d lines)", where.shown, total)
	if s.set {
		h += fmt.Sprintf(" with view_range=[%d, %d]", s.first, s.asked)
	}
	switch lf, crlf := endings(text.body); {
	case lf && crlf:
		h += " (mixed line endings)"
	case crlf:
		h += " (CRLF line endings)"
	}
	return h + ":\n"
}

func notes(text document, total int, s span) string {
	var b strings.Builder
	if text.mark != "" {
		b.WriteString("NOTE: the file begins with a UTF-8 byte order mark, which is not shown and is kept.\n")
	}
	if s.set && s.asked > s.last {
		fmt.Fprintf(&b, "NOTE: We only show up to %d since there're only %d lines in this file.\n", s.last, total)
	}
	return b.String()
}

// numbered returns a row for each line of the span. A "\r" that ends no line is
// shown as an escape.
func numbered(text document, lines []line, s span) []string {
	if len(lines) == 0 {
		return []string{fmt.Sprintf("%6d  \n", 1)}
	}
	rows := make([]string, 0, s.last-s.first+1)
	for i, l := range lines[s.first-1 : s.last] {
		shown := strings.ReplaceAll(string(text.body[l.start:l.end]), "\r", `\r`)
		rows = append(rows, fmt.Sprintf("%6d  %s\n", s.first+i, shown))
	}
	return rows
}

func fits(rows []string, budget int) bool {
	for _, row := range rows {
		if budget -= utf8.RuneCountInString(row); budget < 0 {
			return false
		}
	}
	return true
}

// maxNotice is room for the notice that ends a clipped result, in characters.
const maxNotice = 400

// clip returns the rows that fit with a notice that says how to see the rest. A
// first row that is too long alone is cut between two characters.
func clip(rows []string, s span, budget int) string {
	budget = max(budget-maxNotice, 0)
	var b strings.Builder
	n := 0
	for ; n < len(rows) && fits(rows[n:n+1], budget); n++ {
		budget -= utf8.RuneCountInString(rows[n])
		b.WriteString(rows[n])
	}
	const notice = "<response clipped><NOTE>To save on context only part of this file has been shown to you."
	next := s.first + n
	end := s.last
	if !s.set || s.asked == -1 {
		end = -1
	}
	if n > 0 {
		fmt.Fprintf(&b, "%s You should retry this tool with view_range [%d, %d] to see the lines that follow.</NOTE>", notice, next, end)
		return b.String()
	}
	b.WriteString(string([]rune(rows[0])[:budget]))
	fmt.Fprintf(&b, "\n%s Line %d is too long to be shown whole.", notice, next)
	if next < s.last {
		fmt.Fprintf(&b, " You should retry this tool with view_range [%d, %d] to see the lines that follow.", next+1, end)
	}
	b.WriteString("</NOTE>")
	return b.String()
}

// context is how many lines around an edit its result shows.
const context = 4

// edited is the text of a successful edit: the sentence, then the lines from
// first to last of the new file with some around them.
func (e *Editor) edited(where location, data []byte, first, last int) string {
	sentence := fmt.Sprintf("The file %s has been edited successfully.", where.shown)
	text, err := parseText(data)
	if err != nil {
		return sentence
	}
	lines := splitLines(text.body)
	n := max(len(lines), 1)
	s := span{first: min(max(first-context, 1), n), last: min(last+context, n), set: true}
	s.asked = s.last
	return e.render(sentence+"\n", where, text, lines, s)
}
