package maintenance

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"signalbox/rule"
)

// maxArgumentBytes bounds the arguments of one call.
const maxArgumentBytes = 1 << 20

// badCall is a call that can't be executed as it was written. The model reads
// the text; code is stable.
type badCall struct{ code, text string }

func (b *badCall) Error() string { return b.text }

func bad(code, format string, args ...any) error {
	return &badCall{code: code, text: fmt.Sprintf(format, args...)}
}

// takes says which parameters an action has, and which of them it needs.
var takes = map[action]struct{ may, must []string }{
	"find_similar_rules": {may: []string{"text"}},
	"inspect_rule":       {must: []string{"rule"}},
	"diagnose_rule":      {may: []string{"case"}},
	"activate_rule":      {may: []string{"rule", "why"}},
	"disable_rule":       {must: []string{"rule", "why"}},
	"rollback_rule":      {must: []string{"rule", "why"}, may: []string{"revision"}},
	"split_rule":         {must: []string{"rule", "into", "why"}},
	"merge_rules":        {must: []string{"rules", "into", "why"}},
}

// parseRuleCall reads the rule tool's arguments: tokens first, then the strict
// decoding, then what the action takes. The only thing repaired is data that
// came as a string which holds an object, or as null.
func parseRuleCall(arguments string) (ruleArgs, error) {
	var wire struct {
		Action action     `json:"action"`
		Data   rule.Value `json:"data"`
	}
	if err := decode(arguments, &wire); err != nil {
		return ruleArgs{}, err
	}
	args := ruleArgs{Action: wire.Action}
	if !slices.Contains(actions, args.Action) {
		return ruleArgs{}, bad("unknown_action", "action %q is not one of %s", clip(string(args.Action), 40), listed(actions))
	}
	data := unquoted(wire.Data)
	if data == "" || data == "null" {
		data = "{}"
	}
	if err := decode(data, &args.Data); err != nil {
		return ruleArgs{}, bad("bad_arguments", "data of %s: %s", args.Action, err)
	}
	return args, args.check()
}

// unquoted returns the text of a JSON string, and any other value as it is.
func unquoted(value rule.Value) string {
	var text string
	if strings.HasPrefix(string(value), `"`) && json.Unmarshal([]byte(value), &text) == nil {
		return text
	}
	return string(value)
}

// parseSkillCall reads the rule_skill tool's arguments.
func parseSkillCall(arguments string) (skillArgs, error) {
	var args skillArgs
	if err := decode(arguments, &args); err != nil {
		return skillArgs{}, err
	}
	return args, nil
}

// decode reads one JSON object strictly.
func decode(arguments string, into any) error {
	if len(arguments) > maxArgumentBytes {
		return bad("bad_arguments", "arguments have %d bytes: the limit is %d", len(arguments), maxArgumentBytes)
	}
	if !strings.HasPrefix(strings.TrimLeft(arguments, " \t\r\n"), "{") {
		return bad("bad_arguments", "arguments have to be one JSON object")
	}
	if err := rule.Decode([]byte(arguments), into); err != nil {
		return bad("bad_arguments", "arguments can't be read: %s", plain(err))
	}
	return nil
}

// plain takes the names of Go types out of a decoding error.
func plain(err error) string {
	text := err.Error()
	if _, after, found := strings.Cut(text, "maintenance."); found {
		if _, rest, found := strings.Cut(after, " "); found {
			text = rest
		}
	}
	return clip(strings.TrimPrefix(text, "json: "), 300)
}

// check refuses parameters that the action doesn't have, and misses those that
// it needs.
func (a ruleArgs) check() error {
	given := a.Data.given()
	allowed := takes[a.Action]
	for _, name := range given {
		if !slices.Contains(allowed.may, name) && !slices.Contains(allowed.must, name) {
			return bad("unused_parameter", "%s takes no %q", a.Action, name)
		}
	}
	for _, name := range allowed.must {
		if !slices.Contains(given, name) {
			return bad("missing_parameter", "%s needs %q", a.Action, name)
		}
	}
	return nil
}

// given returns the names of the parameters that were given.
func (d ruleData) given() []string {
	var names []string
	for name, there := range map[string]bool{
		"rule": d.Rule != "", "rules": len(d.Rules) > 0, "into": len(d.Into) > 0, "revision": d.Revision != "",
		"text": d.Text != "", "case": d.Case != "", "why": d.Why != "",
	} {
		if there {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func listed[T ~string](names []T) string {
	texts := make([]string, len(names))
	for i, name := range names {
		texts[i] = string(name)
	}
	return strings.Join(texts, ", ")
}
