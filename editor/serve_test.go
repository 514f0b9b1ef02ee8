package editor

import (
	"errors"
	"io"
	"strings"
	"testing"
)

func serve(t *testing.T, own *Editor, requests ...string) []string {
	t.Helper()
	var replies strings.Builder
	must(t, Serve(strings.NewReader(strings.Join(requests, "\n")), &replies, own))
	return strings.Split(strings.TrimSuffix(replies.String(), "\n"), "\n")
}

// TestServe drives an editor by lines.
func TestServe(t *testing.T) {
	b, other := newBench(t, Options{}), newBench(t, Options{})
	other.put("a.txt", "other\n")
	requests := []string{
		`{"session":"1","args":{"command":"create","path":"/draft/a.txt","file_text":"x\n"}}`,
		``,
		`{"session":"1","root":"` + other.root + `","args":{"command":"str_replace","path":"/draft/a.txt","old_str":"other","new_str":"changed"}}`,
		`{"session":"1","args":{"command":"view","path":"/draft/a.txt","path":"/draft"}}`,
		`{"session":"1","args":{"command":"view","path":"\ud800"}}`,
		`{"session":"1","args":"{}"}`,
		`{"session":"1","args":{"command":"insert","path":"/draft/a.txt","insert_line":"1","new_str":"y"}}`,
		`{"session":"2","undo":"/draft/a.txt"}`,
		`{"session":"1","undo":"/draft/a.txt"}`,
		`{"session":"1"}`, `{"session":1,"undo":""}`, `{"who":"1","undo":""}`, `[]`, `{`, `{"undo":""} x`, `{"root":"/nowhere","undo":""}`,
		`{"args":{"x":"` + strings.Repeat("x", maxArgs) + `"}}`,
		strings.Repeat("x", maxLine+1),
		`{"session":"1","args":{"command":"view","path":"/draft/a.txt"}}`,
	}
	want := []string{
		`{"code":"","ok":true,"path":"/draft/a.txt","text":"New file created successfully at: /draft/a.txt"}`,
		`"ok":true`, "duplicate_parameter", "not_utf8", "not_object", `"repaired":true`, "no_history", `"ok":true`,
		"bad_request", "bad_request", "bad_request", "bad_request", "bad_request", "bad_request", "bad_request",
		"arguments_too_large", "arguments_too_large",
		`{"code":"","ok":true,"path":"/draft/a.txt","text":"Here's the content of /draft/a.txt with line numbers (which has a total of 1 lines):\n     1  x\n"}`,
	}
	got := serve(t, b.e.Editor, requests...)
	if len(got) != len(want) {
		t.Fatalf("%d replies, want %d:\n%s", len(got), len(want), strings.Join(got, "\n"))
	}
	for i := range want {
		if !strings.Contains(got[i], want[i]) || strings.Contains(got[i], `"change"`) {
			t.Errorf("reply %d is %s, want %s", i, got[i], want[i])
		}
	}
	other.holds("a.txt", "changed\n")
}

// TestServeManySessions opens more editors than are kept: an old session's
// history is gone, its file isn't.
func TestServeManySessions(t *testing.T) {
	b := newBench(t, Options{})
	b.put("a.txt", "x\n")
	other := newBench(t, Options{}) // of the caller's own
	root := `","root":"` + b.root
	requests := []string{`{"session":"0` + root + `","args":{"command":"insert","path":"/draft/a.txt","insert_line":0,"new_str":"y"}}`}
	for range maxEditors {
		requests = append(requests, `{"session":"`+strings.Repeat("s", len(requests))+root+`","args":{"command":"view","path":"/draft"}}`)
	}
	requests = append(requests, `{"session":"0`+root+`","undo":"/draft/a.txt"}`)
	got := serve(t, other.e.Editor, requests...)
	if len(got) != len(requests) || !strings.Contains(got[len(got)-1], "no_history") {
		t.Fatalf("got %d replies, the last %s", len(got), got[len(got)-1])
	}
	b.holds("a.txt", "y\nx\n")
}

// TestServeOwn gives the caller's editor to a request without a root, and to one
// that names its folder, so that both have one history.
func TestServeOwn(t *testing.T) {
	var kept []Change
	b := newBench(t, Options{Keep: func(c Change) error { kept = append(kept, c); return nil }})
	insert := `"args":{"command":"insert","path":"/draft/a.txt","insert_line":0,"new_str":"y"}}`
	b.put("a.txt", "x\n")
	got := serve(t, b.e.Editor, `{"session":"1",`+insert, `{"session":"1","root":"`+b.root+`/../root",`+insert, `{"session":"1","root":"/draft",`+insert,
		`{"session":"1","root":"`+b.root+`","undo":"/draft/a.txt"}`, `{"session":"1","undo":"/draft/a.txt"}`)
	if len(kept) != 5 || !kept[4].Undo {
		t.Fatalf("kept %d changes: %s", len(kept), got)
	}
	b.holds("a.txt", "y\nx\n")
	b.ok("view", aFile) // it is still open
}

// TestServeBrokenPipe ends where replies can't be written.
func TestServeBrokenPipe(t *testing.T) {
	reader, writer := io.Pipe()
	broken := errors.New("gone")
	_ = reader.CloseWithError(broken)
	if err := Serve(strings.NewReader("x\n"), writer, newBench(t, Options{}).e.Editor); !errors.Is(err, broken) {
		t.Fatalf("got %v, want %v", err, broken)
	}
}
