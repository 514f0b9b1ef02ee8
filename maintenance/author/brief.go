package author

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"

	"signalbox/rule"
)

// brief is the task block of a conversation.
type brief struct {
	Protocol   int             `json:"protocol"`
	Family     rule.Family     `json:"family"`
	Rule       rule.Name       `json:"rule"`
	Cases      []briefCase     `json:"cases"`
	Neighbours []rule.Document `json:"neighbours"`
	Left       struct {
		Calls       int `json:"calls"`
		Validations int `json:"validations"`
	} `json:"left"`
}

// briefCase is a visible case, or one that a refusal revealed.
type briefCase struct {
	ID       string       `json:"id"`
	Task     rule.Task    `json:"task"`
	Outcome  rule.Outcome `json:"outcome,omitzero"`
	Fallback bool         `json:"fallback,omitzero"`
}

const (
	protocol = 1
	fence    = "```json\n"
)

// parseBrief reads the fenced block at the end of the user's message.
func parseBrief(text string) (brief, error) {
	text, closed := strings.CutSuffix(strings.TrimRight(text, " \r\n\t"), "\n```")
	at := strings.LastIndex(text, fence)
	if !closed || at < 0 {
		return brief{}, fmt.Errorf("the message ends with no block of JSON")
	}
	var b brief
	if err := decode([]byte(text[at+len(fence):]), &b); err != nil {
		return brief{}, fmt.Errorf("reading the task block: %w", err)
	}
	if b.Protocol != protocol {
		return brief{}, fmt.Errorf("protocol %d: this author speaks %d", b.Protocol, protocol)
	}
	return b, nil
}

// decode reads one JSON document of bounded depth. Names that the author
// doesn't use are skipped: what it's told may grow.
func decode(data []byte, v any) error {
	var any any
	if err := rule.Decode(data, &any); err != nil {
		return err
	}
	return json.Unmarshal(data, v)
}
