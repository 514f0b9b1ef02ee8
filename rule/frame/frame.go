// Package frame is the protocol between the host and the kernel program in a
// container: on each stream a header line of JSON with a length, then that many
// bytes. Nothing else crosses.
//
// The host opens with load (the rule's source and role), may send a tree (the
// public copy of the next execute), and asks trigger, execute or edit. The
// program greets with hello and answers every request once, in order, with
// ready, reply or failure under the request's id (hello has id 0). The host may
// write ahead. Both sides cap every length
// before they read, and a reader refuses headers that have unknown or duplicate
// names, so that a hostile peer costs a bounded amount and is noticed.
package frame

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"signalbox/rule"
)

// Kind says what a frame's body is.
type Kind string

// Kinds that the host sends.
const (
	KindLoad    Kind = "load"    // body: Load
	KindTree    Kind = "tree"    // body: Tree
	KindTrigger Kind = "trigger" // body: rule.Document
	KindExecute Kind = "execute" // body: Execute
	KindEdit    Kind = "edit"    // body: Edit
)

// Kinds that the program sends.
const (
	KindHello   Kind = "hello"   // body: Hello
	KindReady   Kind = "ready"   // no body; answers load and tree
	KindReply   Kind = "reply"   // body: the program's answer
	KindFailure Kind = "failure" // body: Failed
)

// maxHeader bounds the header line with its newline, in bytes.
const maxHeader = 200

// ErrTooLarge is returned when a frame is longer than its reader allows.
var ErrTooLarge = errors.New("frame is larger than allowed")

// Header opens a frame.
type Header struct {
	ID     uint64 `json:"id"`
	Kind   Kind   `json:"kind"`
	Length int64  `json:"length"`
}

// Load is the body of a load frame. A program gets one load, first.
type Load struct {
	Role   rule.Role         `json:"role"`
	Steps  uint64            `json:"steps"`
	Source map[string]string `json:"source"`
}

// Tree is the body of a tree frame: path → bytes.
type Tree map[string][]byte

// Execute is the body of an execute frame. Tree says that a tree frame came
// before it; otherwise the program sees no files.
type Execute struct {
	Task rule.Document `json:"task"`
	Args rule.Value    `json:"args"`
	Tree bool          `json:"tree"`
}

// Edit is the body of an edit frame: one call of the editor's tool on the
// draft, or an undo. Args are the model's arguments as they came, well formed
// or not. Writable holds patterns of the files that may be changed, as
// editor.Only takes them; without any the draft is read only. Undo, where it is
// set, asks to take back the session's last change of the file that it names
// (of any file where it is empty); Args are unused then. The reply's body is the
// canonical JSON of an editor.Result, so that the host can keep the change that
// it carries.
type Edit struct {
	Session  string   `json:"session"`
	Args     []byte   `json:"args"`
	Writable []string `json:"writable"`
	Undo     *string  `json:"undo,omitzero"`
}

// Hello is the body of the first frame that a program sends. The host compares
// BootID with its own: an engine elsewhere would show another.
type Hello struct {
	Protocol int    `json:"protocol"`
	BootID   string `json:"boot_id"`
}

// Protocol is the version of this protocol.
const Protocol = 1

// Failed is the body of a failure frame: the program could not answer.
type Failed struct {
	Failure rule.Failure `json:"failure"`
	Detail  string       `json:"detail"`
}

// Write sends one frame in a single write.
func Write(w io.Writer, id uint64, kind Kind, body []byte) error {
	header, err := rule.Canonical(Header{ID: id, Kind: kind, Length: int64(len(body))})
	if err != nil {
		return err
	}
	frame := append(append(header, '\n'), body...)
	if _, err := w.Write(frame); err != nil {
		return fmt.Errorf("writing %s frame: %w", kind, err)
	}
	return nil
}

// WriteJSON sends body as canonical JSON.
func WriteJSON(w io.Writer, id uint64, kind Kind, body any) error {
	data, err := rule.Canonical(body)
	if err != nil {
		return err
	}
	return Write(w, id, kind, data)
}

// Reader reads frames from a hostile or a trusted peer alike.
type Reader struct {
	buffered *bufio.Reader
	max      int64
}

// NewReader returns a Reader that refuses bodies of more than max bytes.
func NewReader(r io.Reader, max int64) *Reader {
	return &Reader{buffered: bufio.NewReaderSize(r, 64<<10), max: max}
}

// Read returns the next frame. io.EOF says that the stream ended between
// frames; io.ErrUnexpectedEOF that it ended within one.
func (r *Reader) Read() (Header, []byte, error) {
	line, err := r.line()
	if err != nil {
		return Header{}, nil, err
	}
	var header Header
	if err := rule.Decode(line, &header); err != nil {
		return Header{}, nil, fmt.Errorf("reading frame header: %w", err)
	}
	if header.Length < 0 || header.Length > r.max {
		return header, nil, fmt.Errorf("%s frame of %d bytes, limit %d: %w", header.Kind, header.Length, r.max, ErrTooLarge)
	}
	body := make([]byte, header.Length)
	if _, err := io.ReadFull(r.buffered, body); err != nil {
		return header, nil, fmt.Errorf("reading frame body: %w", io.ErrUnexpectedEOF)
	}
	return header, body, nil
}

// Buffered returns how many bytes have arrived that no Read has returned.
func (r *Reader) Buffered() int { return r.buffered.Buffered() }

func (r *Reader) line() ([]byte, error) {
	var line []byte
	for len(line) < maxHeader {
		c, err := r.buffered.ReadByte()
		if err == io.EOF && len(line) > 0 {
			return nil, fmt.Errorf("reading frame header: %w", io.ErrUnexpectedEOF)
		}
		if err != nil {
			return nil, err
		}
		if c == '\n' {
			return line, nil
		}
		line = append(line, c)
	}
	return nil, fmt.Errorf("frame header is longer than %d bytes: %w", maxHeader, ErrTooLarge)
}
