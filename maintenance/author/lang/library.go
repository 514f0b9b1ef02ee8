package lang

import (
	_ "embed" // the library's files
	"regexp"
	"slices"
	"strings"
)

//go:embed library/texts.star
var textsStar string

//go:embed library/numbers.star
var numbersStar string

//go:embed library/moments.star
var momentsStar string

// Library is a helper file that finished rules load from.
type Library struct {
	File  string
	Text  string
	Names []string // the functions that may be loaded
}

var definition = regexp.MustCompile(`(?m)^def ([a-z_]+)\(`)

// Libraries returns the helper files. Their patterns are those of the search.
func Libraries() []Library {
	list := []Library{
		{File: "texts.star", Text: textsStar},
		{File: "numbers.star", Text: strings.Replace(numbersStar, "DECIMAL", decimalPattern, 1)},
		{File: "moments.star", Text: momentsStar},
	}
	for i := range list {
		list[i].Names = Definitions(list[i].Text)
	}
	return list
}

// Definitions returns the functions that a helper file defines.
func Definitions(text string) (names []string) {
	for _, m := range definition.FindAllStringSubmatch(text, -1) {
		names = append(names, m[1])
	}
	return names
}

// Constants returns the starlark definitions of the classes and layouts that a
// program's text names, in a fixed order.
func Constants(program string) (list []string) {
	used := capitals.FindAllString(program, -1)
	for _, c := range classes {
		if slices.Contains(used, c.name) {
			list = append(list, c.name+" = r\""+c.pattern+"\"")
		}
	}
	for _, l := range Layouts {
		if slices.Contains(used, l.Name) {
			list = append(list, l.Name+" = (r\""+l.Pattern+"\", \""+l.Fields+"\")")
		}
	}
	return list
}

var capitals = regexp.MustCompile(`\b[A-Z]+(?:_[A-Z0-9]+)*\b`)
