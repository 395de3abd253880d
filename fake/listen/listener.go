// Package listen serves an API server on sockets. It handles connection limits, TLS, certificates, and the origins of web pages. It
// uses the server as an http.Handler.
//
//	socket ─▶ TLS ─▶ gate ─▶ Server
//	  │        │       └─ shutdown, too many connections, origins of pages
//	  │        └─ Trust ─▶ Authorities: the CAs of client certificates
//	  └─ connection limit
package listen

import (
	"cmp"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/codec"
)

// Listener serves the simulated API server on a socket, for clients in other processes.
type Listener struct {
	url    string
	server *http.Server
	socket net.Listener
	gate   *gate
	ca     []byte          // PEM; nil without TLS
	life   context.Context // context of all requests
	end    context.CancelFunc
}

// Server is the handler that a Listener serves.
type Server interface {
	http.Handler
	// Preflight responds to a browser's preflight request, which asks whether a page may send a request.
	Preflight(w http.ResponseWriter, r *http.Request)
	// Authorities returns the CAs of client certificates.
	Authorities() Authorities
}

// Options are the settings of a listener.
type Options struct {
	// Address is the address to listen on. The default is 127.0.0.1:0, which selects a free port.
	Address string
	// Socket accepts connections instead of a TCP socket at Address. Listener.Close closes it. If its connections are in memory
	// (net.Pipe), clients can use HTTP in a testing/synctest bubble. It may be nil.
	Socket net.Listener
	// Replica is the API server that serves the requests, counted from 1. If it is 0, Server.Route determines it for each client.
	Replica int
	// TLS serves HTTPS with a generated certificate, which CA returns.
	TLS bool
	// Certificate is the certificate for HTTPS (tls.LoadX509KeyPair reads one from files). If nil, TLS determines whether HTTPS is
	// used.
	Certificate *tls.Certificate
	// CertificateFile and KeyFile are PEM files that contain the certificate for HTTPS. They replace Certificate, and are read
	// again when they change.
	CertificateFile, KeyFile string
	// MinTLS is the minimum TLS version (--tls-min-version), such as tls.VersionTLS13. CipherSuites are the cipher suites of TLS
	// 1.2 and older (--tls-cipher-suites). If either is zero, crypto/tls chooses.
	MinTLS       uint16
	CipherSuites []uint16
	// WatchListGap is the real time for which a watch with sendInitialEvents waits for its initial events. A real server reads the
	// newest revision from its store before it sends the final bookmark, which takes at least 3 ms; an informer that is synced
	// immediately surprises some tests. If 0, the watch does not wait.
	WatchListGap time.Duration
	// AllowedOrigins are regular expressions for additional origins whose web pages may send requests (--cors-allowed-origins).
	// They get kube-apiserver's CORS headers, and may use the host name in their origin to reach the listener. Any other page, and
	// any host name that does not belong to this machine, gets 403. If nil, only the listener's own origin is allowed.
	AllowedOrigins []string
	// StrictTransportSecurity are the directives of the header Strict-Transport-Security in each response
	// (--strict-transport-security-directives, RFC 6797). If nil, responses do not have the header.
	StrictTransportSecurity []string
	// Filter handles all requests first. It may be nil.
	Filter Filter
	// MaxConnections is the maximum number of open connections. A further one gets 503 and is closed. The default is 20,000.
	MaxConnections int
	// MaxWatches is the maximum number of open watches. A further one gets 429. The default is 100,000.
	MaxWatches int
}

// Filter is a handler in front of a server.
type Filter interface {
	// Filter returns a handler that passes each request on to next.
	Filter(next http.Handler) http.Handler
}

// New returns a Listener of a server on o.Socket, which must not be nil. It serves no requests until Serve is called. New returns
// an error if an origin or the certificate is invalid.
func New(o Options, s Server) (*Listener, error) {
	address := o.Socket.Addr()
	from, err := newOrigins(&o, address)
	if err != nil {
		return nil, err
	}
	connections := cmp.Or(o.MaxConnections, connectionsMax)
	l := &Listener{url: "http://" + address.String(), socket: &socket{Listener: o.Socket, max: int64(connections)},
		gate: &gate{origins: from, maximum: connections, server: s, next: delayWatchLists(s, o.WatchListGap)}}
	l.life, l.end = context.WithCancel(context.Background())
	handler := strict(l.gate, o.StrictTransportSecurity)
	if o.Filter != nil {
		handler = o.Filter.Filter(handler)
	}
	l.server = &http.Server{Handler: handler, BaseContext: func(net.Listener) context.Context { return l.life },
		ReadHeaderTimeout: HeaderTimeout, IdleTimeout: IdleTimeout, MaxHeaderBytes: headerMax, ConnContext: markOver, HTTP2: &http.HTTP2Config{MaxConcurrentStreams: streamsMax}}
	if !o.TLS && o.Certificate == nil && o.CertificateFile == "" {
		return l, nil
	}
	certificate, files, err := o.certificate(address)
	if err != nil {
		return nil, err
	}
	if from.leaf, err = x509.ParseCertificate(certificate.Certificate[0]); err != nil {
		return nil, fmt.Errorf("kubesim: the certificate: %w", err)
	}
	l.ca, l.url = chainPEM(certificate), "https://"+address.String()
	l.server.TLSConfig = &tls.Config{Certificates: []tls.Certificate{certificate}, NextProtos: []string{"h2", "http/1.1"},
		MinVersion: o.MinTLS, CipherSuites: o.CipherSuites}
	if files != nil {
		l.server.TLSConfig.Certificates, l.server.TLSConfig.GetCertificate = nil, files.get
	}
	l.server.TLSConfig.GetConfigForClient = asksForCertificate(l.server.TLSConfig, s)
	l.socket = tls.NewListener(l.socket, l.server.TLSConfig)
	return l, nil
}

// Serve serves requests until Close. If it ends for another reason, it returns the error.
func (l *Listener) Serve() error {
	if err := l.server.Serve(l.socket); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// strict adds the header Strict-Transport-Security to each response, if there are directives for it.
func strict(next http.Handler, directives []string) http.Handler {
	if len(directives) == 0 {
		return next
	}
	value := strings.Join(directives, "; ")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Strict-Transport-Security", value)
		next.ServeHTTP(w, r)
	})
}

// delayWatchLists delays watches that request initial events.
func delayWatchLists(next http.Handler, gap time.Duration) http.Handler {
	if gap <= 0 {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.RawQuery != "" && r.URL.Query().Get("sendInitialEvents") == "true" {
			select {
			case <-time.After(gap):
			case <-r.Context().Done():
			}
		}
		next.ServeHTTP(w, r)
	})
}

// certificate returns the certificate for HTTPS at an address. If it is read from files, certificate also returns these.
func (o *Options) certificate(address net.Addr) (tls.Certificate, *servingFiles, error) {
	switch {
	case o.CertificateFile != "":
		files, err := newServingFiles(o.CertificateFile, o.KeyFile)
		if err != nil {
			return tls.Certificate{}, nil, fmt.Errorf("kubesim: the certificate to serve with: %w", err)
		}
		return *files.current, files, nil
	case o.Certificate != nil:
		return *o.Certificate, nil, nil
	}
	certificate, err := selfSigned(address)
	return certificate, nil, err
}

// URL returns the base URL of the listener, such as http://127.0.0.1:PORT.
func (l *Listener) URL() string { return l.url }

// CA returns the PEM certificates that clients of a TLS listener have to trust. It returns nil without TLS.
func (l *Listener) CA() []byte { return l.ca }

// The real time for which Close waits: for requests that end by themselves, for requests that it has cancelled, and for the
// remaining connections. The last one is short, because a graceful shutdown of HTTP/2 would take a second.
const (
	endPatience   = 20 * time.Millisecond
	drainPatience = 2 * time.Second
	closePatience = 20 * time.Millisecond
)

// Close shuts the listener down like kube-apiserver on SIGTERM, but without its delay of a minute: new connections are rejected,
// requests in progress are completed, watches end after a complete event, and the connections are closed.
func (l *Listener) Close() { l.StopAccepting()() }

// StopAccepting rejects further connections and requests. The returned function waits briefly for requests in progress,
// cancels the remaining ones, and closes all connections.
func (l *Listener) StopAccepting() (finish func()) {
	none := l.gate.requests.close()
	done := make(chan error, 1)
	go func() { done <- l.server.Shutdown(context.Background()) }()
	return func() {
		within(endPatience, none)
		l.end()
		within(drainPatience, none)
		within(closePatience, done)
		l.server.Close()
	}
}

// within waits until a channel yields a value or is closed, but at most for d.
func within[T any](d time.Duration, happened <-chan T) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-happened:
	case <-timer.C:
	}
}

// UnreadToken is the token in kubeconfig files for servers that do not authenticate requests, and therefore do not read it. Without
// any credentials in the file, kubectl asks for a user name and a password when it connects over TLS.
const UnreadToken = "unread"

// KubeConfig returns a kubeconfig file for clients of the listener. token may be "".
func (l *Listener) KubeConfig(token string) []byte {
	user := map[string]any{}
	if token != "" {
		user["token"] = token
	}
	return l.kubeConfig(user)
}

// CertificateKubeConfig returns a kubeconfig file for the user of a PEM certificate, such as the result of Server.IssueCertificate.
func (l *Listener) CertificateKubeConfig(cert, key []byte) []byte {
	return l.kubeConfig(map[string]any{"client-certificate-data": cert, "client-key-data": key})
}

func (l *Listener) kubeConfig(user map[string]any) []byte {
	cluster := map[string]any{"server": l.url}
	if l.ca != nil {
		cluster["certificate-authority-data"] = l.ca
	}
	config := map[string]any{
		"apiVersion": "v1", "kind": "Config", "current-context": "kubesim",
		"clusters": []any{map[string]any{"name": "kubesim", "cluster": cluster}},
		"users":    []any{map[string]any{"name": "kubesim", "user": user}},
		"contexts": []any{map[string]any{"name": "kubesim", "context": map[string]any{"cluster": "kubesim", "user": "kubesim"}}},
	}
	data, err := json.Marshal(config)
	if err != nil {
		panic("listen: a kubeconfig cannot be printed: " + err.Error())
	}
	return codec.Body(data, codec.Format{Media: codec.YAML})
}

// selfSigned returns a self-signed certificate for the address. It is the only part of a server that does not depend on the seed,
// because a certificate must be valid according to real clocks, and its key must be secret.
func selfSigned(address net.Addr) (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("kubesim: generating a key for TLS: %w", err)
	}
	host, _, _ := net.SplitHostPort(address.String())
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "kubesim"}, DNSNames: []string{"localhost"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().AddDate(1, 0, 0),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, IsCA: true, BasicConstraintsValid: true,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		IPAddresses: []net.IP{net.ParseIP(host), net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("kubesim: generating a certificate for TLS: %w", err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}

// chainPEM returns the certificate chain of a server in PEM.
func chainPEM(certificate tls.Certificate) []byte {
	var text []byte
	for _, der := range certificate.Certificate {
		text = append(text, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})...)
	}
	return text
}
