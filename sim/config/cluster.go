// Package config has the configuration of a simulated cluster: every option that a test, a flag, a scenario or a file can set is a
// field here, with the same name everywhere.
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

// Cluster is the configuration of a cluster and its API servers. The zero value is right for most tests. Fields without JSON are
// about the process that runs the cluster: they are not kept in a file, and package sim does not read them, Clock aside.
type Cluster struct {
	// Clock is the cluster's time. The default is a clock.Manual at clock.Epoch, which moves by Advance only.
	Clock clock.Clock `json:"-"`
	// Seed decides uids, generated names and every other draw. The default is 1.
	Seed uint64
	// Auth selects the authorization. The zero value allows every request, as by cluster-admin.
	Auth auth.Mode
	// Authorizers are asked in this order, as those of kube-apiserver's --authorization-mode: AlwaysAllow, AlwaysDeny, Node, which
	// gives kubelets no rights here, and RBAC. Requests are authenticated then, regardless of Auth. If nil, Auth decides.
	Authorizers []string `json:",omitempty"`

	// If requests are authenticated, the first of these that knows the sender decides: Server.Authenticate, a proxy
	// (RequestHeader), a certificate (ClientCA, Server.IssueCertificate), a bearer token (Tokens, ServiceAccounts). A request without
	// credentials is system:anonymous.

	// Tokens are the bearer tokens of users (auth.ReadTokens reads a --token-auth-file). The default is auth.DefaultTokens.
	Tokens []auth.Token
	// ClientCA are the PEM certificates of the authorities for client certificates (--client-ca-file). A client of a listener with TLS
	// that presents a certificate of theirs, valid at the server's time, is the user that it names. The ConfigMap
	// extension-apiserver-authentication publishes them. If nil, there are none.
	ClientCA []byte `json:",omitempty"`
	// ClientCAFile and ProxyCAFile are files that ClientCA and RequestHeader.ClientCA are read from, when the server starts and
	// again whenever they change; the ConfigMap then has the new certificates, too. If empty, ClientCA and RequestHeader.ClientCA count.
	ClientCAFile string `json:"-"`
	ProxyCAFile  string `json:"-"`
	// RequestHeader configures which proxies may name users in the header of their requests; the proxies are identified by
	// certificates. The ConfigMap extension-apiserver-authentication publishes it.
	RequestHeader auth.RequestHeader
	// ServiceAccounts sets how tokens of service accounts are signed and checked. The zero value signs with a published key.
	ServiceAccounts token.Options
	// NoAnonymous: requests without credentials get 401 (--anonymous-auth=false).
	NoAnonymous bool `json:",omitempty"`
	// Plugins are names of admission plugins that run in addition to the default ones (admission.Optional has the names). ServiceAccount
	// is one: it wants a service account "default" in the namespace of every pod, which a controller creates.
	Plugins []string `json:",omitempty"`
	// WithoutPlugins are names of admission plugins that do not run, as of --disable-admission-plugins.
	WithoutPlugins []string `json:",omitempty"`
	// AdmissionConfig is the file of kube-apiserver's --admission-control-config-file: with which certificate or token the server
	// makes itself known to admission webhooks over the network, the defaults and exemptions of PodSecurity, and the resources
	// that ResourceQuota limits by default. If it is "", none of these is configured.
	AdmissionConfig string `json:"-"`
	// Admission is the configuration of admission plugins; AdmissionConfig replaces it.
	Admission admission.Config `json:",omitzero"`
	// Replicas are the API servers over one store: Server.Replica does things to them, Server.Route leads clients to them.
	// Empty: one of the newest version.
	Replicas []Server
	// Bare leaves out the objects that API servers create when they start: cluster roles, flow schemas, the Service kubernetes and
	// the rest. The namespaces stay. Answers do not name flow schemas then.
	Bare bool `json:",omitempty"`
	// NoControllers leaves out the aggregation of ClusterRoles, which a controller does in a real cluster: admin, edit and view
	// aggregate others. A real server on its own, as of envtest, has them empty.
	NoControllers bool `json:",omitempty"`
	// Controllers are the controllers of kube-controller-manager that run: controller.All, or names, with "-NAME" for one that does not
	// run. If nil, only the aggregation of ClusterRoles runs, so that a test sees only its own writes. See Server.Settle.
	Controllers []string `json:",omitempty"`
	// Nodes is the number of nodes: node-1, node-2, …. Their kubelets run the pods that are bound to them. Nothing runs in a container;
	// its behaviour follows from its image (Images), from annotations of its pod (kubelet.Annotation) and from its command, if that ends
	// in an obvious way.
	Nodes int `json:",omitempty"`
	// Images describe the behaviour of containers, by the name of their image with or without its tag. A container of another image
	// starts in a second and runs until it is stopped.
	Images map[string]images.Image `json:",omitempty"`
	// Progress, if not nil, is notified of work that takes long.
	Progress Progress `json:"-"`
	// WriteGap is the time on the clock between the two writes of one request: a pod without a kubelet gets its deletionTimestamp, and
	// then it is removed. A real store takes about a millisecond, and some controllers rely on it. If 0, clients see both writes at once,
	// in their order. With a manual clock the request waits for Clock.Advance.
	WriteGap time.Duration `json:",omitempty"`
	// ServiceCIDR is the IPv4 range of Service addresses (--service-cluster-ip-range). The Service kubernetes has the first one. The
	// default is 10.0.0.0/24.
	ServiceCIDR string `json:",omitempty"`
	// Advertise is the address of the first API server in the endpoints of the Service kubernetes (--advertise-address). The default is
	// 192.0.2.1.
	Advertise string `json:",omitempty"`
	// MinRequestTimeout is the shortest duration of a watch without a timeout (--min-request-timeout); a watch lasts up to twice as long.
	// The default is half an hour. If negative, such a watch does not end by itself.
	MinRequestTimeout time.Duration `json:",omitempty"`
	// RequestTimeout is the deadline of a request that is not long-running (--request-timeout). A client may ask for less with ?timeout=.
	// A write of one object has at most 34 s in any case. The default is a minute.
	RequestTimeout time.Duration `json:",omitempty"`
	// Port is the published port of the API servers: in the Service kubernetes and its endpoints, in discovery and in the OpenID
	// configuration. The default is 6443.
	Port int `json:",omitempty"`
	// RootCA is a bundle of PEM certificates (kube-controller-manager's --root-ca-file) that clients of the API servers trust. The
	// controllers publish it for pods. If empty, pods are expected to connect without TLS.
	RootCA string `json:",omitempty"`

	// Data is a folder in which the server keeps the store, commit by commit, as etcd does. A server over a folder with data goes on from
	// it, with new API servers: their caches are empty, and these options apply. If empty, nothing is kept.
	Data string `json:"-"`
	// Archive is a file with the whole server, as in Snapshot, to which each commit is appended. A server over an existing file goes on from
	// it: as it was when it was closed or, if it was not closed, with new API servers over all commits. The options in the file apply, as
	// with Snapshot. See Server.DataError. If empty, there is no archive.
	Archive string `json:"-"`
	// ArchiveSync brings each commit to the disk before it becomes visible. Otherwise the end of the process loses nothing, and the end of
	// the machine at most the last second.
	ArchiveSync bool `json:"-"`
	// Snapshot is a server to go on from, as Server.Snapshot returned it. Its options apply instead of these, except for options of the
	// process. A Clock that is not nil must not be behind the time of the snapshot.
	Snapshot []byte `json:"-"`

	// ServiceAddresses has the real addresses of services: "NAMESPACE/NAME" or "NAMESPACE/NAME:PORT" at "HOST:PORT". See
	// Server.ServiceAddress.
	ServiceAddresses map[string]string `json:"-"`
	// ServiceCerts is a folder for a certificate of these services. If empty, none is made. See Server.ServiceCerts.
	ServiceCerts string `json:"-"`
	// ProxyClientCert and ProxyClientKey, PEM, are the client certificate for aggregated API servers. If nil, there is none.
	ProxyClientCert []byte `json:"-"`
	ProxyClientKey  []byte `json:"-"`

	// Trace is the number of trace records to keep, with their hashes. If 0, none are kept, except that a test keeps the last few for its
	// failure report. If negative, none at all are kept.
	Trace int `json:",omitempty"`
	// NoHashes keeps the records of Trace without their hashes, which costs less and cannot be compared with another run.
	NoHashes bool `json:",omitempty"`
	// Replay makes faults happen as was decided in a run before (srv.Faults.Decisions, or those of its trace;
	// fault.ParseDecisions reads them). If nil, they are drawn from the seed.
	Replay []fault.Decision `json:",omitempty"`

	// MaxWritesPerInstant bounds the writes of one object while time stands still. A test that exceeds it fails, with the writers and
	// their changes, because they would never stop. Objects that are deleted and created again under new names count, too. The default is
	// 1,000 in a testing/synctest bubble and in Explore, where time moves only when all goroutines wait; elsewhere, and if negative, there
	// is no limit.
	MaxWritesPerInstant int `json:"-"`
	// FailOnWarning fails a test when an answer has a warning, such as that an unknown field was dropped.
	FailOnWarning bool `json:"-"`
}

// Progress is notified of work that takes long, such as when a large cluster is filled.
type Progress interface {
	// Reconciled is called after each thousand reconciles that one request, or the start of the cluster, leads to, with their number and
	// how many are due. It must not send requests to the cluster, which waits for it.
	Reconciled(done, due int)
}

// Server is the configuration of one API server. The zero value is a server of schema.Default with all defaults.
type Server struct {
	// Version is a Kubernetes minor, "1.35", or a release of it. The default is schema.Default.
	Version string
	// FeatureGates turns gates on or off. Only gates that decide about fields and values of objects are known.
	FeatureGates map[string]bool
	// Serve switches off APIs of a default server, as --runtime-config does: a resource ("batch/v1/cronjobs"), a group version
	// ("autoscaling/v1"), all of "api/ga", "api/beta" or "api/alpha", or "api/all" ("api/legacy" has no effect). The most specific entry
	// counts.
	Serve map[string]bool
	// StorageVersions has the storage versions of resources with several served versions: "horizontalpodautoscalers.autoscaling":
	// "autoscaling/v1".
	StorageVersions map[string]string
	// PeerProxy proxies requests for resources that this server does not serve to another one that does, and publishes the
	// resources of all servers as aggregated discovery, as --peer-ca-file makes a server of 1.36 do (KEP-4020, gate
	// UnknownVersionInteroperabilityProxy). It is not the default of any version.
	PeerProxy bool
	// NoPrivileged refuses privileged containers, as --allow-privileged=false does. By default they are allowed, as in clusters of kubeadm
	// and kind; kube-apiserver's own default is to refuse them.
	NoPrivileged bool
	// Flags are further flags of kube-apiserver and their values, which /flagz shows.
	Flags map[string]string `json:",omitempty"`
}
