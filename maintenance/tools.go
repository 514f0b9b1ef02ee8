package maintenance

import (
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/invopop/jsonschema"

	"signalbox/editor"
	"signalbox/maintenance/gateway"
	"signalbox/maintenance/skills"
	"signalbox/rule"
)

// action is one of the things that the rule tool does.
type action string

// actions are all of them, in the order in which a model reads them.
var actions = []action{
	"list_rules", "find_similar_rules", "inspect_rule", "create_rule", "edit_trigger", "edit_executor",
	"edit_contract", "add_tests", "submit_rule", "validate_rule", "profile_rule", "check_conflicts",
	"diagnose_rule", "activate_rule", "disable_rule", "rollback_rule", "split_rule", "merge_rules",
}

// JSONSchema lists the actions for the model.
func (action) JSONSchema() *jsonschema.Schema {
	schema := &jsonschema.Schema{Type: "string"}
	for _, a := range actions {
		schema.Enum = append(schema.Enum, string(a))
	}
	return schema
}

// ruleArgs are the arguments of the rule tool. Data may be absent.
type ruleArgs struct {
	Action action   `json:"action" jsonschema:"description=What to do."`
	Data   ruleData `json:"data,omitempty" jsonschema:"description=Parameters of the action. Most actions take none."`
}

// ruleData holds the parameters of all actions; each takes only its own.
type ruleData struct {
	Rule     string   `json:"rule,omitempty" jsonschema:"description=Name of a rule."`
	Rules    []string `json:"rules,omitempty" jsonschema:"description=Names of rules that merge_rules is about."`
	Into     []string `json:"into,omitempty" jsonschema:"description=Names of the rules that split_rule or merge_rules would make."`
	Revision string   `json:"revision,omitempty" jsonschema:"description=Digest of a revision that rollback_rule would go back to."`
	Text     string   `json:"text,omitempty" jsonschema:"description=What find_similar_rules compares with. The instructions of this family where absent."`
	Case     string   `json:"case,omitempty" jsonschema:"description=Id of a visible case that diagnose_rule is about."`
	Why      string   `json:"why,omitempty" jsonschema:"description=Reason that the maintainer reads with a request."`
}

// operation names a guide.
type operation string

// JSONSchema lists the guides for the model.
func (operation) JSONSchema() *jsonschema.Schema {
	schema := &jsonschema.Schema{Type: "string"}
	for _, name := range skills.Names() {
		schema.Enum = append(schema.Enum, name)
	}
	return schema
}

type skillArgs struct {
	Operation operation `json:"operation" jsonschema:"description=An action of the rule tool\\, or one of contract\\, starlark\\, modules and triggers."`
}

// The tools' names.
const (
	ruleTool   = "rule"
	skillTool  = "rule_skill"
	editorTool = editor.Name
)

const ruleDescription = `Works on the rule that is being written, and shows the rules that exist.
* create_rule shows the draft. edit_contract, edit_trigger, edit_executor and add_tests open a part of it for str_replace_editor; only the part opened last can be changed
* validate_rule runs the development tests and the visible cases. submit_rule runs the whole check, hidden cases included; where it passes, the work is done
* diagnose_rule, profile_rule and check_conflicts say more about the visible cases
* activate_rule, disable_rule, rollback_rule, split_rule and merge_rules only leave a request for the maintainer
Every reply is a JSON document with ok, code, message and data.`

const skillDescription = "Reads a short guide: one for each action of the rule tool, the contract of a rule's programs, the starlark dialect with its modules, and how triggers go wrong."

// tools returns the three tools that every request carries.
func tools() ([]gateway.Tool, error) {
	ruleSchema, err := schemaOf(&ruleArgs{})
	if err != nil {
		return nil, err
	}
	skillSchema, err := schemaOf(&skillArgs{})
	if err != nil {
		return nil, err
	}
	editorSchema, err := schemaOf(&editor.Args{})
	if err != nil {
		return nil, err
	}
	return []gateway.Tool{
		{Name: ruleTool, Description: ruleDescription, Parameters: ruleSchema},
		{Name: skillTool, Description: skillDescription, Parameters: skillSchema},
		{Name: editorTool, Description: editor.Description, Parameters: editorSchema},
	}, nil
}

// schemaOf makes a tool's schema from its Go type: one tree without references,
// and without additionalProperties, which some servers refuse. Our own checking
// of arguments is strict all the same.
func schemaOf(args any) (rule.Value, error) {
	reflector := jsonschema.Reflector{Anonymous: true, DoNotReference: true, AllowAdditionalProperties: true}
	schema := reflector.Reflect(args)
	schema.Version = ""
	data, err := json.Marshal(schema)
	if err != nil {
		return "", fmt.Errorf("writing tool schema: %w", err)
	}
	return rule.ParseValue(data)
}
