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
	"context"
	"crypto/x509"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/sim"
	"github.com/kubesim/kubesim/sim/auth"
	"github.com/kubesim/kubesim/sim/auth/token"
	"github.com/kubesim/kubesim/sim/fault"
	"github.com/kubesim/kubesim/sim/kubelet"
)

// Options says what a Server is like. The zero value is right for most tests.
type Options struct {
	// Clock is the server's time. nil: a clock.Manual at clock.Epoch, moved by Server.Clock.Advance.
	Clock clock.Clock
	// Seed decides uids, generated names and every other draw. 0: 1.
	Seed uint64
	// Auth decides who may do what. The zero value lets everybody do everything, as cluster-admin.
	Auth auth.Mode
	// Authorizers are asked in this order, as those of kube-apiserver's --authorization-mode: AlwaysAllow, AlwaysDeny, Node,
	// which gives kubelets no rights here, and RBAC. Requests are authenticated then, whatever Auth says. nil: Auth decides.
	Authorizers []string

	// Where requests are authenticated, the first of these who knows the sender says who it is: Authenticate, a proxy
	// (RequestHeader), a certificate (ClientCA, Server.IssueCertificate), a bearer token (Tokens, ServiceAccounts). Whoever
	// shows nothing is system:anonymous.

	// Authenticate is the test's own say in who sends a request, asked before all others, with auth.AlwaysAllow, too. ok
	// says that it knows: the user counts, in system:authenticated beside his groups. An error is 401; without either the
	// others are asked. It may be called by several requests at a time, and must leave the body alone. A request over
	// Transport has no RemoteAddr and no TLS. nil: there is none.
	Authenticate func(*http.Request) (user auth.User, ok bool, err error)
	// Tokens are the bearer tokens of users (auth.ReadTokens reads a --token-auth-file). nil: auth.DefaultTokens.
	Tokens []auth.Token
	// ClientCA are the certificates, PEM, of those who sign the certificates of clients (--client-ca-file): whoever shows a
	// listener with TLS one of theirs, good at the server's time, is the user that it names. The ConfigMap
	// extension-apiserver-authentication publishes them. nil: there are none.
	ClientCA []byte
	// ClientCAFile and ProxyCAFile are files that ClientCA and RequestHeader.ClientCA are read from, when the server starts and
	// again whenever they change: the ConfigMap has the new certificates, too, then. "": those are as they are.
	ClientCAFile, ProxyCAFile string
	// RequestHeader says which proxies may name users in the header of their requests; they are known by certificates, too.
	RequestHeader auth.RequestHeader
	// ServiceAccounts says who signs the tokens of service accounts and which are good. The zero value signs with a key
	// that everybody knows.
	ServiceAccounts token.Options
	// NoAnonymous: requests without credentials get 401 (--anonymous-auth=false).
	NoAnonymous bool
	// Plugins are names of admission plugins that run beside those that kube-apiserver runs and a server without controllers
	// can do with: ServiceAccount is one, for which a service account "default" must be in the namespace of every pod.
	Plugins []string
	// Replicas are the API servers over one store: Server.Replica does things to them, Server.Route leads clients to them.
	// Empty: one of the newest version.
	Replicas []ReplicaOptions
	// Bare leaves out what API servers make when they start: cluster roles, flow schemas, the Service kubernetes and the
	// rest. The namespaces stay.
	Bare bool
	// NoControllers leaves out what a controller does in a real cluster: that ClusterRoles aggregate others, as admin, edit
	// and view do. A real server on its own, as of envtest, has them empty.
	NoControllers bool
	// Controllers are those of kube-controller-manager that run: controller.All, or by name, "-NAME" for one that does
	// not. nil: ClusterRoles aggregate others, and no more, so that a test sees only what it does itself. See Server.Settle.
	Controllers []string
	// Nodes is how many nodes there are, node-1, node-2, …: their kubelets run the pods that are bound to them. Nothing runs in
	// a container; what it does follows from its image (Images), from annotations of its pod (kubelet.Annotation) and from its
	// command, if that ends in an obvious way. 0: none.
	Nodes int
	// Images say what containers do, by the name of their image with or without its tag. One that is not there starts in a
	// second and runs until it is stopped.
	Images map[string]kubelet.Image
	// WriteGap is how much of the clock's time passes between the two writes of one request: a pod that nobody runs gets its
	// deletionTimestamp, then it is removed. A real store takes about a millisecond, and controllers that look for pods which
	// are being deleted count on it. 0: clients see both at once, in their order. With a manual clock the request waits for
	// Clock.Advance.
	WriteGap time.Duration
	// ServiceCIDR is the range of addresses of services, IPv4, as of --service-cluster-ip-range. "": 10.0.0.0/24.
	ServiceCIDR string
	// Advertise is the address of the server in the endpoints of the Service kubernetes, as of --advertise-address. "":
	// 192.0.2.1.
	Advertise string
	// WithoutPlugins are names of admission plugins that do not run, as of --disable-admission-plugins.
	WithoutPlugins []string
	// MinRequestTimeout is how long a watch lasts at least whose client names no timeout, as of --min-request-timeout; it lasts up to
	// twice as long. 0: half an hour. Negative: it does not end by itself.
	MinRequestTimeout time.Duration
	// Data is a folder in which the server keeps what is stored, commit by commit, as etcd does. A server over a folder that
	// holds something goes on from it, with new API servers: their caches are empty, and these Options count. "": nothing
	// is kept.
	Data string
	// Archive is a file with the whole server, as Snapshot has it, which keeps up with each commit. A server over a file that
	// is there goes on from it: as it was when it was closed, or, where it was not, with new API servers over all that was
	// committed. The seed, rights and replicas in the file count, as with Snapshot. See Server.DataError. "": there is none.
	Archive string
	// ArchiveSync brings each commit to the disk before anybody knows of it. Otherwise the end of the process loses nothing,
	// and that of the machine the last second at most.
	ArchiveSync bool
	// Port is where the server says that it listens, in the Service kubernetes and its endpoints, in
	// discovery and in the OpenID configuration. 0: 6443.
	Port int
	// ServiceAddresses says where services are really reached: "NAMESPACE/NAME" or "NAMESPACE/NAME:PORT" at "HOST:PORT". See
	// Server.ServiceAddress.
	ServiceAddresses map[string]string
	// ServiceCerts is a folder for a certificate of these services. "": none is made. See Server.ServiceCerts.
	ServiceCerts string
	// AdmissionConfig is the file of kube-apiserver's --admission-control-config-file: with which certificate or token the server
	// makes itself known to admission webhooks over the network, the defaults and exemptions of PodSecurity, and the resources
	// that ResourceQuota limits by default. If it is "", none of these is configured.
	AdmissionConfig string

	// ProxyClientCert and ProxyClientKey, PEM, are the certificate that aggregated API servers are shown. nil: none.
	ProxyClientCert, ProxyClientKey []byte

	// Trace is how many records of what happens are kept, and their hashes with them. 0: none, except that a test
	// keeps the last few to print them when it fails. Below 0: none at all.
	Trace int
	// Replay makes faults happen as was decided in a run before (srv.Faults.Decisions, or those of its trace). nil: they are
	// drawn from the seed.
	Replay []fault.Decision

	// Snapshot is a server to go on from: what Server.Snapshot returned. Its seed, rights, replicas and trace count, not
	// those of these Options, but for Authenticate. A Clock that is not nil must not be behind the time of the snapshot.
	Snapshot []byte

	// MaxWritesPerInstant is how often the same object may be written while time stands still, before a test fails because those
	// who write it will never end: it says who they are, and what they change. Objects that are deleted and made again under
	// new names count, too. 0: 1,000. Below 0: nobody counts.
	MaxWritesPerInstant int
	// FailOnWarning lets a test fail when an answer has a warning, such as that of a field that nobody knows: it was dropped.
	FailOnWarning bool

	tail      bool             // Trace is only that
	admission *admissionConfig // AdmissionConfig, read

	draws *draws // what the runtime draws can be repeated; nil: it need not
}

// authenticates says that the credentials of requests count.
func (o *Options) authenticates() bool { return o.Auth != auth.AlwaysAllow || o.Authorizers != nil }

// TB is the part of *testing.T that RunT needs.
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
	// Faults is what goes wrong.
	Faults *Faults
	// Controllers are those that Options.Controllers names.
	Controllers *Controllers

	options    Options
	cluster    *sim.Cluster
	handler    http.Handler
	transport  *transport
	logf       func(format string, args ...any)
	fatalf     func(format string, args ...any)
	errorf     func(format string, args ...any)
	cleanup    func(func()) // of the test; nil: there is none
	services   *services    // shared with forks
	aggregator *aggregator
	network    *network
	life       context.Context // ends with Close
	die        context.CancelFunc
	plugins    map[string]*kubeconfig // who admission plugins are to webhooks, by name
	journal    *journal               // nil: neither Options.Data nor Options.Archive is set
	trial      *trial                 // nil: nobody explores

	witnessed sync.Once
	witness   *witness // nil: nobody looks
	marks     []uint64 // records of what the test has failed for

	mu        sync.Mutex
	admits    bool // AdmitThrough was called
	converts  bool // ConvertThrough was called
	listeners []*Listener
	cas       caFiles                  // files with the certificates of trusted authorities
	signers   Options                  // ClientCA and RequestHeader.ClientCA as they are now
	extra     []*x509.Certificate      // trusted in addition to the certificates of the options
	issuer    *issuer                  // of certificates for clients; nil: none was asked for
	trusted   authorities              // who signs certificates
	clocks    map[string]*clock.Skewed // of the clients' machines
	processes []*Process
	functions functions
	closing   sync.Once
	ended     chan struct{} // closed by Close
}

// New starts a server, which Close ends.
func New(options ...Options) (*Server, error) {
	var o Options
	if len(options) > 0 {
		o = options[0]
	}
	switch {
	case o.Archive != "":
		return o.overArchive()
	case o.Snapshot != nil:
		return o.load()
	}
	if o.Data != "" {
		return o.overData()
	}
	s, err := o.fresh()
	if err != nil {
		return nil, err
	}
	return s.prepared()
}

// fresh makes a server that nobody has used before.
func (o *Options) fresh() (*Server, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	cluster, err := sim.New(o.clusterOptions())
	if err != nil {
		return nil, err
	}
	return o.serve(cluster), nil
}

// complete sets the clock and reads files.
func (o *Options) complete() error {
	if o.Clock == nil {
		o.Clock = clock.NewManual(clock.Epoch())
	}
	return o.readFiles()
}

func (o *Options) clusterOptions() sim.Options {
	return sim.Options{Clock: o.Clock, Seed: o.Seed, Auth: o.Auth, Tokens: o.Tokens, Authorizers: o.Authorizers,
		NoAnonymous: o.NoAnonymous, RequestHeader: o.RequestHeader, ServiceAccounts: o.ServiceAccounts, Plugins: o.Plugins,
		Replicas: o.Replicas, Bare: o.Bare, NoControllers: o.NoControllers, Controllers: o.Controllers,
		Nodes: kubelet.Options{Nodes: o.Nodes, Images: o.Images}, WriteGap: o.WriteGap,
		Port: o.Port, ClientCA: string(o.ClientCA),
		ServiceCIDR: o.ServiceCIDR, Advertise: o.Advertise, WithoutPlugins: o.WithoutPlugins, MinRequestTimeout: o.MinRequestTimeout, Admission: o.admission.plugins,
		Trace: o.traceOptions(), Replay: o.Replay}
}

// connect makes what carries requests to the Cluster. manual says that its time stands still until somebody moves it.
func (s *Server) connect(manual bool) {
	api := handler{pick: s.pick, client: s.client, logf: s.log}
	s.handler = s.control(api, s.pick)
	s.transport = &transport{pick: s.pick, control: s.control(api, nil), client: s.client, draws: s.options.draws,
		logf: s.log}
	if s.options.Trace > 0 {
		s.transport.follow = s.follow
	}
	if manual {
		s.transport.waiting = s.watchdog
	}
}

// RunT starts a server for one test; t.Cleanup closes it. When the test fails, its log ends with what happened last at
// the server and with the line that replays it. A seed that is not in the options comes from KUBESIM_SEED.
func RunT(t TB, options ...Options) *Server {
	t.Helper()
	var o Options
	if len(options) > 0 {
		o = options[0]
	}
	o = o.forTest()
	repeatable.prepare(&o)
	s, err := New(o)
	if err != nil {
		t.Fatalf("kubesim: the server does not start: %v", err)
		return nil
	}
	s.logf, s.fatalf, s.errorf, s.cleanup = t.Logf, t.Fatalf, errorf(t), t.Cleanup
	s.attest()
	repeatable.begun(s)
	t.Cleanup(func() {
		t.Helper()
		s.report(t)
		repeatable.ended(s)
		s.Close()
	})
	return s
}

// errorf lets a test fail and go on, where it can.
func errorf(t TB) func(format string, args ...any) {
	if e, ok := t.(interface{ Errorf(string, ...any) }); ok {
		return e.Errorf
	}
	return t.Fatalf
}

// Close ends open watches and listeners, and completes the file of Options.Archive. It may be called more than once.
func (s *Server) Close() {
	s.mu.Lock()
	listeners := s.listeners
	s.listeners = nil
	s.closing.Do(func() { close(s.ended); s.die() })
	s.mu.Unlock()
	var finish []func()
	for _, l := range listeners {
		finish = append(finish, l.shut())
	}
	s.cluster.Close()
	for _, f := range finish {
		f()
	}
	s.closeJournal()
	if n := s.functions.wait(patience); n > 0 {
		s.log("kubesim: Close: %d functions that answer webhooks, or transports to webhooks, have not returned in %v", n, patience)
	}
}

// URL is the Host of a client configuration. Its name resolves nowhere: requests go through Transport.
func (s *Server) URL() string { return "http://kubesim.invalid" }

// Transport carries requests to the server in process. It is safe in a testing/synctest bubble if the server was made
// there.
func (s *Server) Transport() http.RoundTripper { return s.transport }

// Handler answers requests, and below /sim/v1/ those that move the simulator, for those who serve them in their own way.
// Where requests are authenticated, RBAC's nonResourceURLs say who may do that.
//
//	POST compact               the store forgets all revisions before now
//	POST expire                the store and every watch cache forget
//	GET  clock                 {"now":"2026-01-01T00:00:00Z","manual":true}
//	POST clock/advance?d=5m    a manual clock moves on
//	GET  snapshot              the whole server with its history, as a file; POST takes the server back to one
//	POST reset                 everything begins anew, except the time
//	GET  faults                the faults as text; POST adds those in its body, DELETE clears them
//	POST faults/release        held watch events go on
//	GET  replicas              what the API servers are like
//	POST replicas/{i}/ACTION   lag?resource=pods, cut, resume, restart, unready?for=30s, stall?after=45s, close
//	POST route?client=UA&replica=2, hold?client=UA, release?client=UA, restore?revision=N
//	GET  trace                 what happened, as JSONL; ?format=timeline, report (&by=object) or mermaid, ?follow=1
func (s *Server) Handler() http.Handler { return s.handler }

// Revision returns the newest revision of the store: the resourceVersion of the last write.
func (s *Server) Revision() uint64 { return s.cluster.Revision() }

// Compact makes the store forget all revisions before now, as the compaction every five minutes does.
func (s *Server) Compact() { s.cluster.Compact() }

// Expire makes the store and every watch cache forget all history: whatever continues from before now gets 410.
func (s *Server) Expire() { s.cluster.Expire() }

// Reset takes the server back to how it began, except for its time. Open watches end.
func (s *Server) Reset() error {
	return errors.Join(s.cluster.Reset(), s.serveMetrics(), s.rewriteJournal())
}
