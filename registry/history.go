package registry

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"

	"signalbox/rule"
)

// MaxLineBytes bounds one line of a history file.
const MaxLineBytes = 8 << 20

// Line is one line of a history file. Reason is "" where Case can be taken, and
// otherwise says why it can't. Number counts from 1.
type Line struct {
	Number int
	Case   rule.Case
	Reason string
}

// wireLine is a history line as it is written in a file.
type wireLine struct {
	ID       string        `json:"id"`
	Family   rule.Family   `json:"family"`
	Task     rule.Task     `json:"task"`
	Outcome  wireOutcome   `json:"outcome"`
	Args     rule.Value    `json:"args,omitzero"`
	Source   string        `json:"source,omitzero"`
	Baseline rule.Baseline `json:"baseline,omitzero"`
}

type wireOutcome struct {
	Output   rule.Value         `json:"output,omitzero"`
	Files    map[string]*string `json:"files,omitzero"`
	Fallback bool               `json:"fallback,omitzero"`
}

// ParseHistory reads JSON Lines history. Every line that isn't blank is returned
// in order; what is JSON but can't be a case has its Reason. A line that isn't
// JSON at all is an error that names it, and then there are no lines: the file is
// broken, and nothing of it can be trusted.
func ParseHistory(r io.Reader) ([]Line, error) {
	reader := bufio.NewReaderSize(r, 64<<10)
	var lines []Line
	for number := 1; ; number++ {
		text, tooLong, err := readLine(reader)
		if err != nil && err != io.EOF {
			return nil, fmt.Errorf("reading history, line %d: %w", number, err)
		}
		if tooLong {
			lines = append(lines, Line{Number: number, Reason: fmt.Sprintf("longer than %d bytes", MaxLineBytes)})
		} else if text = bytes.TrimSpace(text); len(text) > 0 {
			line, broken := parseLine(number, text)
			if broken != nil {
				return nil, fmt.Errorf("reading history, line %d: %w", number, broken)
			}
			lines = append(lines, line)
		}
		if err == io.EOF {
			return lines, nil
		}
	}
}

// readLine returns the next line. One over the limit is read to its end and not
// kept.
func readLine(reader *bufio.Reader) (text []byte, tooLong bool, err error) {
	for {
		part, err := reader.ReadSlice('\n')
		if !tooLong {
			text = append(text, part...)
		}
		if len(text) > MaxLineBytes {
			text, tooLong = nil, true
		}
		if err != bufio.ErrBufferFull {
			return text, tooLong, err
		}
	}
}

// parseLine decodes one line. broken says that it isn't JSON at all.
func parseLine(number int, text []byte) (line Line, broken error) {
	line.Number = number
	var wire wireLine
	if err := rule.Decode(text, &wire); err != nil {
		if notJSON(text) {
			return Line{}, err
		}
		line.Case.ID = wire.ID
		line.Reason = err.Error()
		return line, nil
	}
	line.Case = wire.toCase()
	if err := checkLine(line.Case); err != nil {
		line.Reason = err.Error()
	}
	return line, nil
}

// notJSON tells text that is no JSON from JSON that isn't a history line. A name
// that stands twice is the latter.
func notJSON(text []byte) bool {
	return !jsontext.Value(text).IsValid(jsontext.AllowDuplicateNames(true))
}

func (w wireLine) toCase() rule.Case {
	return rule.Case{
		ID: w.ID, Family: w.Family, Task: w.Task,
		Outcome:  rule.Outcome{Output: w.Outcome.Output, Files: w.Outcome.Files},
		Fallback: w.Outcome.Fallback, Args: w.Args, Source: w.Source, Baseline: w.Baseline,
	}
}

const (
	maxSource     = 500
	maxBaseline   = 1 << 50
	maxBaselineMS = 1 << 40
)

// checkLine returns the first reason why a line can't become a case.
func checkLine(c rule.Case) error {
	if err := c.Check(); err != nil {
		return err
	}
	for _, r := range c.ID {
		if !unicode.IsPrint(r) {
			return fmt.Errorf("case id %q: only printable characters are allowed", c.ID)
		}
	}
	b := c.Baseline
	switch {
	case c.Args.Present() && c.Fallback:
		return fmt.Errorf("case %q: both args and fallback", c.ID)
	case c.Args.Present() && c.Args[0] != '{':
		return fmt.Errorf("case %q: args are an object", c.ID)
	case len(c.Source) > maxSource:
		return fmt.Errorf("case %q: source is longer than %d bytes", c.ID, maxSource)
	case b.USD < 0 || b.USD > maxBaseline || b.Tokens < 0 || b.Tokens > maxBaseline || b.Millis < 0 || b.Millis > maxBaselineMS:
		return fmt.Errorf("case %q: baseline is negative or beyond all measure", c.ID)
	}
	return nil
}
