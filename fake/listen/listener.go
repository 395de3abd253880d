// Package listen serves an API server on sockets. It handles the limit of connections, TLS, certificates, and the origins of web pages. It
// sees the server as an http.Handler.
//
//	socket ─▶ TLS ─▶ gate ─▶ Server
//	  │        │       └─ shutting down, too many connections, origins of pages
//	  │        └─ Trust ─▶ Authorities: the CAs of client certificates
//	  └─ limit of connections
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
	life   context.Context // of requests
	end    context.CancelFunc
}

// Server is the handler that a Listener serves.
type Server interface {
	http.Handler
	// Preflight answers a browser that asks, before it sends a page's request, whether the page may send it.
	Preflight(w http.ResponseWriter, r *http.Request)
	// Authorities returns the CAs of client certificates.
	Authorities() Authorities
}

// Options are the settings of a listener.
type Options struct {
	// Address is the address to listen on. The default is 127.0.0.1:0, any free port.
	Address string
	// Socket accepts connections in place of a TCP socket at Address; Close closes it. If its connections are in memory (net.Pipe), clients
	// can use HTTP in a testing/synctest bubble. It may be nil.
	Socket net.Listener
	// Replica is the API server that answers, counted from 1. If it is 0, Server.Route decides for each client.
	Replica int
	// TLS serves HTTPS with a generated certificate, which CA returns.
	TLS bool
	// Certificate serves HTTPS with this certificate (tls.LoadX509KeyPair reads one from files). If nil, TLS decides.
	Certificate *tls.Certificate
	// CertificateFile and KeyFile serve HTTPS with the certificate in these files, PEM, in place of Certificate. They are read
	// again when they change.
	CertificateFile, KeyFile string
	// MinTLS is the minimum version of TLS, as of --tls-min-version (for example tls.VersionTLS13). If 0, crypto/tls chooses. CipherSuites
	// are the cipher suites of TLS 1.2 and older (--tls-cipher-suites). If nil, crypto/tls chooses.
	MinTLS       uint16
	CipherSuites []uint16
	// WatchListGap is how long, in real time, a watch with sendInitialEvents waits for its initial events. A real server asks its store for
	// the newest revision before it sends the bookmark at their end, which takes 3 ms and more; an informer that is synced at once
	// surprises tests. If 0, the watch does not wait.
	WatchListGap time.Duration
	// AllowedOrigins are regular expressions of the origins whose web pages may send requests in addition to the listener's own, as of
	// --cors-allowed-origins. They get kube-apiserver's CORS headers, and may reach the listener by the host name in their origin. Other
	// pages, and host names that do not belong to this machine, get 403. If nil, no other origin is allowed.
	AllowedOrigins []string
	// StrictTransportSecurity are directives of the header Strict-Transport-Security, which each answer has then, as of
	// --strict-transport-security-directives (RFC 6797). If nil, answers do not have the header.
	StrictTransportSecurity []string
	// MaxConnections is the limit of open connections; a further one gets 503 and is closed. The default is 20,000.
	MaxConnections int
	// MaxWatches is the limit of open watches; a further one gets 429. The default is 100,000.
	MaxWatches int
}

// New returns a Listener of a server on o.Socket. It answers nothing before Serve is called.
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
	l.server = &http.Server{Handler: strict(l.gate, o.StrictTransportSecurity), BaseContext: func(net.Listener) context.Context { return l.life },
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

// Serve answers clients until Close. If it ends for another reason, it returns the error.
func (l *Listener) Serve() error {
	if err := l.server.Serve(l.socket); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// strict gives each answer the header Strict-Transport-Security, if there are directives for it.
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

// delayWatchLists lets watches that ask for what there is first wait.
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

// certificate returns what to serve HTTPS with at an address, and the files that it is in, if there are any.
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

// URL is where the listener serves: http://127.0.0.1:PORT.
func (l *Listener) URL() string { return l.url }

// CA returns the certificates, in PEM, that clients of a TLS listener have to trust. It returns nil without TLS.
func (l *Listener) CA() []byte { return l.ca }

// The times that Close waits, in real time: for requests that end by themselves, for requests that it has ended, and for the remaining
// connections. The last one is short, because a graceful shutdown of HTTP/2 takes a second.
const (
	endPatience   = 20 * time.Millisecond
	drainPatience = 2 * time.Second
	closePatience = 20 * time.Millisecond
)

// Close ends the listener as kube-apiserver ends at SIGTERM, but without its delay of a minute: new connections are refused, requests in
// progress are answered, watches end after a whole event, and the connections are closed.
func (l *Listener) Close() { l.Shut()() }

// Shut refuses connections and requests from now on. The function that it returns waits for requests that are being answered, and
// ends the listener.
func (l *Listener) Shut() (finish func()) {
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

// within waits until something has happened, or until that has taken too long.
func within[T any](d time.Duration, happened <-chan T) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-happened:
	case <-timer.C:
	}
}

// KubeConfig returns a kubeconfig file for clients of the listener. token may be "".
func (l *Listener) KubeConfig(token string) []byte {
	user := map[string]any{}
	if token != "" {
		user["token"] = token
	}
	return l.kubeConfig(user)
}

// CertificateKubeConfig returns a kubeconfig file for the user of a certificate, PEM, as Server.IssueCertificate returns it.
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

// selfSigned makes a certificate for the address. It is the only part of a server that does not depend on the seed: a certificate must be
// valid now, by the real clock, and its key must be secret.
func selfSigned(address net.Addr) (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("kubesim: no key for TLS: %w", err)
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
		return tls.Certificate{}, fmt.Errorf("kubesim: no certificate for TLS: %w", err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}

// chainPEM returns the certificates that a server shows, PEM.
func chainPEM(certificate tls.Certificate) []byte {
	var text []byte
	for _, der := range certificate.Certificate {
		text = append(text, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})...)
	}
	return text
}
