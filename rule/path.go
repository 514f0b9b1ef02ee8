package rule

import (
	"fmt"
	"path"
	"strings"
	"unicode/utf8"
)

// Limits of a tree that an executor may see. A tree over one of them is an
// error that names the limit, never a truncated copy.
const (
	MaxTreeFiles  = 2_000
	MaxTreeBytes  = 16 << 20
	MaxFileBytes  = 4 << 20
	MaxPathBytes  = 512
	MaxPathDepth  = 32
	MaxNameLength = 200
)

// hiddenFolders are never part of a public copy.
var hiddenFolders = map[string]bool{"node_modules": true, "vendor": true}

// CheckPath returns an error that quotes p where p is not a clean relative path
// inside a tree, or is over a limit. It says nothing about visibility.
func CheckPath(p string) error {
	switch {
	case p == "" || p == "." || path.IsAbs(p) || path.Clean(p) != p || p == ".." || strings.HasPrefix(p, "../"):
		return fmt.Errorf("path %q: want a clean relative path inside the tree", p)
	case len(p) > MaxPathBytes:
		return fmt.Errorf("path %q…: longer than %d bytes", p[:40], MaxPathBytes)
	case !utf8.ValidString(p):
		return fmt.Errorf("path %q: not UTF-8", p)
	case strings.Count(p, "/") >= MaxPathDepth:
		return fmt.Errorf("path %q: deeper than %d", p, MaxPathDepth)
	}
	if hasControl(p) || strings.Contains(p, `\`) {
		return fmt.Errorf("path %q: control characters and backslashes are not allowed", p)
	}
	for _, element := range strings.Split(p, "/") {
		if len(element) > MaxNameLength {
			return fmt.Errorf("path %q…: an element is longer than %d bytes", p[:40], MaxNameLength)
		}
	}
	return nil
}

// Visible says whether a clean relative path belongs to a public copy: no
// element begins with a dot, none is node_modules or vendor.
func Visible(p string) bool {
	for _, element := range strings.Split(p, "/") {
		if strings.HasPrefix(element, ".") || hiddenFolders[element] {
			return false
		}
	}
	return true
}

// CheckPublicPath is CheckPath and Visible in one error.
func CheckPublicPath(p string) error {
	if err := CheckPath(p); err != nil {
		return err
	}
	if !Visible(p) {
		return fmt.Errorf("path %q: hidden entries, node_modules and vendor are not part of a public copy", p)
	}
	return nil
}
