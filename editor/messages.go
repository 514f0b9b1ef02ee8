package editor

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// refusal is an error with its code. The sentences are part of the contract
// with models: a golden test pins them all.
type refusal struct{ code, text string }

func (r *refusal) Error() string { return r.text }

func refuse(code, format string, args ...any) *refusal {
	return &refusal{code: code, text: fmt.Sprintf(format, args...)}
}

// asRefusal returns what Run answers for err.
func asRefusal(err error) *refusal {
	var known *refusal
	if errors.As(err, &known) {
		return known
	}
	return refuse("io_error", "The call could not be carried out: %v", err)
}

// Lengths of what a message quotes, in characters.
const (
	maxShownPath = 200
	maxShownText = 400
)

// shorten keeps the first max characters of text.
func shorten(text string, max int) string {
	if utf8.RuneCountInString(text) <= max {
		return text
	}
	return string([]rune(text)[:max]) + "…"
}

// printable returns the name itself, or quoted where a reader could take it for
// something else.
func printable(name string) string {
	for _, r := range name {
		if r == utf8.RuneError || r != ' ' && !unicode.IsPrint(r) {
			return strconv.Quote(name)
		}
	}
	return name
}

func shownPath(given string) string { return printable(shorten(given, maxShownPath)) }

func notAbsolute(given, suggestion string) *refusal {
	text := fmt.Sprintf("The path %s is not an absolute path, it should start with `/`.", shownPath(given))
	if suggestion != "" {
		text += fmt.Sprintf(" Maybe you meant %s?", suggestion)
	}
	return &refusal{code: "not_absolute", text: text}
}

func outside(given string) *refusal {
	return refuse("outside", "The path %s is outside `%s`. Please provide a path inside `%s`.", shownPath(given), Root, Root)
}

func badPath(err error) *refusal { return refuse("bad_path", "Invalid `path` parameter: %v.", err) }

func missing(at location) *refusal {
	return refuse("missing", "The path %s does not exist. Please provide a valid path.", at.shown)
}

func isDirectory(at location) *refusal {
	return refuse("is_directory", "The path %s is a directory and only the `view` command can be used on directories", at.shown)
}

// notRegular is for a FIFO, a socket, a device.
func notRegular(at location, command string) *refusal {
	switch command {
	case "view":
		return refuse("not_regular", "cannot view %q: not a regular file or directory", at.shown)
	case "insert":
		return refuse("not_regular", "cannot insert into %q: not a regular file", at.shown)
	}
	return refuse("not_regular", "cannot edit %q: not a regular file", at.shown)
}

func exists(at location) *refusal {
	return refuse("exists", "File already exists at: %s. Cannot overwrite files using command `create`.", at.shown)
}

func notOpen(at location) *refusal {
	return refuse("not_open", "The file %s is not open for changes. An action `edit_trigger`, `edit_executor`, `edit_contract` or `add_tests` opens the files that may be changed.", at.shown)
}

// notKept says nothing of the cause: that is the caller's, and may name places
// that no model is to see.
func notKept() *refusal {
	return refuse("not_kept", "The change could not be stored. Nothing was changed.")
}

// sentinels for what the tree found; explain turns them into sentences.
var (
	errNotRegular = errors.New("not a regular file")
	errHardLink   = errors.New("more than one hard link")
	errTooLarge   = errors.New("file is too large")
	errNotUTF8    = errors.New("not UTF-8")
	errNUL        = errors.New("holds NUL")
	errChanged    = errors.New("changed underneath")
	errUncertain  = errors.New("could not be taken back")
)

// explain returns the sentence for an error of the tree at a place.
func explain(at location, command string, err error) error {
	var known *refusal
	switch {
	case errors.As(err, &known):
		return known
	case errors.Is(err, errUncertain):
		return refuse("uncertain", "The change of %s did not finish and %v. Please view the file before you go on.", at.shown, err)
	case errors.Is(err, errNotRegular):
		return notRegular(at, command)
	case errors.Is(err, errHardLink):
		return refuse("hard_link", "The file %s has more than one hard link. Such files are neither shown nor changed.", at.shown)
	case errors.Is(err, errTooLarge):
		return refuse("file_too_large", "The file %s is larger than the limit for one file.", at.shown)
	case errors.Is(err, errNotUTF8):
		return refuse("not_utf8", "The file %s is not valid UTF-8 text. Such files are neither shown nor changed.", at.shown)
	case errors.Is(err, errNUL):
		return refuse("nul", "The file %s holds NUL bytes. Such files are neither shown nor changed.", at.shown)
	case errors.Is(err, errChanged):
		return refuse("file_changed", "The file %s has been changed by someone else. Nothing was done; please view it again.", at.shown)
	}
	return explainErrno(at, command, err)
}

func explainErrno(at location, command string, err error) error {
	switch {
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ENOTDIR) && command != "create":
		return missing(at)
	case errors.Is(err, unix.ENOTDIR):
		return refuse("not_directory", "The path %s leads through a file. Please provide a valid path.", at.shown)
	case errors.Is(err, unix.EISDIR):
		return isDirectory(at)
	case errors.Is(err, unix.EEXIST):
		return exists(at)
	case errors.Is(err, unix.ELOOP):
		return refuse("symlink", "The path %s is a symbolic link or leads through one. Links are not followed.", at.shown)
	case errors.Is(err, unix.EXDEV):
		return refuse("mount", "The path %s leads into another file system. Mounts are not followed.", at.shown)
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM), errors.Is(err, unix.EROFS):
		return refuse("access_denied", "The path %s can't be accessed: %v. Nothing was changed.", at.shown, err)
	case errors.Is(err, unix.ENOSPC), errors.Is(err, unix.EDQUOT):
		return refuse("no_space", "There is no space left to write %s. Nothing was changed.", at.shown)
	}
	return refuse("io_error", "The path %s could not be read or written: %v. Nothing was changed.", at.shown, err)
}

// escape makes text safe for a terminal or a log: control and invisible
// characters other than newline and tab are written as escapes.
func escape(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r == '\n' || r == '\t' || r == ' ' || unicode.IsPrint(r) && r != utf8.RuneError {
			b.WriteRune(r)
			continue
		}
		quoted := strconv.QuoteRune(r)
		b.WriteString(quoted[1 : len(quoted)-1])
	}
	return b.String()
}

// Escaped returns the text for people: what could steer a terminal is written
// as escapes. Models get Text.
func (r Result) Escaped() string { return escape(r.Text) }
