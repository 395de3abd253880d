package apiserver

import (
	"context"
	"errors"
	"net/http"

	"github.com/kubesim/kubesim/sim/watchcache"
)

// ServeHTTP answers one request. It blocks only in ways that a testing/synctest bubble understands, and never with the
// Cluster's lock held.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q := &Request{Method: r.Method, Path: r.URL.Path, Query: r.URL.Query(), Header: r.Header}
	if r.Body != nil && r.Method != http.MethodGet && r.Method != http.MethodHead {
		q.ReadBody(r.Body, r.ContentLength)
	}
	answers := make(chan *Answer, 1)
	s.Lock.Lock()
	s.Do(q, func(a *Answer) { answers <- a })
	s.Lock.Unlock()
	select {
	case a := <-answers:
		s.write(w, r, a)
	case <-r.Context().Done():
		// The client is gone; what it asked for is answered into the buffer of the channel and forgotten.
		select {
		case a := <-answers:
			s.abandon(a)
		default:
		}
	}
}

func (s *Server) write(w http.ResponseWriter, r *http.Request, a *Answer) {
	header := w.Header()
	for name, values := range a.Header { // order does not matter
		header[name] = values
	}
	w.WriteHeader(a.Code)
	if a.Watch == nil {
		_, _ = w.Write(a.Body) // a client that went away is no error of the server
		return
	}
	err := s.stream(r.Context(), w, a.Watch)
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
			return nil
		}
		select {
		case <-watch.Ready():
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
