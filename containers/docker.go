package containers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"time"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/events"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/client"
)

// daemon is all that this package asks of a container engine. Every method is
// bounded by a deadline of its own besides the context's.
type daemon interface {
	// Facts describes the engine.
	Facts(ctx context.Context) (engineFacts, error)
	// Image describes the image that the reference names; found is false where
	// the engine has none.
	Image(ctx context.Context, ref string) (facts imageFacts, found bool, err error)
	// Images lists the references of images that carry the label.
	Images(ctx context.Context, label string) ([]string, error)
	// Load imports an image archive.
	Load(ctx context.Context, archive io.Reader) error
	// Create makes a container of the plan under the name and returns its ID.
	Create(ctx context.Context, name string, plan Plan) (string, error)
	// Attach connects to the streams of a container that isn't started yet.
	Attach(ctx context.Context, id string) (net.Conn, error)
	Start(ctx context.Context, id string) error
	State(ctx context.Context, id string) (state containerState, found bool, err error)
	Kill(ctx context.Context, id string) error
	// Remove removes a container by force; one that is gone already is no error.
	Remove(ctx context.Context, idOrName string) error
	// List returns the containers that carry all labels, running or not.
	List(ctx context.Context, labels ...string) ([]listedContainer, error)
	// Watch calls standing once it is told of events, and changed on each that may
	// void what was checked, with the name of the image that went or "" where it is
	// the engine itself. It returns when the engine's event stream ends.
	Watch(ctx context.Context, standing func(), changed func(image string)) error
	Close() error
}

// engineFacts is what the engine says of itself.
type engineFacts struct {
	Docker, API, Runtime, RuntimeCommit    string
	LinuxKernel, Architecture, Cgroup      string
	Seccomp, UserNamespaces                bool
	MemoryLimit, SwapLimit, PidsLimit, CPU bool
}

// imageFacts is what of an image decides how a program starts.
type imageFacts struct {
	ID                     string
	Layers, Entrypoint     []string
	Cmd, Env               []string
	User, WorkingDir       string
	Volumes, Healthchecked bool
}

type containerState struct {
	ID                 string
	Running, OOMKilled bool
	PID, ExitCode      int
	Error              string
}

type listedContainer struct {
	ID     string
	Labels map[string]string
}

// Deadlines of single engine requests. Removing may wait for a process that
// dies slowly, and loading writes to disk.
const (
	requestDeadline = 20 * time.Second
	removeDeadline  = 30 * time.Second
	loadDeadline    = 90 * time.Second
)

const defaultSocket = "unix:///var/run/docker.sock"

// minAPI is the oldest API that has all that a plan asks for.
const minAPI = "1.41"

type docker struct{ api *client.Client }

// openDocker connects to the local engine. DOCKER_HOST may name another local
// socket, and nothing else.
func openDocker(ctx context.Context) (*docker, error) {
	host := os.Getenv("DOCKER_HOST")
	if host == "" {
		host = defaultSocket
	}
	if !strings.HasPrefix(host, "unix://") {
		return nil, fmt.Errorf("DOCKER_HOST %q: only a local unix:// socket is used, since containers are checked from this host: %w", host, ErrUnavailable)
	}
	api, err := client.NewClientWithOpts(client.WithHost(host), client.WithAPIVersionNegotiation())
	if err != nil {
		return nil, fmt.Errorf("opening Docker client on %q: %v: %w", host, err, ErrUnavailable)
	}
	ctx, cancel := context.WithTimeout(ctx, requestDeadline)
	defer cancel()
	ping, err := api.Ping(ctx)
	if err != nil {
		api.Close()
		return nil, fmt.Errorf("asking Docker on %q: %v: %w", host, err, ErrUnavailable)
	}
	api.NegotiateAPIVersionPing(ping)
	return &docker{api: api}, nil
}

func (d *docker) Facts(ctx context.Context) (engineFacts, error) {
	ctx, cancel := context.WithTimeout(ctx, requestDeadline)
	defer cancel()
	version, err := d.api.ServerVersion(ctx)
	if err != nil {
		return engineFacts{}, sealed("asking the engine's version", err)
	}
	info, err := d.api.Info(ctx)
	if err != nil {
		return engineFacts{}, sealed("asking the engine's facts", err)
	}
	facts := engineFacts{
		Docker: version.Version, API: version.APIVersion,
		LinuxKernel: info.KernelVersion, Architecture: info.Architecture,
		Cgroup:        "v" + info.CgroupVersion + " " + info.CgroupDriver,
		RuntimeCommit: info.RuncCommit.ID,
		MemoryLimit:   info.MemoryLimit, SwapLimit: info.SwapLimit, PidsLimit: info.PidsLimit, CPU: info.CPUCfsQuota,
	}
	for _, component := range version.Components {
		if component.Name == "runc" {
			facts.Runtime = "runc " + component.Version
		}
	}
	for _, option := range info.SecurityOptions {
		facts.Seccomp = facts.Seccomp || strings.HasPrefix(option, "name=seccomp")
		facts.UserNamespaces = facts.UserNamespaces || strings.HasPrefix(option, "name=userns")
	}
	if _, ok := info.Runtimes[runtimeName]; !ok {
		facts.Runtime = ""
	}
	return facts, nil
}

func (d *docker) Image(ctx context.Context, ref string) (imageFacts, bool, error) {
	ctx, cancel := context.WithTimeout(ctx, requestDeadline)
	defer cancel()
	found, err := d.api.ImageInspect(ctx, ref)
	if cerrdefs.IsNotFound(err) {
		return imageFacts{}, false, nil
	}
	if err != nil {
		return imageFacts{}, false, sealed(fmt.Sprintf("inspecting image %q", ref), err)
	}
	facts := imageFacts{ID: found.ID, Layers: found.RootFS.Layers}
	if c := found.Config; c != nil {
		facts.Entrypoint, facts.Cmd, facts.Env = c.Entrypoint, c.Cmd, c.Env
		facts.User, facts.WorkingDir = c.User, c.WorkingDir
		facts.Volumes, facts.Healthchecked = len(c.Volumes) > 0, c.Healthcheck != nil
	}
	return facts, true, nil
}

func (d *docker) Images(ctx context.Context, label string) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, requestDeadline)
	defer cancel()
	images, err := d.api.ImageList(ctx, image.ListOptions{All: true, Filters: filters.NewArgs(filters.Arg("label", label))})
	if err != nil {
		return nil, sealed("listing images", err)
	}
	refs := make([]string, 0, len(images))
	for _, i := range images {
		refs = append(refs, i.ID)
	}
	return refs, nil
}

func (d *docker) Load(ctx context.Context, archive io.Reader) error {
	ctx, cancel := context.WithTimeout(ctx, loadDeadline)
	defer cancel()
	answer, err := d.api.ImageLoad(ctx, archive, client.ImageLoadWithQuiet(true))
	if err != nil {
		return sealed("loading image", err)
	}
	defer answer.Body.Close()
	said, err := io.ReadAll(io.LimitReader(answer.Body, 64<<10))
	if err != nil {
		return sealed("loading image", err)
	}
	if strings.Contains(string(said), `"error"`) {
		return sealed("loading image", errors.New(strings.TrimSpace(string(said))))
	}
	return nil
}

func (d *docker) Create(ctx context.Context, name string, plan Plan) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, requestDeadline)
	defer cancel()
	config, host, err := render(plan)
	if err != nil {
		return "", err
	}
	created, err := d.api.ContainerCreate(ctx, config, host, nil, nil, name)
	if err != nil {
		return "", sealed("creating container", err)
	}
	return created.ID, nil
}

func (d *docker) Attach(ctx context.Context, id string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, requestDeadline)
	defer cancel()
	// The client doesn't bound reading the answer to an upgrade by the context.
	type result struct {
		conn net.Conn
		err  error
	}
	done := make(chan result, 1)
	go func() {
		stream, err := d.api.ContainerAttach(ctx, id, container.AttachOptions{Stream: true, Stdin: true, Stdout: true, Stderr: true})
		done <- result{stream.Conn, err}
	}()
	select {
	case got := <-done:
		if got.err != nil {
			return nil, sealed("attaching to container", got.err)
		}
		return got.conn, nil
	case <-ctx.Done():
		go func() {
			if late := <-done; late.conn != nil {
				late.conn.Close()
			}
		}()
		return nil, sealed("attaching to container", ctx.Err())
	}
}

func (d *docker) Start(ctx context.Context, id string) error {
	ctx, cancel := context.WithTimeout(ctx, requestDeadline)
	defer cancel()
	if err := d.api.ContainerStart(ctx, id, container.StartOptions{}); err != nil {
		return sealed("starting container", err)
	}
	return nil
}

func (d *docker) State(ctx context.Context, id string) (containerState, bool, error) {
	ctx, cancel := context.WithTimeout(ctx, requestDeadline)
	defer cancel()
	found, err := d.api.ContainerInspect(ctx, id)
	if cerrdefs.IsNotFound(err) {
		return containerState{}, false, nil
	}
	if err != nil {
		return containerState{}, false, sealed("inspecting container", err)
	}
	s := found.State
	return containerState{ID: found.ID, Running: s.Running, OOMKilled: s.OOMKilled, PID: s.Pid, ExitCode: s.ExitCode, Error: s.Error}, true, nil
}

func (d *docker) Kill(ctx context.Context, id string) error {
	ctx, cancel := context.WithTimeout(ctx, requestDeadline)
	defer cancel()
	if err := d.api.ContainerKill(ctx, id, "KILL"); err != nil {
		return sealed("killing container", err)
	}
	return nil
}

func (d *docker) Remove(ctx context.Context, idOrName string) error {
	ctx, cancel := context.WithTimeout(ctx, removeDeadline)
	defer cancel()
	err := d.api.ContainerRemove(ctx, idOrName, container.RemoveOptions{Force: true, RemoveVolumes: true})
	if err != nil && !cerrdefs.IsNotFound(err) {
		return sealed("removing container", err)
	}
	return nil
}

func (d *docker) List(ctx context.Context, labels ...string) ([]listedContainer, error) {
	ctx, cancel := context.WithTimeout(ctx, requestDeadline)
	defer cancel()
	arguments := filters.NewArgs()
	for _, label := range labels {
		arguments.Add("label", label)
	}
	found, err := d.api.ContainerList(ctx, container.ListOptions{All: true, Filters: arguments})
	if err != nil {
		return nil, sealed("listing containers", err)
	}
	all := make([]listedContainer, 0, len(found))
	for _, c := range found {
		all = append(all, listedContainer{ID: c.ID, Labels: c.Labels})
	}
	return all, nil
}

func (d *docker) Watch(ctx context.Context, standing func(), changed func(image string)) error {
	messages, errs := d.api.Events(ctx, events.ListOptions{Filters: filters.NewArgs(
		filters.Arg("type", string(events.ImageEventType)), filters.Arg("type", string(events.DaemonEventType)))})
	standing() // the client returns when the stream is open, or has failed
	for {
		select {
		case message := <-messages:
			switch {
			case message.Type == events.DaemonEventType:
				changed("")
			case message.Action == events.ActionDelete:
				changed(message.Actor.ID)
			}
		case err := <-errs:
			return sealed("watching the engine", err)
		}
	}
}

func (d *docker) Close() error { return d.api.Close() }

// sealed keeps the client's error text and hides its type: callers branch on
// ErrUnavailable alone.
func sealed(doing string, err error) error {
	return fmt.Errorf("%s: %v: %w", doing, err, ErrUnavailable)
}

// render turns a plan into what the engine's API takes.
func render(plan Plan) (*container.Config, *container.HostConfig, error) {
	seccomp, err := profileText(plan.Seccomp)
	if err != nil {
		return nil, nil, err
	}
	config := &container.Config{
		Image: plan.Image, Hostname: plan.Hostname, User: plan.User, Env: plan.Env, Labels: plan.Labels, WorkingDir: "/",
		OpenStdin: true, StdinOnce: true, AttachStdin: true, AttachStdout: true, AttachStderr: true,
		NetworkDisabled: true, Healthcheck: &container.HealthConfig{Test: []string{"NONE"}},
	}
	no := false
	host := &container.HostConfig{
		NetworkMode: container.NetworkMode(plan.Network), IpcMode: container.IpcMode(plan.IPC),
		CgroupnsMode: container.CgroupnsMode(plan.Cgroup), Runtime: plan.Runtime,
		ReadonlyRootfs: true, CapDrop: plan.CapDrop,
		SecurityOpt: []string{"no-new-privileges", "seccomp=" + seccomp},
		LogConfig:   container.LogConfig{Type: plan.LogDriver},
		Tmpfs:       plan.Tmpfs, MaskedPaths: plan.Masked, ReadonlyPaths: plan.ReadOnly,
		OomScoreAdj: plan.OomScore, AutoRemove: false, Init: &no,
		Resources: container.Resources{
			Memory: plan.Memory, MemorySwap: plan.Memory, NanoCPUs: plan.NanoCPUs, PidsLimit: &plan.Pids,
		},
	}
	for _, limit := range plan.Ulimits {
		host.Ulimits = append(host.Ulimits, &container.Ulimit{Name: limit.Name, Soft: limit.Value, Hard: limit.Value})
	}
	return config, host, nil
}
