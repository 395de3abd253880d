package fake

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/apiserver"
	"github.com/kubesim/kubesim/sim/watchcache"
)

// transport is an http.RoundTripper that asks an API server directly.
//
//	client ─ RoundTrip ─▶ apiserver.Do ─▶ Answer ─┬─ a body ──▶ Response, whole
//	                         │                    └─ a watch ─▶ Response whose Body takes frames from the watch's queue
//	                         └─ a read that has to wait: RoundTrip waits for it, or for the end of the request's context
//
// No goroutine is started, and no lock held while a client waits or reads. Every wait is for a channel that was made
// with the request, which a testing/synctest bubble can see through; the request's context ends each of them.
type transport struct {
	server  *apiserver.Server
	control http.Handler                            // answers below controlPrefix
	waiting func(r *http.Request) (answered func()) // nil, or told of a request that has to wait
}

// RoundTrip answers one request.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, context.Cause(r.Context())
	}
	q, err := inbound(r)
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(q.Path, controlPrefix) {
		return t.controlled(r, q)
	}
	answers := make(chan *apiserver.Answer, 1)
	t.server.Lock.Lock()
	t.server.Do(q, func(a *apiserver.Answer) { answers <- a })
	t.server.Lock.Unlock()
	select {
	case a := <-answers:
		return t.response(r, a), nil
	default:
	}
	if t.waiting != nil {
		defer t.waiting(r)()
	}
	select {
	case a := <-answers:
		return t.response(r, a), nil
	case <-r.Context().Done():
		return nil, context.Cause(r.Context())
	}
}

// controlled answers a request to the simulator itself.
func (t *transport) controlled(r *http.Request, q *apiserver.Request) (*http.Response, error) {
	in := httptest.NewRequest(q.Method, r.URL.RequestURI(), bytes.NewReader(q.Body))
	w := httptest.NewRecorder()
	t.control.ServeHTTP(w, in)
	res := w.Result()
	res.Request = r
	return res, nil
}

// inbound turns the client's request into the one that a server sees, with its body read. The client's body is closed,
// as a RoundTripper has to.
func inbound(r *http.Request) (*apiserver.Request, error) {
	target := r.URL.RequestURI()
	if strings.HasPrefix(target, "//") { // a server reads //x as a path, not as a host
		target = "http://h" + target
	}
	u, err := url.ParseRequestURI(target)
	if err != nil {
		return nil, fmt.Errorf("kubesim: the request's URL %q cannot be sent: %w", r.URL, err)
	}
	method := r.Method
	if method == "" {
		method = http.MethodGet
	}
	q := &apiserver.Request{Method: method, Path: u.Path, Query: u.Query(), Header: r.Header}
	if q.Header == nil {
		q.Header = http.Header{}
	}
	if r.Body != nil && r.Body != http.NoBody {
		defer r.Body.Close()
		q.ReadBody(r.Body, r.ContentLength)
	}
	return q, nil
}

// response is a's form for a client.
func (t *transport) response(r *http.Request, a *apiserver.Answer) *http.Response {
	res := &http.Response{
		Status: strconv.Itoa(a.Code) + " " + http.StatusText(a.Code), StatusCode: a.Code,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: a.Header, Request: r,
	}
	if a.Watch != nil {
		res.ContentLength = -1
		res.Body = &stream{server: t.server, watch: a.Watch, ctx: r.Context(), closed: make(chan struct{})}
		return res
	}
	res.ContentLength = int64(len(a.Body))
	if res.Header.Get("Content-Length") == "" && r.Method != http.MethodHead {
		res.Header["Content-Length"] = []string{strconv.Itoa(len(a.Body))}
	}
	res.Body = io.NopCloser(bytes.NewReader(a.Body))
	return res
}

// stream is the body of a watch.
type stream struct {
	server *apiserver.Server
	watch  *watchcache.Watch
	ctx    context.Context
	closed chan struct{}

	frames [][]byte // taken, not yet read
	ended  bool     // nothing follows them
}

// Read waits for an event, for the end of the watch or for the end of the request's context.
func (s *stream) Read(p []byte) (int, error) {
	for {
		if len(s.frames) > 0 {
			n := copy(p, s.frames[0])
			if s.frames[0] = s.frames[0][n:]; len(s.frames[0]) == 0 {
				s.frames = s.frames[1:]
			}
			return n, nil
		}
		if s.ended {
			return 0, io.EOF
		}
		s.server.Lock.Lock()
		s.frames, s.ended = s.watch.Take()
		s.server.Lock.Unlock()
		if len(s.frames) > 0 || s.ended {
			continue
		}
		select {
		case <-s.watch.Ready():
		case <-s.closed:
			return 0, http.ErrBodyReadAfterClose
		case <-s.ctx.Done():
			s.end()
			return 0, s.ctx.Err()
		}
	}
}

// Close tells the server that nobody reads any more.
func (s *stream) Close() error {
	select {
	case <-s.closed:
	default:
		close(s.closed)
		s.end()
	}
	return nil
}

func (s *stream) end() {
	s.server.Lock.Lock()
	defer s.server.Lock.Unlock()
	s.watch.End()
}
