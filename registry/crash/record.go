package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// recorded are the calls that the recorder understands. Maps into memory are not
// among them: SQLite keeps only its -shm there, which it makes anew after a crash.
const recorded = "open,openat,write,pwrite64,ftruncate,fchmod,fsync,fdatasync,rename,renameat,renameat2,unlink,unlinkat,rmdir,mkdir,mkdirat,linkat,symlinkat,fallocate"

// recorder turns strace's log of a writer into operations on a disk.
type recorder struct {
	stage   string
	live    *disk // with all operations so far
	base    *disk
	ops     []op
	files   map[string]int // descriptor → node
	offsets map[string]int
}

// record runs an act undisturbed on the stage, whose content is given as a disk.
func (t tracer) record(ctx context.Context, name, stage string) (recording, error) {
	log := stage + ".log"
	defer func() { _ = os.Remove(log) }()
	r := &recorder{stage: stage, live: newDisk(), files: map[string]int{}, offsets: map[string]int{}}
	if err := r.live.load(stage); err != nil {
		return recording{}, err
	}
	r.base = r.live.clone()
	acked, _, err := t.run(ctx, name, stage, "-o", log, "-e", "trace="+recorded, "-e", "signal=none", "-xx", "-s", "100000000")
	if err != nil || !acked {
		return recording{}, fmt.Errorf("recording %s: acknowledged %v, %w", name, acked, err)
	}
	data, err := os.ReadFile(log)
	if err != nil {
		return recording{}, err
	}
	for line := range strings.Lines(string(data)) {
		if err := r.line(strings.TrimSpace(line)); err != nil {
			return recording{}, fmt.Errorf("recording %s: %w", name, err)
		}
	}
	return recording{base: r.base, ops: r.ops}, nil
}

var callForm = regexp.MustCompile(`^[0-9]+ +([a-z0-9]+)\((.*)\) += (-?[0-9]+)`)

// line takes one line of the log. Calls that failed changed nothing.
func (r *recorder) line(text string) error {
	if strings.Contains(text, "unfinished") || strings.Contains(text, "resumed") {
		return fmt.Errorf("two threads at once: %.80s", text)
	}
	parts := callForm.FindStringSubmatch(text)
	if parts == nil || strings.HasPrefix(parts[3], "-") {
		return nil
	}
	arguments := strings.Split(parts[2], ", ")
	switch parts[1] {
	case "open":
		return r.open(r.path(arguments[0]), arguments[1], mode(arguments), parts[3])
	case "openat":
		return r.open(r.path(arguments[1]), arguments[2], mode(arguments), parts[3])
	case "write", "pwrite64":
		return r.write(arguments)
	case "ftruncate":
		size, err := strconv.Atoi(arguments[1])
		return r.onFile(arguments[0], op{kind: opTruncate, offset: size}, err)
	case "fchmod":
		return r.onFile(arguments[0], op{kind: opMode, mode: mode(arguments)}, nil)
	case "fsync", "fdatasync":
		return r.onFile(arguments[0], op{kind: opSync}, nil)
	case "rename":
		return r.rename(r.path(arguments[0]), r.path(arguments[1]))
	case "renameat", "renameat2":
		return r.rename(r.path(arguments[1]), r.path(arguments[3]))
	case "unlink", "rmdir":
		return r.entry(r.path(arguments[0]), -1)
	case "unlinkat":
		return r.entry(r.path(arguments[1]), -1)
	case "mkdir":
		return r.make(r.path(arguments[0]), node{folder: true, mode: mode(arguments), entries: map[int]int{}})
	case "mkdirat":
		return r.make(r.path(arguments[1]), node{folder: true, mode: mode(arguments), entries: map[int]int{}})
	}
	return fmt.Errorf("the recorder doesn't know %s", parts[1])
}

// path returns a quoted path below the stage, "/" for the stage itself, and ""
// where it is elsewhere.
func (r *recorder) path(quoted string) string {
	if filepath.Clean(string(unescape(quoted))) == r.stage {
		return "/"
	}
	below, ok := strings.CutPrefix(filepath.Clean(string(unescape(quoted))), r.stage+"/")
	if !ok {
		return ""
	}
	return below
}

// unescape reads a string of \xNN only, as strace -xx writes it.
func unescape(quoted string) []byte {
	digits := strings.ReplaceAll(strings.Trim(quoted, `"`), `\x`, "")
	out := make([]byte, 0, len(digits)/2)
	for i := 0; i+1 < len(digits); i += 2 {
		b, err := strconv.ParseUint(digits[i:i+2], 16, 8)
		if err != nil {
			return nil
		}
		out = append(out, byte(b))
	}
	return out
}

// mode reads the last argument, in octal.
func mode(arguments []string) fs.FileMode {
	bits, err := strconv.ParseUint(arguments[len(arguments)-1], 8, 32)
	if err != nil {
		return 0
	}
	return fs.FileMode(bits).Perm()
}

func (r *recorder) add(o op) {
	o.apply(r.live)
	r.ops = append(r.ops, o)
}

func (r *recorder) open(path, flags string, mode fs.FileMode, descriptor string) error {
	delete(r.files, descriptor)
	switch path {
	case "":
		return nil
	case "/":
		r.files[descriptor] = 0
		return nil
	}
	_, _, found, err := r.live.place(path)
	if err != nil {
		return err
	}
	if found < 0 {
		if err := r.make(path, node{mode: mode}); err != nil {
			return err
		}
		found = len(r.live.nodes) - 1
	}
	r.files[descriptor], r.offsets[descriptor] = found, 0
	if strings.Contains(flags, "O_TRUNC") {
		r.add(op{kind: opTruncate, node: found})
	}
	return nil
}

// make brings a node into being, without a name at first, and names it.
func (r *recorder) make(path string, made node) error {
	if path == "" {
		return nil
	}
	for _, d := range []*disk{r.live, r.base} {
		d.nodes = append(d.nodes, node{folder: made.folder, mode: made.mode, entries: map[int]int{}})
	}
	return r.entry(path, len(r.live.nodes)-1)
}

func (r *recorder) entry(path string, child int) error {
	if path == "" {
		return nil
	}
	folder, name, _, err := r.live.place(path)
	if err == nil {
		r.add(op{kind: opEntry, node: folder, name: name, child: child})
	}
	return err
}

func (r *recorder) rename(from, to string) error {
	if from == "" || to == "" {
		return nil
	}
	was, oldName, child, err := r.live.place(from)
	if err != nil {
		return err
	}
	folder, name, _, err := r.live.place(to)
	if err == nil {
		r.add(op{kind: opRename, node: folder, name: name, child: child, from: was, was: oldName})
	}
	return err
}

func (r *recorder) write(arguments []string) error {
	data := unescape(arguments[1])
	offset := r.offsets[arguments[0]]
	if len(arguments) == 4 { // pwrite64
		given, err := strconv.Atoi(arguments[3])
		return r.onFile(arguments[0], op{kind: opWrite, offset: given, data: data}, err)
	}
	r.offsets[arguments[0]] += len(data)
	return r.onFile(arguments[0], op{kind: opWrite, offset: offset, data: data}, nil)
}

// onFile adds an operation on what a descriptor names, where that is below the
// stage.
func (r *recorder) onFile(descriptor string, o op, err error) error {
	if file, ok := r.files[descriptor]; ok && err == nil {
		o.node = file
		r.add(o)
	}
	return err
}
