package gateway

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
)

// InProcess returns a transport that hands requests to a model in this process:
// nothing is dialled. A request ends early where its context does; the handler
// sees the same context.
func InProcess(handler http.Handler) http.RoundTripper { return inProcess{handler} }

type inProcess struct{ handler http.Handler }

// RoundTrip serves the request and returns the whole reply. A handler that
// panics is a connection that broke.
func (p inProcess) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Body != nil {
		defer request.Body.Close()
	}
	done := make(chan error, 1)
	reply := &recorded{header: http.Header{}}
	go func() {
		defer func() {
			var err error
			if trouble := recover(); trouble != nil {
				err = fmt.Errorf("the model in this process failed: %v", trouble)
			}
			done <- err
		}()
		p.handler.ServeHTTP(reply, request)
	}()
	select {
	case <-request.Context().Done():
		return nil, request.Context().Err()
	case err := <-done:
		if err != nil {
			return nil, err
		}
		return reply.response(request), nil
	}
}

// recorded is a reply as a handler writes it.
type recorded struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (r *recorded) Header() http.Header { return r.header }

func (r *recorded) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
}

func (r *recorded) Write(data []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	return r.body.Write(data)
}

func (r *recorded) response(request *http.Request) *http.Response {
	r.WriteHeader(http.StatusOK)
	return &http.Response{
		Status: http.StatusText(r.status), StatusCode: r.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: r.header, Body: io.NopCloser(&r.body), ContentLength: int64(r.body.Len()), Request: request,
	}
}
