package star

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"go.starlark.net/lib/math"
	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"

	"signalbox/rule"
)

// maxText bounds each text that a module function takes or gives, in bytes.
const maxText = rule.MaxFileBytes

// function is a builtin of ours.
type function = func(*starlark.Thread, *starlark.Builtin, starlark.Tuple, []starlark.Tuple) (starlark.Value, error)

// predeclared returns the names that a program finds: the answers, the modules,
// and testbed where there is one. Nothing in it can be changed by a program.
func predeclared(files *testbed) starlark.StringDict {
	names := starlark.StringDict{
		"json":    module("json", jsonFunctions),
		"math":    math.Module,
		"re":      module("re", newPatterns().functions()),
		"strings": module("strings", stringFunctions),
		"csv":     module("csv", csvFunctions),
		"hash":    module("hash", hashFunctions),
		"base64":  module("base64", base64Functions),
		"dates":   module("dates", dateFunctions),
	}
	for name, f := range answers {
		names[name] = starlark.NewBuiltin(name, f)
	}
	if files != nil {
		names["testbed"] = module("testbed", files.functions())
	}
	return names
}

func module(name string, functions map[string]function) *starlarkstruct.Module {
	members := make(starlark.StringDict, len(functions))
	for short, f := range functions {
		members[short] = starlark.NewBuiltin(name+"."+short, f)
	}
	return &starlarkstruct.Module{Name: name, Members: members}
}

// charge makes a thread pay for work on some bytes. The thread ends at its next
// instruction where that is more than it has.
func charge(thread *starlark.Thread, bytes int) { thread.Steps += 1 + uint64(bytes)/64 }

// text is an argument of bounded length that may hold any bytes.
type text string

// Unpack takes a string.
func (t *text) Unpack(v starlark.Value) error {
	s, ok := starlark.AsString(v)
	if !ok {
		return fmt.Errorf("got %s, want string", v.Type())
	}
	*t = text(s)
	return bounded(s)
}

// characters is a text that must be valid UTF-8.
type characters string

// Unpack takes a string of whole characters.
func (c *characters) Unpack(v starlark.Value) error {
	s, ok := starlark.AsString(v)
	if !ok {
		return fmt.Errorf("got %s, want string", v.Type())
	}
	if !utf8.ValidString(s) {
		return fmt.Errorf("the string is not valid UTF-8: was a character cut in two?")
	}
	*c = characters(s)
	return bounded(s)
}

// octets is a string or bytes.
type octets string

// Unpack takes a string or bytes.
func (o *octets) Unpack(v starlark.Value) error {
	s, ok := starlark.AsString(v)
	if data, isBytes := v.(starlark.Bytes); isBytes {
		s, ok = string(data), true
	}
	if !ok {
		return fmt.Errorf("got %s, want string or bytes", v.Type())
	}
	*o = octets(s)
	return bounded(s)
}

func bounded(s string) error {
	if len(s) > maxText {
		return fmt.Errorf("text has %d bytes: the limit is %d", len(s), maxText)
	}
	return nil
}

// written returns a text that a function made, and charges for it.
func written(thread *starlark.Thread, s string) (starlark.Value, error) {
	charge(thread, len(s))
	return starlark.String(s), bounded(s)
}

// valid replaces what isn't UTF-8.
func valid(s string) string { return strings.ToValidUTF8(s, "�") }

// listOf returns strings as a list.
func listOf(items []string) *starlark.List {
	values := make([]starlark.Value, len(items))
	for i, item := range items {
		values[i] = starlark.String(item)
	}
	return starlark.NewList(values)
}

// orDefault returns fallback, where a program gave one, instead of an error.
func orDefault(v starlark.Value, err error, fallback starlark.Value) (starlark.Value, error) {
	if err != nil && fallback != nil {
		return fallback, nil
	}
	return v, err
}
