package star

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"go.starlark.net/starlark"
)

// Files is the public copy of a task's tree. Its paths are clean, relative and
// visible.
type Files interface {
	// Paths returns the paths of all files in byte order.
	Paths() []string
	// Read returns the bytes of one of Paths.
	Read(path string) ([]byte, error)
}

// testbed is what an executor sees of the files of the call that is running.
type testbed struct {
	files Files
	paths []string
}

// show changes what programs see; nil shows nothing.
func (t *testbed) show(files Files) {
	t.files, t.paths = files, nil
	if files != nil {
		t.paths = files.Paths()
	}
}

func (t *testbed) functions() map[string]function {
	return map[string]function{"read": t.read, "glob": t.glob, "exists": t.exists}
}

func (t *testbed) read(thread *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var p text
	var fallback starlark.Value
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "path", &p, "default?", &fallback); err != nil {
		return nil, err
	}
	data, err := t.readText(string(p))
	charge(thread, len(data))
	return orDefault(starlark.String(data), err, fallback)
}

func (t *testbed) readText(p string) ([]byte, error) {
	if _, ok := slices.BinarySearch(t.paths, p); !ok {
		return nil, fmt.Errorf("testbed.read: there is no file %q", clip(p))
	}
	data, err := t.files.Read(p)
	if err != nil {
		return nil, fmt.Errorf("testbed.read: %w", err)
	}
	if !utf8.Valid(data) {
		return nil, fmt.Errorf("testbed.read: the file %q is not UTF-8", clip(p))
	}
	return data, nil
}

func (t *testbed) exists(thread *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var p text
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "path", &p); err != nil {
		return nil, err
	}
	_, isFile := slices.BinarySearch(t.paths, string(p))
	inside := string(p) + "/"
	at, _ := slices.BinarySearch(t.paths, inside)
	isFolder := at < len(t.paths) && strings.HasPrefix(t.paths[at], inside)
	return starlark.Bool(isFile || isFolder), nil
}

func (t *testbed) glob(thread *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var pattern text
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "pattern", &pattern); err != nil {
		return nil, err
	}
	if len(pattern) > maxPattern {
		return nil, fmt.Errorf("testbed.glob: the pattern has %d bytes: the limit is %d", len(pattern), maxPattern)
	}
	wanted := strings.Split(string(pattern), "/")
	for _, element := range wanted {
		if _, err := path.Match(element, ""); err != nil {
			return nil, fmt.Errorf("testbed.glob: the pattern %q is malformed", clip(string(pattern)))
		}
	}
	var found []string
	for _, p := range t.paths {
		charge(thread, len(p)*len(wanted))
		if matches(wanted, strings.Split(p, "/")) {
			found = append(found, p)
		}
	}
	return listOf(found), nil
}

// matches says whether a pattern's elements match those of a path. It goes back
// to the last ** only, which is enough and takes no more than quadratic time.
func matches(wanted, elements []string) bool {
	w, e, star, tried := 0, 0, -1, 0
	for e < len(elements) {
		switch {
		case w < len(wanted) && wanted[w] == "**":
			star, tried = w, e
			w++
		case w < len(wanted) && matchesOne(wanted[w], elements[e]):
			w++
			e++
		case star >= 0:
			tried++
			w, e = star+1, tried
		default:
			return false
		}
	}
	for w < len(wanted) && wanted[w] == "**" {
		w++
	}
	return w == len(wanted)
}

func matchesOne(wanted, element string) bool {
	ok, err := path.Match(wanted, element)
	return ok && err == nil
}
