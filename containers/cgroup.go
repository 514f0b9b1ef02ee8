package containers

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

const cgroupRoot = "/sys/fs/cgroup"

// groups are a process's control groups: controller → path below its hierarchy,
// as the host sees it. On cgroup v2 the only controller is "".
type groups map[string]string

// readGroups reads /proc/PID/cgroup.
func readGroups(pid int) (groups, error) {
	if pid <= 0 {
		return nil, fmt.Errorf("process %d doesn't exist", pid)
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
	if err != nil {
		return nil, err
	}
	return parseGroups(string(text))
}

func parseGroups(text string) (groups, error) {
	all := groups{}
	for line := range strings.Lines(text) {
		fields := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(fields) != 3 {
			return nil, fmt.Errorf("cgroup line %q has another form", line)
		}
		for controller := range strings.SplitSeq(fields[1], ",") {
			all[controller] = fields[2]
		}
	}
	return all, nil
}

// controlled are the controllers that a plan's limits need.
var controlled = []string{"memory", "pids", "cpu"}

// v2 says whether all controllers are in the unified hierarchy.
func (g groups) v2() bool {
	_, v1 := g["memory"]
	return !v1
}

// belongTo says whether each controller's group is the container's own.
func (g groups) belongTo(id string) bool {
	for _, controller := range controlled {
		if !strings.Contains(g.path(controller), id) {
			return false
		}
	}
	return id != ""
}

func (g groups) path(controller string) string {
	if g.v2() {
		return g[""]
	}
	return g[controller]
}

// folder returns where the controller's files are on this host.
func (g groups) folder(controller string) string {
	if g.v2() {
		return filepath.Join(cgroupRoot, g[""])
	}
	return filepath.Join(cgroupRoot, controller, g[controller])
}

// folders returns the folder of every hierarchy, those of the limits first.
func (g groups) folders() []string {
	if g.v2() {
		return []string{g.folder("")}
	}
	var all []string
	for _, controller := range controlled {
		all = append(all, g.folder(controller))
	}
	for _, controller := range slices.Sorted(maps.Keys(g)) {
		if !slices.Contains(controlled, controller) && g[controller] != "/" {
			all = append(all, filepath.Join(cgroupRoot, hierarchy(controller), g[controller]))
		}
	}
	return all
}

// hierarchy returns the folder that a v1 controller, a named hierarchy or the
// unified one beside them is mounted on.
func hierarchy(controller string) string {
	if controller == "" {
		return "unified"
	}
	return strings.TrimPrefix(controller, "name=")
}

// limit reads one number; "max" and v1's "unlimited" are -1 or very large.
func (g groups) limit(controller, file string) (int64, error) {
	text, err := os.ReadFile(filepath.Join(g.folder(controller), file))
	if err != nil {
		return 0, err
	}
	value := strings.TrimSpace(string(text))
	if value == "max" {
		return -1, nil
	}
	return strconv.ParseInt(value, 10, 64)
}

// limits reads what the groups allow: bytes of memory, bytes of memory and swap
// together, processes, and CPU time per second in billionths.
func (g groups) limits() (memory, memorySwap, pids, nanoCPUs int64, err error) {
	if pids, err = g.limit("pids", "pids.max"); err != nil {
		return
	}
	if g.v2() {
		return g.limitsV2(pids)
	}
	if memory, err = g.limit("memory", "memory.limit_in_bytes"); err != nil {
		return
	}
	if memorySwap, err = g.limit("memory", "memory.memsw.limit_in_bytes"); err != nil {
		return
	}
	quota, err := g.limit("cpu", "cpu.cfs_quota_us")
	if err != nil {
		return
	}
	period, err := g.limit("cpu", "cpu.cfs_period_us")
	return memory, memorySwap, pids, share(quota, period), err
}

func (g groups) limitsV2(pids int64) (int64, int64, int64, int64, error) {
	memory, err := g.limit("memory", "memory.max")
	if err != nil {
		return 0, 0, 0, 0, err
	}
	swap, err := g.limit("memory", "memory.swap.max")
	if err != nil {
		return 0, 0, 0, 0, err
	}
	text, err := os.ReadFile(filepath.Join(g.folder("cpu"), "cpu.max"))
	if err != nil {
		return 0, 0, 0, 0, err
	}
	var quota, period int64
	if _, err := fmt.Sscanf(string(text), "%d %d", &quota, &period); err != nil {
		quota = -1 // "max"
	}
	memorySwap := memory + swap
	if swap < 0 {
		memorySwap = -1
	}
	return memory, memorySwap, pids, share(quota, period), nil
}

func share(quota, period int64) int64 {
	if quota <= 0 || period <= 0 {
		return -1
	}
	return quota * 1_000_000_000 / period
}

// counters are the files that tell whether a limit was hit. They are kept open,
// since each call reads them.
type counters struct {
	oom, pids *os.File
}

func openCounters(g groups) (counters, error) {
	file := "memory.oom_control"
	if g.v2() {
		file = "memory.events"
	}
	oom, err := os.Open(filepath.Join(g.folder("memory"), file))
	if err != nil {
		return counters{}, err
	}
	pids, err := os.Open(filepath.Join(g.folder("pids"), "pids.events"))
	if err != nil {
		oom.Close()
		return counters{}, err
	}
	return counters{oom: oom, pids: pids}, nil
}

// oomKills returns how many processes the memory limit has killed; 0 where the
// group is gone.
func (c counters) oomKills() int64 { return counter(c.oom, "oom_kill") }

// refusedForks returns how often the process limit refused one.
func (c counters) refusedForks() int64 { return counter(c.pids, "max") }

func counter(f *os.File, name string) int64 {
	if f == nil {
		return 0
	}
	var buffer [512]byte
	n, _ := f.ReadAt(buffer[:], 0)
	for line := range strings.Lines(string(buffer[:n])) {
		fields := strings.Fields(line)
		if len(fields) == 2 && fields[0] == name {
			value, _ := strconv.ParseInt(fields[1], 10, 64)
			return value
		}
	}
	return 0
}

func (c counters) Close() {
	if c.oom != nil {
		c.oom.Close()
		c.pids.Close()
	}
}
