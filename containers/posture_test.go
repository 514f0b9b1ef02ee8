package containers

import (
	"context"
	"os"
	"strings"
	"testing"

	"signalbox/rule"
)

// startOne starts a container of a role and returns it with its posture.
func startOne(t *testing.T, e *Engine, role rule.Role) (*cell, posture) {
	t.Helper()
	env, err := e.Starlark(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c, err := e.start(t.Context(), env, role)
	if err != nil {
		t.Fatal(err)
	}
	seen, err := readPosture(c.pid)
	if err != nil {
		t.Fatal(err)
	}
	return c, seen
}

// TestPostureHeld reads a real container of each role and then asks for each
// thing differently: every difference has to be named.
func TestPostureHeld(t *testing.T) {
	e := fakeEngine(t)
	for _, role := range roles {
		t.Run(string(role), func(t *testing.T) {
			c, seen := startOne(t, e, role)
			defer c.Close()
			if difference := seen.differs(c.plan, c.id); difference != "" {
				t.Fatal(difference)
			}
			if os.Geteuid() == 0 && (seen.namespaces == nil || len(seen.files) < 3) {
				t.Errorf("root sees %d namespaces and files %q", len(seen.namespaces), seen.files)
			}
			for want, change := range map[string]func(*Plan){
				"memory limit":    func(p *Plan) { p.Memory++ },
				"process limit":   func(p *Plan) { p.Pids++ },
				"CPU limit":       func(p *Plan) { p.NanoCPUs *= 2 },
				"Max open files":  func(p *Plan) { p.Ulimits = []Ulimit{{"nofile", 63}} },
				"Max core":        func(p *Plan) { p.Ulimits = []Ulimit{{"core", 1}} },
				"oom_score_adj":   func(p *Plan) { p.OomScore = 0 },
				`"/x" is missing`: func(p *Plan) { p.Tmpfs = map[string]string{"/x": "", treeFolders[role]: "rw"}; delete(p.Tmpfs, "") },
			} {
				plan := c.plan
				change(&plan)
				if difference := seen.differs(plan, c.id); !strings.Contains(difference, want) {
					t.Errorf("difference %q, want %q", difference, want)
				}
			}
			if difference := seen.differs(c.plan, "another"); !strings.Contains(difference, "cgroup") {
				t.Errorf("of another container: %q", difference)
			}
		})
	}
}

// TestPostureNamesDifferences spoils what is seen instead of what is asked.
func TestPostureNamesDifferences(t *testing.T) {
	e := fakeEngine(t)
	c, _ := startOne(t, e, rule.RoleExecutor)
	defer c.Close()
	for want, spoil := range map[string]func(*posture){
		"Uid":             func(p *posture) { p.status["Uid"] = "0 65532 65532 65532" },
		"Gid":             func(p *posture) { p.status["Gid"] = "65532 0 65532 65532" },
		"Groups":          func(p *posture) { p.status["Groups"] = "0" },
		"NSpid":           func(p *posture) { p.status["NSpid"] = "77" },
		"CapEff":          func(p *posture) { p.status["CapEff"] = "0000000000000001" },
		"CapBnd":          func(p *posture) { delete(p.status, "CapBnd") },
		"NoNewPrivs":      func(p *posture) { p.status["NoNewPrivs"] = "0" },
		"Seccomp is":      func(p *posture) { p.status["Seccomp"] = "0" },
		"Seccomp_filters": func(p *posture) { p.status["Seccomp_filters"] = "2" },
		"root is writable": func(p *posture) {
			for i, m := range p.mounts {
				if m.point == "/" {
					p.mounts[i].options = []string{"rw"}
				}
			}
		},
		`mount "/host"`: func(p *posture) { p.mounts = append(p.mounts, mount{point: "/host", kind: "ext4"}) },
		"noexec": func(p *posture) {
			for i, m := range p.mounts {
				if m.point == "/testbed" {
					p.mounts[i].options = []string{"rw", "nosuid", "nodev"}
				}
			}
		},
		"namespace net": func(p *posture) {
			own, _ := os.Readlink("/proc/self/ns/net")
			p.namespaces = map[string]string{"cgroup": "a", "ipc": "b", "mnt": "c", "pid": "d", "uts": "e", "net": own}
		},
		"descriptor": func(p *posture) { p.files = append(p.files, "9 /etc/shadow") },
	} {
		seen, err := readPosture(c.pid)
		if err != nil {
			t.Fatal(err)
		}
		spoil(&seen)
		if difference := seen.differs(c.plan, c.id); !strings.Contains(difference, want) {
			t.Errorf("difference %q, want %q", difference, want)
		}
	}
}

// TestExecutorTmpfs: the folder of a tree takes files, since the image lacks it.
func TestExecutorTmpfs(t *testing.T) {
	e := fakeEngine(t)
	residents := e.Residents(1)
	defer residents.Close()
	program := programIn(t, e, "#")
	reply := residents.Execute(t.Context(), program, rule.Document{Instruction: "write to the testbed"}, "{}", nil)
	if reply.Outcome == nil || reply.Outcome.Output != `"written"` {
		t.Errorf("reply = %+v", reply)
	}
}

// lax is an engine that gives something else than it was asked for.
type lax struct {
	daemon
	change func(*Plan)
}

func (l lax) Create(ctx context.Context, name string, plan Plan) (string, error) {
	l.change(&plan)
	return l.daemon.Create(ctx, name, plan)
}

// TestLaxEngineIsRefused: nothing that a program says counts where its
// container isn't the one that was asked for.
func TestLaxEngineIsRefused(t *testing.T) {
	e := fakeEngine(t)
	honest := e.daemon
	for want, change := range map[string]func(*Plan){
		"memory limit":          func(p *Plan) { p.Memory *= 2 },
		"Uid":                   func(p *Plan) { p.User = "65531:65532" },
		"Gid":                   func(p *Plan) { p.User = "65532" },
		"CapBnd":                func(p *Plan) { p.CapDrop = nil },
		`"/more" of kind tmpfs`: func(p *Plan) { p.Tmpfs = map[string]string{"/more": ""} },
		"namespace cgroup":      func(p *Plan) { p.Cgroup = "host" },
		"Max core file size":    func(p *Plan) { p.Ulimits = nil },
	} {
		e.daemon = lax{honest, change}
		residents := e.Residents(1)
		reply := residents.Trigger(t.Context(), programIn(t, e, "#"), rule.Document{Instruction: "match 1"})
		if reply.Failure != rule.FailureUnavailable || !strings.Contains(reply.Detail, want) {
			t.Errorf("%s: %+v", want, reply)
		}
		if left := containersOf(t, e.labels[labelWorkspace]); len(left) > 0 {
			t.Errorf("%s: %d containers are left", want, len(left))
		}
	}
	e.daemon = honest
	residents := e.Residents(1)
	defer residents.Close()
	if reply := residents.Trigger(t.Context(), programIn(t, e, "#"), rule.Document{Instruction: "match 1"}); say(reply) != "match" {
		t.Errorf("control: %+v", reply)
	}
}
