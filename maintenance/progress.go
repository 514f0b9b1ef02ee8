package maintenance

import (
	"fmt"

	"signalbox/rule"
)

// repeats is how often something may come again before it ends an attempt.
const repeats = 3

// progress notices a conversation that goes round in circles. All of it is
// counted from what was said and done, so that a replay stops at the same turn.
type progress struct {
	idle     int // limit of turns without a change
	draft    rule.Digest
	quiet    int // turns since the last change
	entered  map[rule.Digest]int
	exact    map[string]int // call and result, since the last change
	failures map[string]int // error text, since the last change
	calls    []string       // the latest calls, oldest first
}

func newProgress(idle int, draft rule.Digest) *progress {
	return &progress{
		idle: idle, draft: draft, entered: map[rule.Digest]int{draft: 1},
		exact: map[string]int{}, failures: map[string]int{},
	}
}

// step takes one executed call into account. draft is the draft's digest after
// it. It returns a sentence that warns the model, and an error that stops.
func (p *progress) step(call, result string, failed bool, draft rule.Digest) (nudge string, err error) {
	p.calls = append(p.calls, call)
	p.calls = p.calls[max(0, len(p.calls)-2*repeats):]
	if draft != p.draft {
		return "", p.changed(draft)
	}
	p.quiet++
	p.exact[call+"\x00"+result]++
	switch {
	case p.exact[call+"\x00"+result] >= repeats:
		return "", stop(StopProgress, fmt.Sprintf("the same call gave the same result %d times", repeats))
	case p.alternates():
		return "", stop(StopProgress, fmt.Sprintf("the same two calls took turns %d times", repeats))
	case p.quiet >= p.idle:
		return "", stop(StopProgress, fmt.Sprintf("%d turns without a change of the draft", p.quiet))
	}
	if !failed {
		return "", nil
	}
	p.failures[result]++
	switch p.failures[result] {
	case repeats:
		return "", stop(StopProgress, fmt.Sprintf("the same error came %d times: %s", repeats, clip(result, 200)))
	case repeats - 1:
		return "This is the same error again. Do something else: once more ends the attempt.", nil
	}
	return "", nil
}

// changed begins to count anew, and stops where the draft has been here before.
func (p *progress) changed(draft rule.Digest) error {
	p.draft, p.quiet = draft, 0
	clear(p.exact)
	clear(p.failures)
	p.entered[draft]++
	if p.entered[draft] >= repeats {
		return stop(StopProgress, fmt.Sprintf("the draft came back to the same state %d times", repeats))
	}
	if p.alternates() {
		return stop(StopProgress, fmt.Sprintf("the same two calls took turns %d times", repeats))
	}
	return nil
}

// idled counts a turn in which nothing could be executed.
func (p *progress) idled() error {
	p.quiet++
	if p.quiet >= p.idle {
		return stop(StopProgress, fmt.Sprintf("%d turns without a change of the draft", p.quiet))
	}
	return nil
}

// alternates says whether the latest calls are A B A B A B.
func (p *progress) alternates() bool {
	if len(p.calls) < 2*repeats || p.calls[0] == p.calls[1] {
		return false
	}
	for i := 2; i < len(p.calls); i++ {
		if p.calls[i] != p.calls[i-2] {
			return false
		}
	}
	return true
}

func clip(text string, max int) string {
	if len(text) <= max {
		return text
	}
	cut := max
	for cut > 0 && text[cut]&0xC0 == 0x80 {
		cut--
	}
	return text[:cut] + "…"
}
