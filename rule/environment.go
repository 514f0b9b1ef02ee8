package rule

import (
	"errors"
	"time"
)

// Role says what a container is for; each has a seccomp profile of its own.
type Role string

// The roles. A trigger gets the task document and no tree, an executor also the
// args and the public copy, an editor a draft's tree and nothing else.
const (
	RoleTrigger  Role = "trigger"
	RoleExecutor Role = "executor"
	RoleEditor   Role = "editor"
)

// StarlarkEnvironment is the environment that every workspace has.
const StarlarkEnvironment = "starlark"

// ErrEnvironmentChanged is returned when an environment isn't the one that now
// stands; the error's text names both values. It says that the answer is known,
// unlike an engine that can't be asked.
var ErrEnvironmentChanged = errors.New("environment changed")

// Environment is what a program runs in. All of it is bound by a proof: the
// image by the digest of its config, the program inside by its own digest, the
// limits, the seccomp profiles and the engine that enforces them.
type Environment struct {
	Name    string          `json:"name"`
	Runtime string          `json:"runtime"`
	ImageID Digest          `json:"image_id"`
	Kernel  Digest          `json:"kernel"`
	Limits  Limits          `json:"limits"`
	Seccomp map[Role]Digest `json:"seccomp"`
	Engine  Engine          `json:"engine"`
}

// Engine names the versions that enforce an environment's limits.
type Engine struct {
	Docker        string `json:"docker"`
	Runtime       string `json:"runtime"`
	RuntimeCommit string `json:"runtime_commit,omitzero"`
	LinuxKernel   string `json:"linux_kernel"`
	Architecture  string `json:"architecture"`
	Cgroup        string `json:"cgroup"`
}

// Limits bound one container and one call. Sizes are bytes.
type Limits struct {
	Memory        int64         `json:"memory"`
	CPUs          float64       `json:"cpus"`
	Processes     int64         `json:"processes"`
	OpenFiles     int64         `json:"open_files"`
	FileSize      int64         `json:"file_size"`
	TmpfsSize     int64         `json:"tmpfs_size"`
	TmpfsInodes   int64         `json:"tmpfs_inodes"`
	Steps         uint64        `json:"steps"`
	ReplyBytes    int64         `json:"reply_bytes"`
	LoadDeadline  time.Duration `json:"load_deadline_ns,format:nano"`
	CallDeadline  time.Duration `json:"call_deadline_ns,format:nano"`
	StartDeadline time.Duration `json:"start_deadline_ns,format:nano"`
}

// Digest names the environment.
func (e Environment) Digest() Digest {
	digest, err := DigestJSON(e)
	if err != nil {
		return ""
	}
	return digest
}
