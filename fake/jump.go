package fake

import (
	"time"

	"github.com/kubesim/kubesim/clock"
)

// ClientClock returns the clock of the machine that a client runs on, the same one for each call with a name. It shows the server's
// time until Jump sets it. Give it to the client in place of its own clock: a controller that takes a k8s.io/utils/clock gets
// clock.As[kclock.Timer, kclock.Ticker]{Clock: srv.ClientClock("b")}.
//
// A client that reads package time cannot be given another time of day. Times that it keeps only in memory have a monotonic reading,
// which does not notice a jump on a real machine either. A jump breaks comparisons with a time that went through the API, such as a
// lease's renewTime, or with one that was rounded (kubernetes/kubernetes#125761).
func (s *Server) ClientClock(client string) *clock.Skewed {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.clocks == nil {
		s.clocks = map[string]*clock.Skewed{}
	}
	if s.clocks[client] == nil {
		s.clocks[client] = clock.NewSkewed(s.cluster.Clock())
	}
	return s.clocks[client]
}

// HasClientClock reports whether ClientClock was called for a client.
func (s *Server) HasClientClock(client string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.clocks[client] != nil
}

// Jump sets the clock of a client's machine forward by d, or back if d is negative. The server's time, timers and other clients are not
// affected.
func (s *Server) Jump(client string, d time.Duration) { s.ClientClock(client).Jump(d) }
