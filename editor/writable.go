package editor

import (
	"path"
	"strings"

	"signalbox/rule"
)

// Only returns a function for SetWritable that allows the paths which the
// patterns (of path.Match) name. The last pattern that fits a path decides, and
// "!" before one forbids: "*.star", "!execute.star" are all programs but one.
// Hidden files fit no pattern: no copy of a draft would hold them.
func Only(patterns ...string) func(string) bool {
	return func(rel string) bool {
		allowed := false
		for _, pattern := range patterns {
			bare, forbids := strings.CutPrefix(pattern, "!")
			if fits, err := path.Match(bare, rel); err == nil && fits && rule.Visible(rel) {
				allowed = !forbids
			}
		}
		return allowed
	}
}
