package editor

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// decode fills the arguments from the values that aren't null.
func (c *call) decode(members map[string]jsontext.Value) error {
	var err error
	text := func(name string) *string {
		value, ok := members[name]
		if !ok || err != nil {
			return nil
		}
		if value.Kind() != '"' {
			err = badType(name, "a string")
			return nil
		}
		unquoted, unquoteErr := jsontext.AppendUnquote(nil, value)
		err = unquoteErr
		s := string(unquoted)
		return &s
	}
	command, path := text("command"), text("path")
	c.FileText, c.OldStr, c.NewStr = text("file_text"), text("old_str"), text("new_str")
	if err != nil {
		return err
	}
	if command == nil {
		return refuse("missing_parameter", "Parameter `command` is required.")
	}
	if !slices.Contains(commands, *command) {
		return refuse("bad_command", "Unrecognized command %s. The allowed commands are: `%s`.", shownPath(*command), strings.Join(commands, "`, `"))
	}
	c.Command = *command
	if path == nil {
		return required("path", c.Command)
	}
	c.Path = *path
	return c.decodeNumbers(members)
}

func (c *call) decodeNumbers(members map[string]jsontext.Value) error {
	if value, ok := members["insert_line"]; ok {
		line, repaired, ok := integer(unwrap(value, &c.repaired))
		if !ok {
			return badType("insert_line", "an integer")
		}
		c.InsertLine, c.repaired = &line, c.repaired || repaired
	}
	if value, ok := members["view_range"]; ok {
		if err := c.decodeRange(unwrap(value, &c.repaired)); err != nil {
			return err
		}
	}
	return nil
}

// unwrap returns the JSON text that a string holds, and any other value itself.
func unwrap(value jsontext.Value, repaired *bool) jsontext.Value {
	if value.Kind() != '"' {
		return value
	}
	inner, err := jsontext.AppendUnquote(nil, value)
	if err != nil || !jsontext.Value(inner).IsValid() || jsontext.Value(inner).Kind() == '"' {
		return value
	}
	*repaired = true
	return inner
}

// decodeRange reads an array of integers. Its length is checked where the
// command uses it.
func (c *call) decodeRange(value jsontext.Value) error {
	wrong := refuse("bad_type", "Invalid `view_range`. It should be a list of two integers.")
	if value.Kind() != '[' {
		return wrong
	}
	decoder := jsontext.NewDecoder(bytes.NewReader(value))
	if _, err := decoder.ReadToken(); err != nil {
		return wrong
	}
	for decoder.PeekKind() != ']' {
		item, err := decoder.ReadValue()
		if err != nil {
			return wrong
		}
		number, repaired, ok := integer(item)
		if !ok {
			return wrong
		}
		c.ViewRange = append(c.ViewRange, number)
		c.repaired = c.repaired || repaired
	}
	return nil
}

// integer reads a JSON number that is one; 1.0 and 1e2 count as repaired.
func integer(value jsontext.Value) (number int, repaired, ok bool) {
	if value.Kind() != '0' {
		return 0, false, false
	}
	literal := strings.TrimSpace(string(value))
	if exact, err := strconv.Atoi(literal); err == nil {
		return exact, false, true
	}
	float, err := strconv.ParseFloat(literal, 64)
	if err != nil || float != math.Trunc(float) || math.Abs(float) > 1<<53 {
		return 0, false, false
	}
	return int(float), true, true
}
