package main

import (
	"bytes"
	"io"
	"testing"
	"time"

	"signalbox/rule/frame"
)

// TestBudget shows that a taker waits for bytes to be given back, and that one
// piece larger than the whole budget passes when it is alone.
func TestBudget(t *testing.T) {
	b := newBudget(10)
	b.take(25)
	b.give(25)
	b.take(6)
	b.take(4)
	passed := make(chan bool)
	go func() { b.take(1); passed <- true }()
	select {
	case <-passed:
		t.Error("one byte over the budget passed")
	case <-time.After(50 * time.Millisecond):
	}
	b.give(4)
	<-passed
}

// TestQueueIsBounded writes more than may be read ahead: the rest stays with the
// sender until a request is served.
func TestQueueIsBounded(t *testing.T) {
	stdin, host := io.Pipe()
	q := newQueue()
	go q.fill(stdin)
	body := bytes.Repeat([]byte("x"), maxAheadBytes/4)
	sent := make(chan int, 10)
	go func() {
		for i := range 7 {
			if err := frame.Write(host, uint64(i), frame.KindTrigger, body); err != nil {
				return
			}
			sent <- i
		}
	}()
	for range 5 { // four fill the budget, and one waits with the reader
		<-sent
	}
	select {
	case i := <-sent:
		t.Errorf("request %d was taken too, though none was served", i)
	case <-time.After(200 * time.Millisecond):
	}
	for i := range 7 {
		if r := q.next(); r.id != uint64(i) || len(r.body) != len(body) {
			t.Fatalf("request %d comes with id %d and %d bytes", i, r.id, len(r.body))
		}
	}
}
