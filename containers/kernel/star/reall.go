package star

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"go.starlark.net/starlark"
)

// places returns where a pattern matches, groups included, and refuses more
// than maxPlaces.
func places(thread *starlark.Thread, compiled *regexp.Regexp, s string) ([][]int, error) {
	most := maxPlaces / (1 + compiled.NumSubexp())
	found := compiled.FindAllStringSubmatchIndex(s, most+1)
	if len(found) > most {
		return nil, fmt.Errorf("re: more than %d matches", most)
	}
	charge(thread, 64*len(found))
	return found, nil
}

func (p *patterns) findAll(thread *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	compiled, s, err := p.two(thread, b, args, kwargs, false)
	if err != nil {
		return nil, err
	}
	found, err := places(thread, compiled, s)
	items := make([]starlark.Value, len(found))
	for i, at := range found {
		items[i] = starlark.String(s[at[0]:at[1]])
	}
	return starlark.NewList(items), err
}

func (p *patterns) spans(thread *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	compiled, s, err := p.two(thread, b, args, kwargs, false)
	if err != nil {
		return nil, err
	}
	found, err := places(thread, compiled, s)
	items := make([]starlark.Value, len(found))
	for i, at := range found {
		items[i] = starlark.Tuple{starlark.MakeInt(at[0]), starlark.MakeInt(at[1])}
	}
	return starlark.NewList(items), err
}

// split cuts as Go's regexp does, save that an empty text is one empty part.
func (p *patterns) split(thread *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	compiled, s, err := p.two(thread, b, args, kwargs, false)
	if err != nil {
		return nil, err
	}
	if s == "" {
		return listOf([]string{""}), nil
	}
	found, err := places(thread, compiled, s)
	if err != nil {
		return nil, err
	}
	var cut []string
	from, last := 0, 0
	for _, at := range found {
		last = at[0]
		if at[1] != 0 {
			cut = append(cut, s[from:last])
		}
		from = at[1]
	}
	if last != len(s) {
		cut = append(cut, s[from:])
	}
	return listOf(cut), nil
}

func (p *patterns) replace(thread *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var pattern, template, s text
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "p", &pattern, "repl", &template, "s", &s); err != nil {
		return nil, err
	}
	charge(thread, len(s))
	compiled, err := p.compile(thread, string(pattern), false)
	if err != nil {
		return nil, fmt.Errorf("re.replace: %w", err)
	}
	pieces, err := parseTemplate(string(template), compiled)
	if err != nil {
		return nil, fmt.Errorf("re.replace: %w", err)
	}
	found, err := places(thread, compiled, string(s))
	if err != nil {
		return nil, err
	}
	replaced, err := expand(string(s), found, pieces)
	if err != nil {
		return nil, err
	}
	return written(thread, replaced)
}

// expand writes s with pieces in place of each match.
func expand(s string, found [][]int, pieces []piece) (string, error) {
	var out strings.Builder
	last := 0
	for _, at := range found {
		out.WriteString(s[last:at[0]])
		for _, piece := range pieces {
			out.WriteString(piece.of(s, at))
		}
		last = at[1]
		if err := bounded(out.String()); err != nil {
			return "", fmt.Errorf("re.replace: %w", err)
		}
	}
	out.WriteString(s[last:])
	return out.String(), nil
}

// piece is a literal, or a group where group isn't negative.
type piece struct {
	literal string
	group   int
}

func (p piece) of(s string, at []int) string {
	if p.group < 0 {
		return p.literal
	}
	if from := at[2*p.group]; from >= 0 {
		return s[from:at[2*p.group+1]]
	}
	return ""
}

// reference matches what a template may say after a dollar.
var reference = regexp.MustCompile(`^(?:\$|\{(\w+)\}|(\w+))`)

// parseTemplate cuts a replacement at its references: $1, ${1}, ${name}, $$.
func parseTemplate(template string, compiled *regexp.Regexp) ([]piece, error) {
	var pieces []piece
	for {
		literal, rest, more := strings.Cut(template, "$")
		pieces = append(pieces, piece{literal: literal, group: -1})
		if !more {
			return pieces, nil
		}
		parts := reference.FindStringSubmatch(rest)
		if parts == nil {
			return nil, fmt.Errorf("a lone dollar in the replacement: write $$")
		}
		template = rest[len(parts[0]):]
		if parts[0] == "$" {
			pieces = append(pieces, piece{literal: "$", group: -1})
			continue
		}
		group, err := groupOf(parts[1]+parts[2], compiled)
		if err != nil {
			return nil, err
		}
		pieces = append(pieces, piece{group: group})
	}
}

func groupOf(name string, compiled *regexp.Regexp) (int, error) {
	group, err := strconv.Atoi(name)
	if err != nil {
		group = compiled.SubexpIndex(name)
	}
	if group < 0 || group > compiled.NumSubexp() {
		return 0, fmt.Errorf("the replacement names group %q, which the pattern hasn't: ${1}x is group 1 and an x", clip(name))
	}
	return group, nil
}
