package fake

import (
	"net/http"
	"slices"

	"github.com/kubesim/kubesim/sim/apiserver"
	"github.com/kubesim/kubesim/sim/fault"
)

// Trial is one run of a test that can be repeated. It sees each request that comes over Server.Transport, and may do something
// around it.
//
//	client ─▶ Transport ─▶ Trial.RoundTrip ─▶ answer ─▶ an API server
type Trial interface {
	// Begin is called when the server has started, and End before a server of RunT is closed.
	Begin(*Server)
	End(*Server)
	// RoundTrip returns the answer to a request, for which it calls answer. A spared request meets no faults, and goes to the
	// last API server unless its transport or its URL leads to another one.
	RoundTrip(r *http.Request, answer func(r *http.Request, spared bool) (*http.Response, error)) (*http.Response, error)
	// Fork returns the trial of a fork of the server.
	Fork() Trial
	// IsOwn reports whether the calling goroutine runs the test itself, or works for it.
	IsOwn() bool
	// Adopt makes the calling goroutine work for the test itself until done is called.
	Adopt() (done func())
	// Heal cancels the faults that are planned for later.
	Heal()
	// IsTroubled reports whether a step of a plan was done.
	IsTroubled() bool
	// Plan returns the lines of the plan. If ok is false, there is none.
	Plan() (lines string, ok bool)
}

// RunTrial starts a server for one run of a test, which Trial.Begin gets. The trial closes it.
func RunTrial(t TB, o Options, trial Trial) error {
	_, err := (&setup{Options: o, trial: trial}).startFor(t)
	return err
}

// Heal ends all trouble: faults are taken away and what they hold goes on, API servers learn what they have missed, and what
// a plan of Explore had in mind for later does not happen. Call it, and let time pass, before you look at what has to be
// right in the end.
func (s *Server) Heal() {
	if t := s.options.trial; t != nil {
		t.Heal()
	}
	s.Faults.Clear()
	for n := 1; n <= s.Replicas(); n++ {
		s.Replica(n).Resume()
	}
}

// ownServer returns the last API server, which the test itself asks in a trial.
func (s *Server) ownServer() *apiserver.Server { return s.cluster.Server(s.cluster.Replicas()) }

// isTroubled reports whether something went wrong that a client has to cope with.
func (s *Server) isTroubled() bool {
	if t := s.options.trial; t != nil && t.IsTroubled() {
		return true
	}
	return slices.ContainsFunc(s.Faults.Decisions(), func(d fault.Decision) bool { return d.Fired })
}

// planned returns what goes wrong in a run.
func (s *Server) planned() string {
	if t := s.options.trial; t != nil {
		if lines, ok := t.Plan(); ok {
			return lines // Heal has taken the faults away
		}
	}
	return s.Faults.String()
}
