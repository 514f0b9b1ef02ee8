package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"signalbox/registry"
)

// How many processes commit at once while how many goroutines read.
const (
	committers = 2
	readers    = 4
	commitWord = "commits:"
)

// commits makes n commits, each with a policy that nobody else makes.
func commits(ctx context.Context, r *registry.Registry, order string) error {
	who, count, _ := strings.Cut(order, ":")
	n, err := strconv.Atoi(count)
	if err != nil {
		return err
	}
	number, err := strconv.Atoi(who)
	if err != nil {
		return err
	}
	for i := range n {
		s, err := r.Snapshot(ctx)
		if err != nil {
			return err
		}
		policy := s.State().Policy
		policy.Floor = float64(number+1)/10 + float64(i)/1e6
		if err := r.SetPolicy(ctx, policy, change); err != nil {
			return err
		}
	}
	return nil
}

// together has processes commit while goroutines read. Readers must see whole
// registries whose serial and generation never fall, and no commit may be lost.
func (h *harness) together(ctx context.Context, b budget) error {
	if b.commits == 0 {
		return nil
	}
	return h.onStage("together", func(stage string) error {
		r, err := registry.Open(filepath.Join(stage, home), registry.Options{LockTimeout: 2 * time.Minute})
		if err != nil {
			return err
		}
		defer func() { _ = r.Close() }()
		before, err := r.Snapshot(ctx)
		if err != nil {
			return err
		}
		var reading sync.WaitGroup
		stop := make(chan struct{})
		for range readers {
			reading.Go(func() { h.read(ctx, r, stop) })
		}
		each := b.commits / committers
		err = h.commitAll(ctx, stage, each)
		close(stop)
		reading.Wait()
		if err != nil {
			return err
		}
		after, err := r.Snapshot(ctx)
		if err != nil {
			return err
		}
		h.tally.commits = committers * each
		made := int(after.Serial().N - before.Serial().N)
		h.tally.add("many commits", verdict{
			lost: made != committers*each, why: fmt.Sprintf("lost: %d of %d commits are there", made, committers*each),
		})
		h.tally.add("many commits", check(goOn(ctx, r)))
		return nil
	})
}

func check(err error) verdict {
	if err == nil {
		return verdict{}
	}
	return verdict{corrupt: true, why: "corrupt: " + err.Error()}
}

// commitAll runs the processes and waits for them.
func (h *harness) commitAll(ctx context.Context, stage string, each int) error {
	failed := make(chan error, committers)
	for i := range committers {
		go func() {
			acked, err := h.tracer.plain(ctx, fmt.Sprint(commitWord, i, ":", each), stage)
			if err == nil && !acked {
				err = fmt.Errorf("a committing process never said ACK")
			}
			failed <- err
		}()
	}
	var err error
	for range committers {
		if got := <-failed; got != nil {
			err = got
		}
	}
	return err
}

// read reads until it's stopped.
func (h *harness) read(ctx context.Context, r *registry.Registry, stop <-chan struct{}) {
	last, err := r.Snapshot(ctx)
	for n := 0; ; n++ {
		var s *registry.Snapshot
		if err == nil {
			s, err = r.Snapshot(ctx)
		}
		v := check(err)
		if err == nil && (s.Serial().N < last.Serial().N || s.Generation() < last.Generation()) {
			v = verdict{corrupt: true, why: fmt.Sprintf("corrupt: serial %d after %d", s.Serial().N, last.Serial().N)}
		}
		stopped := v.corrupt
		select {
		case <-stop:
			stopped = true
		default:
		}
		if stopped {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.tally.reads += n
			h.tally.add("reading during many commits", v)
			return
		}
		last = s
		time.Sleep(time.Millisecond)
	}
}
