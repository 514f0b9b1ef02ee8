package editor

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"
	"signalbox/rule"
)

// Bounds of Serve: a request line in bytes, and editors held open at a time.
const (
	maxLine    = 8 << 20
	maxEditors = 100
)

// Serve answers requests, one JSON object a line, until r ends:
// {"session","root","args"} with the arguments as a model sends them, or
// {"session","root","undo":path}. Each is answered by one line
// {"ok","code","text","path"}, with "repaired" where that is so. Where root is
// absent, /draft or its folder, the tree is that of own, an editor which the
// caller has opened and closes. Else it is another folder of this machine, and a
// session keeps its editor of that while it is among the latest hundred.
func Serve(r io.Reader, w io.Writer, own *Editor) error {
	s := server{own: own, open: map[serverKey]*Editor{}}
	defer s.close()
	reader := bufio.NewReaderSize(r, 64<<10)
	for {
		line, tooLong, err := readLine(reader)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading request: %w", err)
		}
		result := refused("", false, refuse("arguments_too_large", "The request is longer than %d bytes.", maxLine))
		if !tooLong {
			result = s.answer(line)
		}
		result.Change = nil
		reply, err := rule.Canonical(result)
		if err != nil {
			return err
		}
		if _, err := w.Write(append(reply, '\n')); err != nil {
			return fmt.Errorf("writing reply: %w", err)
		}
	}
}

type serverKey struct{ session, root string }

type server struct {
	own   *Editor
	open  map[serverKey]*Editor
	order []serverKey
}

func (s *server) close() {
	for _, e := range s.open {
		_ = e.Close()
	}
}

type request struct {
	session, root string
	args          jsontext.Value
	undo          *string
}

func (s *server) answer(line []byte) Result {
	req, err := parseRequest(line)
	if err != nil {
		return refused("", false, refuse("bad_request", "The request is not valid: %v.", err))
	}
	e, err := s.editor(serverKey{session: req.session, root: req.root})
	if err != nil {
		return refused("", false, refuse("bad_request", "The request can't be served: %v.", err))
	}
	if req.undo != nil {
		return e.Undo(req.session, *req.undo)
	}
	return e.Run(req.session, req.args)
}

// editor returns the session's editor of a root, opening it where need be.
func (s *server) editor(key serverKey) (*Editor, error) {
	if key.root == "" || key.root == Root {
		return s.own, nil
	}
	if e, ok := s.open[key]; ok {
		return e, nil
	}
	e, err := Open(key.root, Options{})
	if err != nil {
		return nil, err
	}
	if e.tree.same(s.own.tree) {
		return s.own, e.Close()
	}
	if len(s.order) == maxEditors {
		_ = s.open[s.order[0]].Close()
		delete(s.open, s.order[0])
		s.order = s.order[1:]
	}
	s.open[key] = e
	s.order = append(s.order, key)
	return e, nil
}

// parseRequest reads a request and leaves the arguments as they are: whatever
// is wrong with those is for the editor to say.
func parseRequest(line []byte) (request, error) {
	var req request
	decoder := jsontext.NewDecoder(bytes.NewReader(line), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if token, err := decoder.ReadToken(); err != nil || token.Kind() != '{' {
		return req, errors.New("want one JSON object")
	}
	for decoder.PeekKind() == '"' {
		token, err := decoder.ReadToken()
		if err != nil {
			return req, err
		}
		name := token.String()
		value, err := decoder.ReadValue()
		if err != nil {
			return req, err
		}
		if err := req.set(name, value); err != nil {
			return req, err
		}
	}
	if _, err := decoder.ReadToken(); err != nil {
		return req, err
	}
	if _, err := decoder.ReadToken(); err != io.EOF {
		return req, errors.New("data after the object")
	}
	if (req.args == nil) == (req.undo == nil) {
		return req, errors.New("want either args or undo")
	}
	return req, nil
}

func (r *request) set(name string, value jsontext.Value) error {
	if name == "args" {
		r.args = value.Clone()
		return nil
	}
	text, err := jsontext.AppendUnquote(nil, value)
	if err != nil {
		return fmt.Errorf("%s must be a string", shownPath(name))
	}
	switch name {
	case "session":
		r.session = string(text)
	case "root":
		r.root = string(text)
	case "undo":
		path := string(text)
		r.undo = &path
	default:
		return fmt.Errorf("unknown name %s", shownPath(name))
	}
	return nil
}

// readLine returns the next line that isn't blank, without its ending. Of a line
// that is too long only that fact is returned.
func readLine(r *bufio.Reader) (line []byte, tooLong bool, err error) {
	for {
		part, err := r.ReadSlice('\n')
		if !tooLong {
			line = append(line, part...)
		}
		tooLong = tooLong || len(line) > maxLine
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && (err != io.EOF || len(line) == 0):
			return nil, false, err
		case len(bytes.TrimSpace(line)) == 0 && err == nil:
			line = nil
			continue
		case len(bytes.TrimSpace(line)) == 0:
			return nil, false, err
		}
		return line, tooLong, nil
	}
}
