package main

import (
	"io"
	"sync"

	"signalbox/rule/frame"
)

const (
	// maxRequest bounds a request's body, in bytes. A tree at its limits, in
	// base64 with its paths, is the largest that a host can send.
	maxRequest = 24 << 20
	// maxAhead and maxAheadBytes bound what is read before it is served. One
	// request may be larger, if it is alone.
	maxAhead      = 4_096
	maxAheadBytes = 8 << 20
	// maxBehindBytes bounds the answers that wait to be written, likewise.
	maxBehindBytes = 4 << 20
)

// request is one frame from the host.
type request struct {
	id   uint64
	kind frame.Kind
	body []byte
}

// queue holds the requests that have been read and not yet served.
type queue struct {
	waiting chan request
	budget  *budget
}

func newQueue() *queue {
	return &queue{waiting: make(chan request, maxAhead), budget: newBudget(maxAheadBytes)}
}

// fill owns stdin: it reads ahead of the calls so that it notices at once, and
// ends the process, when the host has gone.
func (q *queue) fill(stdin io.Reader) {
	reader := frame.NewReader(stdin, maxRequest)
	for {
		header, body, err := reader.Read()
		if err != nil {
			end(err)
		}
		q.budget.take(len(body))
		q.waiting <- request{header.ID, header.Kind, body}
	}
}

// next returns the oldest request.
func (q *queue) next() request {
	r := <-q.waiting
	q.budget.give(len(r.body))
	return r
}

// budget bounds the bytes that two goroutines hold between them.
type budget struct {
	mu    sync.Mutex
	freed sync.Cond
	max   int
	used  int
}

func newBudget(max int) *budget {
	b := &budget{max: max}
	b.freed.L = &b.mu
	return b
}

// take waits until n bytes fit, or nothing else is held.
func (b *budget) take(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.used > 0 && b.used+n > b.max {
		b.freed.Wait()
	}
	b.used += n
}

func (b *budget) give(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used -= n
	b.freed.Signal()
}
