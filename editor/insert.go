package editor

// insert puts new_str, as whole lines, after a line of the file.
func (e *Editor) insert(c call, where location) (string, *Change, error) {
	return e.edit(c.session, where, func(body []byte) (edit, error) {
		lines := splitLines(body)
		n := *c.InsertLine
		if n < 0 || n > len(lines) {
			return edit{}, refuse("bad_line", "Invalid `insert_line` parameter: %d. It should be within the range of lines of the file: [0, %d]", n, len(lines))
		}
		return insertion(body, lines, n, *c.NewStr), nil
	})
}

// insertion returns the edit that puts text after line n. A last line without
// an ending gets one first.
func insertion(body []byte, lines []line, n int, text string) edit {
	offset, ending := 0, endingNear(body, 0)
	if n > 0 {
		offset, ending = lines[n-1].next, endingNear(body, lines[n-1].start)
	}
	added := adopt(text+"\n", nil, ending)
	if n > 0 && lines[n-1].end == lines[n-1].next {
		added = append([]byte(ending), added...)
	}
	return edit{start: offset, end: offset, text: added}
}
