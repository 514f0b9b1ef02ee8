package rule

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Guard is the declarative part of a trigger: a necessary condition on the task
// that the host evaluates without running anything. It can only say no_match.
// Exactly one of Equals and Pattern is set. Input, where it is set, is the shape
// that the input must have; NoInput says that the task must have none.
type Guard struct {
	Equals  []string `json:"equals,omitzero"`
	Pattern string   `json:"pattern,omitzero"`
	Input   *Schema  `json:"input,omitzero"`
	NoInput bool     `json:"no_input,omitzero"`
}

const maxGuardPhrases = 200

// Check returns the first reason why the guard can't be used.
func (g Guard) Check() error {
	switch {
	case (len(g.Equals) == 0) == (g.Pattern == ""):
		return fmt.Errorf("guard: want either equals or pattern")
	case len(g.Equals) > maxGuardPhrases:
		return fmt.Errorf("guard: more than %d phrases in equals", maxGuardPhrases)
	case slices.Contains(g.Equals, ""):
		return fmt.Errorf("guard: an empty phrase in equals")
	case g.NoInput && g.Input != nil:
		return fmt.Errorf("guard: both input and no_input")
	}
	if g.Pattern != "" {
		if err := checkAnchored(g.Pattern); err != nil {
			return fmt.Errorf("guard: pattern %q: %w", shorten(g.Pattern), err)
		}
	}
	if g.Input == nil {
		return nil
	}
	if err := g.Input.Check(); err != nil {
		return fmt.Errorf("guard: input: %w", err)
	}
	return nil
}

// checkAnchored wants \A(?:…)\z where … is a pattern by itself, so that no
// alternative escapes the anchors.
func checkAnchored(pattern string) error {
	if len(pattern) > maxPattern {
		return fmt.Errorf("longer than %d bytes", maxPattern)
	}
	inner, ok := strings.CutPrefix(pattern, `\A(?:`)
	inner, closed := strings.CutSuffix(inner, `)\z`)
	if !ok || !closed {
		return fmt.Errorf(`want the form \A(?:…)\z`)
	}
	if _, err := regexp.Compile(inner); err != nil {
		return err
	}
	_, err := regexp.Compile(pattern)
	return err
}

// Allows says whether the task may be this rule's at all. A guard that can't be
// evaluated allows nothing. Who asks often keeps the guard's Matcher.
func (g Guard) Allows(task Document) bool {
	matcher, err := g.Matcher()
	return err == nil && matcher.Allows(task)
}

// Matcher is a guard made ready to be asked many times. The zero Matcher allows
// nothing.
type Matcher struct {
	equals  map[string]bool
	pattern *regexp.Regexp
	input   *Schema
	noInput bool
}

// Matcher returns the guard made ready, or the reason why it can't be used.
func (g Guard) Matcher() (Matcher, error) {
	if err := g.Check(); err != nil {
		return Matcher{}, err
	}
	matcher := Matcher{equals: map[string]bool{}, input: g.Input, noInput: g.NoInput}
	for _, phrase := range g.Equals {
		matcher.equals[phrase] = true
	}
	if g.Pattern != "" {
		matcher.pattern = regexp.MustCompile(g.Pattern) // Check compiled it
	}
	return matcher, nil
}

// Allows says whether the task may be the rule's at all.
func (m Matcher) Allows(task Document) bool {
	return m.allowsInstruction(task.Instruction) && m.allowsInput(task.Input)
}

func (m Matcher) allowsInstruction(instruction string) bool {
	return m.equals[instruction] || m.pattern != nil && m.pattern.MatchString(instruction)
}

func (m Matcher) allowsInput(input Value) bool {
	if m.noInput {
		return !input.Present()
	}
	return m.input == nil || m.input.Accepts(input) == nil
}
