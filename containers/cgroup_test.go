package containers

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const v1Groups = `12:pids:/docker/abc
11:cpu,cpuacct:/docker/abc
10:memory:/docker/abc
2:freezer:/
1:name=systemd:/docker/abc
0::/docker/abc
`

func TestGroups(t *testing.T) {
	for _, c := range []struct {
		name, text, id string
		belongs        bool
		folders        []string
	}{
		{"v1", v1Groups, "abc", true, []string{
			"/sys/fs/cgroup/memory/docker/abc", "/sys/fs/cgroup/pids/docker/abc", "/sys/fs/cgroup/cpu/docker/abc",
			"/sys/fs/cgroup/unified/docker/abc", "/sys/fs/cgroup/cpuacct/docker/abc", "/sys/fs/cgroup/systemd/docker/abc"}},
		{"v1, one controller elsewhere", strings.Replace(v1Groups, "pids:/docker/abc", "pids:/", 1), "abc", false, nil},
		{"v1, another container", v1Groups, "abd", false, nil},
		{"v1, no container", v1Groups, "", false, nil},
		{"v2", "0::/system.slice/docker-abc.scope\n", "abc", true, []string{"/sys/fs/cgroup/system.slice/docker-abc.scope"}},
		{"v2, the host's", "0::/init.scope\n", "abc", false, nil},
	} {
		g, err := parseGroups(c.text)
		if err != nil {
			t.Fatal(err)
		}
		if got := g.belongTo(c.id); got != c.belongs {
			t.Errorf("%s: belongs = %v", c.name, got)
		}
		if got := g.folders(); c.folders != nil && !slices.Equal(got, c.folders) {
			t.Errorf("%s: folders %q, want %q", c.name, got, c.folders)
		}
	}
	if _, err := parseGroups("no colons\n"); err == nil {
		t.Error("a line of another form was taken")
	}
}

// TestCounters reads the files of both versions of cgroups.
func TestCounters(t *testing.T) {
	for text, want := range map[string]int64{
		"oom_kill_disable 0\nunder_oom 0\noom_kill 3\n":               3,
		"low 0\nhigh 0\nmax 9\noom 2\noom_kill 4\noom_group_kill 7\n": 4,
		"oom_kill_disable 0\n":                                        0,
		"":                                                            0,
	} {
		file := filepath.Join(t.TempDir(), "events")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		opened, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		if got := counter(opened, "oom_kill"); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
		opened.Close()
		if got := counter(opened, "oom_kill"); got != 0 {
			t.Errorf("a file that is gone counts %d", got)
		}
	}
}

func TestShare(t *testing.T) {
	for _, c := range [][3]int64{{100_000, 100_000, 1_000_000_000}, {50_000, 100_000, 500_000_000}, {-1, 100_000, -1}, {1, 0, -1}} {
		if got := share(c[0], c[1]); got != c[2] {
			t.Errorf("share(%d, %d) = %d, want %d", c[0], c[1], got, c[2])
		}
	}
}
