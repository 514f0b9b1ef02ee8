package editor

import (
	"bytes"
	"unicode/utf8"
)

const bom = "\ufeff"

// document is a file's text: its byte order mark, which no command sees, and
// the rest.
type document struct {
	mark string
	body []byte
}

// parseText returns the document, or what forbids to treat data as text.
func parseText(data []byte) (document, error) {
	if !utf8.Valid(data) {
		return document{}, errNotUTF8
	}
	if bytes.IndexByte(data, 0) >= 0 {
		return document{}, errNUL
	}
	if bytes.HasPrefix(data, []byte(bom)) {
		return document{mark: bom, body: data[len(bom):]}, nil
	}
	return document{body: data}, nil
}

func (d document) bytes() []byte { return append([]byte(d.mark), d.body...) }

// line is a line of a body: its text is body[start:end], and the next one
// begins at next. The bytes between end and next are its line ending.
type line struct{ start, end, next int }

// splitLines returns the lines of a body. Only "\n" and "\r\n" end a line, and
// what follows the last one is a line only if there is something.
func splitLines(body []byte) []line {
	var lines []line
	for start := 0; start < len(body); {
		l := line{start: start, end: len(body), next: len(body)}
		if i := bytes.IndexByte(body[start:], '\n'); i >= 0 {
			l.end, l.next = start+i, start+i+1
			if i > 0 && body[l.end-1] == '\r' {
				l.end--
			}
		}
		lines = append(lines, l)
		start = l.next
	}
	return lines
}

// endings says which line endings a body has.
func endings(body []byte) (lf, crlf bool) {
	all, pairs := bytes.Count(body, []byte("\n")), bytes.Count(body, []byte("\r\n"))
	return all > pairs, pairs > 0
}

// endingNear returns the line ending of the text around an offset: of the line
// that it is in, else of the line before, else "\n".
func endingNear(body []byte, offset int) string {
	end := bytes.IndexByte(body[offset:], '\n')
	if end < 0 {
		end = bytes.LastIndexByte(body[:offset], '\n')
	} else {
		end += offset
	}
	return endingAt(body, end)
}

// endingAt returns the line ending whose "\n" is at an offset.
func endingAt(body []byte, newline int) string {
	if newline > 0 && body[newline-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// adopt returns text with each bare "\n" written as the line ending that stands
// at its place: the first as first[0], and so on, the rest as rest. A "\r\n"
// that is already there stays.
func adopt(text string, first []string, rest string) []byte {
	adopted := make([]byte, 0, len(text))
	for i, n := 0, 0; i < len(text); i++ {
		if text[i] != '\n' {
			adopted = append(adopted, text[i])
			continue
		}
		ending := rest
		if n < len(first) {
			ending = first[n]
		}
		if i > 0 && text[i-1] == '\r' {
			ending = "\n"
		}
		adopted = append(adopted, ending...)
		n++
	}
	return adopted
}

// lineOf returns the number of the line that an offset is in, from 1.
func lineOf(body []byte, offset int) int { return 1 + bytes.Count(body[:offset], []byte("\n")) }
