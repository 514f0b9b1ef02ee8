package oracle

import (
	"iter"

	"signalbox/rule"
)

// maxWrapped bounds inputs that are copied into a probe, in bytes. Larger ones
// are probed with the types that need no copy.
const maxWrapped = 16 << 10

// otherInputs yields inputs of other JSON types than the given one, as near to
// it as they can be, each with a name. A task without input gets one.
func otherInputs(input rule.Value) iter.Seq2[string, rule.Value] {
	return func(yield func(string, rule.Value) bool) {
		for _, other := range othersOf(input) {
			if other.value != input && !yield(other.name, other.value) {
				return
			}
		}
	}
}

type namedValue struct {
	name  string
	value rule.Value
}

func othersOf(input rule.Value) []namedValue {
	if !input.Present() {
		return []namedValue{{"an input", `"src"`}, {"null", "null"}}
	}
	others := []namedValue{{"no input", ""}, {"null", "null"}}
	if len(input) > maxWrapped {
		return append(others, namedValue{"a number", "0"})
	}
	switch input[0] {
	case '"':
		return append(others, namedValue{"in a list", "[" + input + "]"}, bare(input))
	case '[':
		return append(others, namedValue{"in an object", `{"value":` + input + "}"}, quoted(input))
	}
	return append(others, namedValue{"in a list", "[" + input + "]"}, quoted(input))
}

// bare returns a string's own text as JSON where it is some, and a number where
// it isn't.
func bare(input rule.Value) namedValue {
	var text string
	if err := input.Decode(&text); err == nil {
		value, err := rule.ParseValue([]byte(text))
		if err == nil && value[0] != '"' {
			return namedValue{"without its quotes", value}
		}
	}
	return namedValue{"a number", "0"}
}

// quoted returns the value's JSON as a string.
func quoted(input rule.Value) namedValue {
	value, err := rule.ValueOf(string(input))
	if err != nil {
		return namedValue{"a string", `""`}
	}
	return namedValue{"as a string", value}
}
