// Package listen serves an API server on sockets: connections and how many there may be, TLS, certificates, and which web pages may
// ask. It knows the server as an http.Handler.
//
//	socket ─▶ TLS ─▶ gate ─▶ Server
//	  │        │       └─ shutting down, too many connections, origins of pages
//	  │        └─ Trust ─▶ Authorities: who may have signed a client's certificate
//	  └─ at most so many connections
package listen

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"
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

// Server is what a Listener serves.
type Server interface {
	http.Handler
	// Preflight answers a browser that asks, before it sends a page's request, whether the page may send it.
	Preflight(w http.ResponseWriter, r *http.Request)
	// Authorities returns who may have signed the certificates of clients.
	Authorities() Authorities
}

// Options say how to listen.
type Options struct {
	// Address to listen on. "": 127.0.0.1:0, any free port.
	Address string
	// Replica is the API server that answers, counted from 1. 0: the one that Server.Route leads the client to.
	Replica int
	// TLS serves HTTPS with a certificate of its own, which CA returns.
	TLS bool
	// Certificate serves HTTPS with this certificate (tls.LoadX509KeyPair reads one from files). nil: TLS decides.
	Certificate *tls.Certificate
	// CertificateFile and KeyFile serve HTTPS with the certificate in these files, PEM, in place of Certificate. They are read
	// again when they change.
	CertificateFile, KeyFile string
	// MinTLS is the oldest version of TLS that is spoken, as of --tls-min-version (tls.VersionTLS13, for example). 0: that of
	// package crypto/tls. CipherSuites are the cipher suites of TLS 1.2 and older (--tls-cipher-suites). If nil, crypto/tls chooses.
	MinTLS       uint16
	CipherSuites []uint16
	// WatchListGap is how long, in real time, a watch waits that asks for what there is first (sendInitialEvents). A real
	// server asks its store how far it is before it says that this was all, which takes it 3 ms and more; an informer that
	// is in sync before its caller has looked surprises tests. 0: it is answered at once.
	WatchListGap time.Duration
	// AllowedOrigins are regular expressions of the origins whose web pages may ask beside the listener's own, as of
	// --cors-allowed-origins: they get kube-apiserver's CORS headers, and may reach the listener by the name in their
	// origin. Other pages, and names that are not this machine's, get 403. nil: there are none.
	AllowedOrigins []string
	// StrictTransportSecurity are directives of the header Strict-Transport-Security, which each answer has then, as of
	// --strict-transport-security-directives (RFC 6797). If nil, answers do not have the header.
	StrictTransportSecurity []string
	// MaxConnections is how many connections there may be at a time; one more gets 503 and is closed. 0: 20,000.
	MaxConnections int
	// MaxWatches is how many watches there may be at a time; one more gets 429. 0: 100,000.
	MaxWatches int
}

// New returns a Listener of a server on a socket. It answers nothing before Serve is called.
func New(o Options, tcp net.Listener, s Server) (*Listener, error) {
	from, err := newOrigins(&o, tcp.Addr())
	if err != nil {
		return nil, err
	}
	connections := cmp.Or(o.MaxConnections, connectionsMax)
	l := &Listener{url: "http://" + tcp.Addr().String(), socket: &socket{Listener: tcp, max: int64(connections)},
		gate: &gate{origins: from, maximum: connections, server: s, next: delayWatchLists(s, o.WatchListGap)}}
	l.life, l.end = context.WithCancel(context.Background())
	l.server = &http.Server{Handler: strict(l.gate, o.StrictTransportSecurity), BaseContext: func(net.Listener) context.Context { return l.life },
		ReadHeaderTimeout: HeaderTimeout, IdleTimeout: IdleTimeout, MaxHeaderBytes: headerMax, ConnContext: markOver, HTTP2: &http.HTTP2Config{MaxConcurrentStreams: streamsMax}}
	if !o.TLS && o.Certificate == nil && o.CertificateFile == "" {
		return l, nil
	}
	certificate, files, err := o.certificate(tcp.Addr())
	if err != nil {
		return nil, err
	}
	if from.leaf, err = x509.ParseCertificate(certificate.Certificate[0]); err != nil {
		return nil, fmt.Errorf("kubesim: the certificate: %w", err)
	}
	l.ca, l.url = chainPEM(certificate), "https://"+tcp.Addr().String()
	l.server.TLSConfig = &tls.Config{Certificates: []tls.Certificate{certificate}, NextProtos: []string{"h2", "http/1.1"},
		MinVersion: o.MinTLS, CipherSuites: o.CipherSuites}
	if files != nil {
		l.server.TLSConfig.Certificates, l.server.TLSConfig.GetCertificate = nil, files.get
	}
	l.server.TLSConfig.GetConfigForClient = asksForCertificate(l.server.TLSConfig, s)
	l.socket = tls.NewListener(l.socket, l.server.TLSConfig)
	return l, nil
}

// Serve answers clients until Close. The error says why it ended otherwise.
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

// CA are the certificates that clients of a TLS listener have to trust, PEM: those that it shows. nil without TLS.
func (l *Listener) CA() []byte { return l.ca }

// How long Close waits, in real time: for requests that end by themselves, for those that it has ended, and for what is left
// of their connections. HTTP/2 takes a second to say goodbye to a client that is there: nobody waits for that.
const (
	endPatience   = 20 * time.Millisecond
	drainPatience = 2 * time.Second
	closePatience = 20 * time.Millisecond
)

// Close ends the listener as kube-apiserver ends at SIGTERM, but for the minute that it waits: nobody connects any more, what
// is being answered is answered, watches end after a whole event, and the connections are closed.
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
