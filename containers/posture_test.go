package containers

import (
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
