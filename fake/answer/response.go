package answer

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/kubesim/kubesim/sim/apiserver"
	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/watchcache"
	"github.com/kubesim/kubesim/sim/wire"
)

// RoundTrip sends a client's request to a server in process. r is the client's request, and q is the result of Inbound for it. If
// waiting is not nil, RoundTrip calls it before it waits for a response, and calls the function that it returned when the response
// has arrived. logf logs a panic of the server.
//
//	client ─ RoundTrip ─▶ ask ─▶ Answer ─┬─ a body ──▶ Response, whole
//	                      │              └─ a watch ─▶ Response whose Body takes frames from the watch's queue
//	                      └─ a read that has to wait: RoundTrip waits for it, or for the end of the request's context
//
// Only an upgraded connection has a goroutine (relay.go), and no lock is held while a client waits or reads. All waiting is on
// channels that were created with the request, which a testing/synctest bubble can detect. It ends with the request's context.
func RoundTrip(server *apiserver.Server, r *http.Request, q *apiserver.Request, waiting func(*http.Request) (answered func()),
	logf func(format string, args ...any),
) (*http.Response, error) {
	a, err := ask(server, q, func() (answered func()) {
		keep(server, q)
		if waiting == nil {
			return func() {}
		}
		return waiting(r)
	})
	if err != nil {
		logPanic(logf, err)
		return nil, fmt.Errorf("kubesim: %w", err)
	}
	if a == nil {
		return nil, context.Cause(r.Context())
	}
	if r.Context().Err() != nil { // while a webhook was being called
		locked(server, a.Drop)
		return nil, context.Cause(r.Context())
	}
	a = onConditions(r, a)
	switch {
	case a.Session != nil && a.Session.Upgrade:
		return switchProtocols(r, q.Method, upgraded{server, a}.serve)
	case a.Messages:
		return switchProtocols(r, q.Method, messages{server, a}.serve)
	}
	return response(server, r, a), nil
}

// keep gives a waiting request a copy of its headers, because the client may modify the original ones when it stops waiting.
func keep(server *apiserver.Server, q *apiserver.Request) {
	server.Lock.Lock()
	defer server.Lock.Unlock()
	q.Header = q.Header.Clone()
}

// Inbound converts a client's request to the form of the API server, and reads its body. It returns an error if a server could not
// parse the request's URL.
func Inbound(r *http.Request) (*apiserver.Request, error) {
	u, sent := r.URL, r.URL.RequestURI()
	if u.Opaque != "" || u.RawQuery != "" || !strings.HasPrefix(u.Path, "/") { // otherwise a server parses the same path
		target := sent
		if strings.HasPrefix(target, "//") { // a server parses //x as a path, not as a host
			target = "http://h" + target
		}
		var err error
		if u, err = url.ParseRequestURI(target); err != nil {
			return nil, fmt.Errorf("kubesim: the request's URL %q cannot be sent: %w", r.URL, err)
		}
	}
	method := r.Method
	if method == "" {
		method = http.MethodGet
	}
	q := &apiserver.Request{Method: method, Path: u.Path, Target: sent, Header: wire.Header(r.Header), Context: r.Context()}
	if u.RawQuery != "" {
		q.Query = u.Query()
	}
	if q.Header == nil {
		q.Header = wire.Header{}
	}
	if r.Body != nil && r.Body != http.NoBody {
		q.ReadBody(r.Body, r.ContentLength)
	}
	return q, nil
}

// response converts an answer to an *http.Response for a client.
func response(server *apiserver.Server, r *http.Request, a *apiserver.Answer) *http.Response {
	res := &http.Response{
		Status: strconv.Itoa(a.Code) + " " + http.StatusText(a.Code), StatusCode: a.Code,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: http.Header(a.Header), Request: r,
	}
	if a.Session != nil {
		res.ContentLength, res.Body = -1, newTail(r.Context(), server, a.Session)
		return res
	}
	if a.Stream != nil {
		res.ContentLength, res.Body = -1, a.Stream
		if n, err := strconv.ParseInt(a.Header.Get("Content-Length"), 10, 64); err == nil && n >= 0 {
			res.ContentLength = n
		}
		return res
	}
	if a.Watch != nil {
		res.ContentLength = -1
		res.Body = newStream(r.Context(), server, a)
		return res
	}
	res.ContentLength = int64(a.Body.Len())
	if a.Header.Get("Content-Length") == "" && r.Method != http.MethodHead {
		res.Header["Content-Length"] = []string{strconv.FormatInt(res.ContentLength, 10)}
	}
	res.Body = io.NopCloser(a.Body.Reader())
	if a.Lost > 0 {
		res.Body = io.NopCloser(io.MultiReader(a.Sent().Reader(), broken{}))
	}
	return res
}

// broken is the end of an incomplete body. Reading it returns an error.
type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// stream is the body of a watch.
type stream struct {
	server *apiserver.Server
	watch  *watchcache.Watch
	gzip   bool
	ctx    context.Context
	once   sync.Once // for Close
	closed chan struct{}

	frames  []codec.Text // taken from the watch, but not yet read
	ended   bool         // no frames follow
	last    error        // error at the end
	reading io.Reader    // of the frames that Read has taken, or nil if it has read all of them
}

func newStream(ctx context.Context, server *apiserver.Server, a *apiserver.Answer) *stream {
	return &stream{server: server, watch: a.Watch, gzip: a.Header.Get("Content-Encoding") == "gzip", ctx: ctx, closed: make(chan struct{})}
}

// Read implements io.Reader. It waits for an event, until the watch ends, or until the request's context is done.
func (s *stream) Read(p []byte) (int, error) {
	for {
		if s.reading != nil {
			if n, err := s.reading.Read(p); err == nil {
				return n, nil
			}
		}
		s.reading = nil
		if err := s.await(); err != nil {
			return 0, err
		}
		s.reading, s.frames = codec.Text(slices.Concat(s.frames...)).Reader(), nil
	}
}

// await waits until there are frames. At the end of the watch it returns an error, which is io.ErrUnexpectedEOF if the watch broke.
func (s *stream) await() error {
	for len(s.frames) == 0 {
		if s.ended {
			return s.last
		}
		select {
		case <-s.watch.Ready():
		case <-s.closed:
			return http.ErrBodyReadAfterClose
		case <-s.ctx.Done():
			s.end()
			return s.ctx.Err()
		}
		s.frames, s.ended = s.watch.Take()
		if s.gzip && len(s.frames) > 0 {
			s.frames = []codec.Text{codec.TextOf(codec.Member(slices.Concat(s.frames...)))}
		}
		if s.last = io.EOF; s.ended && s.watch.Broken() != nil {
			s.last = io.ErrUnexpectedEOF
		}
	}
	return nil
}

// Close implements io.Closer. It ends the watch. As with any body, another goroutine may be reading.
func (s *stream) Close() error {
	s.once.Do(func() {
		close(s.closed)
		s.end()
	})
	return nil
}

func (s *stream) end() {
	s.server.Lock.Lock()
	defer s.server.Lock.Unlock()
	s.watch.End()
}

// packedMin is the minimum length, in bytes, at which a response is compressed.
const packedMin = 1400

// onConditions returns the response to a conditional or range request for a document. As in kube-apiserver, net/http evaluates the
// conditions.
func onConditions(r *http.Request, a *apiserver.Answer) *apiserver.Answer {
	if a.Modified.IsZero() || a.Code != http.StatusOK || a.Lost > 0 {
		return a
	}
	whole := a.Body.Bytes()
	w := httptest.NewRecorder()
	for name, values := range a.Header { // order does not matter
		w.Header()[name] = values
	}
	if a.Header.Get("Content-Type") == "text/plain; charset=utf-8" {
		w.Header().Del("Content-Type") // kube-apiserver lets ServeContent detect it, which it does not do without a body
	}
	http.ServeContent(w, r, "", a.Modified, bytes.NewReader(whole))
	w.Header()["Cache-Control"] = a.Header["Cache-Control"] // ServeContent removes it from errors
	answer := &apiserver.Answer{Code: w.Code, Header: wire.Header(w.Header()), Body: codec.TextOf(w.Body.Bytes())}
	if a.Packed == nil || w.Body.Len() < packedMin {
		return answer
	}
	if answer.Body = (codec.TextOf(a.Packed)); w.Code != http.StatusOK {
		answer.Body = codec.TextOf(codec.Member(codec.TextOf(w.Body.Bytes())))
	}
	answer.Header.Set("Content-Encoding", "gzip")
	answer.Header.Del("Content-Length")
	return answer
}
