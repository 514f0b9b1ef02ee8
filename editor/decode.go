package editor

import (
	"bytes"
	"errors"
	"io"
	"slices"
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
	session  string
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

func badType(name, want string) error {
	return refuse("bad_type", "Parameter `%s` must be %s.", name, want)
}

func required(name, command string) error {
	return refuse("missing_parameter", "Parameter `%s` is required for command: %s", name, command)
}
