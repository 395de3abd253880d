package dropin

import (
	"bytes"
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
	v3 "github.com/kubesim/kubesim/fake/etcd"
	"github.com/kubesim/kubesim/fake/flags"
	"github.com/kubesim/kubesim/fake/oidc"
	"github.com/kubesim/kubesim/sim"
	"github.com/kubesim/kubesim/sim/admission"
	"github.com/kubesim/kubesim/sim/auth"
	"github.com/kubesim/kubesim/sim/cbor"
	"github.com/kubesim/kubesim/sim/replica"
	"github.com/kubesim/kubesim/sim/schema"
)

// release is the version of the simulated API server.
const release = sim.Version

// writeGap is the value of Options.WriteGap: the time that a real etcd needs between the two writes of one request, such as marking
// and removing a pod.
const writeGap = time.Millisecond

// reactionTime is the value of Options.ReactionTime, in which a client can send its next requests. A kube-controller-manager v1.36.3
// on the same busy machine wrote to a new Deployment for the first time 3 to 36 ms after the client had its answer, and for the second
// time after 23 to 60 ms. Here a controller makes all writes of a reconcile at the same time.
const reactionTime = 30 * time.Millisecond

// watchListGap is the minimum time that a real server takes to send the initial events of a watch.
const watchListGap = 3 * time.Millisecond

// servers holds the settings of a command line.
type servers struct {
	*flagSet
	options fake.Options
	listen  fake.ListenOptions
	etcd    string   // URL of etcd
	prefix  string   // of the keys in etcd
	loud    int      // -v
	notes   []string // warnings about --token-auth-file
	idle    []string // flags, and values of flags, that change nothing here
	checks           // set by environment variables
}

// read converts a command line to options. If kube-apiserver has an error for a flag, read returns the same error. It always
// returns the settings that it has read so far.
func read(args []string) (*servers, error) {
	s := &servers{flagSet: parse(args, isBool)}
	if len(s.without) > 0 {
		return s, fmt.Errorf("unknown command %q for \"kube-apiserver\"", s.without[0])
	}
	s.check()
	s.options = fake.Options{Clock: clock.System{}, Tokens: []auth.Token{}, NoControllers: true, WriteGap: writeGap, ReactionTime: reactionTime, CBOR: cbor.Codec{}, Metrics: true}
	s.readEtcd()
	s.readAddresses()
	s.fill(&s.options)
	s.readTokens()
	s.readIssuers()
	s.readAuthorization()
	s.readAudit()
	s.readPlugins()
	s.readAPI()
	s.readTimeouts()
	s.readEndpoints()
	if s.wrong != nil {
		return s, s.wrong
	}
	s.loud, _ = strconv.Atoi(s.last("v"))
	for _, name := range s.order {
		if f := flags.Find(name); f != nil && f.Does == flags.Ignored {
			s.idle = append(s.idle, "--"+name)
		}
	}
	return s, nil
}

func (s *servers) readEtcd() {
	s.prefix = cmp.Or(s.last("etcd-prefix"), v3.DefaultPrefix)
	if etcds := s.list("etcd-servers"); len(etcds) > 0 {
		s.etcd = etcds[0]
		return
	}
	s.fails(errors.New("--etcd-servers must be specified"))
}

// readAddresses sets the address to listen on, and the certificate.
func (s *servers) readAddresses() {
	port := 6443
	if s.has("secure-port") {
		var err error
		if port, err = strconv.Atoi(s.last("secure-port")); err != nil || port < 0 || port > 65535 {
			s.fails(fmt.Errorf("--secure-port %s must be between 1 and 65535, inclusive. It cannot be turned off with 0",
				s.last("secure-port")))
		}
	}
	s.options.Port = port
	s.listen = fake.ListenOptions{Address: net.JoinHostPort(s.last("bind-address"), strconv.Itoa(port)), TLS: true, WatchListGap: watchListGap,
		AllowedOrigins: s.list("cors-allowed-origins"), StrictTransportSecurity: s.list("strict-transport-security-directives")}
	for _, directive := range s.listen.StrictTransportSecurity {
		if age, ok := strings.CutPrefix(directive, "max-age="); directive != "includeSubDomains" && directive != "preload" && (!ok || strings.Contains(age, "=")) {
			s.fails(errors.New("--strict-transport-security-directives invalid, allowed values: max-age=expireTime, includeSubDomains, preload. see https://tools.ietf.org/html/rfc6797#section-6.1 for more information"))
		}
	}
	s.readTLS()
	certificate, key := s.last("tls-cert-file"), s.last("tls-private-key-file")
	if certificate == "" && key == "" {
		dir := s.last("cert-dir")
		if dir == "" {
			return
		}
		certificate, key = filepath.Join(dir, "apiserver.crt"), filepath.Join(dir, "apiserver.key")
		if _, err := os.Stat(certificate); errors.Is(err, fs.ErrNotExist) {
			return
		}
	}
	if _, err := tls.LoadX509KeyPair(certificate, key); err != nil {
		s.fails(fmt.Errorf("failed to load the certificate to serve with: %w", err))
	}
	s.listen.CertificateFile, s.listen.KeyFile = certificate, key
}

// readTLS sets the supported TLS versions and cipher suites.
func (s *servers) readTLS() {
	versions := map[string]uint16{"": 0, "VersionTLS10": tls.VersionTLS10, "VersionTLS11": tls.VersionTLS11, "VersionTLS12": tls.VersionTLS12,
		"VersionTLS13": tls.VersionTLS13}
	version, ok := versions[s.last("tls-min-version")]
	if !ok {
		s.fails(fmt.Errorf("unknown tls version %q", s.last("tls-min-version")))
	}
	s.listen.MinTLS = version
	suites := append(tls.CipherSuites(), tls.InsecureCipherSuites()...)
	for _, name := range s.list("tls-cipher-suites") {
		current := cmp.Or(legacySuites[name], name)
		i := slices.IndexFunc(suites, func(c *tls.CipherSuite) bool { return c.Name == current })
		if i < 0 {
			s.fails(fmt.Errorf("Cipher suite %s not supported or doesn't exist", name)) //nolint:staticcheck // kube-apiserver's text
			return
		}
		s.listen.CipherSuites = append(s.listen.CipherSuites, suites[i].ID)
	}
}

// legacySuites maps cipher suite names that kube-apiserver also accepts to the names of crypto/tls.
var legacySuites = map[string]string{
	"TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305":   "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
	"TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305": "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
}

// readAudit checks the flags of the audit log that have no effect here.
func (s *servers) readAudit() {
	if mode := s.last("audit-log-mode"); s.has("audit-log-mode") && !slices.Contains([]string{"batch", "blocking", "blocking-strict"}, mode) {
		s.fails(fmt.Errorf("invalid audit log mode %s, allowed modes are %q", mode, "batch,blocking,blocking-strict"))
	}
	switch version := s.last("audit-log-version"); {
	case strings.Count(version, "/") > 1:
		s.fails(fmt.Errorf("unexpected GroupVersion string: %s", version))
	case s.has("audit-log-version") && version != "audit.k8s.io/v1":
		s.fails(fmt.Errorf("invalid group version, allowed versions are %q", []string{"audit.k8s.io/v1"}))
	}
	for _, name := range []string{"audit-log-maxage", "audit-log-maxbackup", "audit-log-maxsize"} {
		if strings.HasPrefix(s.last(name), "-") {
			s.fails(fmt.Errorf("--%s %s can't be a negative number", name, s.last(name)))
		}
	}
}

// readPlugins sets which admission plugins run. As in kube-apiserver, ServiceAccount runs unless it is disabled.
func (s *servers) readPlugins() {
	on, off := s.list("enable-admission-plugins"), s.list("disable-admission-plugins")
	if s.has("admission-control") {
		if len(on)+len(off) > 0 {
			s.fails(errors.New("admission-control and enable-admission-plugins/disable-admission-plugins flags are mutually exclusive"))
		}
		on = s.list("admission-control")
		off = slices.DeleteFunc(slices.Clone(plugins), func(name string) bool { return slices.Contains(on, name) })
	}
	for _, x := range []struct {
		flag  string
		names []string
	}{{"enable-admission-plugins", on}, {"disable-admission-plugins", off}} {
		for _, name := range x.names {
			if !slices.Contains(plugins, name) {
				s.fails(fmt.Errorf("%s plugin %q is unknown", x.flag, name))
			}
			if x.flag == "enable-admission-plugins" && slices.Contains(plugins, name) && !slices.Contains(admission.Names(), name) && !slices.Contains(inert, name) {
				s.fails(fmt.Errorf("kubesim does not simulate the admission plugin %s (--enable-admission-plugins): leave it out", name))
			}
		}
	}
	for _, name := range on {
		if slices.Contains(off, name) {
			s.fails(fmt.Errorf("[%s] in enable-admission-plugins and disable-admission-plugins overlapped", name))
		}
	}
	s.options.Plugins = added(admission.Optional(), on, off)
	for _, name := range off {
		if slices.Contains(admission.Names(), name) {
			s.options.WithoutPlugins = append(s.options.WithoutPlugins, name)
		}
	}
}

// inert are the plugins of kube-apiserver that never reject or change anything here, by nature.
var inert = []string{"AlwaysAdmit"}

// added returns the optional plugins that run. ServiceAccount is enabled by default, as in kube-apiserver.
func added(optional, on, off []string) (run []string) {
	for _, name := range optional {
		if slices.Contains(on, name) || name == "ServiceAccount" && !slices.Contains(off, name) {
			run = append(run, name)
		}
	}
	return run
}

// plugins are the names of all admission plugins of kube-apiserver.
var plugins = []string{
	"AlwaysAdmit", "AlwaysDeny", "AlwaysPullImages", "CertificateApproval", "CertificateSigning",
	"CertificateSubjectRestriction", "ClusterTrustBundleAttest", "DefaultIngressClass", "DefaultStorageClass",
	"DefaultTolerationSeconds", "DenyServiceExternalIPs", "EventRateLimit", "ExtendedResourceToleration",
	"ImagePolicyWebhook", "JobValidation", "LimitPodHardAntiAffinityTopology", "LimitRanger",
	"MutatingAdmissionPolicy", "MutatingAdmissionWebhook", "NamespaceAutoProvision", "NamespaceExists",
	"NamespaceLifecycle", "NodeDeclaredFeatureValidator", "NodeRestriction",
	"OwnerReferencesPermissionEnforcement", "PersistentVolumeClaimResize", "PodGroupProtection",
	"PodGroupWorkloadExists", "PodNodeSelector", "PodResizeValidator", "PodSecurity", "PodTolerationRestriction",
	"PodTopologyLabels", "Priority", "ResourceQuota", "RuntimeClass", "ServiceAccount",
	"StorageObjectInUseProtection", "TaintNodesByCondition", "ValidatingAdmissionPolicy",
	"ValidatingAdmissionWebhook",
}

// oldestEmulated is a minor that kube-apiserver v1.36 emulates, and for which kubesim has no data.
const oldestEmulated = "1.33"

// peerGate is the feature gate for requests and discovery across API servers (KEP-4020).
const peerGate = "UnknownVersionInteroperabilityProxy"

// readAPI sets the version of the API server, its feature gates and its APIs.
func (s *servers) readAPI() {
	var r fake.ReplicaOptions
	for _, v := range s.list("emulated-version") {
		if _, version, ok := strings.Cut(v, "="); ok {
			v = version
		}
		r.Version = v
	}
	if r.Version == oldestEmulated {
		r.Version = schema.Known()[0]
		s.idle = append(s.idle, "--emulated-version "+oldestEmulated+" (the server has the API of "+r.Version+")")
	}
	r.NoPrivileged = !s.enabled("allow-privileged", false)
	r.FeatureGates = s.switches("feature-gates")
	for _, name := range slices.Sorted(maps.Keys(r.FeatureGates)) {
		if err := checkGate(name, r.FeatureGates[name], r.Version != ""); err != nil {
			s.fails(err)
		}
		if !replica.KnowsGate(name) {
			delete(r.FeatureGates, name)
			s.idle = append(s.idle, "--feature-gates "+name)
		}
	}
	s.readPeers(&r)
	s.readRuntimeConfig(&r)
	r.Flags = s.printed()
	s.options.Replicas = []fake.ReplicaOptions{r}
}

// readPeers sets whether requests for resources of other API servers over the same etcd are forwarded to them. The gate is enabled by
// default from 1.36 on.
func (s *servers) readPeers(r *fake.ReplicaOptions) {
	if s.last("peer-ca-file") == "" {
		return
	}
	on, given := s.switches("feature-gates")[peerGate]
	if r.PeerProxy = on || !given && (r.Version == "" || r.Version == schema.Default); !r.PeerProxy {
		s.fails(errors.New("--peer-ca-file requires " + peerGate + " feature to be turned on"))
	}
}

// switches parses a flag whose values are NAME=true and NAME=false, separated by commas. It ignores the component kube: before a
// name.
func (s *servers) switches(flag string) map[string]bool {
	out := map[string]bool{}
	for _, item := range s.list(flag) {
		name, value, given := strings.Cut(item, "=")
		name = strings.TrimPrefix(name, "kube:")
		on, err := strconv.ParseBool(value)
		if !given {
			on, err = true, nil
		}
		if err != nil {
			s.invalid(flag, fmt.Errorf("invalid value of %s: %s, err: %w", name, value, err))
		}
		out[name] = on
	}
	return out
}

// readTimeouts checks the timeouts of requests.
func (s *servers) readTimeouts() {
	if s.options.RequestTimeout < 0 {
		s.fails(errors.New("--request-timeout can not be negative value"))
	}
	if strings.HasPrefix(s.last("min-request-timeout"), "-") {
		s.fails(errors.New("--min-request-timeout can not be negative value"))
	}
	if s.has("request-timeout") && s.options.RequestTimeout == 0 {
		s.options.RequestTimeout = time.Nanosecond // every request times out, as in kube-apiserver
	}
}

// readEndpoints checks the flags about the endpoints of the Service kubernetes.
func (s *servers) readEndpoints() {
	if n := s.options.EndpointServers; s.has("apiserver-count") && n <= 0 {
		s.fails(fmt.Errorf("--apiserver-count should be a positive number, but value '%d' provided", n))
	}
	if kind := s.options.EndpointReconciler; !slices.Contains([]string{"", "lease", "master-count", "none"}, kind) {
		s.fails(fmt.Errorf("--endpoint-reconciler-type should be lease, master-count or none, but value '%s' provided", kind))
	}
}

// readTokens reads the tokens of users.
func (s *servers) readTokens() {
	if text := s.file("token-auth-file", "unable to load the tokens"); text != nil {
		var err error
		if s.options.Tokens, s.notes, err = auth.ReadTokens(bytes.NewReader(text)); err != nil {
			s.fails(fmt.Errorf("--token-auth-file %s: %w", s.last("token-auth-file"), err))
		}
	}
}

// readIssuers configures the issuers of tokens outside the cluster.
func (s *servers) readIssuers() {
	if err := oidc.Configure(&s.options, s.has("anonymous-auth")); err != nil {
		s.fails(err)
	}
}

// readAuthorization reads the modes of authorization.
func (s *servers) readAuthorization() {
	if s.has("authorization-config") {
		given := func(name string) bool {
			return name == "authorization-mode" || strings.HasPrefix(name, "authorization-webhook-")
		}
		if slices.ContainsFunc(s.order, given) {
			s.fails(errors.New("--authorization-config can not be specified when --authorization-mode or --authorization-webhook-* flags are defined"))
		}
		return
	}
	s.options.Authorizers = []string{"AlwaysAllow"}
	if s.has("authorization-mode") {
		s.options.Authorizers = strings.Split(strings.Join(s.values["authorization-mode"], ","), ",")
	}
}
