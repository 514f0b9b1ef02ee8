package containers

import (
	"encoding/json"
	"strings"
	"testing"

	"signalbox/rule"
)

func starlarkEnvironment(t *testing.T) rule.Environment {
	t.Helper()
	seccomp, err := profileDigests()
	if err != nil {
		t.Fatal(err)
	}
	return rule.Environment{Name: rule.StarlarkEnvironment, Runtime: runtimeStarlark, Limits: starlarkLimits, Seccomp: seccomp}
}

var fixedLabels = map[string]string{
	labelWorkspace: "w", labelBoot: "b", labelOwner: "1 2 pid:[3]", labelEngine: "e",
}

// TestPlanGolden holds the whole recipe still: a change of it shows in review.
func TestPlanGolden(t *testing.T) {
	plans := map[rule.Role]Plan{}
	for _, role := range roles {
		plan, err := planFor(starlarkEnvironment(t), "sha256:image", role, fixedLabels)
		if err != nil {
			t.Fatal(err)
		}
		plans[role] = plan
	}
	text, err := json.MarshalIndent(plans, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "plans.json", append(text, '\n'))
}

// TestRenderGolden holds still what the engine is asked for.
func TestRenderGolden(t *testing.T) {
	plan, err := planFor(starlarkEnvironment(t), "sha256:image", rule.RoleExecutor, fixedLabels)
	if err != nil {
		t.Fatal(err)
	}
	config, host, err := render(plan)
	if err != nil {
		t.Fatal(err)
	}
	if got := host.SecurityOpt[1]; !strings.HasPrefix(got, `seccomp={`) {
		t.Errorf("security option %.40q holds no profile", got)
	}
	host.SecurityOpt[1] = "seccomp=…"
	text, err := json.MarshalIndent(map[string]any{"config": config, "host": host}, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "render.json", append(text, '\n'))
	if host.Privileged || len(host.Mounts)+len(host.Binds)+len(host.CapAdd)+len(host.Devices) > 0 || host.AutoRemove {
		t.Error("the container has more than the recipe gives")
	}
}

// TestPlanRefusesMissingBounds: zero means unlimited to an engine.
func TestPlanRefusesMissingBounds(t *testing.T) {
	for name, spoil := range map[string]func(*rule.Environment){
		"memory":       func(e *rule.Environment) { e.Limits.Memory = 0 },
		"cpus":         func(e *rule.Environment) { e.Limits.CPUs = 0 },
		"processes":    func(e *rule.Environment) { e.Limits.Processes = -1 },
		"nofile":       func(e *rule.Environment) { e.Limits.OpenFiles = 0 },
		"fsize":        func(e *rule.Environment) { e.Limits.FileSize = 0 },
		"tmpfs size":   func(e *rule.Environment) { e.Limits.TmpfsSize = 0 },
		"tmpfs inodes": func(e *rule.Environment) { e.Limits.TmpfsInodes = 0 },
		"seccomp": func(e *rule.Environment) {
			e.Seccomp = map[rule.Role]rule.Digest{rule.RoleExecutor: rule.DigestOf(nil)}
		},
		"role": func(e *rule.Environment) { e.Seccomp = nil },
	} {
		env := starlarkEnvironment(t)
		if _, err := planFor(env, "i", rule.RoleExecutor, fixedLabels); err != nil {
			t.Fatalf("control: %v", err)
		}
		spoil(&env)
		if plan, err := planFor(env, "i", rule.RoleExecutor, fixedLabels); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: plan %+v, err %v; want a refusal that names it", name, plan, err)
		}
	}
}

// TestProfiles: the allow lists are strict, and no list allows what it forbids.
func TestProfiles(t *testing.T) {
	for _, role := range roles {
		text, err := profile(role)
		if err != nil {
			t.Fatal(err)
		}
		var p struct {
			DefaultAction string
			Architectures []string
			Syscalls      []struct {
				Names  []string
				Action string
			}
		}
		if err := json.Unmarshal([]byte(text), &p); err != nil {
			t.Fatal(err)
		}
		if p.DefaultAction != "SCMP_ACT_ERRNO" || len(p.Architectures) != 1 {
			t.Errorf("%s: default %s on %v", role, p.DefaultAction, p.Architectures)
		}
		actions := map[string]string{}
		for _, group := range p.Syscalls {
			for _, name := range group.Names {
				if was, twice := actions[name]; twice {
					t.Errorf("%s: %s is in two groups (%s, %s)", role, name, was, group.Action)
				}
				actions[name] = group.Action
			}
		}
		for name, want := range map[string]string{"socket": "SCMP_ACT_KILL_PROCESS", "ptrace": "SCMP_ACT_KILL_PROCESS", "io_uring_setup": "SCMP_ACT_KILL_PROCESS", "read": "SCMP_ACT_ALLOW", "uname": ""} {
			if actions[name] != want {
				t.Errorf("%s: %s is %q, want %q", role, name, actions[name], want)
			}
		}
	}
	if _, err := profileText(rule.DigestOf([]byte("x"))); err == nil {
		t.Error("a profile of unknown digest was found")
	}
}
