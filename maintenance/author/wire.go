package author

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"signalbox/rule"
)

// request is the part of a chat completion request that the author reads.
type request struct {
	Model    string    `json:"model"`
	Stream   bool      `json:"stream,omitzero"`
	Messages []message `json:"messages"`
}

// message is one message. Content is text, or a list of text parts.
type message struct {
	Role       string         `json:"role"`
	Content    jsontext.Value `json:"content,omitzero"`
	ToolCalls  []toolCall     `json:"tool_calls,omitzero"`
	ToolCallID string         `json:"tool_call_id,omitzero"`
}

type toolCall struct {
	ID       string   `json:"id"`
	Type     string   `json:"type"`
	Function function `json:"function"`
}

type function struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// text returns the message's text.
func (m message) text() string {
	if len(m.Content) == 0 || m.Content.Kind() == 'n' {
		return ""
	}
	var plain string
	if m.Content.Kind() == '"' && decode(m.Content, &plain) == nil {
		return plain
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if decode(m.Content, &parts) != nil {
		return ""
	}
	var all []string
	for _, part := range parts {
		all = append(all, part.Text)
	}
	return strings.Join(all, "")
}

// completion is the answer on the wire.
type completion struct {
	ID      string   `json:"id"`
	Object  string   `json:"object"`
	Created int64    `json:"created"`
	Model   string   `json:"model"`
	Choices []choice `json:"choices"`
	Usage   usage    `json:"usage"`
}

type choice struct {
	Index        int    `json:"index"`
	FinishReason string `json:"finish_reason"`
	Message      said   `json:"message"`
}

// said is the author's message: a text, or one tool call.
type said struct {
	Role      string     `json:"role"`
	Content   string     `json:"content"`
	ToolCalls []toolCall `json:"tool_calls,omitzero"`
}

type usage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Total      int `json:"total_tokens"`
}

// bytesPerToken turns bytes into the tokens that the author reports.
const bytesPerToken = 4

// reply is what the author does next: call a tool, or end with a text.
type reply struct {
	tool string
	args any
	text string
}

// completion returns the reply on the wire; turn counts the author's messages.
func (r reply) completion(req request, bytes, turn int) (completion, error) {
	answer := said{Role: "assistant", Content: r.text}
	reason, size := "stop", len(r.text)
	if r.tool != "" {
		args, err := rule.Canonical(r.args)
		if err != nil {
			return completion{}, err
		}
		reason, size = "tool_calls", len(args)
		answer.ToolCalls = []toolCall{{ID: fmt.Sprintf("call_%d", turn+1), Type: "function", Function: function{r.tool, string(args)}}}
	}
	prompt, written := bytes/bytesPerToken+1, size/bytesPerToken+1
	return completion{
		ID: fmt.Sprintf("builtin-%d", turn+1), Object: "chat.completion", Model: req.Model,
		Choices: []choice{{FinishReason: reason, Message: answer}},
		Usage:   usage{prompt, written, prompt + written},
	}, nil
}
