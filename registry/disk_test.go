package registry

import (
	"bufio"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"signalbox/rule"
)

// smallDisk mounts a tmpfs of few bytes, where this process may.
func smallDisk(t *testing.T, options string) string {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, options); err != nil {
		t.Skipf("mounting a small tmpfs: %v", err)
	}
	t.Cleanup(func() { must(t, unix.Unmount(dir, unix.MNT_DETACH)) })
	return dir
}

func homeOn(t *testing.T, disk string) *Registry {
	t.Helper()
	r, err := Init(context.Background(), filepath.Join(disk, "home"), InitOptions{Environments: []rule.Environment{starlark()}, Policy: policy})
	must(t, err)
	t.Cleanup(func() { _ = r.Close() })
	return r
}

// fill leaves no room on a disk, and returns what makes room again.
func fill(t *testing.T, disk string) (free func()) {
	t.Helper()
	path := filepath.Join(disk, "filler")
	file, err := os.Create(path)
	must(t, err)
	defer func() { _ = file.Close() }()
	for size := 1 << 16; size > 0; {
		if _, err := file.Write(make([]byte, size)); err != nil {
			size /= 2
		}
	}
	return func() { must(t, os.Remove(path)) }
}

func TestFullDisk(t *testing.T) {
	disk := smallDisk(t, "size=2m,mode=0700")
	r := homeOn(t, disk)
	must(t, touch(r, ann))
	before := readFile(t, r.path(registryFile))
	free := fill(t, disk)
	if err := touch(r, ann); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("a commit: %v, want ENOSPC", err)
	}
	if _, err := r.Ingest(t.Context(), parse(t, history("f", 30)), IngestOptions{CertifiedBy: "ann"}, ann); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("ingest: %v, want ENOSPC", err)
	}
	if string(readFile(t, r.path(registryFile))) != string(before) {
		t.Error("the registry changed")
	}
	if left := leftovers(t, r); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	free()
	must(t, touch(r, ann))
	if ingest(t, r, history("f", 30)).Total() != 30 {
		t.Error("ingest after there was room again")
	}
}

func TestNoInodes(t *testing.T) {
	disk := smallDisk(t, "size=4m,nr_inodes=30,mode=0700")
	r := homeOn(t, disk)
	for i := 0; ; i++ {
		if file, err := os.Create(filepath.Join(disk, strings.Repeat("x", i+1))); err != nil {
			break
		} else if err := file.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := touch(r, ann); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("a commit: %v, want ENOSPC", err)
	}
	if n := snapshot(t, r).Serial().N; n != 1 {
		t.Errorf("serial %d", n)
	}
}

func TestReadOnlyDisk(t *testing.T) {
	disk := smallDisk(t, "size=4m,mode=0700")
	r := homeOn(t, disk)
	remount := func(flags uintptr) {
		t.Helper()
		must(t, unix.Mount("", disk, "", unix.MS_REMOUNT|flags, ""))
	}
	must(t, r.Close())
	remount(unix.MS_RDONLY)
	// The ledger's readers need a file beside it, so such a home isn't opened.
	again, err := Open(r.Dir(), Options{LockTimeout: time.Second})
	if err == nil {
		must(t, again.Close())
	}
	if err == nil || errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "read-only") {
		t.Errorf("got %v, want an error about the disk that isn't ErrDamaged", err)
	}
	remount(0)
	r, err = Open(filepath.Join(disk, "home"), Options{})
	must(t, err)
	must(t, touch(r, ann))
	must(t, r.Close())
}

func TestInit(t *testing.T) {
	dir := t.TempDir()
	home := filepath.Join(dir, "a [home]*?")
	must(t, os.Mkdir(home, 0o755)) // an empty folder is fine
	r, err := Init(t.Context(), home, InitOptions{Who: "ann"})
	must(t, err)
	must(t, touch(r, ann)) // with a name that glob would read as a pattern
	must(t, r.Close())
	if s := r; s.Dir() != home {
		t.Errorf("Dir is %q", s.Dir())
	}
	for path, want := range map[string]fs.FileMode{
		".": 0o700, registryFile: 0o600, lockFile: 0o600, ledgerFile: 0o600, objectFolder: 0o700, keyFolder: 0o700,
		"keys/" + saltFile: 0o600, "keys/host.ed25519": 0o600,
	} {
		info, err := os.Stat(filepath.Join(home, path))
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: mode %v, %v: want %v", path, info.Mode().Perm(), err, want)
		}
	}
	before := readFile(t, filepath.Join(home, registryFile))
	if _, err := Init(t.Context(), home, InitOptions{}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over a home: %v, want fs.ErrExist", err)
	}
	if _, err := Init(t.Context(), filepath.Join(dir, "none", "home"), InitOptions{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a parent: %v, want fs.ErrNotExist", err)
	}
	bad := starlark()
	bad.Name = ""
	if _, err := Init(t.Context(), filepath.Join(dir, "bad"), InitOptions{Policy: policy, Environments: []rule.Environment{{Name: "x", Limits: rule.Limits{CPUs: nan()}}, bad}}); err == nil {
		t.Error("an environment that can't be written: want an error")
	}
	if string(readFile(t, filepath.Join(home, registryFile))) != string(before) {
		t.Error("the home changed")
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

func nan() float64 { zero := 0.0; return zero / zero }

func TestFirstStateOfAHome(t *testing.T) {
	r, err := Init(t.Context(), filepath.Join(t.TempDir(), "home"), InitOptions{Environments: []rule.Environment{starlark()}})
	must(t, err)
	defer func() { must(t, r.Close()) }()
	s := snapshot(t, r)
	if s.Serial() != (rule.Serial{N: 1}) || s.Generation() != 1 || s.State().Policy != DefaultPolicy ||
		s.State().Current["starlark"] != starlark().Digest() || len(s.State().Rules) != 0 {
		t.Errorf("state: %+v", s.State())
	}
	if cases, err := s.Cases(t.Context()); err != nil || len(cases) != 0 {
		t.Errorf("%d cases, %v", len(cases), err)
	}
}

func TestVolatileOverlay(t *testing.T) {
	const mounts = `22 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw
30 22 0:40 / /a rw,relatime - overlay overlay rw,lowerdir=/l,upperdir=/u,workdir=/w
31 22 0:41 / /b rw,relatime - overlay overlay rw,lowerdir=/l,upperdir=/u,workdir=/w,volatile
`
	for device, want := range map[string]bool{"0:40": false, "0:41": true, "8:1": false, "9:9": false} {
		if got := volatileIn(bufio.NewScanner(strings.NewReader(mounts)), device); got != want {
			t.Errorf("device %s: %v, want %v", device, got, want)
		}
	}
}

func TestFileSystems(t *testing.T) {
	dir := t.TempDir()
	must(t, checkFileSystem(dir))
	var stat unix.Statfs_t
	must(t, unix.Statfs(dir, &stat))
	remote[int64(stat.Type)] = "a network"
	defer delete(remote, int64(stat.Type))
	if err := checkHome(dir, false); err == nil || !strings.Contains(err.Error(), "a network") {
		t.Errorf("got %v, want a refusal", err)
	}
	must(t, checkHome(dir, true))
}
