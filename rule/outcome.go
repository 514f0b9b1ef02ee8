package rule

import (
	"fmt"
	"maps"
	"unicode/utf8"
)

// Outcome is what doing a task gives: a value, changed files, or both. In Files
// a path maps to its new text, or to nil where the file is deleted.
type Outcome struct {
	Output Value              `json:"output,omitzero"`
	Files  map[string]*string `json:"files,omitzero"`
}

// Check returns the first reason why the outcome can't be taken.
func (o Outcome) Check() error {
	if !o.Output.Present() && o.Files == nil {
		return fmt.Errorf("outcome has neither output nor files")
	}
	if len(o.Output) > MaxValueBytes {
		return fmt.Errorf("output has %d bytes: the limit is %d", len(o.Output), MaxValueBytes)
	}
	written := Tree{}
	for p, text := range o.Files {
		if text == nil {
			written[p] = nil
			continue
		}
		if !utf8.ValidString(*text) {
			return fmt.Errorf("file %q of the outcome is not UTF-8", p)
		}
		written[p] = []byte(*text)
	}
	return written.CheckPublic()
}

// Equal says whether two outcomes are the same: canonical JSON, files byte for
// byte, and nothing else.
func (o Outcome) Equal(other Outcome) bool {
	return o.Output == other.Output && maps.EqualFunc(o.Files, other.Files, equalText)
}

func equalText(a, b *string) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}
