package gateway

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// bytesPerToken is how many bytes of a request one token has at least, over a
// whole conversation of JSON and code. Estimates are meant to be high.
const bytesPerToken = 3

// sparseBytesPerToken is more than any tokeniser's mean over such a
// conversation: a prompt that a server says is shorter was cut by it.
const sparseBytesPerToken = 16

// maxTokens is past any real count; a server that reports more reports nonsense.
const maxTokens = 1 << 32

// estimate returns how many tokens a text of that many bytes has at most, give
// or take.
func estimate(bytes int) int64 { return int64(bytes+bytesPerToken-1) / bytesPerToken }

// spent returns what an answered call is settled at. Where the server reports
// no usable number the estimate stands; where a reply can't be read either, the
// whole reservation does. A refusal by status costs its prompt.
func spent(r Usage, ending Ending, body []byte) Usage {
	if ending == Failed {
		return Usage{Prompt: r.Prompt}
	}
	prompt, completion, ok := reported(body)
	if !ok {
		return Usage{Prompt: r.Prompt, Completion: r.Completion}
	}
	return Usage{Prompt: max(prompt, r.Prompt), Completion: max(completion, said(body)), Reported: prompt}
}

// reported returns the usage that a reply states.
func reported(body []byte) (prompt, completion int64, ok bool) {
	var wire wireReply
	if json.Unmarshal(body, &wire) != nil || len(wire.Usage) == 0 {
		return 0, 0, false
	}
	var usage struct {
		Prompt     float64 `json:"prompt_tokens"`
		Completion float64 `json:"completion_tokens"`
	}
	if json.Unmarshal(wire.Usage, &usage) != nil {
		return 0, 0, false
	}
	if usage.Prompt <= 0 || usage.Completion < 0 || usage.Prompt > maxTokens || usage.Completion > maxTokens {
		return 0, 0, false
	}
	return int64(usage.Prompt), int64(usage.Completion), true
}

// said returns an estimate of the tokens of a reply's own text and calls.
func said(body []byte) int64 {
	var wire struct {
		Choices []struct {
			Message jsontext.Value `json:"message"`
		} `json:"choices"`
	}
	if json.Unmarshal(body, &wire) != nil {
		return 0
	}
	total := 0
	for _, choice := range wire.Choices {
		total += len(choice.Message)
	}
	return estimate(total)
}

// Shrunk says whether a server has dropped a part of the prompt without saying
// so: it reports fewer tokens than the text can have, or clearly fewer than it
// reported for the shorter conversation before.
func Shrunk(requestBytes int, before, now int64) bool {
	if now == 0 {
		return false
	}
	return now < int64(requestBytes/sparseBytesPerToken) || now < before-before/10
}
