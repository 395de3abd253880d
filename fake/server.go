// Package fake is a Kubernetes API server for tests. Unmodified clients send requests to it in process, without
// sockets, binaries or start-up time, and it responds like a real API server.
//
//	func TestController(t *testing.T) {
//		srv := fake.RunT(t)
//		client := kubernetes.NewForConfigOrDie(&rest.Config{Host: srv.URL(), Transport: srv.Transport()})
//		…
//		srv.Clock.Advance(5 * time.Minute) // history and continue tokens expire, bookmarks are sent
//	}
//
// Time does not advance until the test calls Clock.Advance. To test a controller that uses timers, use the real clock
// (clock.System) and run the test in a bubble, in which time is virtual:
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
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake/answer"
	"github.com/kubesim/kubesim/fake/audit"
	"github.com/kubesim/kubesim/fake/authorization"
	"github.com/kubesim/kubesim/fake/control"
	"github.com/kubesim/kubesim/fake/listen"
	"github.com/kubesim/kubesim/fake/meter"
	"github.com/kubesim/kubesim/fake/oracle"
	"github.com/kubesim/kubesim/fake/outbound"
	"github.com/kubesim/kubesim/sim"
	"github.com/kubesim/kubesim/sim/apiserver"
	"github.com/kubesim/kubesim/sim/auth"
	"github.com/kubesim/kubesim/sim/config"
)

// Options configure a Server. The zero value is right for most tests.
type Options = config.Cluster

// AuditOptions configure the audit log of a Server.
type AuditOptions = config.Audit

// setup contains the Options of one Server.
type setup struct {
	Options
	admission *outbound.AdmissionConfig // the contents of the file Options.AdmissionConfig
	audit     *audit.Log                // nil if there is none

	authorization *authorization.File // the configuration of authorizers, or nil if Options.Authorizers and Auth suffice

	services *outbound.Services // for a fork: those of the original server; otherwise nil
	trial    Trial              // the run of a test that can be repeated, or nil
	begin    *sim.State         // the objects with which it starts (Prepare), or nil
}

// writesMax is the default of Options.MaxWritesPerInstant in a bubble, in which time advances only when all goroutines
// wait.
const writesMax = 1000

// afterBubbles is later than the time in any testing/synctest bubble, which begins in the year 2000, and earlier than
// any real time.
var afterBubbles = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)

// writesMax returns the maximum number of writes of one object at one instant, or -1 if there is no limit.
func (o *setup) writesMax() int {
	switch {
	case o.MaxWritesPerInstant != 0:
		return o.MaxWritesPerInstant
	case o.trial != nil || o.Clock == clock.Clock(clock.System{}) && time.Now().Before(afterBubbles):
		return writesMax
	}
	return -1
}

// authenticates reports whether requests are authenticated.
func (o *setup) authenticates() bool { return o.Auth != auth.AlwaysAllow || o.Authorizers != nil }

// TB is the part of *testing.T that RunT needs.
type TB interface {
	Helper()
	Fatalf(format string, args ...any)
	Logf(format string, args ...any)
	Cleanup(func())
}

// Server is a simulated API server.
type Server struct {
	// Oracles provides the assertions of a test about the server.
	*Oracles
	// Clock advances the server's time. It has no effect if Options.Clock is set to anything other than a clock.Manual.
	Clock *clock.Manual
	// Faults controls the faults of requests and watches.
	Faults *Faults
	// Controllers gives access to the controllers that Options.Controllers selects.
	Controllers *Controllers

	options   setup
	cluster   *sim.Cluster
	handler   http.Handler
	panel     *control.Panel
	transport *transport
	test      TB // may be nil
	outbound  *outbound.Outbound
	life      context.Context // ends with Close
	end       context.CancelFunc
	loaded    uint64   // the revision of Options.Data when the server started
	journal   *journal // nil if neither Options.Data nor Options.Archive is set
	observer  *oracle.Observer
	trust     *listen.Trust // the authorities for client certificates

	mu           sync.Mutex
	listeners    []*Listener
	authenticate atomic.Pointer[Authenticator]
	clocks       map[string]*clock.Skewed // the clocks of the clients' machines
	processes    []*Process
}

// New starts a server. Call Close to stop it. Only the first element of options is used. New returns an error if an
// option is invalid, or if a file that it names cannot be used.
func New(options ...Options) (*Server, error) {
	var o setup
	if len(options) > 0 {
		o.Options = options[0]
	}
	return o.start()
}

// start starts a server with the data that the options name: an archive, a snapshot, a data directory or a State.
// Without any of them, the server is new.
func (o *setup) start() (*Server, error) {
	switch {
	case o.Archive != "":
		return o.overArchive()
	case o.Snapshot != nil:
		return o.load()
	}
	if o.Data != "" {
		return o.overData()
	}
	s, err := o.begun()
	if err != nil {
		return nil, err
	}
	return s.prepared()
}

// begun returns a new server. If begin is not nil, the server starts with that state.
func (o *setup) begun() (*Server, error) {
	if o.begin != nil {
		return o.resume(o.begin)
	}
	return o.fresh()
}

// fresh returns a server with nothing but the objects that each new server has. It returns an error if an option is
// invalid.
func (o *setup) fresh() (*Server, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	cluster, err := sim.New(o.Options)
	if err != nil {
		return nil, err
	}
	return o.serve(cluster), nil
}

// complete sets the default clock and reads files.
func (o *setup) complete() error {
	if o.Clock == nil {
		o.Clock = clock.NewManual(clock.Epoch())
	}
	return o.readFiles()
}

// readFiles reads AdmissionConfig and opens the audit log. It returns an error if a file or a certificate is invalid.
func (o *setup) readFiles() (err error) {
	o.admission = &outbound.AdmissionConfig{Plugins: o.Admission}
	if o.AdmissionConfig != "" {
		if o.admission, err = outbound.ReadAdmissionConfig(o.AdmissionConfig); err != nil {
			return fmt.Errorf("kubesim: AdmissionConfig: %w", err)
		}
		o.Admission = o.admission.Plugins
	}
	if o.authorization, err = authorization.Configure(&o.Options); err != nil {
		return err
	}
	cas := o.caFiles()
	if _, err = cas.Read(&o.ClientCA, &o.RequestHeader.ClientCA); err != nil {
		return fmt.Errorf("kubesim: %w", err)
	}
	signers := o.Signers()
	if _, err = listen.AuthoritiesOf(&signers); err != nil {
		return err
	}
	if o.audit, err = audit.Open(&o.Audit); err != nil {
		return fmt.Errorf("kubesim: %w", err)
	}
	return nil
}

// meterSources returns the parts of the server that have metrics.
func (o *setup) meterSources() (all []meter.Source) {
	for _, part := range []any{o.Authentication.Issuers, o.ServiceAccounts.External, o.Encryption.Values} {
		if s, ok := part.(meter.Source); ok {
			all = append(all, s)
		}
	}
	return append(all, &o.admission.Manifests, o.authorization)
}

// caFiles returns the files of certificate authorities without reading them.
func (o *setup) caFiles() listen.CAFiles { return listen.NewCAFiles(o.ClientCAFile, o.ProxyCAFile) }

// connect creates the handlers and the transport for requests to the Cluster. manual reports whether its clock is
// manual.
func (s *Server) connect(manual bool) {
	api := answer.NewHandler(s.pick, s.client, 0, s.log)
	s.panel = control.New(s.cluster, s, s.options.Trace > 0, s.life.Done())
	s.handler = s.withControl(api, s.pick)
	s.transport = &transport{pick: s.pick, control: s.panel, client: s.client, trial: s.options.trial,
		own: s.ownServer, logf: s.log}
	if manual {
		s.transport.waiting = s.watchdog
	}
}

// withControl returns a handler that serves the API, and the simulator's control paths below /sim/v1/. Error messages
// are plain text that suggests a remedy. The API server that pick returns authorizes the sender of a control request.
// If pick is nil, all control requests are allowed, because a caller in the same process controls the server anyway.
func (s *Server) withControl(api *answer.Handler, pick func(*http.Request) *apiserver.Server) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, control.Prefix) {
			api.ServeHTTP(w, r)
			return
		}
		if pick != nil {
			if refused := pick(r).Check(api.Request(r)); refused != nil {
				answer.Write(w, refused)
				return
			}
		}
		s.panel.ServeHTTP(w, r)
	})
}

// RunT starts a server for one test; t.Cleanup closes it. If the test fails, its log ends with the last steps of the
// trace and with the command that replays the test. If the options have no seed, RunT uses that in KUBESIM_SEED.
func RunT(t TB, options ...Options) *Server {
	t.Helper()
	var o setup
	if len(options) > 0 {
		o.Options = options[0]
	}
	o.forTest()
	if explorer != nil {
		o.trial = explorer.Prepare(&o.Options)
	}
	s, err := o.startFor(t)
	if err != nil {
		t.Fatalf("kubesim: the server does not start: %v", err)
		return nil
	}
	t.Cleanup(func() {
		t.Helper()
		s.report(t)
		if o.trial != nil {
			o.trial.End(s)
		}
		s.Close()
	})
	return s
}

// startFor starts a server that reports to t. A Trial of the options also begins.
func (o *setup) startFor(t TB) (*Server, error) {
	s, err := o.start()
	if err != nil {
		return nil, err
	}
	s.test = t
	s.observer.Begin(t)
	if o.trial != nil {
		o.trial.Begin(s)
	}
	return s, nil
}

// Close ends open watches and listeners, and completes the file of Options.Archive. It may be called more than once.
func (s *Server) Close() {
	s.mu.Lock()
	listeners := s.listeners
	s.listeners = nil
	s.end()
	s.mu.Unlock()
	var finish []func()
	for _, l := range listeners {
		finish = append(finish, l.StopAccepting())
	}
	s.cluster.Close()
	for _, f := range finish {
		f()
	}
	s.journal.finish(s.cluster)
	s.options.audit.Close()
	if n := s.outbound.Caller.Wait(patience); n > 0 {
		s.log("kubesim: Close: %d functions that answer webhooks, or transports to webhooks, have not returned in %v", n, patience)
	}
}

// URL returns the Host of a client configuration. The host name cannot be resolved: requests must go through Transport.
func (s *Server) URL() string { return inProcessURL }

const inProcessURL = "http://kubesim.invalid"

// Transport returns a transport that sends requests to the server in process. It is safe in a testing/synctest bubble
// if the server was created in the same bubble.
func (s *Server) Transport() http.RoundTripper { return s.transport }

// Handler returns the handler of the API, and of the control paths below /sim/v1/, for programs with their own HTTP
// server. If requests are authenticated, RBAC's nonResourceURLs determine who may use the control paths.
//
//	POST compact               compacts the store up to the current revision
//	POST expire                removes the history of the store and of every watch cache
//	GET  clock                 {"now":"2026-01-01T00:00:00Z","manual":true}
//	POST clock/advance?d=5m    advances a manual clock
//	GET  snapshot              the whole server with its history, as a file; POST returns the server to a snapshot
//	POST reset                 resets the server to its initial state, except the time
//	GET  faults                the faults as text; POST adds those in its body, DELETE clears them
//	POST faults/release        delivers held watch events
//	GET  replicas              the state of the API servers
//	POST replicas/{i}/ACTION   lag?resource=pods, cut, resume, restart, unready?for=30s, stall?after=45s, close
//	POST route?client=UA&replica=2, hold?client=UA, release?client=UA, restore?revision=N
//	GET  trace                 the trace as JSONL; ?format=timeline, report (&by=object) or mermaid, ?follow=1
func (s *Server) Handler() http.Handler { return s.handler }

// Revision returns the newest revision of the store: the resourceVersion of the last write.
func (s *Server) Revision() uint64 { return s.cluster.Revision() }

// Storage returns the keys and values of the store, which a client of etcd reads and writes without requests (package
// fake/etcd).
func (s *Server) Storage() sim.Storage { return s.cluster.Storage() }

// Compact removes all revisions before the current one from the store, like the compaction every five minutes.
func (s *Server) Compact() { s.cluster.Compact() }

// Expire removes all history from the store and every watch cache: a request that continues from an earlier revision
// gets 410.
func (s *Server) Expire() { s.cluster.Expire() }

// Reset returns the server to its initial state, except for its time. Open watches end. If the server has a file
// (Options.Data, Options.Archive), an error means that the file could not be rewritten.
func (s *Server) Reset() error {
	return errors.Join(s.cluster.Reset(), s.serveMetrics(), s.journal.rewrite(s.cluster))
}
