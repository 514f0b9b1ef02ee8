package gateway

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"sync/atomic"
)

// Limits of one exchange, in bytes.
const (
	maxRequestBytes = 8 << 20
	maxReplyBytes   = 8 << 20
	maxHeaderBytes  = 64 << 10
)

// errTooLarge is how the reading of a reply over its limit ends.
var errTooLarge = errors.New("reply is larger than allowed")

// permit lets one request through, once. It also keeps the facts from which
// the ending is read.
type permit struct {
	maxBytes int // of the request's body, as the reservation reckoned with
	used     atomic.Bool

	mu        sync.Mutex
	sent      bool // given to the transport below
	connected bool // a connection was had, or can't be ruled out
	status    int
	header    http.Header
	body      []byte
	err       error // sending or reading ended early
}

type permitKey struct{}

func withPermit(ctx context.Context, p *permit) context.Context {
	return context.WithValue(ctx, permitKey{}, p)
}

// transport is the guard: the last code of ours that a request passes.
type transport struct {
	surface surface
	next    http.RoundTripper
	traced  bool // next reports its connections
}

// RoundTrip sends the request where its permit allows it, and reads the whole
// reply up to the limit.
func (t *transport) RoundTrip(request *http.Request) (*http.Response, error) {
	p, body, err := t.admit(request)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	p.sent, p.connected = true, !t.traced
	p.mu.Unlock()
	response, err := t.next.RoundTrip(t.plain(request, p, body))
	if err != nil {
		p.fail(err)
		return nil, err
	}
	return p.read(response)
}

// admit checks a request and uses its permit up.
func (t *transport) admit(request *http.Request) (*permit, []byte, error) {
	if request.Body == nil {
		return nil, nil, fmt.Errorf("%w: no body", errGuard)
	}
	defer request.Body.Close()
	p, ok := request.Context().Value(permitKey{}).(*permit)
	if !ok {
		return nil, nil, fmt.Errorf("%w: no reservation was made for it", errGuard)
	}
	body, err := io.ReadAll(io.LimitReader(request.Body, maxRequestBytes+1))
	if err != nil {
		return nil, nil, fmt.Errorf("%w: reading its body: %v", errGuard, err)
	}
	if len(body) > min(p.maxBytes, maxRequestBytes) {
		return nil, nil, fmt.Errorf("%w: body has more bytes than were reserved for", errGuard)
	}
	if err := t.surface.check(body); err != nil {
		return nil, nil, err
	}
	if !p.used.CompareAndSwap(false, true) {
		return nil, nil, fmt.Errorf("%w: its reservation was used already", errGuard)
	}
	return p, body, nil
}

// plain returns the request as it is sent: nothing in it can be replayed, and
// it says nothing about this host.
func (t *transport) plain(request *http.Request, p *permit, body []byte) *http.Request {
	trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { p.connect() }}
	out := request.Clone(httptrace.WithClientTrace(request.Context(), trace))
	out.Body = io.NopCloser(bytes.NewReader(body))
	out.ContentLength = int64(len(body))
	out.GetBody = nil
	out.Close = true
	for name := range out.Header {
		if strings.HasPrefix(name, "X-Stainless-") {
			out.Header.Del(name)
		}
	}
	out.Header.Del("Idempotency-Key")
	out.Header.Del("X-Idempotency-Key")
	return out
}

func (p *permit) connect() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.connected = true
}

func (p *permit) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.err = err
}

// read takes the whole reply in and hands the client a copy of it.
func (p *permit) read(response *http.Response) (*http.Response, error) {
	body, err := io.ReadAll(io.LimitReader(response.Body, maxReplyBytes+1))
	response.Body.Close()
	if err == nil && len(body) > maxReplyBytes {
		body, err = body[:maxReplyBytes], errTooLarge
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.connected = true
	p.status, p.header, p.body, p.err = response.StatusCode, response.Header, body, err
	if err != nil {
		return nil, err
	}
	response.Body = io.NopCloser(bytes.NewReader(body))
	return response, nil
}

// newTransport returns the guard over next, or over a transport of its own that
// speaks HTTP/1.1, keeps nothing alive and knows no proxy.
func newTransport(s surface, next http.RoundTripper) *transport {
	if next != nil {
		return &transport{surface: s, next: next}
	}
	var only http.Protocols
	only.SetHTTP1(true)
	return &transport{surface: s, traced: true, next: &http.Transport{
		Proxy:                  nil,
		DisableKeepAlives:      true,
		DisableCompression:     true,
		Protocols:              &only,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
		MaxResponseHeaderBytes: maxHeaderBytes,
	}}
}
