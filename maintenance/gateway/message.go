package gateway

import (
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/shared"

	"signalbox/rule"
)

// Role says who speaks a message.
type Role string

// The roles of a conversation.
const (
	System    Role = "system"
	User      Role = "user"
	Assistant Role = "assistant"
	ToolReply Role = "tool"
)

// Message is one message of a conversation. Calls belong to the assistant;
// CallID names the call that a tool reply answers.
type Message struct {
	Role   Role       `json:"role"`
	Text   string     `json:"text,omitzero"`
	Calls  []ToolCall `json:"calls,omitzero"`
	CallID string     `json:"call_id,omitzero"`
}

// ToolCall is one call as the model wrote it. Arguments is JSON text, not yet
// checked, and "" where the model gave none.
type ToolCall struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// Tool is a tool as the model sees it. Parameters is a JSON schema.
type Tool struct {
	Name        string
	Description string
	Parameters  rule.Value
}

// body returns the request for a conversation. Its tools are exactly those
// that the Gateway was made with.
func (g *Gateway) body(messages []Message) openai.ChatCompletionNewParams {
	body := openai.ChatCompletionNewParams{
		Model:               g.endpoint.Model,
		MaxCompletionTokens: param.NewOpt(g.endpoint.MaxCompletion),
		ToolChoice:          openai.ChatCompletionToolChoiceOptionUnionParam{OfAuto: param.NewOpt("auto")},
		Tools:               g.tools,
	}
	for _, m := range messages {
		body.Messages = append(body.Messages, m.param())
	}
	return body
}

func (m Message) param() openai.ChatCompletionMessageParamUnion {
	switch m.Role {
	case System:
		return openai.SystemMessage(m.Text)
	case ToolReply:
		return openai.ToolMessage(m.Text, m.CallID)
	case Assistant:
		return openai.ChatCompletionMessageParamUnion{OfAssistant: m.assistant()}
	}
	return openai.UserMessage(m.Text)
}

// assistant builds the message by hand: the client's own conversion sends a
// null call back where an id or a type was missing.
func (m Message) assistant() *openai.ChatCompletionAssistantMessageParam {
	var out openai.ChatCompletionAssistantMessageParam
	if m.Text != "" || len(m.Calls) == 0 {
		out.Content.OfString = param.NewOpt(m.Text)
	}
	for _, call := range m.Calls {
		out.ToolCalls = append(out.ToolCalls, openai.ChatCompletionMessageToolCallUnionParam{
			OfFunction: &openai.ChatCompletionMessageFunctionToolCallParam{
				ID: call.ID,
				Function: openai.ChatCompletionMessageFunctionToolCallFunctionParam{
					Name: call.Name, Arguments: call.Arguments,
				},
			},
		})
	}
	return &out
}

// toolParams returns the tools as the client sends them.
func toolParams(tools []Tool) ([]openai.ChatCompletionToolUnionParam, error) {
	var params []openai.ChatCompletionToolUnionParam
	for _, tool := range tools {
		var schema map[string]any
		if err := json.Unmarshal([]byte(tool.Parameters), &schema); err != nil {
			return nil, fmt.Errorf("reading schema of tool %q: %w", tool.Name, err)
		}
		params = append(params, openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
			Name:        tool.Name,
			Description: param.NewOpt(tool.Description),
			Parameters:  schema,
		}))
	}
	return params, nil
}
