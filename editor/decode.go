package editor

import (
	"bytes"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"signalbox/rule"
)

// maxArgs bounds the arguments of one call, in bytes.
const maxArgs = 1_000_000

var (
	commands   = []string{"view", "create", "str_replace", "insert"}
	parameters = []string{"command", "path", "file_text", "insert_line", "new_str", "old_str", "view_range"}
)

// uses says which parameters a command reads beside command and path.
var uses = map[string][]string{
	"view":        {"view_range"},
	"create":      {"file_text"},
	"str_replace": {"old_str", "new_str"},
	"insert":      {"insert_line", "new_str"},
}

// call is one decoded call.
type call struct {
	Args
	repaired bool
}

// parseCall checks the tokens of args, then decodes them strictly, then checks
// them against the command.
func parseCall(args []byte) (call, error) {
	if len(args) > maxArgs {
		return call{}, refuse("arguments_too_large", "The arguments have %d bytes: the limit is %d.", len(args), maxArgs)
	}
	if err := checkTokens(args); err != nil {
		return call{}, err
	}
	members, err := readMembers(args)
	if err != nil {
		return call{}, err
	}
	var c call
	if err := c.decode(members); err != nil {
		return c, err
	}
	return c, c.check()
}

// checkTokens reads every token before anything is built from one.
func checkTokens(args []byte) error {
	decoder := jsontext.NewDecoder(bytes.NewReader(args))
	for {
		if decoder.StackDepth() > rule.MaxDepth {
			return refuse("arguments_too_deep", "The arguments nest deeper than %d.", rule.MaxDepth)
		}
		token, err := decoder.ReadToken()
		if err != nil {
			return tokenError(args, decoder, err)
		}
		if decoder.StackDepth() > 0 {
			continue
		}
		if token.Kind() != '}' {
			return refuse("not_object", "The arguments must be one JSON object.")
		}
		if _, err := decoder.ReadToken(); err != io.EOF {
			return refuse("trailing_data", "There is data after the JSON object of the arguments.")
		}
		return nil
	}
}

func tokenError(args []byte, decoder *jsontext.Decoder, err error) error {
	var syntax *jsontext.SyntacticError
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName):
		name := "?"
		if errors.As(err, &syntax) {
			name = syntax.JSONPointer.LastToken()
		}
		return refuse("duplicate_parameter", "Parameter `%s` is given twice.", shownPath(name))
	case err == io.EOF && len(bytes.TrimSpace(args)) == 0:
		return refuse("not_object", "The arguments must be one JSON object.")
	case !utf8.Valid(args) || jsontext.Value(args).IsValid(jsontext.AllowInvalidUTF8(true)):
		return refuse("not_utf8", "The arguments are not valid Unicode text: a string holds a lone surrogate or bytes that aren't UTF-8.")
	}
	return refuse("bad_json", "The arguments are not valid JSON (at byte %d).", decoder.InputOffset())
}

// readMembers returns the values of an object whose tokens were checked.
func readMembers(args []byte) (map[string]jsontext.Value, error) {
	members := map[string]jsontext.Value{}
	decoder := jsontext.NewDecoder(bytes.NewReader(args))
	if _, err := decoder.ReadToken(); err != nil {
		return nil, err
	}
	for decoder.PeekKind() != '}' {
		token, err := decoder.ReadToken()
		if err != nil {
			return nil, err
		}
		name := token.String()
		if !slices.Contains(parameters, name) {
			return nil, unknownParameter(name)
		}
		value, err := decoder.ReadValue()
		if err != nil {
			return nil, err
		}
		if value.Kind() != 'n' {
			members[name] = value.Clone()
		}
	}
	return members, nil
}

// unknownParameter names the parameter that was probably meant.
func unknownParameter(name string) error {
	meant := strings.ToLower(name)
	if name == "insert_text" {
		meant = "new_str"
	}
	if slices.Contains(parameters, meant) {
		return refuse("unknown_parameter", "Unknown parameter `%s`. Please use `%s`.", shownPath(name), meant)
	}
	return refuse("unknown_parameter", "Unknown parameter `%s`. The parameters are: `%s`.", shownPath(name), strings.Join(parameters, "`, `"))
}

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

func badType(name, want string) error {
	return refuse("bad_type", "Parameter `%s` must be %s.", name, want)
}

func required(name, command string) error {
	return refuse("missing_parameter", "Parameter `%s` is required for command: %s", name, command)
}

// check holds the arguments against the command: what it needs is there, and
// what it doesn't read is absent or an empty filler.
func (c *call) check() error {
	present := map[string]bool{
		"file_text": c.FileText != nil, "old_str": c.OldStr != nil, "new_str": c.NewStr != nil,
		"insert_line": c.InsertLine != nil, "view_range": c.ViewRange != nil,
	}
	for _, name := range uses[c.Command] {
		optional := name == "view_range" || name == "new_str" && c.Command == "str_replace"
		if !present[name] && !optional {
			return required(name, c.Command)
		}
	}
	for _, name := range parameters {
		if !present[name] || slices.Contains(uses[c.Command], name) {
			continue
		}
		if !c.filler(name) {
			return refuse("unused_parameter", "Parameter `%s` is not used by command: %s", name, c.Command)
		}
		c.repaired = true
	}
	return c.checkTexts()
}

// filler says whether an unused parameter carries nothing.
func (c *call) filler(name string) bool {
	switch name {
	case "file_text":
		return *c.FileText == ""
	case "old_str":
		return *c.OldStr == ""
	case "new_str":
		return *c.NewStr == ""
	case "insert_line":
		return *c.InsertLine == 0
	}
	return len(c.ViewRange) == 0
}

func (c *call) checkTexts() error {
	if c.Command == "str_replace" && *c.OldStr == "" {
		return refuse("empty_parameter", "Parameter `old_str` is empty for command: str_replace")
	}
	for name, text := range map[string]*string{"file_text": c.FileText, "new_str": c.NewStr} {
		if text != nil && strings.ContainsRune(*text, 0) {
			return refuse("nul", "Parameter `%s` holds a NUL character, which no file may hold.", name)
		}
	}
	if n := len(c.ViewRange); n != 0 && n != 2 {
		return refuse("bad_range", "Invalid `view_range`. It should be a list of two integers.")
	}
	return nil
}
