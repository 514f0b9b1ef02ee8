package containers

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// readPosture reads a process of this host.
func readPosture(pid int) (posture, error) {
	var p posture
	var err error
	proc := fmt.Sprintf("/proc/%d", pid)
	if p.status, err = readStatus(proc + "/status"); err != nil {
		return posture{}, err
	}
	if p.limits, err = readLimits(proc + "/limits"); err != nil {
		return posture{}, err
	}
	score, err := os.ReadFile(proc + "/oom_score_adj")
	if err != nil {
		return posture{}, err
	}
	p.oomScore = strings.TrimSpace(string(score))
	if p.groups, err = readGroups(pid); err != nil {
		return posture{}, err
	}
	if p.memory, p.memorySwap, p.pids, p.nanoCPUs, err = p.groups.limits(); err != nil {
		return posture{}, err
	}
	if p.mounts, err = readMounts(proc + "/mountinfo"); err != nil {
		return posture{}, err
	}
	if p.namespaces, err = readLinks(proc + "/ns"); err != nil {
		return posture{}, err
	}
	files, err := readLinks(proc + "/fd")
	if err != nil {
		return posture{}, err
	}
	for number, target := range files {
		p.files = append(p.files, number+" "+target)
	}
	slices.Sort(p.files)
	return p, nil
}

func readStatus(file string) (map[string]string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	status := map[string]string{}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(line, ":")
		status[name] = strings.TrimSpace(value)
	}
	return status, nil
}

// readLimits reads the table of /proc/PID/limits: a name of 26 columns, then
// the soft and the hard limit.
func readLimits(file string) (map[string]string, error) {
	const nameWidth = 26
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	limits := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if len(line) <= nameWidth {
			continue
		}
		values := strings.Fields(line[nameWidth:])
		if len(values) >= 2 {
			limits[strings.TrimSpace(line[:nameWidth])] = values[0] + " " + values[1]
		}
	}
	return limits, nil
}

func readMounts(file string) ([]mount, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var mounts []mount
	for line := range strings.Lines(string(text)) {
		before, after, ok := strings.Cut(line, " - ")
		left, right := strings.Fields(before), strings.Fields(after)
		if !ok || len(left) < 6 || len(right) < 3 {
			return nil, fmt.Errorf("mount line %q has another form", line)
		}
		options := append(strings.Split(left[5], ","), strings.Split(right[2], ",")...)
		mounts = append(mounts, mount{point: left[4], kind: right[0], options: options})
	}
	return mounts, nil
}

// readLinks returns where the links of a folder point, nil where this user may
// not read them. A link that vanishes meanwhile is left out.
func readLinks(folder string) (map[string]string, error) {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrPermission) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	links := map[string]string{}
	for _, entry := range entries {
		target, err := os.Readlink(filepath.Join(folder, entry.Name()))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if errors.Is(err, fs.ErrPermission) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		links[entry.Name()] = target
	}
	return links, nil
}
