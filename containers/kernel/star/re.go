package star

import (
	"fmt"
	"regexp"
	"regexp/syntax"

	"go.starlark.net/starlark"
)

// Limits of package re. A pattern's parts are what it unfolds to, roughly its
// instructions; places are matches times groups of one call.
const (
	maxPattern  = 2_000
	maxParts    = 10_000
	maxPlaces   = 1_000_000
	maxCompiled = 256
)

// patterns keeps a program's compiled patterns. It is a cache and no more: a
// call costs the same steps whether its pattern was there or not.
type patterns struct{ compiled map[patternKey]*regexp.Regexp }

type patternKey struct {
	pattern string
	full    bool
}

func newPatterns() *patterns { return &patterns{compiled: map[patternKey]*regexp.Regexp{}} }

// compile returns the pattern; full makes it match whole texts only.
func (p *patterns) compile(thread *starlark.Thread, pattern string, full bool) (*regexp.Regexp, error) {
	charge(thread, 64*len(pattern))
	key := patternKey{pattern, full}
	if known := p.compiled[key]; known != nil {
		return known, nil
	}
	if err := checkPattern(pattern); err != nil {
		return nil, err
	}
	if full {
		pattern = `\A(?:` + pattern + `)\z`
	}
	compiled, err := regexp.Compile(pattern)
	if err != nil {
		return nil, err
	}
	if len(p.compiled) == maxCompiled {
		clear(p.compiled)
	}
	p.compiled[key] = compiled
	return compiled, nil
}

func checkPattern(pattern string) error {
	if len(pattern) > maxPattern {
		return fmt.Errorf("the pattern has %d bytes: the limit is %d", len(pattern), maxPattern)
	}
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return err
	}
	if parts(parsed) > maxParts {
		return fmt.Errorf("the pattern unfolds to more than %d parts", maxParts)
	}
	return nil
}

// parts says how much a pattern unfolds to, or a little over maxParts.
func parts(e *syntax.Regexp) int {
	total := 1 + len(e.Rune)/2
	for _, sub := range e.Sub {
		total += parts(sub)
		if total > maxParts {
			return maxParts + 1
		}
	}
	if e.Op == syntax.OpRepeat {
		total *= 1 + max(e.Min, e.Max)
	}
	return min(total, maxParts+1)
}

func (p *patterns) functions() map[string]function {
	return map[string]function{
		"find":     p.find,
		"full":     p.full,
		"find_all": p.findAll,
		"spans":    p.spans,
		"replace":  p.replace,
		"split":    p.split,
		"escape":   escape,
	}
}

// two unpacks (p, s), the arguments of most functions here.
func (p *patterns) two(thread *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple, full bool) (*regexp.Regexp, string, error) {
	var pattern, s text
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "p", &pattern, "s", &s); err != nil {
		return nil, "", err
	}
	charge(thread, len(s))
	compiled, err := p.compile(thread, string(pattern), full)
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", b.Name(), err)
	}
	return compiled, string(s), nil
}

func (p *patterns) find(thread *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	compiled, s, err := p.two(thread, b, args, kwargs, false)
	if err != nil {
		return nil, err
	}
	return groups(s, compiled.FindStringSubmatchIndex(s)), nil
}

func (p *patterns) full(thread *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	compiled, s, err := p.two(thread, b, args, kwargs, true)
	if err != nil {
		return nil, err
	}
	return groups(s, compiled.FindStringSubmatchIndex(s)), nil
}

// groups returns [whole, group1, …] at the given places, or None.
func groups(s string, places []int) starlark.Value {
	if places == nil {
		return starlark.None
	}
	items := make([]starlark.Value, len(places)/2)
	for i := range items {
		items[i] = starlark.None
		if from, to := places[2*i], places[2*i+1]; from >= 0 {
			items[i] = starlark.String(s[from:to])
		}
	}
	return starlark.NewList(items)
}

func escape(thread *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var s text
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "s", &s); err != nil {
		return nil, err
	}
	return written(thread, regexp.QuoteMeta(string(s)))
}
