package fake

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/fake/answer"
	"github.com/kubesim/kubesim/fake/control"
	"github.com/kubesim/kubesim/sim"
	"github.com/kubesim/kubesim/sim/apiserver"
	"github.com/kubesim/kubesim/sim/auth"
	"github.com/kubesim/kubesim/sim/fault"
)

// transport is an http.RoundTripper that calls an API server directly.
//
//	client ─ RoundTrip ─▶ Trial, if there is one ─▶ answer.RoundTrip ─▶ the API server that pick returns
//	                                              └ control, below /sim/v1/
type transport struct {
	pick    func(*http.Request) *apiserver.Server   // returns the API server for a request
	pinned  bool                                    // always use pick, even in a trial
	control *control.Panel                          // serves requests below control.Prefix
	client  func(*http.Request) *auth.Client        // returns the identity of a request's sender
	waiting func(r *http.Request) (answered func()) // called for a request that has to wait, if not nil
	trial   Trial                                   // if not nil, handles each request and may add faults
	own     func() *apiserver.Server                // returns the test's own API server in a trial
	logf    func(format string, args ...any)        // logs a panic
}

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if t.trial == nil {
		return t.answer(r, false)
	}
	return t.trial.RoundTrip(r, func(r *http.Request, spared bool) (*http.Response, error) {
		if spared {
			return t.direct().answer(r, true)
		}
		return t.answer(r, false)
	})
}

// direct returns a transport to the test's own API server, unless t or the URL selects another one.
func (t *transport) direct() *transport {
	if t.pinned {
		return t
	}
	direct := *t
	direct.pick = func(r *http.Request) *apiserver.Server {
		if strings.HasPrefix(r.URL.Host, replicaHost) {
			return t.pick(r)
		}
		return t.own()
	}
	return &direct
}

// answer is like RoundTrip, but without the trial. If spared is true, no faults apply.
func (t *transport) answer(r *http.Request, spared bool) (*http.Response, error) {
	if r.Body != nil {
		defer r.Body.Close()
	}
	if err := r.Context().Err(); err != nil {
		return nil, context.Cause(r.Context())
	}
	q, err := answer.Inbound(r)
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(q.Path, control.Prefix) {
		return t.controlled(r, q)
	}
	q.Client, q.Spared = t.client(r), spared
	return answer.RoundTrip(t.pick(r), r, q, t.waiting, t.logf)
}

// controlled returns the response to a request below /sim/v1. Its body may be a stream that ends with the request's context.
func (t *transport) controlled(r *http.Request, q *apiserver.Request) (*http.Response, error) {
	if t.control.Follows(r) {
		return &http.Response{Status: "200 OK", StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, ContentLength: -1,
			Header: http.Header{"Content-Type": {"application/jsonl"}}, Body: t.control.Follow(r.Context()), Request: r}, nil
	}
	in := httptest.NewRequest(q.Method, r.URL.RequestURI(), bytes.NewReader(q.Body))
	in.Header = http.Header(q.Header).Clone()
	w := httptest.NewRecorder()
	t.control.ServeHTTP(w, in)
	res := w.Result()
	res.Request = r
	return res, nil
}

// Trial is one run of a test that can be repeated. It handles each request over Server.Transport, and may add faults.
//
//	client ─▶ Transport ─▶ Trial.RoundTrip ─▶ answer ─▶ an API server
type Trial interface {
	// Begin is called when the server has started, and End before a server of RunT is closed.
	Begin(*Server)
	End(*Server)
	// RoundTrip returns the response to a request. It calls answer to process the request. If spared is true, no faults
	// apply, and the request goes to the last API server unless its transport or its URL selects another one.
	RoundTrip(r *http.Request, answer func(r *http.Request, spared bool) (*http.Response, error)) (*http.Response, error)
	// Fork returns the trial of a fork of the server.
	Fork() Trial
	// IsOwn reports whether the calling goroutine runs the test itself, or acts for it.
	IsOwn() bool
	// Adopt makes the calling goroutine act for the test itself until done is called.
	Adopt() (done func())
	// Heal cancels the planned faults.
	Heal()
	// IsTroubled reports whether a step of a plan has run.
	IsTroubled() bool
	// Plan returns the lines of the plan. If there is no plan, ok is false.
	Plan() (lines string, ok bool)
}

// RunTrial starts a server for one run of a test, and passes it to Trial.Begin. The trial must close it. If begin is not nil, the
// server starts with the objects of that state (Prepare). RunTrial returns an error if the server cannot be started.
func RunTrial(t TB, o Options, trial Trial, begin *sim.State) error {
	for _, f := range trialsBegin {
		f()
	}
	_, err := (&setup{Options: o, trial: trial, begin: begin}).startFor(t)
	return err
}

// trialsBegin are the functions that OnTrial has registered.
var trialsBegin []func()

// OnTrial registers a function that is called in the bubble of each run of Explore, before its server starts. A process runs one bubble
// at a time, so the function may set global variables of client libraries. Call OnTrial during initialization.
func OnTrial(f func()) { trialsBegin = append(trialsBegin, f) }

// Prepare starts a server, calls f with it, and returns the server's state, from which RunTrial can start any number of servers.
// The server's clock is manual. Prepare returns an error if the server cannot be started.
func Prepare(t TB, o Options, f func(*Server)) (*sim.State, error) {
	s, err := (&setup{Options: o}).startFor(t)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	f(s)
	return s.cluster.State(), nil
}

// Heal ends all faults: it removes them, delivers held events, lets API servers catch up, cancels the remaining steps of an
// Explore plan, and starts the controllers that a livelock stopped. Call it and let time pass before you check the final state.
func (s *Server) Heal() {
	if t := s.options.trial; t != nil {
		t.Heal()
	}
	s.Faults.Clear()
	for n := 1; n <= s.Replicas(); n++ {
		s.Replica(n).Resume()
	}
	s.observer.Heal()
}

// ownServer returns the last API server, which the test itself uses in a trial.
func (s *Server) ownServer() *apiserver.Server { return s.cluster.Server(s.cluster.Replicas()) }

// IsTroubled reports whether a fault has occurred that a client must handle, in this server or by a step of an Explore plan.
func (s *Server) IsTroubled() bool {
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
