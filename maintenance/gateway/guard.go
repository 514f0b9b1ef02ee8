package gateway

import (
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"signalbox/rule"
)

// errGuard is returned by the transport for a request that must not leave.
var errGuard = errors.New("request refused before dispatch")

// allowedFields are all that a request of ours may hold. Streaming, several
// choices, legacy functions and stored requests are not among them.
var allowedFields = []string{"model", "messages", "tools", "tool_choice", "max_completion_tokens"}

// surface is what every request must look like.
type surface struct {
	model string
	tools rule.Digest
}

// check returns why a request's body is not one of ours.
func (s surface) check(body []byte) error {
	var fields map[string]jsontext.Value
	if err := json.Unmarshal(body, &fields); err != nil {
		return fmt.Errorf("%w: body is not a JSON object: %v", errGuard, err)
	}
	for name := range fields {
		if !slices.Contains(allowedFields, name) {
			return fmt.Errorf("%w: field %q is not part of a maintenance request", errGuard, name)
		}
	}
	var model string
	if err := json.Unmarshal(fields["model"], &model); err != nil || model != s.model {
		return fmt.Errorf("%w: model %q, want %q", errGuard, model, s.model)
	}
	got, err := toolsDigest(fields["tools"])
	if err != nil {
		return fmt.Errorf("%w: tools: %v", errGuard, err)
	}
	if got != s.tools {
		return fmt.Errorf("%w: tools have digest %s, want %s: a request carries exactly the three tools",
			errGuard, got.Short(), s.tools.Short())
	}
	return nil
}

// toolsDigest returns the digest of the canonical tools array.
func toolsDigest(tools jsontext.Value) (rule.Digest, error) {
	if len(tools) == 0 {
		return "", errors.New("there are none")
	}
	canonical := tools.Clone()
	if err := canonical.Canonicalize(); err != nil {
		return "", err
	}
	return rule.DigestOf(canonical), nil
}
