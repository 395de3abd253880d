package fake

import (
	"net/http"
	"slices"

	"github.com/kubesim/kubesim/sim/apiserver"
	"github.com/kubesim/kubesim/sim/fault"
)

// Trial is one run of a test that can be repeated. It handles each request over Server.Transport, and may add faults.
//
//	client ─▶ Transport ─▶ Trial.RoundTrip ─▶ answer ─▶ an API server
type Trial interface {
	// Begin is called when the server has started, and End before a server of RunT is closed.
	Begin(*Server)
	End(*Server)
	// RoundTrip returns the answer to a request, for which it calls answer. A spared request meets no faults, and goes to the last API
	// server unless its transport or its URL names another one.
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

// RunTrial starts a server for one run of a test, and passes it to Trial.Begin. The trial closes it.
func RunTrial(t TB, o Options, trial Trial) error {
	_, err := (&setup{Options: o, trial: trial}).startFor(t)
	return err
}

// Heal ends all faults: it removes them and delivers held events, API servers catch up, and the remaining steps of an Explore plan are
// cancelled. Call it and let time pass before you check the final state.
func (s *Server) Heal() {
	if t := s.options.trial; t != nil {
		t.Heal()
	}
	s.Faults.Clear()
	for n := 1; n <= s.Replicas(); n++ {
		s.Replica(n).Resume()
	}
}

// ownServer returns the last API server, which the test itself uses in a trial.
func (s *Server) ownServer() *apiserver.Server { return s.cluster.Server(s.cluster.Replicas()) }

// isTroubled reports whether a fault occurred that a client has to handle.
func (s *Server) isTroubled() bool {
	if t := s.options.trial; t != nil && t.IsTroubled() {
		return true
	}
	return slices.ContainsFunc(s.Faults.Decisions(), func(d fault.Decision) bool { return d.Fired })
}

// faultPlan returns the faults of a run as text.
func (s *Server) faultPlan() string {
	if t := s.options.trial; t != nil {
		if lines, ok := t.Plan(); ok {
			return lines // Heal has removed the faults
		}
	}
	return s.Faults.String()
}
