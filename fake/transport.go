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
	"github.com/kubesim/kubesim/sim/apiserver"
	"github.com/kubesim/kubesim/sim/auth"
	"github.com/kubesim/kubesim/sim/fault"
)

// transport is an http.RoundTripper that calls an API server directly.
//
//	client ─ RoundTrip ─▶ Trial, if there is one ─▶ answer.RoundTrip ─▶ the API server that pick returns
//	                                              └ control, below /sim/v1/
type transport struct {
	pick    func(*http.Request) *apiserver.Server   // returns the API server of a request
	pinned  bool                                    // pick decides alone, also in a trial
	control *control.Panel                          // answers below control.Prefix
	client  func(*http.Request) *auth.Client        // returns how the sender of a request is authenticated
	waiting func(r *http.Request) (answered func()) // called for a request that has to wait, if not nil
	trial   Trial                                   // if not nil, handles each request and may add faults
	own     func() *apiserver.Server                // returns the test's own API server in a trial
	logf    func(format string, args ...any)        // where a panic is reported
}

// RoundTrip answers one request and closes its body.
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

// direct returns a transport that leads to the test's own API server, unless t or a URL names another one.
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

// answer is RoundTrip without the trial. A spared request meets no faults.
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

// controlled answers a request to the simulator itself.
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
