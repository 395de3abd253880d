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
	"github.com/kubesim/kubesim/fake/flags"
	"github.com/kubesim/kubesim/sim"
	"github.com/kubesim/kubesim/sim/auth"
)

// release is the version of the API server.
const release = sim.Version

// writeGap is how long a real store takes between the two writes of one request.
const writeGap = time.Millisecond

// watchListGap is the minimum time that a real server takes to send the initial events of a watch.
const watchListGap = 3 * time.Millisecond

// servers holds the settings of a command line.
type servers struct {
	*flagSet
	options fake.Options
	listen  fake.ListenOptions
	etcd    string   // its URL
	loud    int      // -v
	notes   []string // warnings about --token-auth-file
	idle    []string // flags, and values of flags, that change nothing here
}

// read turns a command line into options. Its errors are those of kube-apiserver, where it has them.
func read(args []string) (*servers, error) {
	s := &servers{flagSet: parse(args, isBool)}
	if len(s.without) > 0 {
		return s, fmt.Errorf("unknown command %q for \"kube-apiserver\"", s.without[0])
	}
	s.check()
	s.options = fake.Options{Clock: clock.System{}, Tokens: []auth.Token{}, NoControllers: true, WriteGap: writeGap}
	s.readEtcd()
	s.readAddresses()
	s.fill(&s.options)
	s.readTokens()
	s.readAuthorization()
	s.readPlugins()
	s.readAPI()
	s.readNetwork()
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
	if etcds := s.list("etcd-servers"); len(etcds) > 0 {
		s.etcd = etcds[0]
		return
	}
	s.fails(errors.New("--etcd-servers must be specified"))
}

// readAddresses decides where to listen, and with which certificate.
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

// readTLS reads which versions of TLS are spoken, and with which ciphers.
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

// legacySuites are names of ciphers that kube-apiserver accepts in addition to those of crypto/tls.
var legacySuites = map[string]string{
	"TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305":   "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
	"TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305": "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
}

// readPlugins reads which admission plugins run: ServiceAccount does unless it is turned off, as in kube-apiserver.
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
			if x.flag == "enable-admission-plugins" && slices.Contains(plugins, name) && !sim.KnowsPlugin(name) && !slices.Contains(inert, name) {
				s.fails(fmt.Errorf("kubesim does not simulate the admission plugin %s (--enable-admission-plugins): leave it out", name))
			}
		}
	}
	for _, name := range on {
		if slices.Contains(off, name) {
			s.fails(fmt.Errorf("[%s] in enable-admission-plugins and disable-admission-plugins overlapped", name))
		}
	}
	s.options.Plugins = added(sim.OptionalPlugins(), on, off)
	for _, name := range off {
		if sim.KnowsPlugin(name) {
			s.options.WithoutPlugins = append(s.options.WithoutPlugins, name)
		}
	}
}

// inert are the plugins of kube-apiserver that refuse and change nothing here: by nature, or because kubesim does not have the kinds
// that they are about.
var inert = []string{"AlwaysAdmit", "ClusterTrustBundleAttest", "PodGroupProtection", "PodGroupWorkloadExists"}

// added returns which of the optional plugins run. kube-apiserver runs ServiceAccount without being asked.
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

// readAPI reads which version of the API is served, with which gates.
func (s *servers) readAPI() {
	var r fake.ReplicaOptions
	for _, v := range s.list("emulated-version") {
		if _, version, ok := strings.Cut(v, "="); ok {
			v = version
		}
		r.Version = v
	}
	r.NoPrivileged = !s.on("allow-privileged", false)
	r.FeatureGates = s.switches("feature-gates")
	for _, name := range slices.Sorted(maps.Keys(r.FeatureGates)) {
		if err := checkGate(name, r.FeatureGates[name], r.Version != ""); err != nil {
			s.fails(err)
		}
		if !sim.KnowsGate(name) {
			delete(r.FeatureGates, name)
			s.idle = append(s.idle, "--feature-gates "+name)
		}
	}
	s.readRuntimeConfig(&r)
	r.Flags = s.printed()
	s.options.Replicas = []fake.ReplicaOptions{r}
}

// switches reads a flag whose values are NAME=true and NAME=false, separated by commas. It ignores a component before the name, as in
// kube:NAME.
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

// readNetwork reads the addresses of services, and how long requests may take.
func (s *servers) readNetwork() {
	first, _, _ := strings.Cut(s.last("service-cluster-ip-range"), ",") // a string: the last of two flags counts
	s.options.ServiceCIDR = strings.TrimSpace(first)
	if s.options.RequestTimeout < 0 {
		s.fails(errors.New("--request-timeout can not be negative value"))
	}
	if strings.HasPrefix(s.last("min-request-timeout"), "-") {
		s.fails(errors.New("--min-request-timeout can not be negative value"))
	}
	if s.has("request-timeout") && s.options.RequestTimeout == 0 {
		s.options.RequestTimeout = time.Nanosecond // no request has time, as there
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

// readAuthorization reads the modes of authorization.
func (s *servers) readAuthorization() {
	s.options.Authorizers = []string{"AlwaysAllow"}
	if s.has("authorization-mode") {
		s.options.Authorizers = strings.Split(strings.Join(s.values["authorization-mode"], ","), ",")
	}
}
