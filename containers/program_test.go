package containers

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"signalbox/rule"
	"signalbox/rule/frame"
)

// script is a connection from which fixed bytes are read.
type script struct {
	net.Conn
	io.Reader
}

func (s script) Read(p []byte) (int, error)       { return s.Reader.Read(p) }
func (s script) Write(p []byte) (int, error)      { return len(p), nil }
func (s script) SetReadDeadline(time.Time) error  { return nil }
func (s script) SetWriteDeadline(time.Time) error { return nil }
func (s script) SetDeadline(time.Time) error      { return nil }

// stateOnly is an engine that answers one question.
type stateOnly struct {
	daemon
	state containerState
	found bool
	err   error
}

func (s stateOnly) State(context.Context, string) (containerState, bool, error) {
	return s.state, s.found, s.err
}

// scripted is a cell whose program says the bytes on standard output.
func scripted(said []byte, d daemon) *cell {
	c := &cell{engine: &Engine{daemon: d}, limits: starlarkLimits, conn: script{Reader: bytes.NewReader(chunk(chunkStdout, said))}}
	c.stream = newDemux(c.conn)
	c.out = frame.NewReader(c.stream, c.limits.ReplyBytes)
	return c
}

var gone = stateOnly{state: containerState{ExitCode: 1}, found: true}

func framed(t testing.TB, id uint64, kind frame.Kind, body string) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := frame.Write(&b, id, kind, []byte(body)); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

var twoRequests = []request{{frame.KindTrigger, nil, frame.KindReply}, {frame.KindTrigger, nil, frame.KindReply}}

// TestAnswersKeepsWhatCameBefore: which answers count when the stream breaks.
func TestAnswersKeepsWhatCameBefore(t *testing.T) {
	one, two := framed(t, 1, frame.KindReply, "a"), framed(t, 2, frame.KindReply, "b")
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	for _, c := range []struct {
		name string
		said []byte
		kept int
		want rule.Failure
	}{
		{"both", join(one, two), 2, ""},
		{"ended after one", one, 1, rule.FailureCrash},
		{"ended within the second", join(one, two[:len(two)-1]), 1, rule.FailureCrash},
		{"second answer to the first", join(one, one), 0, rule.FailureSchema},
		{"answers out of order", join(two, one), 0, rule.FailureSchema},
		{"a hello for an answer", join(one, framed(t, 2, frame.KindHello, "{}")), 1, rule.FailureSchema},
		{"a failure", join(framed(t, 1, frame.KindFailure, `{"failure":"crash","detail":"x"}`), two), 2, ""},
		{"a failure that only hosts see", framed(t, 1, frame.KindFailure, `{"failure":"environment_changed","detail":"x"}`), 0, rule.FailureSchema},
		{"a failure with more", framed(t, 1, frame.KindFailure, `{"failure":"crash","detail":"x","verdict":"match"}`), 0, rule.FailureSchema},
	} {
		answers, err := scripted(c.said, gone).answers(t.Context(), twoRequests, []uint64{1, 2}, time.Second)
		var got rule.Failure
		if err != nil {
			got, _ = failureOf(err)
		}
		if len(answers) != c.kept || got != c.want {
			t.Errorf("%s: %d answers, %v; want %d and %q", c.name, len(answers), err, c.kept, c.want)
		}
	}
}

// TestEngineGoneMidCall: where the engine is gone nothing is known of the
// program.
func TestEngineGoneMidCall(t *testing.T) {
	for name, d := range map[string]stateOnly{
		"engine down":       {err: sealed("inspecting container", errors.New("connection refused"))},
		"container removed": {found: false},
	} {
		_, err := scripted(nil, d).call(t.Context(), frame.KindTrigger, nil)
		if failure, _ := failureOf(err); failure != rule.FailureUnavailable {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := scripted(nil, stateOnly{state: containerState{OOMKilled: true, ExitCode: 137}, found: true}).call(t.Context(), frame.KindTrigger, nil)
	if failure, _ := failureOf(err); failure != rule.FailureMemory {
		t.Errorf("killed for memory: %v", err)
	}
}

// FuzzAnswers: whatever a program writes, each kept answer is a frame that was
// asked for, in order, and nothing but a known failure comes with it.
func FuzzAnswers(f *testing.F) {
	one, two := framed(f, 1, frame.KindReply, `{"verdict":"no_match"}`), framed(f, 2, frame.KindReply, `{"verdict":"abstain"}`)
	f.Add(append(bytes.Clone(one), two...))
	f.Add(append(bytes.Clone(one), one...))
	f.Add(framed(f, 1, frame.KindFailure, `{"failure":"crash","detail":""}`))
	f.Add([]byte(`{"id":1,"kind":"reply","length":9223372036854775807}` + "\n"))
	f.Add([]byte("\n\n\n"))
	f.Fuzz(func(t *testing.T, said []byte) {
		answers, err := scripted(said, gone).answers(t.Context(), twoRequests, []uint64{1, 2}, time.Second)
		if (err == nil) != (len(answers) == 2) {
			t.Fatalf("%d answers with error %v", len(answers), err)
		}
		for _, a := range answers {
			if reply, err := triggerReply(a); err == nil && (reply.Verdict == "") == (reply.Failure == "") {
				t.Errorf("reply %+v is neither a verdict nor a failure", reply)
			}
		}
		if err != nil {
			if end, ok := errors.AsType[*ended](err); !ok || end.failure == rule.FailureUnavailable || end.failure == rule.FailureEnvironment {
				t.Errorf("a program caused %v", err)
			}
		}
	})
}
