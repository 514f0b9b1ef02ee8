package maintenance

import (
	"context"
	"errors"
	"fmt"

	"signalbox/maintenance/gateway"
	"signalbox/maintenance/skills"
	"signalbox/registry/ledger"
	"signalbox/rule"
)

// answer is what the rule tool replies.
type answer struct {
	OK      bool   `json:"ok"`
	Code    string `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitzero"`
}

// maxResultBytes bounds one tool result.
const maxResultBytes = 256 << 10

// result is what a tool call gave. Text is what the model reads; gist is the
// same without what counts down, so that equal results can be told.
type result struct {
	text, gist string
	failed     bool
}

func said(text string) result     { return result{text: text, gist: text} }
func complain(text string) result { return result{text: text, gist: text, failed: true} }

// call executes one tool call. An error ends the attempt.
func (s *session) call(ctx context.Context, c gateway.ToolCall) (r result, err error) {
	if err := s.charge(ctx, "operation", ledger.Operations); err != nil {
		return result{}, err
	}
	s.counts.Operations++
	switch c.Name {
	case ruleTool:
		r, err = s.ruleCall(ctx, c.Arguments)
	case skillTool:
		r = skillCall(c.Arguments)
	case editorTool:
		r, err = s.editCall(ctx, c.Arguments)
	default:
		r = complain(fmt.Sprintf("There is no tool %q. The tools are %s, %s and %s.", clip(c.Name, 40), ruleTool, skillTool, editorTool))
	}
	if r.failed {
		s.counts.Errors++
	}
	return r, err
}

// charge spends one of a resource, against the limits of the workspace.
func (s *session) charge(ctx context.Context, purpose string, resource ledger.Resource) error {
	one := ledger.Amounts{resource: 1}
	id, err := s.deps.Ledger.Reserve(ctx, s.endpoint.Kind(), s.draft.Identity().Attempt, purpose, one)
	var limit *ledger.LimitError
	if errors.As(err, &limit) {
		return limited(limit)
	}
	if err != nil {
		return err
	}
	return s.deps.Ledger.Settle(ctx, id, one)
}

// ruleCall executes a call of the rule tool.
func (s *session) ruleCall(ctx context.Context, arguments string) (result, error) {
	args, err := parseRuleCall(arguments)
	var reply answer
	if err == nil {
		reply, err = s.act(ctx, args)
	}
	var wrong *badCall
	if errors.As(err, &wrong) {
		reply, err = answer{Code: wrong.code, Message: wrong.text}, nil
	}
	if err != nil {
		return result{}, err
	}
	gist, err := rule.Canonical(reply)
	if err != nil {
		return result{}, fmt.Errorf("writing reply: %w", err)
	}
	if len(gist) > maxResultBytes {
		reply.Data = nil
		reply.Message += " (the details are too long to be shown)"
	}
	reply.Message += fmt.Sprintf(" (%d calls left)", max(0, s.left().Calls))
	text, err := rule.Canonical(reply)
	if err != nil {
		return result{}, fmt.Errorf("writing reply: %w", err)
	}
	return result{text: string(text), gist: string(gist), failed: !reply.OK}, nil
}

// act does what an action says.
func (s *session) act(ctx context.Context, args ruleArgs) (answer, error) {
	switch args.Action {
	case "list_rules":
		return s.listRules()
	case "find_similar_rules":
		return s.findSimilar(args.Data)
	case "inspect_rule":
		return s.inspect(args.Data)
	case "create_rule":
		return s.createRule()
	case "edit_trigger", "edit_executor", "edit_contract", "add_tests":
		return s.open(args.Action)
	case "validate_rule":
		return s.validate(ctx)
	case "submit_rule":
		return s.submit(ctx)
	case "profile_rule":
		return s.profile(ctx)
	case "check_conflicts":
		return s.conflicts(ctx)
	case "diagnose_rule":
		return s.diagnose(ctx, args.Data)
	}
	return s.request(args)
}

// skillCall reads a guide.
func skillCall(arguments string) result {
	args, err := parseSkillCall(arguments)
	if err != nil {
		return complain(err.Error())
	}
	guide, ok := skills.Guide(string(args.Operation))
	if !ok {
		return complain(fmt.Sprintf("There is no guide %q. The guides are %s.", clip(string(args.Operation), 40), listed(skills.Names())))
	}
	return said(guide)
}
