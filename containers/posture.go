package containers

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// posture is what this host sees of a container's first process.
type posture struct {
	status   map[string]string // of /proc/PID/status
	limits   map[string]string // name → soft and hard value
	oomScore string
	groups   groups
	mounts   []mount
	// Namespaces and descriptors are nil where this user may not read them
	// (they need the rights of a debugger); the rest is never optional.
	namespaces map[string]string
	files      []string

	memory, memorySwap, pids, nanoCPUs int64
}

type mount struct {
	point, kind string
	options     []string // of the mount and of the file system
}

// differs names the first difference from the plan, with both values.
func (p posture) differs(plan Plan, id string) string {
	for _, find := range []func() string{
		func() string { return p.identity(plan) },
		func() string { return p.privileges() },
		func() string { return p.bounds(plan, id) },
		func() string { return p.ulimits(plan) },
		func() string { return p.mounted(plan) },
		func() string { return p.shared() },
		func() string { return p.descriptors() },
	} {
		if difference := find(); difference != "" {
			return difference
		}
	}
	return ""
}

func (p posture) identity(plan Plan) string {
	for name, want := range map[string]int{"Uid": uid, "Gid": gid} {
		for _, got := range strings.Fields(p.status[name]) {
			if got != strconv.Itoa(want) {
				return fmt.Sprintf("%s is %q, asked for %d", name, p.status[name], want)
			}
		}
		if p.status[name] == "" {
			return name + " is not shown"
		}
	}
	if others := p.status["Groups"]; others != "" && others != strconv.Itoa(gid) {
		return fmt.Sprintf("Groups are %q, asked for %d alone", others, gid)
	}
	levels := strings.Fields(p.status["NSpid"])
	if len(levels) < 2 || levels[len(levels)-1] != "1" {
		return fmt.Sprintf("NSpid is %q, asked for PID 1 of a namespace of its own", p.status["NSpid"])
	}
	if want := strconv.Itoa(plan.OomScore); p.oomScore != want {
		return fmt.Sprintf("oom_score_adj is %q, asked for %s", p.oomScore, want)
	}
	return ""
}

func (p posture) privileges() string {
	for _, name := range []string{"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"} {
		if strings.Trim(p.status[name], "0") != "" || p.status[name] == "" {
			return fmt.Sprintf("%s is %q, asked for none", name, p.status[name])
		}
	}
	for name, want := range map[string]string{"NoNewPrivs": "1", "Seccomp": "2"} {
		if p.status[name] != want {
			return fmt.Sprintf("%s is %q, asked for %s", name, p.status[name], want)
		}
	}
	// An older Linux doesn't count filters.
	if filters, ok := p.status["Seccomp_filters"]; ok && filters != "1" {
		return fmt.Sprintf("Seccomp_filters is %q, asked for 1", filters)
	}
	return ""
}

func (p posture) bounds(plan Plan, id string) string {
	if !p.groups.belongTo(id) {
		return fmt.Sprintf("cgroup is %q, asked for one of container %s", p.groups, short(id))
	}
	for _, bound := range []struct {
		name      string
		got, want int64
	}{
		{"memory limit", p.memory, plan.Memory}, {"memory and swap limit", p.memorySwap, plan.Memory},
		{"process limit", p.pids, plan.Pids}, {"CPU limit", p.nanoCPUs, plan.NanoCPUs},
	} {
		if bound.got != bound.want {
			return fmt.Sprintf("%s is %d, asked for %d", bound.name, bound.got, bound.want)
		}
	}
	return ""
}

// limitNames are a plan's ulimits as /proc/PID/limits calls them.
var limitNames = map[string]string{
	"core": "Max core file size", "data": "Max data size", "fsize": "Max file size", "memlock": "Max locked memory",
	"msgqueue": "Max msgqueue size", "nofile": "Max open files",
}

func (p posture) ulimits(plan Plan) string {
	for _, limit := range plan.Ulimits {
		name := limitNames[limit.Name]
		if want := fmt.Sprintf("%d %d", limit.Value, limit.Value); p.limits[name] != want {
			return fmt.Sprintf("%s is %q, asked for %q", name, p.limits[name], want)
		}
	}
	return ""
}

// engineMounts are the files that the engine lays over every container.
var engineMounts = []string{"/etc/hostname", "/etc/hosts", "/etc/resolv.conf"}

func (p posture) mounted(plan Plan) string {
	seen := map[string]bool{}
	for _, m := range p.mounts {
		seen[m.point] = true
		options, ours := plan.Tmpfs[m.point]
		switch {
		case ours:
			if missing := m.lacks(strings.Split(options, ",")); missing != "" {
				return fmt.Sprintf("mount %q is %s %q, asked for %s", m.point, m.kind, m.options, missing)
			}
		case m.point == "/":
			if !slices.Contains(m.options, "ro") {
				return "the root is writable, asked for a read-only one"
			}
		case slices.Contains(engineMounts, m.point), under(m.point, "/proc"), under(m.point, "/sys"), under(m.point, "/dev"):
		default:
			return fmt.Sprintf("mount %q of kind %s wasn't asked for", m.point, m.kind)
		}
	}
	for point := range plan.Tmpfs {
		if !seen[point] {
			return fmt.Sprintf("mount %q is missing", point)
		}
	}
	if !seen["/"] {
		return "the root isn't shown"
	}
	return ""
}

// lacks returns the first wanted option of a tmpfs that the mount hasn't.
func (m mount) lacks(wanted []string) string {
	if m.kind != "tmpfs" {
		return "tmpfs"
	}
	for _, want := range wanted {
		name, value, _ := strings.Cut(want, "=")
		got := want
		switch name {
		case "size":
			bytes, _ := strconv.ParseInt(value, 10, 64)
			got = fmt.Sprintf("size=%dk", bytes>>10)
		case "mode":
			got = "mode=" + strings.TrimLeft(value, "0")
		}
		if !slices.Contains(m.options, got) {
			return want
		}
	}
	return ""
}

// shared names a namespace that the container has in common with this process.
func (p posture) shared() string {
	if p.namespaces == nil {
		return ""
	}
	for _, name := range []string{"cgroup", "ipc", "mnt", "net", "pid", "uts"} {
		own, err := os.Readlink("/proc/self/ns/" + name)
		if err != nil || p.namespaces[name] == "" || p.namespaces[name] == own {
			return fmt.Sprintf("namespace %s is %q, this host's is %q", name, p.namespaces[name], own)
		}
	}
	return ""
}

// descriptors names an open file that no kernel program has at its greeting.
func (p posture) descriptors() string {
	for _, file := range p.files {
		_, target, _ := strings.Cut(file, " ")
		if !strings.HasPrefix(target, "pipe:") && !strings.HasPrefix(target, "anon_inode:[event") && target != "/dev/null" {
			return fmt.Sprintf("descriptor %q is open", file)
		}
	}
	return ""
}

func under(path, folder string) bool { return path == folder || strings.HasPrefix(path, folder+"/") }
