// Package fake is a Kubernetes API server for tests. Unmodified clients talk to it in process, without sockets,
// binaries or start-up time, and it answers as a real one does.
//
//	func TestController(t *testing.T) {
//		srv := fake.RunT(t)
//		client := kubernetes.NewForConfigOrDie(&rest.Config{Host: srv.URL(), Transport: srv.Transport()})
//		…
//		srv.Clock.Advance(5 * time.Minute) // history expires, continue tokens die, bookmarks are sent
//	}
//
// Time stands still until the test moves it: whatever has to wait, waits for Clock.Advance. To test a controller that
// waits by itself, give the server package time and run the test in a bubble, where time is virtual:
//
//	synctest.Test(t, func(t *testing.T) {
//		srv := fake.RunT(t, fake.Options{Clock: clock.System{}})
//		…
//	})
//
// In a bubble, start informers with a context or a channel of the bubble, never with wait.NeverStop, and replace
// utilruntime.ErrorHandlers[1:], whose rate limiter remembers the real time of the program's start.
package fake

import (
	"net/http"
	"sync"
	"time"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/sim"
	"github.com/kubesim/kubesim/sim/auth"
)

// Options says what a Server is like. The zero value is right for most tests.
type Options struct {
	// Clock is the server's time. nil: a clock.Manual at clock.Epoch, moved by Server.Clock.Advance.
	Clock clock.Clock
	// Seed decides uids, generated names and every other draw. 0: 1.
	Seed uint64
	// Auth decides who may do what. The zero value lets everybody do everything, as cluster-admin.
	Auth auth.Mode
	// Tokens are the bearer tokens of auth.RBAC. nil: auth.DefaultTokens.
	Tokens []auth.Token
}

// TB is the part of *testing.T that RunT needs, so that no package testing gets into programs.
type TB interface {
	Helper()
	Fatalf(format string, args ...any)
	Logf(format string, args ...any)
	Cleanup(func())
}

// Server is a simulated API server.
type Server struct {
	// Clock moves the server's time. It does nothing when Options.Clock is not a clock.Manual.
	Clock *clock.Manual

	options   Options
	cluster   *sim.Cluster
	handler   http.Handler
	transport *transport
	logf      func(format string, args ...any)
	fatalf    func(format string, args ...any)

	mu        sync.Mutex
	listeners []*Listener
}

// New starts a server, which Close ends.
func New(options ...Options) (*Server, error) {
	var o Options
	if len(options) > 0 {
		o = options[0]
	}
	s := &Server{options: o}
	if o.Clock == nil {
		o.Clock = clock.NewManual(clock.Epoch())
	}
	if s.Clock, _ = o.Clock.(*clock.Manual); s.Clock == nil {
		s.Clock = clock.NewManual(o.Clock.Now())
	}
	cluster, err := sim.New(sim.Options{Clock: o.Clock, Seed: o.Seed, Auth: o.Auth, Tokens: o.Tokens})
	if err != nil {
		return nil, err
	}
	s.cluster = cluster
	s.handler = s.control(cluster.Server(1))
	s.transport = &transport{server: cluster.Server(1), control: s.handler}
	if _, manual := o.Clock.(*clock.Manual); manual {
		s.transport.waiting = s.watchdog
	}
	return s, nil
}

// RunT starts a server for one test; t.Cleanup closes it.
func RunT(t TB, options ...Options) *Server {
	t.Helper()
	s, err := New(options...)
	if err != nil {
		t.Fatalf("kubesim: the server does not start: %v", err)
		return nil
	}
	s.logf, s.fatalf = t.Logf, t.Fatalf
	t.Cleanup(s.Close)
	return s
}

// Close ends open watches and listeners. It may be called more than once.
func (s *Server) Close() {
	s.mu.Lock()
	listeners := s.listeners
	s.listeners = nil
	s.mu.Unlock()
	s.cluster.Close()
	for _, l := range listeners {
		l.Close()
	}
}

// URL is the Host of a client configuration. Its name resolves nowhere: requests go through Transport.
func (s *Server) URL() string { return "http://kubesim.invalid" }

// Transport carries requests to the server in process. It is safe in a testing/synctest bubble if the server was made
// there.
func (s *Server) Transport() http.RoundTripper { return s.transport }

// Handler answers requests, and below /sim/v1/ those that move the simulator, for those who serve them in their own way:
//
//	POST compact               the store forgets all revisions before now
//	POST expire                the store and every watch cache forget
//	GET  clock                 {"now":"2026-01-01T00:00:00Z","manual":true}
//	POST clock/advance?d=5m    a manual clock moves on
//	POST reset                 everything begins anew, except the time
func (s *Server) Handler() http.Handler { return s.handler }

// Revision returns the newest revision of the store: the resourceVersion of the last write.
func (s *Server) Revision() uint64 { return s.cluster.Revision() }

// Compact makes the store forget all revisions before now, as the compaction every five minutes does.
func (s *Server) Compact() { s.cluster.Compact() }

// Expire makes the store and every watch cache forget all history: whatever continues from before now gets 410.
func (s *Server) Expire() { s.cluster.Expire() }

// Reset takes the server back to how it began, except for its time. Open watches end.
func (s *Server) Reset() error { return s.cluster.Reset() }

// patience is how long, in real time, a request may wait for a clock that nobody moves before the test's log says so.
const patience = 10 * time.Second

// watchdog notes in the test's log that a request waits for simulated time.
func (s *Server) watchdog(r *http.Request) (answered func()) {
	if s.logf == nil {
		return func() {}
	}
	timer := time.AfterFunc(patience, func() {
		s.logf("kubesim: %s %s has been waiting for simulated time for %v. The clock is manual: call srv.Clock.Advance from "+
			"another goroutine, or use fake.Options{Clock: clock.System{}}", r.Method, r.URL, patience)
	})
	return func() { timer.Stop() }
}
