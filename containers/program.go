package containers

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"signalbox/rule"
	"signalbox/rule/frame"
)

// request is one question to a program.
type request struct {
	kind frame.Kind
	body []byte
	// answer is the kind of the answer that isn't a failure.
	answer frame.Kind
}

// answer is what a program said: a body, or the failure that it reports of
// itself, after which it can be asked again.
type answer struct {
	body   []byte
	failed *ended
}

// load gives the program its files: a rule's source, or a draft. Loading is
// hostile too, so it is under a deadline as a call is. The returned error is
// *ended where the files are at fault.
func (c *cell) load(ctx context.Context, files rule.Tree) error {
	texts := make(map[string]string, len(files))
	for p, data := range files {
		if !utf8.Valid(data) {
			return &ended{rule.FailureSchema, fmt.Sprintf("file %q is not UTF-8", p)}
		}
		texts[p] = string(data)
	}
	body, err := rule.Canonical(frame.Load{Role: c.plan.Role, Steps: c.limits.Steps, Source: texts})
	if err != nil {
		return &ended{rule.FailureSchema, "writing source: " + err.Error()}
	}
	return c.prepare(ctx, frame.KindLoad, body)
}

// sendTree gives the program the files that its next call sees.
func (c *cell) sendTree(ctx context.Context, tree rule.Tree) error {
	files := frame.Tree(tree)
	if files == nil {
		files = frame.Tree{}
	}
	body, err := rule.Canonical(files)
	if err != nil {
		return &ended{rule.FailureSchema, "writing tree: " + err.Error()}
	}
	return c.prepare(ctx, frame.KindTree, body)
}

func (c *cell) prepare(ctx context.Context, kind frame.Kind, body []byte) error {
	got, err := c.ask(ctx, request{kind, body, frame.KindReady}, c.limits.LoadDeadline)
	if err == nil && got.failed != nil {
		err = got.failed
	}
	return err
}

// call asks one question under the call deadline.
func (c *cell) call(ctx context.Context, kind frame.Kind, body []byte) (answer, error) {
	return c.ask(ctx, request{kind, body, frame.KindReply}, c.limits.CallDeadline)
}

func (c *cell) ask(ctx context.Context, r request, within time.Duration) (answer, error) {
	answers, err := c.pipeline(ctx, []request{r}, within)
	if err != nil {
		return answer{}, err
	}
	return answers[0], nil
}

// pipeline asks all requests in one write and reads the answers meanwhile, each
// within its own deadline, so that neither side waits for the other. An error
// ends the program's use; the answers before it are returned with it, and the
// one that it belongs to is the next.
func (c *cell) pipeline(ctx context.Context, requests []request, within time.Duration) ([]answer, error) {
	if err := c.quiet(ctx); err != nil {
		return nil, err
	}
	ids, packed, err := pack(requests)
	if err != nil {
		return nil, &ended{rule.FailureSchema, err.Error()}
	}
	written := make(chan error, 1)
	go func() {
		// The last request may be read only once all others are answered.
		deadline := time.Now().Add(time.Duration(len(requests)) * within)
		written <- c.write(ctx, deadline, packed)
	}()
	answers, err := c.answers(ctx, requests, ids, within)
	if err != nil {
		c.interruptWrite()
	}
	if writeErr := <-written; err == nil && writeErr != nil {
		err = c.diagnose(ctx, writeErr)
	}
	if err != nil {
		return answers, err
	}
	if err := c.quiet(ctx); err != nil {
		return answers[:len(answers)-1], err
	}
	if err := c.breach(); err != nil {
		return nil, err
	}
	return answers, nil
}

func (c *cell) interruptWrite() { c.conn.SetWriteDeadline(time.Unix(1, 0)) }

func pack(requests []request) (ids []uint64, packed []byte, err error) {
	var buffer bytes.Buffer
	for _, r := range requests {
		id := nextID()
		ids = append(ids, id)
		if err := frame.Write(&buffer, id, r.kind, r.body); err != nil {
			return nil, nil, err
		}
	}
	return ids, buffer.Bytes(), nil
}

func (c *cell) answers(ctx context.Context, requests []request, ids []uint64, within time.Duration) ([]answer, error) {
	var all []answer
	for i, r := range requests {
		header, body, err := c.readFrame(ctx, time.Now().Add(within))
		if err != nil {
			return all, c.diagnose(ctx, err)
		}
		if header.ID != ids[i] {
			// A second answer to an earlier request voids the first.
			if at := slices.Index(ids[:i], header.ID); at >= 0 {
				all = all[:at]
			}
			return all, c.violation("answered request %d, which wasn't asked", header.ID)
		}
		got, err := c.understand(r, header.Kind, body)
		if err != nil {
			return all, err
		}
		all = append(all, got)
	}
	return all, nil
}

func (c *cell) understand(r request, kind frame.Kind, body []byte) (answer, error) {
	switch kind {
	case r.answer:
		if kind == frame.KindReady && len(body) > 0 {
			return answer{}, c.violation("sent %d bytes with %s", len(body), kind)
		}
		return answer{body: body}, nil
	case frame.KindFailure:
		failed, err := reported(body)
		if err != nil {
			return answer{}, c.violation("%v", err)
		}
		return answer{failed: failed}, nil
	}
	return answer{}, c.violation("answered %s with %q", r.kind, kind)
}

// reported reads a failure that a program reports of itself. What the host
// alone can know (that it can't run programs, that an environment changed, that
// a sandbox was broken) is not a program's to say.
func reported(body []byte) (*ended, error) {
	var failed frame.Failed
	if err := rule.Decode(body, &failed); err != nil {
		return nil, fmt.Errorf("reading failure: %w", err)
	}
	switch failed.Failure {
	case rule.FailureTimeout, rule.FailureMemory, rule.FailureOutput, rule.FailureCrash, rule.FailureSchema:
		return &ended{failed.Failure, failed.Detail}, nil
	}
	return nil, fmt.Errorf("a program can't report failure %q", failed.Failure)
}

// quiet makes sure that nothing has arrived that wasn't asked for.
func (c *cell) quiet(ctx context.Context) error {
	pending, err := c.stream.pending()
	if err != nil {
		return c.diagnose(ctx, err)
	}
	if pending || c.out.Buffered() > 0 {
		return c.violation("wrote more than its answer")
	}
	return nil
}

// violation is a breach of the protocol, unless the host's facts say that
// something graver was the cause.
func (c *cell) violation(format string, arguments ...any) error {
	if err := c.breach(); err != nil {
		return err
	}
	return &ended{rule.FailureSchema, fmt.Sprintf("the program "+format, arguments...)}
}
