package containers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"strings"
	"sync"
	"time"

	"signalbox/rule"
	"signalbox/rule/frame"
)

// endAllowance bounds ending and removing one container, which happens on a
// clock of its own: a caller's cancellation doesn't shorten it.
const endAllowance = 45 * time.Second

// cell is one container of ours with its streams: created, attached, started
// and checked. One goroutine uses it at a time, except for Close.
type cell struct {
	engine *Engine
	plan   Plan
	limits rule.Limits
	name   string

	mu      sync.Mutex // guards what Close needs of a cell that is still starting
	id      string
	pid     int
	folders []string // cgroup folders, once they are known to be this container's
	conn    net.Conn

	stream   *demux
	out      *frame.Reader
	counters counters

	closing sync.Once
	closed  error
}

// start makes a container of the role and returns it after its greeting, with
// its posture checked. An error is ErrUnavailable or ErrEnvironmentChanged;
// nothing is left of the container then.
func (e *Engine) start(ctx context.Context, env rule.Environment, role rule.Role) (*cell, error) {
	select {
	case e.starts <- struct{}{}:
		defer func() { <-e.starts }()
	case <-ctx.Done():
		return nil, cancelled(ctx)
	}
	ref, err := e.imageFor(ctx, env)
	if err != nil {
		return nil, err
	}
	plan, err := planFor(env, ref, role, e.labels)
	if err != nil {
		return nil, fmt.Errorf("planning container: %v: %w", err, ErrUnavailable)
	}
	c := &cell{engine: e, plan: plan, limits: env.Limits, name: "signalbox-" + randomName()}
	if err := e.adopt(c); err != nil {
		return nil, err
	}
	if err := c.begin(ctx); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

func (e *Engine) adopt(c *cell) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return fmt.Errorf("containers are closed: %w", ErrUnavailable)
	}
	e.live[c] = struct{}{}
	return nil
}

func cancelled(ctx context.Context) error {
	return fmt.Errorf("cancelled: %v: %w", context.Cause(ctx), ErrUnavailable)
}

// begin creates, attaches to and starts the container, and awaits its greeting.
func (c *cell) begin(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, c.limits.StartDeadline)
	defer cancel()
	// Creating isn't interrupted: an answer that nobody hears is a leak.
	id, err := c.engine.daemon.Create(context.WithoutCancel(ctx), c.name, c.plan)
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.id = id
	c.mu.Unlock()
	conn, err := c.engine.daemon.Attach(ctx, id)
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.conn = conn
	c.mu.Unlock()
	c.stream = newDemux(conn)
	c.out = frame.NewReader(c.stream, c.limits.ReplyBytes)
	if err := c.engine.daemon.Start(ctx, id); err != nil {
		return err
	}
	if err := c.greeting(ctx); err != nil {
		return err
	}
	return c.checkPosture(ctx)
}

// greeting reads the hello frame. Until then nothing but our own kernel
// program ran, so whatever goes wrong is the host's trouble.
func (c *cell) greeting(ctx context.Context) error {
	deadline, _ := ctx.Deadline()
	header, body, err := c.readFrame(ctx, deadline)
	if err != nil {
		return fmt.Errorf("awaiting the program's greeting: %v%s: %w", err, c.lastWords(), ErrUnavailable)
	}
	var hello frame.Hello
	if header.Kind != frame.KindHello || header.ID != 0 {
		return fmt.Errorf("awaiting the program's greeting: got %q: %w", header.Kind, ErrUnavailable)
	}
	if err := rule.Decode(body, &hello); err != nil {
		return fmt.Errorf("reading the program's greeting: %v: %w", err, ErrUnavailable)
	}
	if hello.Protocol != frame.Protocol {
		return fmt.Errorf("the program speaks protocol %d, this host %d: %w", hello.Protocol, frame.Protocol, ErrUnavailable)
	}
	if boot := c.engine.labels[labelBoot]; hello.BootID != boot {
		return fmt.Errorf("the engine isn't local: a container's boot id is %q, this host's %q: %w", hello.BootID, boot, ErrUnavailable)
	}
	return nil
}

// checkPosture compares the started container, as the host sees it, with the
// plan, and keeps what tells later how the program ended.
func (c *cell) checkPosture(ctx context.Context) error {
	state, found, err := c.engine.daemon.State(ctx, c.id)
	if err != nil {
		return err
	}
	if !found || !state.Running || state.PID <= 0 {
		return fmt.Errorf("container ended after its greeting%s: %w", c.lastWords(), ErrUnavailable)
	}
	c.pid = state.PID
	seen, err := readPosture(state.PID)
	if err != nil {
		return fmt.Errorf("reading the container's posture on this host: %v: %w", err, ErrUnavailable)
	}
	if difference := seen.differs(c.plan, c.id); difference != "" {
		return fmt.Errorf("container's posture: %s: %w", difference, ErrUnavailable)
	}
	c.mu.Lock()
	c.folders = seen.groups.folders()
	c.mu.Unlock()
	c.counters, err = openCounters(seen.groups)
	if err != nil {
		return fmt.Errorf("opening the container's counters: %v: %w", err, ErrUnavailable)
	}
	return nil
}

// readFrame reads one frame, until the deadline or the context's end.
func (c *cell) readFrame(ctx context.Context, deadline time.Time) (frame.Header, []byte, error) {
	stop := context.AfterFunc(ctx, c.interrupt)
	defer stop()
	if err := c.conn.SetReadDeadline(deadline); err != nil {
		return frame.Header{}, nil, err
	}
	if ctx.Err() != nil {
		return frame.Header{}, nil, os.ErrDeadlineExceeded
	}
	header, body, err := c.out.Read()
	// An interruption that comes too late for this frame would hit the next call's:
	// the caller has given up in any case, and the cell goes with it.
	if !stop() {
		return frame.Header{}, nil, os.ErrDeadlineExceeded
	}
	// A frame that breaks off says only that it did; the stream knows why.
	if cause := c.stream.failed; errors.Is(err, io.ErrUnexpectedEOF) && cause != nil {
		err = cause
	}
	return header, body, err
}

// write sends bytes, until the deadline or the context's end.
func (c *cell) write(ctx context.Context, deadline time.Time, data []byte) error {
	stop := context.AfterFunc(ctx, c.interrupt)
	defer stop()
	if err := c.conn.SetWriteDeadline(deadline); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return os.ErrDeadlineExceeded
	}
	_, err := c.conn.Write(data)
	if !stop() {
		return os.ErrDeadlineExceeded
	}
	return err
}

func (c *cell) interrupt() { c.conn.SetDeadline(time.Unix(1, 0)) }

// nextID returns a request's number. A program can't guess it, so it can't
// answer what it wasn't asked.
func nextID() uint64 { return 1 + rand.Uint64N(1<<52) }

// lastWords returns what the program wrote on standard error, for a message.
func (c *cell) lastWords() string {
	if c.stream == nil || len(c.stream.stderr) == 0 {
		return ""
	}
	return fmt.Sprintf("; it wrote %q", strings.TrimSpace(string(c.stream.stderr)))
}

// Close ends the program and removes the container; later calls return what
// the first one did. The error says what of it stayed.
func (c *cell) Close() error {
	c.closing.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), endAllowance)
		defer cancel()
		c.mu.Lock()
		id, folders, conn := c.id, c.folders, c.conn
		c.mu.Unlock()
		if conn != nil {
			conn.Close()
		}
		if id == "" {
			id = c.name
		}
		c.closed = destroy(ctx, c.engine.daemon, id, folders)
		c.counters.Close()
		c.engine.mu.Lock()
		delete(c.engine.live, c)
		c.engine.mu.Unlock()
	})
	return c.closed
}
