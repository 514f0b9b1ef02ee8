package containers

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"signalbox/rule"
)

// ErrUnavailable is returned when programs can't be run here: there is no
// engine, it isn't local, it lacks something that the recipe needs, or it
// didn't answer in time. The error's text names which.
var ErrUnavailable = errors.New("containers are unavailable")

// ErrEnvironmentChanged is returned when an environment isn't the one that now
// stands; the error's text names both values.
var ErrEnvironmentChanged = rule.ErrEnvironmentChanged

// Options say for whom an Engine works.
type Options struct {
	// Workspace names one signalbox home on its containers' labels.
	Workspace string
	// Kernel is the kernel program; nil is the one that the build packed.
	Kernel []byte
}

// startsAtOnce bounds how many containers start in parallel: more don't come
// up sooner.
const startsAtOnce = 4

// Engine is a connection to the local container engine. It owns the containers
// that it starts until Close. It is safe for concurrent use.
type Engine struct {
	daemon   daemon
	image    kernelImage
	imageErr error
	labels   map[string]string
	limits   rule.Limits
	starts   chan struct{}
	stop     context.CancelFunc

	mu     sync.Mutex
	closed bool
	live   map[*cell]struct{}
	facts  *engineFacts // nil until asked, and again once the engine changed
	epoch  uint64       // counts the changes of the engine that were noticed
	ref    string       // the engine's name for image, where it is known to be there

	checking sync.Mutex // one checks the engine at a time
}

// Open connects to the local engine and refuses one that lacks a part of the
// recipe: ErrUnavailable, with the name of what is missing.
func Open(ctx context.Context, o Options) (*Engine, error) {
	connection, err := openDocker(ctx)
	if err != nil {
		return nil, err
	}
	engine, err := openWith(ctx, connection, o)
	if err != nil {
		connection.Close()
		return nil, err
	}
	return engine, nil
}

func openWith(ctx context.Context, d daemon, o Options) (*Engine, error) {
	boot, err := bootID()
	if err != nil {
		return nil, fmt.Errorf("reading this host's boot id: %v: %w", err, ErrUnavailable)
	}
	owner, err := thisProcess()
	if err != nil {
		return nil, fmt.Errorf("reading this process's start time: %v: %w", err, ErrUnavailable)
	}
	if !workspacePattern.MatchString(o.Workspace) {
		return nil, fmt.Errorf("workspace %q: want 1 to 128 of A-Z a-z 0-9 : . _ -", o.Workspace)
	}
	watching, stop := context.WithCancel(context.WithoutCancel(ctx))
	e := &Engine{
		daemon: d, limits: starlarkLimits, live: map[*cell]struct{}{}, starts: make(chan struct{}, startsAtOnce), stop: stop,
		labels: map[string]string{
			labelWorkspace: o.Workspace, labelBoot: boot, labelOwner: owner.String(), labelEngine: randomName(),
		},
	}
	if o.Kernel == nil {
		o.Kernel = packedKernel()
	}
	if len(o.Kernel) == 0 {
		e.imageErr = fmt.Errorf("the kernel program isn't packed into this binary (make build does that): %w", ErrUnavailable)
	} else {
		e.image, e.imageErr = newKernelImage(o.Kernel, runtime.GOARCH)
	}
	// What is learnt of the engine counts from when its changes are heard of.
	standing := make(chan struct{})
	go e.watch(watching, sync.OnceFunc(func() { close(standing) }))
	select {
	case <-standing:
	case <-ctx.Done():
	}
	if _, err := e.engineFacts(ctx); err != nil {
		stop()
		return nil, err
	}
	return e, nil
}

// engineFacts returns what the engine says of itself, asked again after each
// noticed change, and checked to have all that the recipe needs.
func (e *Engine) engineFacts(ctx context.Context) (engineFacts, error) {
	e.mu.Lock()
	known, epoch := e.facts, e.epoch
	e.mu.Unlock()
	if known != nil {
		return *known, nil
	}
	facts, err := e.daemon.Facts(ctx)
	if err != nil {
		return engineFacts{}, err
	}
	if missing := facts.missing(); missing != "" {
		return engineFacts{}, fmt.Errorf("the container engine lacks %s: %w", missing, ErrUnavailable)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.epoch == epoch {
		e.facts = &facts
	}
	return facts, nil
}

// missing names the first part of the recipe that the engine can't give.
func (f engineFacts) missing() string {
	switch {
	case olderAPI(f.API):
		return fmt.Sprintf("API %s (it has %q)", minAPI, f.API)
	case f.Runtime == "":
		return fmt.Sprintf("the runtime %q", runtimeName)
	case !f.Seccomp:
		return "seccomp"
	case !f.MemoryLimit:
		return "memory limits"
	case !f.SwapLimit:
		return "swap limits"
	case !f.PidsLimit:
		return "process limits"
	case !f.CPU:
		return "CPU limits"
	case f.UserNamespaces:
		return "a posture that is known with user namespace remapping"
	}
	return ""
}

func olderAPI(version string) bool {
	var major, minor, wantMajor, wantMinor int
	if _, err := fmt.Sscanf(version, "%d.%d", &major, &minor); err != nil {
		return true
	}
	fmt.Sscanf(minAPI, "%d.%d", &wantMajor, &wantMinor)
	return major < wantMajor || major == wantMajor && minor < wantMinor
}

// watch voids what is known of the engine whenever it says that something
// changed, when its event stream ends, and when it is heard again, until ctx
// ends. standing is called each time that a stream is open or could not be had.
func (e *Engine) watch(ctx context.Context, standing func()) {
	const between = time.Second
	for again := false; ; again = true {
		_ = e.daemon.Watch(ctx, func() {
			if again {
				e.forget()
			}
			standing()
		}, func(image string) {
			if image == "" || image == e.imageRef() {
				e.forget()
			}
		})
		standing()
		if ctx.Err() != nil {
			return
		}
		e.forget()
		select {
		case <-ctx.Done():
			return
		case <-time.After(between):
		}
	}
}

// forget makes the next use ask the engine again, and residents start afresh.
func (e *Engine) forget() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.facts, e.ref = nil, ""
	e.epoch++
}

func (e *Engine) imageRef() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.ref
}

func (e *Engine) currentEpoch() uint64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.epoch
}

// Close ends and removes every container that this Engine started, those too
// of whose creation it never heard. It returns the first one that stayed.
func (e *Engine) Close() error {
	e.mu.Lock()
	e.closed = true
	cells := make([]*cell, 0, len(e.live))
	for c := range e.live {
		cells = append(cells, c)
	}
	e.mu.Unlock()
	e.stop()
	errs := make([]error, len(cells))
	inParallel(len(cells), startsAtOnce, func(i int) { errs[i] = cells[i].Close() })
	ctx, cancel := context.WithTimeout(context.Background(), endAllowance)
	defer cancel()
	left, err := e.daemon.List(ctx, labelEngine+"="+e.labels[labelEngine])
	errs = append(errs, err)
	for _, c := range left {
		errs = append(errs, destroy(ctx, e.daemon, c.ID, nil))
	}
	errs = append(errs, e.daemon.Close())
	return errors.Join(errs...)
}

// inParallel calls do(0…n-1), at most width at a time, and waits for all.
func inParallel(n, width int, do func(i int)) {
	var wait sync.WaitGroup
	slots := make(chan struct{}, width)
	for i := range n {
		slots <- struct{}{}
		wait.Go(func() {
			defer func() { <-slots }()
			do(i)
		})
	}
	wait.Wait()
}

func randomName() string {
	var bytes [12]byte
	rand.Read(bytes[:])
	return hex.EncodeToString(bytes[:])
}

func (f engineFacts) engine() rule.Engine {
	return rule.Engine{
		Docker: f.Docker, Runtime: f.Runtime, RuntimeCommit: f.RuntimeCommit,
		LinuxKernel: f.LinuxKernel, Architecture: f.Architecture, Cgroup: f.Cgroup,
	}
}
