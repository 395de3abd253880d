// Package config says what a simulated cluster is like: every option that a test, a flag, a scenario or a file can set is a field here,
// and has its name from here.
//
//	fake.Options ──────┐
//	kubesim serve ─────┤ flags.Rows: flag ─▶ field
//	kube-apiserver ────┘        │
//	                            ▼
//	                       Cluster ─┬─▶ sim.New ─▶ the parts of a cluster, which read it
//	                                ├─▶ archive: all that JSON prints
//	                                └─ Replicas: Server ─▶ replica.Profile of one API server
//
// Code that needs an option gets the struct and reads the field. Options are not copied into fields of another name.
package config

import (
	"time"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/sim/admission"
	"github.com/kubesim/kubesim/sim/auth"
	"github.com/kubesim/kubesim/sim/auth/token"
	"github.com/kubesim/kubesim/sim/fault"
	"github.com/kubesim/kubesim/sim/kubelet/images"
)

// Cluster says what a cluster and its API servers are like. The zero value is right for most tests. Fields without JSON are about the
// process that runs the cluster: they are not kept in a file, and package sim does not read them, Clock aside.
type Cluster struct {
	// Clock is the cluster's time. The default is a clock.Manual at clock.Epoch, which moves by Advance only.
	Clock clock.Clock `json:"-"`
	// Seed decides uids, generated names and every other draw. 0: 1.
	Seed uint64
	// Auth decides who may do what. The zero value lets everybody do everything, as cluster-admin.
	Auth auth.Mode
	// Authorizers are asked in this order, as those of kube-apiserver's --authorization-mode: AlwaysAllow, AlwaysDeny, Node,
	// which gives kubelets no rights here, and RBAC. Requests are authenticated then, whatever Auth says. If nil, Auth decides.
	Authorizers []string `json:",omitempty"`

	// Where requests are authenticated, the first of these who knows the sender says who it is: Server.Authenticate, a proxy
	// (RequestHeader), a certificate (ClientCA, Server.IssueCertificate), a bearer token (Tokens, ServiceAccounts). Whoever
	// shows nothing is system:anonymous.

	// Tokens are the bearer tokens of users (auth.ReadTokens reads a --token-auth-file). The default is auth.DefaultTokens.
	Tokens []auth.Token
	// ClientCA are the certificates, PEM, of those who sign the certificates of clients (--client-ca-file): whoever shows a
	// listener with TLS one of theirs, good at the server's time, is the user that it names. The ConfigMap
	// extension-apiserver-authentication publishes them. If nil, there are none.
	ClientCA []byte `json:",omitempty"`
	// ClientCAFile and ProxyCAFile are files that ClientCA and RequestHeader.ClientCA are read from, when the server starts and
	// again whenever they change: the ConfigMap has the new certificates, too, then. "": those are as they are.
	ClientCAFile string `json:"-"`
	ProxyCAFile  string `json:"-"`
	// RequestHeader says which proxies may name users in the header of their requests; they are known by certificates, too. The
	// ConfigMap extension-apiserver-authentication publishes it.
	RequestHeader auth.RequestHeader
	// ServiceAccounts says who signs the tokens of service accounts and which are good. The zero value signs with a key
	// that everybody knows.
	ServiceAccounts token.Options
	// NoAnonymous: requests without credentials get 401 (--anonymous-auth=false).
	NoAnonymous bool `json:",omitempty"`
	// Plugins are names of admission plugins that run beside those that kube-apiserver runs and a server without controllers
	// can do with (admission.Optional): ServiceAccount is one, for which a service account "default" must be in the namespace of
	// every pod.
	Plugins []string `json:",omitempty"`
	// WithoutPlugins are names of admission plugins that do not run, as of --disable-admission-plugins.
	WithoutPlugins []string `json:",omitempty"`
	// AdmissionConfig is the file of kube-apiserver's --admission-control-config-file: with which certificate or token the server
	// makes itself known to admission webhooks over the network, the defaults and exemptions of PodSecurity, and the resources
	// that ResourceQuota limits by default. If it is "", none of these is configured.
	AdmissionConfig string `json:"-"`
	// Admission is what admission plugins are configured with; AdmissionConfig takes its place.
	Admission admission.Config `json:",omitzero"`
	// Replicas are the API servers over one store: Server.Replica does things to them, Server.Route leads clients to them.
	// Empty: one of the newest version.
	Replicas []Server
	// Bare leaves out what API servers make when they start: cluster roles, flow schemas, the Service kubernetes and the
	// rest. The namespaces stay. Answers do not name flow schemas then.
	Bare bool `json:",omitempty"`
	// NoControllers leaves out what a controller does in a real cluster: that ClusterRoles aggregate others, as admin, edit
	// and view do. A real server on its own, as of envtest, has them empty.
	NoControllers bool `json:",omitempty"`
	// Controllers are those of kube-controller-manager that run: controller.All, or by name, "-NAME" for one that does
	// not. nil: ClusterRoles aggregate others, and no more, so that a test sees only what it does itself. See Server.Settle.
	Controllers []string `json:",omitempty"`
	// Nodes is how many nodes there are, node-1, node-2, …: their kubelets run the pods that are bound to them. Nothing runs in
	// a container; what it does follows from its image (Images), from annotations of its pod (kubelet.Annotation) and from its
	// command, if that ends in an obvious way. 0: none.
	Nodes int `json:",omitempty"`
	// Images say what containers do, by the name of their image with or without its tag. One that is not there starts in a
	// second and runs until it is stopped.
	Images map[string]images.Image `json:",omitempty"`
	// WriteGap is how much of the clock's time passes between the two writes of one request: a pod that nobody runs gets its
	// deletionTimestamp, then it is removed. A real store takes about a millisecond, and controllers that look for pods which
	// are being deleted count on it. 0: clients see both at once, in their order. With a manual clock the request waits for
	// Clock.Advance.
	WriteGap time.Duration `json:",omitempty"`
	// ServiceCIDR is the range of addresses of services, IPv4, as of --service-cluster-ip-range: the Service kubernetes has the
	// first. "": 10.0.0.0/24.
	ServiceCIDR string `json:",omitempty"`
	// Advertise is the address of the first API server in the endpoints of the Service kubernetes, as of --advertise-address. "":
	// 192.0.2.1.
	Advertise string `json:",omitempty"`
	// MinRequestTimeout is how long a watch lasts at least whose client names no timeout, as of --min-request-timeout; it lasts up to
	// twice as long. 0: half an hour. Negative: it does not end by itself.
	MinRequestTimeout time.Duration `json:",omitempty"`
	// RequestTimeout is how long a request may take that is not a watch or another that lasts, as of --request-timeout; a client may ask
	// for less with ?timeout=. A write of one object has at most 34 s in any case. 0: a minute.
	RequestTimeout time.Duration `json:",omitempty"`
	// Port is where the API servers say that they listen, in the Service kubernetes and its endpoints, in discovery and in the
	// OpenID configuration. 0: 6443.
	Port int `json:",omitempty"`
	// RootCA is a bundle of PEM certificates, as of kube-controller-manager's --root-ca-file: who asks the API servers over
	// TLS has to trust one of them. The controllers that run put it where pods find it. If empty, they ask without TLS.
	RootCA string `json:",omitempty"`

	// Data is a folder in which the server keeps what is stored, commit by commit, as etcd does. A server over a folder that
	// holds something goes on from it, with new API servers: their caches are empty, and these Options count. "": nothing
	// is kept.
	Data string `json:"-"`
	// Archive is a file with the whole server, as Snapshot has it, which keeps up with each commit. A server over a file that
	// is there goes on from it: as it was when it was closed, or, where it was not, with new API servers over all that was
	// committed. What the file says of the cluster counts, as with Snapshot. See Server.DataError. If empty, there is none.
	Archive string `json:"-"`
	// ArchiveSync brings each commit to the disk before anybody knows of it. Otherwise the end of the process loses nothing,
	// and that of the machine the last second at most.
	ArchiveSync bool `json:"-"`
	// Snapshot is a server to go on from: what Server.Snapshot returned. What it says of the cluster counts, not these Options, but
	// for those of the process. A Clock that is not nil must not be behind the time of the snapshot.
	Snapshot []byte `json:"-"`

	// ServiceAddresses says where services are really reached: "NAMESPACE/NAME" or "NAMESPACE/NAME:PORT" at "HOST:PORT". See
	// Server.ServiceAddress.
	ServiceAddresses map[string]string `json:"-"`
	// ServiceCerts is a folder for a certificate of these services. If empty, none is made. See Server.ServiceCerts.
	ServiceCerts string `json:"-"`
	// ProxyClientCert and ProxyClientKey, PEM, are the client certificate for aggregated API servers. If nil, there is none.
	ProxyClientCert []byte `json:"-"`
	ProxyClientKey  []byte `json:"-"`

	// Trace is how many records of what happens are kept, and their hashes with them. 0: none, except that a test
	// keeps the last few to print them when it fails. Below 0: none at all.
	Trace int `json:",omitempty"`
	// NoHashes keeps the records of Trace without their hashes, which costs less and cannot be compared with another run.
	NoHashes bool `json:",omitempty"`
	// Replay makes faults happen as was decided in a run before (srv.Faults.Decisions, or those of its trace;
	// fault.ParseDecisions reads them). If nil, they are drawn from the seed.
	Replay []fault.Decision `json:",omitempty"`

	// MaxWritesPerInstant is how often the same object may be written while time stands still, before a test fails because those
	// who write it will never end: it says who they are, and what they change. Objects that are deleted and made again under
	// new names count, too. 0: 1,000 in a testing/synctest bubble and in Explore, where time moves only when all goroutines
	// wait; elsewhere there is no limit. If negative, there is no limit.
	MaxWritesPerInstant int `json:"-"`
	// FailOnWarning lets a test fail when an answer has a warning, such as that of a field that nobody knows: it was dropped.
	FailOnWarning bool `json:"-"`
}
