package gateway

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Reply is a usable turn of the model: text, calls, or both. Cut says that the
// server ended it at its length limit, so that its last call may be half a one.
type Reply struct {
	Call    int64 // the reservation that paid for it
	Text    string
	Refusal string
	Calls   []ToolCall
	Cut     bool
	Usage   Usage
	Sent    int // bytes of the request
}

// Usage counts tokens as they are settled: the larger of what the server
// reported and what was estimated here. Reported is what the server said the
// prompt had, and zero where it said nothing.
type Usage struct {
	Prompt     int64 `json:"prompt"`
	Completion int64 `json:"completion"`
	Reported   int64 `json:"reported,omitzero"`
}

type wireReply struct {
	Choices []wireChoice   `json:"choices"`
	Usage   jsontext.Value `json:"usage"`
	Error   jsontext.Value `json:"error"`
}

type wireChoice struct {
	Finish  string       `json:"finish_reason"`
	Message *wireMessage `json:"message"`
}

type wireMessage struct {
	Role         string         `json:"role"`
	Content      jsontext.Value `json:"content"`
	Refusal      string         `json:"refusal"`
	ToolCalls    []wireCall     `json:"tool_calls"`
	FunctionCall jsontext.Value `json:"function_call"`
}

type wireCall struct {
	ID       jsontext.Value `json:"id"`
	Function *struct {
		Name      string         `json:"name"`
		Arguments jsontext.Value `json:"arguments"`
	} `json:"function"`
}

// maxCalls bounds the calls of one turn; a longer turn is malformed.
const maxCalls = 64

// parseReply reads a chat completion. Names in another case, duplicate names,
// lone surrogates and trailing data are refused; fields that servers add are
// not. turn makes ids for calls that came without one.
func parseReply(body []byte, turn int) (Reply, error) {
	var wire wireReply
	if err := json.Unmarshal(body, &wire); err != nil {
		return Reply{}, fmt.Errorf("not a chat completion: %v", err)
	}
	if len(wire.Error) > 0 && wire.Error.Kind() != 'n' {
		return Reply{}, fmt.Errorf("status 200 with an error: %s", clip(words(wire.Error), 500))
	}
	if len(wire.Choices) == 0 || wire.Choices[0].Message == nil {
		return Reply{}, errors.New("no choice with a message")
	}
	choice := wire.Choices[0]
	switch {
	case choice.Message.Role != "assistant" && choice.Message.Role != "":
		return Reply{}, fmt.Errorf("a message of role %q", clip(choice.Message.Role, 40))
	case len(choice.Message.FunctionCall) > 0 && choice.Message.FunctionCall.Kind() != 'n':
		return Reply{}, errors.New("a legacy function_call")
	case len(choice.Message.ToolCalls) > maxCalls:
		return Reply{}, fmt.Errorf("%d calls in one turn: the limit is %d", len(choice.Message.ToolCalls), maxCalls)
	}
	text, err := content(choice.Message.Content)
	if err != nil {
		return Reply{}, err
	}
	reply := Reply{Text: text, Refusal: choice.Message.Refusal, Cut: choice.Finish == "length"}
	if choice.Finish == "content_filter" && reply.Refusal == "" {
		reply.Refusal = "the provider's content filter ended the reply"
	}
	reply.Calls = calls(choice.Message.ToolCalls, turn)
	return reply, nil
}

// content returns a message's text: null, a string, or an array of parts.
func content(value jsontext.Value) (string, error) {
	if len(value) == 0 || value.Kind() == 'n' {
		return "", nil
	}
	var text string
	if json.Unmarshal(value, &text) == nil {
		return text, nil
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if err := json.Unmarshal(value, &parts); err != nil {
		return "", errors.New("content is neither text nor a list of parts")
	}
	var all strings.Builder
	for _, part := range parts {
		if part.Type == "text" || part.Type == "output_text" {
			all.WriteString(part.Text)
		}
	}
	return all.String(), nil
}

// calls returns a turn's calls. Ids are echoed as they came; a missing or a
// repeated one is made here, of nine letters and digits, which the pickiest
// templates want.
func calls(wire []wireCall, turn int) []ToolCall {
	var out []ToolCall
	seen := map[string]bool{}
	for i, w := range wire {
		var call ToolCall
		if w.Function != nil {
			call.Name, call.Arguments = w.Function.Name, argumentText(w.Function.Arguments)
		}
		if json.Unmarshal(w.ID, &call.ID) != nil || call.ID == "" || seen[call.ID] {
			call.ID = fmt.Sprintf("c%05dx%02d", turn%100_000, i)
		}
		seen[call.ID] = true
		out = append(out, call)
	}
	return out
}

// argumentText returns a call's arguments as JSON text, whether they came as a
// string, as the standard has it, or as an object.
func argumentText(value jsontext.Value) string {
	if len(value) == 0 || value.Kind() == 'n' {
		return ""
	}
	var text string
	if json.Unmarshal(value, &text) == nil {
		return text
	}
	return string(value)
}
