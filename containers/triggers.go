package containers

import (
	"context"
	"errors"
	"fmt"

	"signalbox/rule"
	"signalbox/rule/frame"
)

// Bounds on what is asked in one write. The bytes are a soft bound: a larger
// single task goes alone.
const (
	maxPipelined      = 64
	maxPipelinedBytes = 256 << 10
)

// maxRestarts is how often Triggers starts a program again within one slice
// after killing it. A program that needs more gets its last failure for all
// tasks that are left: it is the program that is bad, not the host.
const maxRestarts = 8

// Triggers asks a program's trigger about each task and returns the replies in
// the same order. Tasks are pipelined; each has the call deadline. Where the
// program has to be killed, the task under way gets the failure and the rest is
// asked of a fresh start, up to maxRestarts times. A limit that was hit without
// ending the program fails all tasks of its write, since it can't be told which
// one hit it.
func (r *Residents) Triggers(ctx context.Context, program rule.Program, tasks []rule.Document) []rule.TriggerReply {
	replies := make([]rule.TriggerReply, 0, len(tasks))
	requests, err := triggerRequests(tasks)
	if err != nil {
		return fill(replies, len(tasks), &ended{rule.FailureSchema, err.Error()})
	}
	s, err := r.take(ctx, placeOf(program, rule.RoleTrigger))
	if err != nil {
		return fill(replies, len(tasks), err)
	}
	defer r.leave(s)
	for kills := 0; len(replies) < len(tasks); {
		got, err := r.slice(ctx, s, program, window(requests[len(replies):]))
		replies = append(replies, got...)
		if err == nil {
			continue
		}
		_ = s.discard()
		if end, ok := errors.AsType[*ended](err); !ok || s.refused != nil {
			return fill(replies, len(tasks), err)
		} else if kills++; kills > maxRestarts {
			return fill(replies, len(tasks), &ended{end.failure, fmt.Sprintf("not asked: the program was ended %d times, last: %s", kills, end.detail)})
		}
		if len(got) == 0 {
			replies = fill(replies, len(replies)+1, err)
		}
	}
	return replies
}

// slice asks the requests of one write. With an error come the replies before
// it, and the failed one itself where it is known which that is.
func (r *Residents) slice(ctx context.Context, s *resident, program rule.Program, requests []request) ([]rule.TriggerReply, error) {
	if err := r.ready(ctx, s, program, rule.RoleTrigger); err != nil {
		return nil, err
	}
	answers, err := s.cell.pipeline(ctx, requests, s.cell.limits.CallDeadline)
	replies := make([]rule.TriggerReply, 0, len(requests))
	for _, a := range answers {
		reply, parseErr := triggerReply(a)
		if parseErr != nil {
			return fill(replies, len(replies)+1, parseErr), parseErr
		}
		replies = append(replies, reply)
	}
	if err == nil {
		return replies, nil
	}
	if _, ok := errors.AsType[*ended](err); !ok {
		return replies, err
	}
	if answers == nil && s.cell.breach() != nil {
		return fill(replies, len(requests), err), err
	}
	return fill(replies, len(replies)+1, err), err
}

// triggerReply reads an answer. An error means that the program broke the
// protocol.
func triggerReply(a answer) (rule.TriggerReply, error) {
	if a.failed != nil {
		return rule.TriggerReply{Failure: a.failed.failure, Detail: clip(a.failed.detail)}, nil
	}
	reply, err := rule.ParseTriggerReply(a.body)
	if err != nil {
		return rule.TriggerReply{}, &ended{rule.FailureSchema, err.Error()}
	}
	return reply, nil
}

func triggerRequests(tasks []rule.Document) ([]request, error) {
	requests := make([]request, 0, len(tasks))
	for _, task := range tasks {
		body, err := rule.Canonical(task)
		if err != nil {
			return nil, err
		}
		requests = append(requests, request{frame.KindTrigger, body, frame.KindReply})
	}
	return requests, nil
}

// window returns the first requests that go into one write.
func window(requests []request) []request {
	total := 0
	for i, r := range requests {
		total += len(r.body)
		if i == maxPipelined || i > 0 && total > maxPipelinedBytes {
			return requests[:i]
		}
	}
	return requests
}

// fill gives every reply up to n the failure.
func fill(replies []rule.TriggerReply, n int, err error) []rule.TriggerReply {
	failure, detail := failureOf(err)
	for len(replies) < n {
		replies = append(replies, rule.TriggerReply{Failure: failure, Detail: detail})
	}
	return replies
}
