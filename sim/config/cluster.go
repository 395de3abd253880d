// Package config contains the configuration of a simulated cluster. Every option that a test, a flag, a scenario or a file can set
// is a field here, and has the same name everywhere.
//
//	fake.Options ──────┐
//	kubesim serve ─────┤ flags.Rows: flag ─▶ field
//	kube-apiserver ────┘        │
//	                            ▼
//	                       Cluster ─┬─▶ sim.New ─▶ the parts of a cluster, which read it
//	                                ├─▶ archive: the fields with JSON
//	                                └─ Replicas: Server ─▶ replica.Profile of one API server
//
// Code that needs an option takes the struct and reads the field. Options are not copied to fields with other names.
package config

import (
	"io"
	"time"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/sim/admission"
	"github.com/kubesim/kubesim/sim/auth"
	"github.com/kubesim/kubesim/sim/auth/token"
	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/fault"
	"github.com/kubesim/kubesim/sim/kubelet/images"
)

// Cluster is the configuration of a cluster and its API servers. The zero value is suitable for most tests. Fields without JSON
// concern the process that runs the cluster. They are not saved to a file, and package sim does not read them, except for Clock.
type Cluster struct {
	// Clock is the cluster's clock. The default is a clock.Manual at clock.Epoch, which only Advance moves.
	Clock clock.Clock `json:"-"`
	// Seed determines uids, generated names and all other random values. The default is 1.
	Seed uint64
	// Auth selects the authorization mode. The zero value allows every request, with the rights of cluster-admin.
	Auth auth.Mode
	// Authorizers are consulted in this order, like those of kube-apiserver's --authorization-mode: AlwaysAllow, AlwaysDeny, Node,
	// RBAC, and the types ABAC and Webhook, which Authorization configures. Node gives kubelets rights to the objects of their node
	// and of its pods; the plugin NodeRestriction limits their writes. In the web page, Node gives no rights. If Authorizers are set,
	// requests are authenticated, regardless of Auth. If nil, Auth decides.
	Authorizers []string `json:",omitempty"`

	// AuthorizationConfig is the file of kube-apiserver's --authorization-config, which names the authorizers. It replaces Authorizers
	// when the server starts and whenever the file changes.
	AuthorizationConfig string `json:"-"`
	// Authorization configures the authorizers ABAC and Webhook.
	Authorization Authorization `json:"-"`

	// If requests are authenticated, the user comes from the first of these sources that identifies the sender:
	// Server.Authenticate, a proxy (RequestHeader), a certificate (ClientCA, Server.IssueCertificate), or a bearer token (Tokens,
	// ServiceAccounts). A request without credentials is system:anonymous.

	// Tokens are the bearer tokens of users (auth.ReadTokens reads a --token-auth-file). The default is auth.DefaultTokens.
	Tokens []auth.Token
	// ClientCA are the PEM certificates of the authorities for client certificates (--client-ca-file). A client of a TLS listener
	// that presents a certificate signed by one of them, valid at the server's time, is the user that the certificate names. The
	// ConfigMap extension-apiserver-authentication publishes them. If nil, there are none.
	ClientCA []byte `json:",omitempty"`
	// ClientCAFile and ProxyCAFile are files from which ClientCA and RequestHeader.ClientCA are read when the server starts and
	// whenever the files change. The ConfigMap is then updated, too. If empty, the fields ClientCA and RequestHeader.ClientCA are
	// used.
	ClientCAFile string `json:"-"`
	ProxyCAFile  string `json:"-"`
	// RequestHeader configures which proxies may set the user of a request in its header. Proxies are identified by certificates.
	// The ConfigMap extension-apiserver-authentication publishes the configuration.
	RequestHeader auth.RequestHeader
	// ServiceAccounts configures how tokens of service accounts are signed and checked. The zero value signs with a published key.
	ServiceAccounts token.Options
	// BootstrapTokens accepts the bootstrap tokens in Secrets of kube-system (--enable-bootstrap-token-auth). The controllers
	// account.BootstrapSigner and account.TokenCleaner sign with them and delete them when they expire.
	BootstrapTokens bool `json:",omitempty"`
	// NoAnonymous rejects requests without credentials with 401 (--anonymous-auth=false).
	NoAnonymous bool `json:",omitempty"`
	// AnonymousPaths are the only paths for which requests without credentials are accepted (anonymous.conditions of
	// --authentication-config). If it is empty, all are.
	AnonymousPaths []string `json:",omitempty"`
	// Authentication configures the tokens of issuers outside the cluster, such as OpenID providers.
	Authentication Authentication `json:"-"`
	// Encryption configures the encryption of stored values.
	Encryption Encryption `json:"-"`
	// Plugins are the names of admission plugins that run in addition to the default ones (admission.Optional lists the names). One
	// of them is ServiceAccount, which requires a service account "default" in the namespace of every pod; a controller creates it.
	Plugins []string `json:",omitempty"`
	// WithoutPlugins are the names of admission plugins that do not run (--disable-admission-plugins).
	WithoutPlugins []string `json:",omitempty"`
	// AdmissionConfig is the file of kube-apiserver's --admission-control-config-file. It configures the certificate or token by
	// which the server identifies itself to admission webhooks over the network, the defaults and exemptions of PodSecurity, and
	// the resources that ResourceQuota limits by default. If it is "", none of these is configured.
	AdmissionConfig string `json:"-"`
	// Audit configures the audit log of the API servers.
	Audit Audit `json:"-"`
	// CBOR is the codec for application/cbor (cbor.Codec of package sim/cbor). API servers with the feature gate CBORServingAndStorage
	// need it.
	CBOR codec.CBORCodec `json:"-"`
	// Metrics counts the requests for the path /metrics, as kubesim serve does.
	Metrics bool `json:"-"`
	// Admission is the configuration of admission plugins. AdmissionConfig replaces it.
	Admission admission.Config `json:",omitzero"`
	// Replicas are the API servers of the cluster, which share a store. Server.Replica controls them, and Server.Route directs
	// clients to them. If empty, there is one server of the newest version.
	Replicas []Server
	// Number is the number of the first API server among all those of a store that several processes share (sim.Cluster.Share). The
	// machines and identity leases of API servers are named by their numbers. If it is 0, no other process has the store.
	Number int `json:",omitempty"`
	// Peers are the API servers in other processes over the store when the Cluster starts (sim.Cluster.SetPeers).
	Peers []Peer `json:"-"`
	// Bare omits the objects that API servers create when they start, such as cluster roles, flow schemas and the Service
	// kubernetes. Namespaces are created anyway. Responses do not name flow schemas then.
	Bare bool `json:",omitempty"`
	// Classes creates a default StorageClass, standard, and a default IngressClass, kubesim, before the first request. Volumes of
	// the StorageClass are provisioned if Controllers includes the volume provisioner; Ingresses get addresses if it includes
	// network.Ingresses.
	Classes bool `json:",omitempty"`
	// NoControllers disables the aggregation of ClusterRoles, through which admin, edit and view include the rules of other roles.
	// In a real cluster a controller aggregates them. With a standalone API server, such as envtest's, these roles are empty.
	NoControllers bool `json:",omitempty"`
	// Controllers are the controllers of kube-controller-manager that run: controller.All, or names, where "-NAME" excludes a
	// controller. If nil, only the aggregation of ClusterRoles runs, so that a test sees only its own writes. See Server.Settle.
	Controllers []string `json:",omitempty"`
	// Nodes is the number of nodes, which are called node-1, node-2, …. Their kubelets run the pods that are bound to them.
	// Containers do not execute any code. The behaviour of a container depends on its image (Images), on annotations of its pod
	// (kubelet.Annotation), and on its command, if the outcome of the command is obvious.
	Nodes int `json:",omitempty"`
	// NodeNames are the names of further nodes, which have been imported (Server.Import). Their kubelets are simulated, too, and take
	// over the nodes and their pods as they are. A kubelet whose node does not exist does nothing.
	NodeNames []string `json:",omitempty"`
	// Images describe the behaviour of containers by image name, with or without a tag. A container of any other image starts in
	// one second and runs until it is stopped.
	Images map[string]images.Image `json:",omitempty"`
	// Progress, if not nil, is notified of long operations. Other requests are served during these operations.
	Progress Progress `json:"-"`
	// WriteGap is the clock time between the two writes of one request, such as setting a pod's deletionTimestamp and removing the
	// pod if it has no kubelet. A real store takes about a millisecond, and some controllers rely on it. If 0, clients see both
	// writes at once, in order. With a manual clock the request waits for Clock.Advance.
	WriteGap time.Duration `json:",omitempty"`
	// ReactionTime is the clock time between a write and the reconciles that it causes in the controllers of
	// kube-controller-manager and in kube-scheduler. The real programs receive the write through a watch. If 0, they have reconciled
	// before the client gets its answer.
	ReactionTime time.Duration `json:",omitempty"`
	// ServiceCIDR is the range of Service addresses (--service-cluster-ip-range), or one range of each IP family, separated by a
	// comma: "10.0.0.0/24,fd00::/112". The first one has the default family, and the Service kubernetes has its first address. With
	// both families, nodes and pods have two addresses. The default is 10.0.0.0/24.
	ServiceCIDR string `json:",omitempty"`
	// Advertise is the address of the first API server in the endpoints of the Service kubernetes (--advertise-address). The default is
	// 192.0.2.1.
	Advertise string `json:",omitempty"`
	// EndpointReconciler determines the endpoints of the Service kubernetes (--endpoint-reconciler-type): lease, the default, publishes
	// the addresses of all API servers that run with it; master-count adds the address of the first server, up to EndpointServers
	// addresses; none changes nothing.
	EndpointReconciler string `json:",omitempty"`
	// EndpointServers is the number of API servers for master-count (--apiserver-count). The default is 1.
	EndpointServers int `json:",omitempty"`
	// LeaderElection configures how an API server becomes the leader of coordinated leader election (feature gate
	// CoordinatedLeaderElection).
	LeaderElection LeaderElection `json:",omitzero"`
	// MinRequestTimeout is the minimum duration of a watch without a timeout (--min-request-timeout). Such a watch lasts at most
	// twice as long. The default is half an hour. If negative, such a watch does not end by itself.
	MinRequestTimeout time.Duration `json:",omitempty"`
	// RequestTimeout is the deadline of a request that is not long-running (--request-timeout). A client may request a shorter one
	// with ?timeout=. A write of one object is always limited to 34 s. The default is a minute.
	RequestTimeout time.Duration `json:",omitempty"`
	// Port is the published port of the API servers, in the Service kubernetes and its endpoints, in discovery and in the OpenID
	// configuration. The default is 6443.
	Port int `json:",omitempty"`
	// NoWatchCache serves lists and watches from the store instead of from watch caches (--watch-cache=false).
	NoWatchCache bool `json:",omitempty"`
	// RootCA is a bundle of PEM certificates that clients of the API servers trust (kube-controller-manager's --root-ca-file). The
	// controllers publish it for pods. If empty, pods are expected to connect without TLS.
	RootCA string `json:",omitempty"`

	// Data is a directory in which the server stores every commit, as etcd does. If the directory contains data, the server
	// continues from it with new API servers: their caches are empty, and the options given here apply. If empty, nothing is
	// stored.
	Data string `json:"-"`
	// DataReadOnly makes the server continue from the data in Data without writing to it, because another process does (Server.Keep).
	DataReadOnly bool `json:"-"`
	// Standby starts the server without its controllers and kubelets, because those of another process run (sim.Cluster.Lead).
	Standby bool `json:"-"`
	// Archive is a file that contains the whole server, like Snapshot, and to which each commit is appended. If the file exists,
	// the server continues from it: in the state in which it was closed or, if it was not closed, with new API servers after the
	// last commit. As with Snapshot, the options in the file apply. See Server.DataError. If empty, there is no archive.
	Archive string `json:"-"`
	// ArchiveSync writes each commit to disk before it becomes visible. Otherwise nothing is lost if the process ends, and at most
	// the last second if the machine fails.
	ArchiveSync bool `json:"-"`
	// Snapshot is the result of Server.Snapshot, from which the server continues. Its options replace those given here, except for
	// options of the process. If Clock is not nil, it must not be earlier than the time of the snapshot.
	Snapshot []byte `json:"-"`

	// ServiceAddresses maps services, given as "NAMESPACE/NAME" or "NAMESPACE/NAME:PORT", to their real addresses "HOST:PORT". See
	// Server.ServiceAddress.
	ServiceAddresses map[string]string `json:"-"`
	// ServiceCerts is a directory for a certificate of these services. If empty, no certificate is created. See
	// Server.ServiceCerts.
	ServiceCerts string `json:"-"`
	// ProxyClientCert and ProxyClientKey are the client certificate for aggregated API servers and its key, in PEM. If nil, there
	// is none.
	ProxyClientCert []byte `json:"-"`
	ProxyClientKey  []byte `json:"-"`

	// Trace is the number of trace records to keep, with their hashes. If 0, no records are kept, except that a test keeps the last
	// few for its failure report. If negative, no records are ever kept.
	Trace int `json:",omitempty"`
	// NoHashes omits the hashes of trace records, which is cheaper, but the records cannot be compared with those of another run.
	NoHashes bool `json:",omitempty"`
	// Replay repeats the fault decisions of an earlier run (srv.Faults.Decisions, or the decisions in its trace;
	// fault.ParseDecisions parses both). If nil, decisions are drawn from the seed.
	Replay []fault.Decision `json:",omitempty"`

	// MaxWritesPerInstant limits the writes of one object while the clock does not move. A test that exceeds the limit fails with a
	// list of the writers and their changes, because such writes would never end. Objects that are repeatedly deleted and recreated
	// under new names count, too. The default is 1,000 in a testing/synctest bubble and in Explore, where time moves only when all
	// goroutines are blocked. Otherwise, and if negative, there is no limit.
	MaxWritesPerInstant int `json:"-"`
	// FailOnWarning fails a test if a response contains a warning, for example about an unknown field that was dropped.
	FailOnWarning bool `json:"-"`
}

// Authorization configures the authorizers ABAC and Webhook (Kubernetes documentation, "ABAC Authorization" and "Webhook Mode"). Its
// fields except Chain are kube-apiserver's flags. Function Configure of package fake/authorization reads them and sets Chain.
type Authorization struct {
	// PolicyFile has a policy of ABAC in each line (--authorization-policy-file).
	PolicyFile string
	// WebhookConfigFile is the kubeconfig of the webhook (--authorization-webhook-config-file). WebhookVersion is the version of the
	// SubjectAccessReviews, v1beta1 by default (--authorization-webhook-version).
	WebhookConfigFile, WebhookVersion string
	// Decisions are cached for these durations of the cluster's clock, or not at all if one is 0. The default is 5 minutes for requests
	// that the webhook allows, and 30 seconds for others.
	WebhookCacheAuthorizedTTL, WebhookCacheUnauthorizedTTL *time.Duration
	// Chain are the authorizers in their order. If it is nil, Authorizers of Cluster determines them.
	Chain []auth.Link
}

// LeaderElection contains the values of the flags --coordinated-leadership-*.
type LeaderElection struct {
	LeaseDuration time.Duration // the default is 15 s
	RenewDeadline time.Duration // the default is 10 s
	RetryPeriod   time.Duration // the default is 2 s
}

// Peer is an API server in another process that shares the store.
type Peer struct {
	Number             int    // Cluster.Number
	Address            string // Cluster.Advertise
	EndpointReconciler string // Cluster.EndpointReconciler
	Server             Server
}

// Authentication configures the tokens of issuers outside the cluster (Kubernetes documentation, "OpenID Connect Tokens"). The fields
// except Issuers are kube-apiserver's flags. Function Configure of package fake/oidc reads them and sets Issuers.
type Authentication struct {
	// ConfigFile is an AuthenticationConfiguration (--authentication-config).
	ConfigFile string
	// OIDC configures one issuer.
	OIDC OIDC
	// Issuers checks the tokens. If it is nil, there are no issuers.
	Issuers auth.TokenIssuers
}

// Encryption configures the encryption of stored values (Kubernetes documentation, "Encrypting Confidential Data at Rest"). The fields
// except Values are kube-apiserver's flags. Function Configure of package fake/encryption reads the file and sets Values.
type Encryption struct {
	// ConfigFile is an EncryptionConfiguration (--encryption-provider-config). If AutomaticReload is set, it is read again when it
	// changes (--encryption-provider-config-automatic-reload).
	ConfigFile      string
	AutomaticReload bool
	// Values encrypts the values. If it is nil, values are stored as they are, and the other fields must not be set.
	Values StorageEncryption
}

// StorageEncryption encrypts stored values. The store itself has plain objects: clients see the encryption in the API of etcd, in the
// errors for values that cannot be decrypted, and in health checks. Resources are named like deployments.apps. Methods are called with the
// Cluster's lock held, unless stated otherwise.
type StorageEncryption interface {
	// Arrived is called before each request with its path, and without the lock. logf logs errors.
	Arrived(path string, logf func(format string, args ...any))
	// Prepare is called before a write. It returns the error with which the new value cannot be encrypted. It waits in unlocked, which
	// calls a function without the lock.
	Prepare(resource string, unlocked func(func())) error
	// Unreadable returns the error with which the value of a key at a revision cannot be read, or nil. It is a resource.TransformError if
	// the value cannot be decrypted.
	Unreadable(resource, key string, rev uint64) error
	// Stale reports whether the value of a key at a revision would be encrypted with another key now, so that an update without changes
	// stores it again.
	Stale(resource, key string, rev uint64) bool
	// Checks returns the names of the health checks, and Check the error of one of them.
	Checks() []string
	Check(name string) error
}

// OIDC contains the values of the flags --oidc-*.
type OIDC struct {
	IssuerURL, ClientID, CAFile   string
	UsernameClaim, UsernamePrefix string // the claim is sub by default, and the prefix is the issuer and "#"; - stands for no prefix
	GroupsClaim, GroupsPrefix     string
	RequiredClaims                []string // CLAIM=VALUE
	SigningAlgs                   []string // the default is RS256
}

// Audit configures an audit log (Kubernetes documentation, "Auditing"). There is a log only if both a policy and an output are set.
// The cluster's own controllers and kubelets send no requests, so their writes have no events.
type Audit struct {
	// Policy is the audit policy as YAML or JSON. If it is empty, it is in PolicyFile (--audit-policy-file).
	Policy     string
	PolicyFile string
	// Log receives one line for each event, while the server waits. If it is nil, the events are appended to the file LogPath, or
	// printed if that is "-" (--audit-log-path).
	Log     io.Writer
	LogPath string
	// LogFormat is json or legacy (--audit-log-format). The default is json.
	LogFormat string
}

// Progress is notified of long operations, such as filling a large cluster.
type Progress interface {
	// Reconciled is called after every thousand reconciles that one request, or the start of the cluster, causes. done is the
	// number of these reconciles so far, and due is the number of pending ones. Reconciled must not send requests to the cluster,
	// because the cluster waits until it returns.
	Reconciled(done, due int)
}

// Server is the configuration of one API server. The zero value is a server of version schema.Default with default settings.
type Server struct {
	// Version is a Kubernetes minor version such as "1.35", or one of its releases. The default is schema.Default.
	Version string
	// FeatureGates enables or disables feature gates. Only those gates are supported that affect fields or values of objects.
	FeatureGates map[string]bool
	// Serve enables and disables APIs, like --runtime-config: a resource ("batch/v1/cronjobs"), a group version
	// ("autoscaling/v1"), all APIs of a stability level ("api/ga", "api/beta", "api/alpha") or "api/all" ("api/legacy" has no
	// effect). The most specific entry applies.
	Serve map[string]bool
	// StorageVersions sets the storage versions of resources with several served versions, for example
	// "horizontalpodautoscalers.autoscaling": "autoscaling/v1".
	StorageVersions map[string]string
	// PeerProxy forwards requests for resources that this server does not serve to another server that does, and publishes the
	// resources of all servers in aggregated discovery, as --peer-ca-file does in 1.36 (KEP-4020, feature gate
	// UnknownVersionInteroperabilityProxy). It is not enabled by default in any version.
	PeerProxy bool
	// NoPrivileged rejects privileged containers, like --allow-privileged=false. They are allowed by default, as in clusters
	// created by kubeadm and kind, although kube-apiserver itself rejects them by default.
	NoPrivileged bool
	// Flags are the values of further kube-apiserver flags, which /flagz shows.
	Flags map[string]string `json:",omitempty"`
}
