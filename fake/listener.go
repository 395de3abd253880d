package fake

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/kubesim/kubesim/sim/apiserver"
)

// Listener serves the simulated API server on a socket, for clients in other processes.
type Listener struct {
	url    string
	server *http.Server
	ca     []byte // PEM; nil without TLS
}

// ListenOptions say how to listen.
type ListenOptions struct {
	// Address to listen on. "": 127.0.0.1:0, any free port.
	Address string
	// Replica is the API server that answers, counted from 1. 0: the one that Server.Route leads the client to.
	Replica int
	// TLS serves HTTPS with a certificate of its own, which CA returns.
	TLS bool
	// Certificate serves HTTPS with this certificate (tls.LoadX509KeyPair reads one from files). nil: TLS decides.
	Certificate *tls.Certificate
	// WatchListGap is how long, in real time, a watch waits that asks for what there is first (sendInitialEvents). A real
	// server asks its store how far it is before it says that this was all, which takes it 3 ms and more; an informer that
	// is in sync before its caller has looked surprises tests. 0: it is answered at once.
	WatchListGap time.Duration
}

var errClosed = errors.New("kubesim: the server is closed: listen before Close")

// Listen serves on a socket until Close, and lets the server ask webhooks over the network (AdmitThrough). It is not for testing/synctest bubbles, where time stands still while somebody
// waits for a socket.
func (s *Server) Listen(o ListenOptions) (*Listener, error) {
	serve := s.Handler()
	if o.Replica != 0 {
		if s.cluster.Replica(o.Replica) == nil {
			return nil, fmt.Errorf("kubesim: there is no replica %d to listen for: there are %d", o.Replica, s.cluster.Replicas())
		}
		server := s.cluster.Server(o.Replica)
		serve = s.control(handler{func(*http.Request) *apiserver.Server { return server }, s.client})
	}
	if s.closed() {
		return nil, errClosed
	}
	if o.Address == "" {
		o.Address = "127.0.0.1:0"
	}
	socket, err := net.Listen("tcp", o.Address)
	if err != nil {
		return nil, fmt.Errorf("kubesim: cannot listen on %s: %w", o.Address, err)
	}
	serve = delayWatchLists(serve, o.WatchListGap)
	l := &Listener{url: "http://" + socket.Addr().String(), server: &http.Server{Handler: serve, ReadHeaderTimeout: time.Minute}}
	if o.TLS || o.Certificate != nil {
		certificate, err := o.certificate(socket.Addr())
		if err != nil {
			socket.Close()
			return nil, err
		}
		l.ca, l.url = chainPEM(certificate), "https://"+socket.Addr().String()
		l.server.TLSConfig = &tls.Config{Certificates: []tls.Certificate{certificate}, NextProtos: []string{"h2", "http/1.1"}}
		l.server.TLSConfig.GetConfigForClient = s.asksForCertificate(l.server.TLSConfig)
		socket = tls.NewListener(socket, l.server.TLSConfig)
	}
	if l.ca != nil {
		s.cluster.PublishCA(string(l.ca))
		s.trustSigner()
	}
	s.reachOut()
	go func() {
		if err := l.server.Serve(socket); !errors.Is(err, http.ErrServerClosed) && s.logf != nil {
			s.logf("kubesim: the listener on %s ended: %v", l.url, err)
		}
	}()
	s.mu.Lock()
	late := s.closed()
	if !late {
		s.listeners = append(s.listeners, l)
	}
	s.mu.Unlock()
	if late { // closed while it was made: nobody else would end it
		l.Close()
		return nil, errClosed
	}
	return l, nil
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

// certificate returns what to serve HTTPS with at an address.
func (o ListenOptions) certificate(address net.Addr) (tls.Certificate, error) {
	if o.Certificate != nil {
		return *o.Certificate, nil
	}
	return selfSigned(address)
}

// closed reports whether the server was closed.
func (s *Server) closed() bool {
	select {
	case <-s.ended:
		return true
	default:
		return false
	}
}

// URL is where the listener serves: http://127.0.0.1:PORT.
func (l *Listener) URL() string { return l.url }

// CA are the certificates that clients of a TLS listener have to trust, PEM: those that it shows. nil without TLS.
func (l *Listener) CA() []byte { return l.ca }

// closePatience is how long requests have to end that are being answered. HTTP/2 takes a second to say goodbye to a client
// that is there: nobody waits for that.
const closePatience = 20 * time.Millisecond

// Close ends the listener and its connections.
func (l *Listener) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), closePatience)
	defer cancel()
	if l.server.Shutdown(ctx) != nil {
		l.server.Close()
	}
}
