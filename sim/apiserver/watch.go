package apiserver

import (
	"context"
	"errors"
	"strconv"

	"github.com/kubesim/kubesim/sim/auth"
	"github.com/kubesim/kubesim/sim/http"
	"github.com/kubesim/kubesim/sim/watchcache"
)

// ServeHTTP answers one request. It blocks only in ways that a testing/synctest bubble understands, and never with the
// Cluster's lock held.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q := &Request{Method: r.Method, Path: r.URL.Path, Target: r.URL.RequestURI(), Query: r.URL.Query(), Header: r.Header,
		Client: auth.ClientOf(r.Context()), From: r.RemoteAddr, Context: r.Context()}
	if r.Body != nil && r.Method != http.MethodGet && r.Method != http.MethodHead {
		q.ReadBody(r.Body, r.ContentLength)
	}
	p := s.Pend(q)
	select {
	case a := <-p.Answers: // at once. A client that has closed its half of the connection, which ends the context, reads it
		s.write(w, r, a)
		return
	default:
	}
	select {
	case a := <-p.Answers:
		s.write(w, r, a)
	case <-r.Context().Done():
		p.Abandon()
	}
}

// Pending is a request whose answer may come later.
type Pending struct {
	// Answers has the answer, once there is one.
	Answers chan *Answer

	server *Server
	gone   bool // nobody waits any more
}

// Pend is Start for a client that waits for a channel.
func (s *Server) Pend(q *Request) *Pending {
	p := &Pending{Answers: make(chan *Answer, 1), server: s}
	s.Start(q, func(a *Answer) {
		if p.gone {
			a.drop()
		}
		p.Answers <- a
	})
	return p
}

// Abandon says that the client is gone. What it asked for is done nevertheless; a watch ends.
func (p *Pending) Abandon() {
	p.server.Lock.Lock()
	defer p.server.Lock.Unlock()
	p.gone = true
	select {
	case a := <-p.Answers:
		a.drop()
	default:
	}
}

func (s *Server) write(w http.ResponseWriter, r *http.Request, a *Answer) {
	if a.Stream != nil {
		a.Stream.Relay(w, a)
		return
	}
	header := w.Header()
	for name, values := range a.Header { // order does not matter
		header[name] = values
	}
	if a.Lost > 0 { // the connection breaks because less is written than announced
		header.Set("Content-Length", strconv.Itoa(a.Body.Len()))
	}
	w.WriteHeader(a.Code)
	if a.Watch == nil {
		_, _ = a.Sent().WriteTo(w) // a client that went away is no error of the server
		return
	}
	err := s.stream(r.Context(), w, a.Watch)
	if errors.Is(err, watchcache.ErrBroken) {
		panic(http.ErrAbortHandler) // package net/http then breaks the connection
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		s.abandon(a)
	}
}

// abandon ends the watch of an answer that nobody reads any more.
func (s *Server) abandon(a *Answer) {
	if a.Watch == nil {
		return
	}
	s.Lock.Lock()
	defer s.Lock.Unlock()
	a.Watch.End()
}

// stream copies frames from the watch's queue to the client until the watch ends or the client goes away.
func (s *Server) stream(ctx context.Context, w http.ResponseWriter, watch *watchcache.Watch) error {
	flusher, _ := w.(http.Flusher)
	flush := func() {
		if flusher != nil {
			flusher.Flush()
		}
	}
	defer s.abandon(&Answer{Watch: watch})
	flush()
	for {
		s.Lock.Lock()
		frames, ended := watch.Take()
		broken := watch.Broken()
		s.Lock.Unlock()
		for _, frame := range frames {
			if _, err := w.Write(frame); err != nil {
				return err
			}
		}
		if len(frames) > 0 {
			flush()
		}
		if ended {
			return broken
		}
		select {
		case <-watch.Ready():
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
