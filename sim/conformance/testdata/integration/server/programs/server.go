// Package programs starts etcd and kube-apiserver from a folder for tests that expect them in their own process:
//
//	test ─▶ apptesting, framework, app, extensions   the packages that the tests import instead of upstream's
//	              │  options, flags, gates ─▶ Flags
//	              ▼
//	        programs.Start ─▶ kube-apiserver ─▶ etcd, which the tests of a package share
//
// The folder is in the environment, so that the same test binary runs over the real programs and over kubesim's.
package programs

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	restclient "k8s.io/client-go/rest"
	"k8s.io/client-go/util/cert"
)

// readyTimeout is the maximal time that a kube-apiserver takes to start.
const readyTimeout = time.Minute

// Server is a running kube-apiserver.
type Server struct {
	Port     int
	CertFile string             // its serving certificate
	Config   *restclient.Config // of a client that is in the group system:masters
	Stop     func()
}

// Request describes the server that a test wants to start.
type Request struct {
	Label    string // for logs, the test's name
	Dir      string // for certificates and tokens; it must exist
	Flags    Flags
	Etcd     []string // the URLs of etcd
	Prefix   string   // of the keys in etcd
	NoHealth bool     // do not wait until it is healthy
}

// token is the bearer token of the user system:apiserver, as which tests act unless they say otherwise.
var token = uuid.NewString()

// Start starts a kube-apiserver and waits until it is healthy and has made its namespaces.
func Start(r Request) (*Server, error) {
	certificate, err := r.prepare()
	if err != nil {
		return nil, err
	}
	r.Flags.Set("etcd-servers", strings.Join(r.Etcd, ","))
	r.Flags.Set("etcd-prefix", r.Prefix)
	fixed := r.Flags.Has("secure-port")
	for try := 1; ; try++ {
		s, p, err := r.start(certificate)
		switch {
		case err == nil:
			s.Stop = sync.OnceFunc(p.stop)
			return s, nil
		case p == nil || fixed || try == 3 || !p.said("address already in use"):
			return nil, err
		}
		r.Flags.Remove("secure-port")
	}
}

// start starts the program once. If it fails, the process has ended.
func (r *Request) start(certificate string) (*Server, *process, error) {
	if !r.Flags.Has("secure-port") {
		port, err := freePort()
		if err != nil {
			return nil, nil, err
		}
		r.Flags.Set("secure-port", fmt.Sprint(port))
	}
	s := &Server{CertFile: certificate}
	if _, err := fmt.Sscan(r.Flags.Last("secure-port"), &s.Port); err != nil {
		return nil, nil, fmt.Errorf("--secure-port: %w", err)
	}
	ca, err := os.ReadFile(certificate)
	if err != nil {
		return nil, nil, err
	}
	host := "127.0.0.1"
	if ip := net.ParseIP(r.Flags.Last("bind-address")); ip != nil && !ip.IsUnspecified() {
		host = ip.String()
	}
	s.Config = &restclient.Config{
		QPS: -1, Host: "https://" + net.JoinHostPort(host, fmt.Sprint(s.Port)), BearerToken: token, DisableCompression: true,
		TLSClientConfig: restclient.TLSClientConfig{CAData: ca}, ContentConfig: restclient.ContentConfig{ContentType: "application/vnd.kubernetes.protobuf"},
	}
	p, err := launch("kube-apiserver", r.Label, r.Flags.args())
	if err != nil {
		return nil, nil, err
	}
	if err := p.waitUntil(readyTimeout, s.ready(ca, r.NoHealth)); err != nil {
		p.stop()
		return nil, p, err
	}
	return s, p, nil
}

// ready returns a function that reports whether the server is healthy and has the namespaces that it makes by itself.
func (s *Server) ready(ca []byte, noHealth bool) func() bool {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(ca)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}
	client := &http.Client{Timeout: 5 * time.Second, Transport: transport}
	paths := []string{"/healthz", "/api/v1/namespaces/default", "/api/v1/namespaces/kube-system"}
	if noHealth {
		paths = paths[1:]
	}
	return func() bool {
		defer transport.CloseIdleConnections()
		for len(paths) > 0 && answers(client, s.Config.Host+paths[0], token) {
			paths = paths[1:]
		}
		return len(paths) == 0
	}
}

// prepare completes the flags that every server has, and writes the files that they name. It returns the serving certificate.
func (r *Request) prepare() (certificate string, err error) {
	r.Flags.Default("bind-address", "127.0.0.1")
	r.Flags.Default("cert-dir", r.Dir)
	dir := r.Flags.Last("cert-dir")
	if certificate = r.Flags.Last("tls-cert-file"); certificate == "" {
		certificate = filepath.Join(dir, "apiserver.crt")
		if _, err := os.Stat(certificate); err != nil {
			if err := writeServing(dir); err != nil {
				return "", err
			}
		}
	}
	tokens := fmt.Sprintf("%s,system:apiserver,%s,\"system:masters\"\n", token, uuid.NewString())
	if file := r.Flags.Last("token-auth-file"); file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		tokens += string(text)
	}
	file := filepath.Join(r.Dir, "tokens-with-admin.csv")
	r.Flags.Set("token-auth-file", file)
	return certificate, os.WriteFile(file, []byte(tokens), 0o600)
}

// servingPair makes a certificate to serve with, once: the key takes long.
var servingPair = sync.OnceValues(func() ([2][]byte, error) {
	crt, key, err := cert.GenerateSelfSignedCertKey("127.0.0.1", []net.IP{net.IPv6loopback, net.IPv4(10, 0, 0, 1)},
		[]string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc", "apiserver-loopback-client"})
	return [2][]byte{crt, key}, err
})

func writeServing(dir string) error {
	pair, err := servingPair()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "apiserver.crt"), pair[0], 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "apiserver.key"), pair[1], 0o600)
}
