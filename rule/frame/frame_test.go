package frame

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"signalbox/rule"
)

const testMax = 1 << 20

func TestRoundTrip(t *testing.T) {
	var wire bytes.Buffer
	bodies := []string{"", "{}", strings.Repeat("x", 70_000), "\n\n"}
	for i, body := range bodies {
		if err := Write(&wire, uint64(i), KindReply, []byte(body)); err != nil {
			t.Fatal(err)
		}
	}
	reader := NewReader(&wire, testMax)
	for i, want := range bodies {
		header, body, err := reader.Read()
		if err != nil || header.ID != uint64(i) || header.Kind != KindReply || string(body) != want {
			t.Fatalf("frame %d: header %+v, %d bytes, %v", i, header, len(body), err)
		}
	}
	if _, _, err := reader.Read(); err != io.EOF {
		t.Errorf("after the last frame: %v, want io.EOF", err)
	}
}

// oneWrite fails where a frame comes in more than one write.
type oneWrite struct{ writes int }

func (w *oneWrite) Write(p []byte) (int, error) { w.writes++; return len(p), nil }

func TestWriteIsOneWrite(t *testing.T) {
	w := &oneWrite{}
	if err := WriteJSON(w, 7, KindLoad, Load{Role: rule.RoleTrigger}); err != nil || w.writes != 1 {
		t.Errorf("%d writes, %v", w.writes, err)
	}
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestWriteNamesTheKind(t *testing.T) {
	err := Write(brokenPipe{}, 1, KindTree, nil)
	if !errors.Is(err, io.ErrClosedPipe) || !strings.Contains(err.Error(), "tree") {
		t.Errorf("got %v", err)
	}
}

func TestReadRefuses(t *testing.T) {
	for _, c := range []struct {
		name, wire string
		want       error // nil: any error will do
	}{
		{"a body over the cap", `{"id":1,"kind":"reply","length":1048577}` + "\n", ErrTooLarge},
		{"a length that int64 can't hold", `{"id":1,"kind":"reply","length":99999999999999999999}` + "\n", nil},
		{"a negative length", `{"id":1,"kind":"reply","length":-1}` + "\n", ErrTooLarge},
		{"a negative id", `{"id":-1,"kind":"reply","length":0}` + "\n", nil},
		{"an endless header", strings.Repeat(" ", maxHeader+1), ErrTooLarge},
		{"an unknown name", `{"id":1,"kind":"reply","length":0,"x":1}` + "\n", nil},
		{"a name in another case", `{"ID":1,"kind":"reply","length":0}` + "\n", nil},
		{"a duplicate name", `{"id":1,"id":2,"kind":"reply","length":0}` + "\n", nil},
		{"trailing data", `{"id":1,"kind":"reply","length":0}{}` + "\n", nil},
		{"an array", "[1]\n", nil},
		{"an empty line", "\n", nil},
		{"an end within the header", `{"id":1`, io.ErrUnexpectedEOF},
		{"an end within the body", `{"id":1,"kind":"reply","length":5}` + "\nabc", io.ErrUnexpectedEOF},
		{"an end before the body", `{"id":1,"kind":"reply","length":5}` + "\n", io.ErrUnexpectedEOF},
		{"nothing", "", io.EOF},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := NewReader(strings.NewReader(c.wire), testMax).Read()
			if err == nil || c.want != nil && !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
	whole := `{"id":1,"kind":"reply","length":1048576}` + "\n" + strings.Repeat("y", testMax)
	if _, body, err := NewReader(strings.NewReader(whole), testMax).Read(); err != nil || len(body) != testMax {
		t.Errorf("a body at the cap: %d bytes, %v", len(body), err)
	}
}

// TestHeaderFits shows that no header that Write makes is over the reader's cap.
func TestHeaderFits(t *testing.T) {
	var wire bytes.Buffer
	if err := Write(&wire, 1<<53, KindFailure, make([]byte, 1000)); err != nil {
		t.Fatal(err)
	}
	header, _, err := NewReader(&wire, testMax).Read()
	if err != nil || header.ID != 1<<53 {
		t.Errorf("header %+v, %v", header, err)
	}
}

func TestBuffered(t *testing.T) {
	var wire bytes.Buffer
	for id := range uint64(2) {
		if err := Write(&wire, id, KindReady, nil); err != nil {
			t.Fatal(err)
		}
	}
	reader := NewReader(&wire, testMax)
	for _, more := range []bool{true, false} {
		if _, _, err := reader.Read(); err != nil || (reader.Buffered() > 0) != more {
			t.Errorf("%d bytes buffered, %v", reader.Buffered(), err)
		}
	}
}

func TestBodiesKeepWhatTheySay(t *testing.T) {
	edit := Edit{Session: "s", Args: []byte("not json \xff"), Writable: []string{"*.star"}}
	data, err := rule.Canonical(edit)
	if err != nil {
		t.Fatal(err)
	}
	var back Edit
	if err := rule.Decode(data, &back); err != nil || !bytes.Equal(back.Args, edit.Args) || back.Writable[0] != "*.star" {
		t.Errorf("%s came back as %+v, %v", data, back, err)
	}
	tree := Tree{"a.bin": {0, 0xff}}
	if data, err = rule.Canonical(tree); err != nil {
		t.Fatal(err)
	}
	var files Tree
	if err := rule.Decode(data, &files); err != nil || !bytes.Equal(files["a.bin"], tree["a.bin"]) {
		t.Errorf("%s came back as %v, %v", data, files, err)
	}
}
