package answer

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/kubesim/kubesim/sim/apiserver"
	"github.com/kubesim/kubesim/sim/auth"
	"github.com/kubesim/kubesim/sim/status"
	"github.com/kubesim/kubesim/sim/wire"
)

// Handler is an http.Handler that sends requests to an API server.
//
//	socket ─ ServeHTTP ─ reads the body ─▶ ask ─▶ Answer ─┬─ a body ───▶ written as a whole
//	                                                      ├─ a watch ──▶ frame after frame, or messages of a
//	                                                      │             WebSocket (messages.go)
//	                                                      ├─ a stream ─▶ stream of an aggregated API server (relay.go)
//	                                                      └─ a session ─▶ output of a container (session.go, upgrade.go)
type Handler struct {
	pick    func(*http.Request) *apiserver.Server // returns the API server for a request
	client  func(*http.Request) *auth.Client      // returns the identity of the sender
	watches *quota                                // nil means no limit
	logf    func(format string, args ...any)      // logs panics
}

// NewHandler returns a Handler that sends each request to the API server that pick returns. client returns the part of the sender's
// identity that is not in the header. watches limits the number of open watches; 0 means no limit. logf logs panics.
func NewHandler(pick func(*http.Request) *apiserver.Server, client func(*http.Request) *auth.Client, watches int,
	logf func(format string, args ...any),
) *Handler {
	h := &Handler{pick: pick, client: client, logf: logf}
	if watches > 0 {
		h.watches = &quota{max: int64(watches)}
	}
	return h
}

// ServeHTTP implements http.Handler. It blocks only on channels that a testing/synctest bubble can detect, and never while holding
// the Cluster's lock.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q := h.Request(r)
	if r.Body != nil && r.Method != http.MethodGet && r.Method != http.MethodHead {
		if !readBody(w, r, q) {
			return
		}
	}
	server := h.pick(r)
	a, err := ask(server, q, nil)
	if err != nil {
		logPanic(h.logf, err)
	}
	if a == nil {
		panic(http.ErrAbortHandler) // the client has disconnected or the listener is closing: net/http closes the connection
	}
	a = onConditions(r, a)
	if c, ok := a.Stream.(Connection); ok {
		c.takeOver(w, a)
		return
	}
	if a.Session != nil && a.Session.Upgrade {
		upgraded{server, a}.serve(w, r)
		return
	}
	if a.Watch != nil && !h.watches.take() {
		locked(server, a.Drop)
		text := fmt.Sprintf("kubesim: too many watches: this listener serves %d at a time (--max-watches)", h.watches.max)
		WriteStatus(w, status.TooManyRequests(text, 1))
		return
	}
	if a.Messages {
		if a.Watch != nil {
			defer h.watches.give()
		}
		messages{server, a}.serve(w, r)
		return
	}
	writeHead(w, a)
	switch {
	case a.Session != nil:
		_ = http.NewResponseController(w).Flush() // lets the client know that it has to wait
		relay(w, newTail(r.Context(), server, a.Session))
	case a.Stream != nil:
		relay(w, a.Stream)
	case a.Watch != nil:
		defer h.watches.give()
		newStream(r.Context(), server, a).writeTo(w)
	default:
		_, _ = a.Sent().WriteTo(w) // an error means that the client disconnected
	}
}

// readBody reads the body of a request. If the connection's deadline is exceeded, it writes an error response and returns false.
func readBody(w http.ResponseWriter, r *http.Request, q *apiserver.Request) bool {
	q.ReadBody(r.Body, r.ContentLength)
	switch {
	case errors.Is(q.BodyError, os.ErrDeadlineExceeded):
		w.Header().Set("Connection", "close")
		WriteStatus(w, status.Timeout("request did not complete within the allotted timeout", 0))
		return false
	case q.BodyError == nil && q.Rest == nil && r.ContentLength != 0:
		_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // there is no deadline in process
	}
	return true
}

// Request converts a request to that of the API server, without its body.
func (h *Handler) Request(r *http.Request) *apiserver.Request {
	return &apiserver.Request{Method: r.Method, Path: r.URL.Path, Target: r.URL.RequestURI(), Query: r.URL.Query(),
		Header: wire.Header(r.Header), Client: h.client(r), From: r.RemoteAddr, Context: r.Context()}
}

// Write writes a complete response.
func Write(w http.ResponseWriter, a *apiserver.Answer) {
	writeHead(w, a)
	_, _ = a.Sent().WriteTo(w) // an error means that the client disconnected
}

// writeHead writes the status code and the headers of a response.
func writeHead(w http.ResponseWriter, a *apiserver.Answer) {
	header := w.Header()
	for name, values := range a.Header { // order does not matter
		header[name] = values
	}
	if a.Lost > 0 { // the connection breaks, because less is written than announced
		header.Set("Content-Length", strconv.Itoa(a.Body.Len()))
	}
	w.WriteHeader(a.Code)
}

// writeTo sends frames until the watch ends or the client disconnects.
func (s *stream) writeTo(w http.ResponseWriter) {
	defer s.Close()
	flusher, flushes := w.(http.Flusher)
	for {
		if flushes {
			flusher.Flush()
		}
		if err := s.await(); err != nil {
			if errors.Is(err, io.ErrUnexpectedEOF) {
				panic(http.ErrAbortHandler) // net/http then breaks the connection
			}
			return
		}
		for _, frame := range s.frames {
			if _, err := frame.WriteTo(w); err != nil {
				return
			}
		}
		s.frames = nil
	}
}

// ask starts a request at a server and waits for the response. If it has to wait, it calls waiting, unless that is nil, and
// afterwards the function that waiting returned. If the request's context is done first, ask returns no response, drops changes
// that have not been committed, and ends a watch. The error is an *apiserver.Panic.
func ask(server *apiserver.Server, q *apiserver.Request, waiting func() (answered func())) (*apiserver.Answer, error) {
	answers := make(chan *apiserver.Answer, 1)
	gone := false // whether ask has returned; guarded by the server's lock
	err := server.Start(q, func(a *apiserver.Answer) {
		if gone {
			a.Drop()
		}
		answers <- a
	})
	if err != nil {
		return nil, err
	}
	select {
	case a := <-answers: // available at once, even if the context has ended because the client closed its half of the connection
		return a, nil
	default:
	}
	if waiting != nil {
		defer waiting()()
	}
	select {
	case a := <-answers:
		return a, nil
	case <-q.Context.Done():
	}
	server.Lock.Lock()
	defer server.Lock.Unlock()
	gone = true
	select {
	case a := <-answers:
		a.Drop()
	default:
	}
	return nil, nil
}

// logPanic logs the stack of a handler that panicked.
func logPanic(logf func(format string, args ...any), err error) {
	var p *apiserver.Panic
	if errors.As(err, &p) {
		logf("kubesim: %v\n%s", p, p.Stack)
	}
}

// WriteStatus writes a Status as the response.
func WriteStatus(w http.ResponseWriter, s *status.Status) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if s.Details != nil && s.Details.RetryAfterSeconds > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(s.Details.RetryAfterSeconds))
	}
	w.WriteHeader(s.Code)
	_, _ = w.Write(s.JSON()) // an error means that the client disconnected
}

// quota limits a number of objects. A nil quota has no limit.
type quota struct {
	max  int64
	used atomic.Int64
}

// take reports whether another object is allowed. If so, the caller must call give when it no longer needs the object.
func (q *quota) take() bool {
	if q == nil || q.used.Add(1) <= q.max {
		return true
	}
	q.used.Add(-1)
	return false
}

func (q *quota) give() {
	if q != nil {
		q.used.Add(-1)
	}
}
