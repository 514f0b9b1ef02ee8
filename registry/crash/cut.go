package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// The ext4 call that stops a file system at once, without flushing its journal:
// what isn't on the disk yet never gets there.
const (
	ext4Shutdown  = 0x8004587d // _IOR('X', 125, __u32)
	noLogFlush    = 2
	imageBytes    = 24 << 20
	imageName     = "image"
	mountFolder   = "disk"
	writtenOnDisk = "stage"
)

// modes are the mount options that decide what a power cut may leave.
var modes = []string{"data=ordered", "data=writeback,noauto_da_alloc"}

// cutPoint is a place to cut the power at: before a call, or after the ACK.
type cutPoint struct {
	ref  reference
	at   call // zero: after the ACK
	mode string
}

func (p cutPoint) String() string {
	where := "after the ACK"
	if p.at.name != "" {
		where = p.at.String()
	}
	return fmt.Sprintf("power cut in %s, %s (%s)", p.ref.name, where, p.mode)
}

// cuts cuts the power at changing calls and after acknowledgements.
func (h *harness) cuts(ctx context.Context, b budget) error {
	if b.cuts == 0 {
		return nil
	}
	if why := h.cannotCut(ctx); why != "" {
		if os.Getenv("CI") == "true" && os.Geteuid() == 0 {
			return fmt.Errorf("power cuts: %s", why)
		}
		fmt.Printf("crash: power cuts left out: %s\n", why)
		return nil
	}
	h.tally.cutsRan = true
	if err := h.makeImage(ctx); err != nil {
		return err
	}
	return each(h.cutPoints(b.cuts), func(p cutPoint) error {
		v, err := h.cut(ctx, p)
		if err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		if p.ref.name == naiveAct {
			h.tally.naive(&h.tally.naiveCuts, v)
			return nil
		}
		h.tally.cuts++
		h.tally.add(p.String(), v)
		return nil
	})
}

// cutPoints returns the naive writer's, then half of the limit after an ACK and
// half before a call.
func (h *harness) cutPoints(limit int) []cutPoint {
	var control, after, before []cutPoint
	for i := 0; len(after) < limit/2; i++ {
		for _, ref := range h.refs {
			p := cutPoint{ref: ref, mode: modes[i%len(modes)]}
			if ref.name != naiveAct {
				after = append(after, p)
			} else if i < len(modes) {
				control = append(control, p)
			}
		}
	}
	for i, p := range h.points(limit-limit/2, func(ref reference, at call) bool { return ref.name != naiveAct && at.changes() }) {
		before = append(before, cutPoint{p.ref, p.at, modes[i%len(modes)]})
	}
	return append(append(control, after[:limit/2]...), before...)
}

// cannotCut says why there can't be power cuts here, "" where there can.
func (h *harness) cannotCut(ctx context.Context) string {
	if os.Geteuid() != 0 {
		return "only root can mount"
	}
	for _, tool := range []string{"mkfs.ext4", "mount", "umount"} {
		if _, err := exec.LookPath(tool); err != nil {
			return tool + " is missing"
		}
	}
	if err := run(ctx, "losetup", "-f"); err != nil {
		return "no loop device: " + err.Error()
	}
	return ""
}

func run(ctx context.Context, name string, arguments ...string) error {
	if out, err := exec.CommandContext(ctx, name, arguments...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %v: %s", name, err, strings.TrimSpace(string(out)))
	}
	return nil
}

// makeImage makes an ext4 that holds a stage.
func (h *harness) makeImage(ctx context.Context) error {
	image, disk := filepath.Join(h.dir, imageName), filepath.Join(h.dir, mountFolder)
	if err := os.WriteFile(image, nil, 0o600); err != nil {
		return err
	}
	if err := os.Truncate(image, imageBytes); err != nil {
		return err
	}
	if err := run(ctx, "mkfs.ext4", "-q", "-F", "-J", "size=4", "-O", "^metadata_csum", image); err != nil {
		return err
	}
	return mounted(ctx, image, disk, modes[0], func() error {
		return copyTree(h.template, filepath.Join(disk, writtenOnDisk))
	})
}

// mounted does something on a mounted image and unmounts it.
func mounted(ctx context.Context, image, disk, mode string, do func() error) (err error) {
	if err := os.MkdirAll(disk, 0o700); err != nil {
		return err
	}
	if err := run(ctx, "mount", "-o", "loop,"+mode, image, disk); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unmount(context.WithoutCancel(ctx), disk)) }()
	return do()
}

// unmount waits for the garbage collector, which closes what snapshots hold open.
func unmount(ctx context.Context, disk string) (err error) {
	const attempts, pause = 100, 10 * time.Millisecond
	for range attempts {
		runtime.GC()
		if err = run(ctx, "umount", disk); err == nil {
			return nil
		}
		time.Sleep(pause)
	}
	return errors.Join(err, run(ctx, "umount", "-l", disk)) // so that nothing stays mounted
}

// cut runs the act on a fresh disk, cuts the power at the point, and looks at
// what the disk has kept.
func (h *harness) cut(ctx context.Context, p cutPoint) (verdict, error) {
	dir, err := os.MkdirTemp(h.dir, "cut-")
	if err != nil {
		return verdict{}, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	image, disk := filepath.Join(dir, imageName), filepath.Join(dir, mountFolder)
	if err := copySparse(filepath.Join(h.dir, imageName), image); err != nil {
		return verdict{}, err
	}
	stage := filepath.Join(disk, writtenOnDisk)
	var acked bool
	err = mounted(ctx, image, disk, p.mode, func() (err error) {
		if p.ref.name == initAct {
			if err := os.RemoveAll(filepath.Join(stage, home)); err != nil {
				return err
			}
			unix.Sync()
		}
		if p.at.name == "" {
			acked, _, err = h.tracer.run(ctx, p.ref.name, stage, "-o", "/dev/null", "-e", "trace=none", "-e", "signal=none")
		} else {
			acked, _, err = h.tracer.kill(ctx, p.ref.name, stage, p.at)
		}
		if err != nil {
			return err
		}
		return shutDown(disk)
	})
	if err != nil {
		return verdict{}, err
	}
	// A copy is mounted: a mount namespace that another process made meanwhile can
	// keep the stopped file system alive.
	kept := filepath.Join(dir, "kept")
	if err := copySparse(image, kept); err != nil {
		return verdict{}, err
	}
	var v verdict
	err = mounted(ctx, kept, disk, p.mode, func() error {
		v = p.ref.check(ctx, stage, acked)
		return nil
	})
	return v, err
}

// shutDown stops the file system that is mounted at disk.
func shutDown(disk string) error {
	folder, err := os.Open(disk)
	if err != nil {
		return err
	}
	defer func() { _ = folder.Close() }()
	return unix.IoctlSetPointerInt(int(folder.Fd()), ext4Shutdown, noLogFlush)
}

// copySparse copies an image without its empty blocks.
func copySparse(from, to string) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = source.Close() }()
	target, err := os.Create(to)
	if err != nil {
		return err
	}
	defer func() { _ = target.Close() }()
	block, empty := make([]byte, 64<<10), make([]byte, 64<<10)
	for at := int64(0); ; at += int64(len(block)) {
		n, err := io.ReadFull(source, block)
		if n == 0 {
			return target.Truncate(at)
		}
		if string(block[:n]) != string(empty[:n]) {
			if _, err := target.WriteAt(block[:n], at); err != nil {
				return err
			}
		}
		if err != nil {
			return target.Truncate(at + int64(n))
		}
	}
}
