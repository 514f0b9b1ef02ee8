package main

import (
	"bufio"
	"io"

	"signalbox/rule"
	"signalbox/rule/frame"
)

// writer sends frames from a goroutine of its own: many answers in one write
// while more are coming, and none held back by a call that takes long.
type writer struct {
	waiting chan request
	budget  *budget
	out     *bufio.Writer
}

// maxBehind bounds the answers that wait to be written.
const maxBehind = 256

func newWriter(stdout io.Writer) *writer {
	w := &writer{
		waiting: make(chan request, maxBehind),
		budget:  newBudget(maxBehindBytes),
		out:     bufio.NewWriterSize(stdout, 64<<10),
	}
	go w.drain()
	return w
}

// send hands a frame over to be written.
func (w *writer) send(id uint64, kind frame.Kind, body []byte) {
	w.budget.take(len(body))
	w.waiting <- request{id, kind, body}
}

func (w *writer) sendJSON(id uint64, kind frame.Kind, body any) {
	data, err := rule.Canonical(body)
	if err != nil {
		end(err)
	}
	w.send(id, kind, data)
}

// drain writes until stdout breaks, which ends the process.
func (w *writer) drain() {
	for r := range w.waiting {
		err := frame.Write(w.out, r.id, r.kind, r.body)
		w.budget.give(len(r.body))
		if err == nil && len(w.waiting) == 0 {
			err = w.out.Flush()
		}
		if err != nil {
			end(err)
		}
	}
}
