package gateway

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Ending says how a call ended. The zero value is none: it was not made.
type Ending string

// The endings. Only Unsent gives a reservation back. Uncertain is spent, never
// sent again by itself, and closed only by an operator.
const (
	Answered  Ending = "answered"
	Failed    Ending = "failed"
	Malformed Ending = "malformed"
	Unsent    Ending = "unsent"
	Uncertain Ending = "uncertain"
)

// CallError is returned for a call that gave no usable reply. Overflow says that
// the server called the conversation too long. RetryAfter is what the server
// asked for, and zero where it asked for nothing.
type CallError struct {
	Call       int64
	Usage      Usage
	Ending     Ending
	Status     int
	Overflow   bool
	RetryAfter time.Duration
	Detail     string
}

// Error says how the call ended, without the server's whole page.
func (e *CallError) Error() string {
	switch e.Ending {
	case Unsent:
		return "the request was never sent: " + e.Detail
	case Uncertain:
		return fmt.Sprintf("call %d has an unknown fate and counts as spent: %s", e.Call, e.Detail)
	case Failed:
		return fmt.Sprintf("the server answered with status %d: %s", e.Status, e.Detail)
	}
	return "the server's reply can't be used: " + e.Detail
}

// ending reads the permit's facts. clientErr is what the client made of them
// and counts only where the request never reached the transport.
func (p *permit) ending(clientErr error) (Ending, string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case !p.sent:
		return Unsent, explain(clientErr)
	case p.status == 0 && !p.connected:
		return Unsent, explain(p.err)
	case errors.Is(p.err, errTooLarge):
		return Malformed, p.err.Error()
	case p.err != nil || p.status == 0:
		return Uncertain, explain(p.err)
	case p.status >= http.StatusBadRequest:
		return Failed, serverWords(p.body)
	case p.status != http.StatusOK:
		return Malformed, fmt.Sprintf("status %d", p.status)
	case strings.Contains(p.header.Get("Content-Type"), "event-stream"):
		return Malformed, "an event stream, which was not asked for"
	}
	return Answered, ""
}

// explain returns err for people, without the address that was called.
func explain(err error) string {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	if err == nil {
		return "no reason given"
	}
	return err.Error()
}

// serverWords returns the message of an error reply in whichever form it came.
func serverWords(body []byte) string {
	var wire struct {
		Error   jsontext.Value `json:"error"`
		Message string         `json:"message"`
		Detail  jsontext.Value `json:"detail"`
	}
	text := strings.TrimSpace(string(body))
	if json.Unmarshal(body, &wire) == nil {
		switch {
		case len(wire.Error) > 0:
			text = words(wire.Error)
		case wire.Message != "":
			text = wire.Message
		case len(wire.Detail) > 0:
			text = words(wire.Detail)
		}
	}
	return clip(text, 500)
}

func words(value jsontext.Value) string {
	var text string
	if json.Unmarshal(value, &text) == nil {
		return text
	}
	var object struct {
		Message string         `json:"message"`
		Code    jsontext.Value `json:"code"`
		Type    jsontext.Value `json:"type"`
	}
	if json.Unmarshal(value, &object) == nil && object.Message != "" {
		return strings.Join(slices.DeleteFunc([]string{object.Message, bare(object.Code), bare(object.Type)},
			func(s string) bool { return s == "" }), " · ")
	}
	return string(value)
}

func bare(value jsontext.Value) string {
	if len(value) == 0 || value.Kind() == 'n' {
		return ""
	}
	return strings.Trim(string(value), `"`)
}

// overflowWords are how servers say that a conversation is too long: there is
// no common code for it.
var overflowWords = []string{
	"context_length_exceeded", "exceed_context_size_error", "maximum context length", "context size",
	"context window", "prompt is too long", "input is too long", "too many tokens in the prompt",
}

// overflows says whether an error reply means that the conversation is too long.
func overflows(status int, text string) bool {
	if status != http.StatusBadRequest && status != http.StatusRequestEntityTooLarge && status != http.StatusInternalServerError {
		return false
	}
	lower := strings.ToLower(text)
	return status == http.StatusRequestEntityTooLarge ||
		slices.ContainsFunc(overflowWords, func(word string) bool { return strings.Contains(lower, word) })
}

// retryAfter returns the seconds of a Retry-After header, at most an hour.
func retryAfter(header http.Header) time.Duration {
	seconds, err := strconv.Atoi(header.Get("Retry-After"))
	if err != nil || seconds < 0 {
		return 0
	}
	return min(time.Duration(seconds)*time.Second, time.Hour)
}

// clip returns text as valid UTF-8 of about max bytes at most.
func clip(text string, max int) string {
	if len(text) <= max {
		return strings.ToValidUTF8(text, "\uFFFD")
	}
	return strings.ToValidUTF8(text[:max], "") + "…"
}
