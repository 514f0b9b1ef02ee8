package rule

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Name names a rule: lower-case letters, digits and dashes, at most 63.
type Name string

var namePattern = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,62}$`)

// ParseName returns s as a Name, or an error that quotes it.
func ParseName(s string) (Name, error) {
	if !namePattern.MatchString(s) {
		return "", fmt.Errorf("rule name %q: want 1 to 63 of a-z, 0-9 and -, not first a dash", s)
	}
	return Name(s), nil
}

// UnmarshalText is ParseName.
func (n *Name) UnmarshalText(text []byte) error {
	parsed, err := ParseName(string(text))
	*n = parsed
	return err
}

// Family names a group of cases that one kind of work produced: any printable
// text of 1 to 200 bytes, as an operator's own history calls it.
type Family string

// ParseFamily returns s as a Family, or an error that quotes it.
func ParseFamily(s string) (Family, error) {
	if s == "" || len(s) > 200 || !utf8.ValidString(s) {
		return "", fmt.Errorf("family %q: want 1 to 200 bytes of UTF-8", shorten(s))
	}
	if hasControl(s) {
		return "", fmt.Errorf("family %q: control characters are not allowed", s)
	}
	return Family(s), nil
}

// hasControl says whether a terminal could take part of s as a command.
func hasControl(s string) bool { return strings.ContainsFunc(s, unicode.IsControl) }

// UnmarshalText is ParseFamily.
func (f *Family) UnmarshalText(text []byte) error {
	parsed, err := ParseFamily(string(text))
	*f = parsed
	return err
}
