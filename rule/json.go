package rule

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// MaxDepth is how deep a JSON document may nest. Deeper ones are refused
// before anything is built from them.
const MaxDepth = 64

// formatTags lets struct tags say format:nano, without which the library takes
// no time.Duration.
var formatTags = json.ExperimentalSupportFormatTag(true)

// Canonical returns v as canonical JSON (RFC 8785). Two values are the same
// exactly when their canonical bytes are; a number that the form would change
// is an error.
func Canonical(v any) ([]byte, error) {
	data, err := json.Marshal(v, json.Deterministic(true), formatTags)
	if err != nil {
		return nil, fmt.Errorf("writing JSON: %w", err)
	}
	if err := checkNumbers(data, keptNumber); err != nil {
		return nil, fmt.Errorf("writing canonical JSON: %w", err)
	}
	text := jsontext.Value(data)
	if err := text.Canonicalize(); err != nil {
		return nil, fmt.Errorf("writing canonical JSON: %w", err)
	}
	return text, nil
}

// Decode reads exactly one JSON document into v. Duplicate names, unknown
// names, names in another case, invalid UTF-8, lone surrogates, trailing data
// and nesting past MaxDepth are errors.
func Decode(data []byte, v any) error {
	if err := checkDepth(data); err != nil {
		return bounded(err)
	}
	return bounded(json.Unmarshal(data, v, json.RejectUnknownMembers(true), formatTags))
}

// maxErrorBytes bounds what an error quotes of a hostile document.
const maxErrorBytes = 500

// bounded returns err, or one that says the start of it: the library quotes
// names of any length.
func bounded(err error) error {
	if err == nil || len(err.Error()) <= maxErrorBytes {
		return err
	}
	return errors.New(cut(err.Error(), maxErrorBytes))
}

// checkDepth reads all tokens of data and refuses nesting past MaxDepth,
// malformed text and a second document.
func checkDepth(data []byte) error {
	decoder := jsontext.NewDecoder(bytes.NewReader(data))
	documents := 0
	for {
		if decoder.StackDepth() > MaxDepth {
			return fmt.Errorf("JSON nests deeper than %d", MaxDepth)
		}
		_, err := decoder.ReadToken()
		if err == io.EOF && documents == 1 {
			return nil
		}
		if err == io.EOF {
			return fmt.Errorf("want one JSON document, got %d", documents)
		}
		if err != nil {
			return err
		}
		if decoder.StackDepth() == 0 {
			documents++
		}
		if documents > 1 {
			return fmt.Errorf("data after the JSON document")
		}
	}
}
