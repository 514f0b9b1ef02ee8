package containers

import (
	"fmt"
	"maps"

	"signalbox/rule"
)

// Plan is one container as a pure value: what is asked of the engine, and what
// the host must find when it looks at the started container. Sizes are bytes.
type Plan struct {
	Image     string            `json:"image"`
	Role      rule.Role         `json:"role"`
	Hostname  string            `json:"hostname"`
	User      string            `json:"user"`
	Env       []string          `json:"env"`
	Network   string            `json:"network"`
	IPC       string            `json:"ipc"`
	Cgroup    string            `json:"cgroup_namespace"`
	Runtime   string            `json:"runtime"`
	Seccomp   rule.Digest       `json:"seccomp"`
	CapDrop   []string          `json:"cap_drop"`
	Memory    int64             `json:"memory"`
	NanoCPUs  int64             `json:"nano_cpus"`
	Pids      int64             `json:"pids"`
	Ulimits   []Ulimit          `json:"ulimits"`
	Tmpfs     map[string]string `json:"tmpfs"`
	OomScore  int               `json:"oom_score_adj"`
	Masked    []string          `json:"masked_paths"`
	ReadOnly  []string          `json:"read_only_paths"`
	LogDriver string            `json:"log_driver"`
	Labels    map[string]string `json:"labels"`
}

// Ulimit is one resource limit, soft and hard alike.
type Ulimit struct {
	Name  string `json:"name"`
	Value int64  `json:"value"`
}

// uid and gid of every program. Both are named: an absent gid becomes 0.
const (
	uid = 65532
	gid = 65532
)

const (
	runtimeName = "runc"
	hostname    = "signalbox"
	oomScoreAdj = 500
	// dataShare of the memory limit may be a program's private data, so that an
	// allocation too many ends in the program, whose death then has a cause,
	// rather than by luck in a slow fight with the memory limit.
	dataShare = 0.75
)

// The labels of a container. Values are ours alone.
const (
	labelWorkspace = "signalbox.workspace"
	labelRole      = "signalbox.role"
	labelBoot      = "signalbox.boot"
	labelOwner     = "signalbox.owner"
	labelEngine    = "signalbox.engine"
)

// treeFolders are where a role's files go: a tmpfs on a path that the image
// lacks, since options are ignored on one that it has.
var treeFolders = map[rule.Role]string{
	rule.RoleExecutor: "/testbed",
	rule.RoleEditor:   "/draft",
}

// masked hides what tells a program about this host.
var masked = []string{
	"/proc/acpi", "/proc/asound", "/proc/cmdline", "/proc/config.gz", "/proc/interrupts", "/proc/kallsyms", "/proc/kcore",
	"/proc/keys", "/proc/latency_stats", "/proc/modules", "/proc/sched_debug", "/proc/scsi", "/proc/timer_list",
	"/proc/timer_stats", "/proc/version", "/sys/block", "/sys/bus", "/sys/class", "/sys/dev", "/sys/devices/virtual",
	"/sys/firmware", "/sys/module",
}

// readOnly lists what stays readable but is never written.
var readOnly = []string{"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"}

// planFor returns the container of a role in an environment. image is the
// engine's own name for the environment's image.
func planFor(env rule.Environment, image string, role rule.Role, labels map[string]string) (Plan, error) {
	digest, ok := env.Seccomp[role]
	if !ok {
		return Plan{}, fmt.Errorf("environment %q has no seccomp profile for role %q", env.Name, role)
	}
	limits := env.Limits
	plan := Plan{
		Image: image, Role: role, Hostname: hostname, User: fmt.Sprintf("%d:%d", uid, gid),
		// The runtime inside must not hold cgroup files open.
		Env:     []string{"GODEBUG=containermaxprocs=0,updatemaxprocs=0"},
		Network: "none", IPC: "none", Cgroup: "private", Runtime: runtimeName,
		Seccomp: digest, CapDrop: []string{"ALL"},
		Memory: limits.Memory, NanoCPUs: int64(limits.CPUs * 1e9), Pids: limits.Processes,
		Ulimits: []Ulimit{
			{"core", 0}, {"data", int64(dataShare * float64(limits.Memory))}, {"fsize", limits.FileSize},
			{"memlock", 0}, {"msgqueue", 0}, {"nofile", limits.OpenFiles},
		},
		Tmpfs: map[string]string{}, OomScore: oomScoreAdj,
		Masked: masked, ReadOnly: readOnly, LogDriver: "none",
		Labels: maps.Clone(labels),
	}
	plan.Labels[labelRole] = string(role)
	if limits.TmpfsSize <= 0 || limits.TmpfsInodes <= 0 {
		return Plan{}, fmt.Errorf("container without a limit on tmpfs size or tmpfs inodes")
	}
	if folder, ok := treeFolders[role]; ok {
		plan.Tmpfs[folder] = fmt.Sprintf("rw,noexec,nosuid,nodev,size=%d,nr_inodes=%d,uid=%d,gid=%d,mode=0700",
			limits.TmpfsSize, limits.TmpfsInodes, uid, gid)
	}
	return plan, plan.check()
}

// check refuses a plan that lacks a bound: zero means unlimited to an engine.
func (p Plan) check() error {
	for _, bound := range []struct {
		name  string
		value int64
	}{{"memory", p.Memory}, {"cpus", p.NanoCPUs}, {"processes", p.Pids}} {
		if bound.value <= 0 {
			return fmt.Errorf("container without a limit on %s", bound.name)
		}
	}
	for _, limit := range p.Ulimits {
		mayBeZero := limit.Name == "core" || limit.Name == "memlock" || limit.Name == "msgqueue"
		if limit.Value < 0 || limit.Value == 0 && !mayBeZero {
			return fmt.Errorf("container without a limit on %s", limit.Name)
		}
	}
	_, err := profileText(p.Seccomp)
	return err
}
