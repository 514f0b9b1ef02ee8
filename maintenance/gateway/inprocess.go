package gateway

import (
	"bytes"
	"io"
	"net/http"
)

// InProcess returns a transport that has handler answer each request within this
// process. Nothing leaves the machine; the whole reply is held in memory.
func InProcess(handler http.Handler) http.RoundTripper { return inProcess{handler} }

type inProcess struct{ handler http.Handler }

// RoundTrip serves one request and returns what the handler wrote.
func (t inProcess) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Body == nil {
		request.Body = http.NoBody
	}
	defer func() { _ = request.Body.Close() }()
	w := &written{header: http.Header{}, status: http.StatusOK}
	t.handler.ServeHTTP(w, request)
	return &http.Response{
		StatusCode: w.status, Status: http.StatusText(w.status), Header: w.header,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: request,
		Body: io.NopCloser(&w.body), ContentLength: int64(w.body.Len()),
	}, nil
}

// written is a response as a handler wrote it.
type written struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (w *written) Header() http.Header         { return w.header }
func (w *written) WriteHeader(status int)      { w.status = status }
func (w *written) Write(p []byte) (int, error) { return w.body.Write(p) }
