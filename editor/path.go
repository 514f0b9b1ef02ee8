package editor

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"signalbox/rule"
)

// location is a place in the tree: its path relative to the root ("." for the
// root itself) and as the model knows it.
type location struct {
	rel   string
	shown string
}

func (l location) dir() string  { return path.Dir(l.rel) }
func (l location) name() string { return path.Base(l.rel) }

// at returns the location of a clean relative path.
func at(rel string) location {
	return location{rel: rel, shown: path.Join(Root, rel)}
}

// locate reads the path of a call. "." and ".." are resolved by name, which is
// right in a tree where no link is followed.
func (e *Editor) locate(given, command string) (location, error) {
	if !strings.HasPrefix(given, "/") {
		return location{}, notAbsolute(given, e.suggestion(given))
	}
	rel, inside := strings.CutPrefix(path.Clean(given)+"/", Root+"/")
	if !inside {
		return location{}, outside(given)
	}
	rel = strings.TrimSuffix(rel, "/")
	if strings.HasSuffix(given, "/") && command != "view" {
		return location{}, badPath(fmt.Errorf("%s ends with `/`", shownPath(given)))
	}
	if rel == "" {
		return at("."), nil
	}
	if err := e.checkRelative(rel); err != nil {
		return location{}, err
	}
	return at(rel), nil
}

// checkRelative refuses what no file of a tree may be called.
func (e *Editor) checkRelative(rel string) error {
	if depth := strings.Count(rel, "/") + 1; depth > e.limits.Depth {
		return refuse("path_too_deep", "The path %s has %d elements: the limit is %d.", shownPath(path.Join(Root, rel)), depth, e.limits.Depth)
	}
	if err := rule.CheckPath(rel); err != nil {
		return badPath(err)
	}
	for _, element := range strings.Split(rel, "/") {
		if IsTemporary(element) {
			return badPath(errors.New("the name is reserved"))
		}
	}
	return nil
}

// suggestion returns the path that a relative one may stand for, where there is
// such an entry.
func (e *Editor) suggestion(given string) string {
	for _, candidate := range []string{"/" + given, path.Join(Root, given)} {
		rel, inside := strings.CutPrefix(path.Clean(candidate), Root+"/")
		if !inside || given == "" || e.checkRelative(rel) != nil {
			continue
		}
		if e.tree.has(rel) {
			return path.Join(Root, rel)
		}
	}
	return ""
}
