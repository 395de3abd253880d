package fake

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/http"

	"github.com/kubesim/kubesim/fake/answer"
	"github.com/kubesim/kubesim/fake/listen"
	"github.com/kubesim/kubesim/sim/apiserver"
	"github.com/kubesim/kubesim/sim/auth"
	"github.com/kubesim/kubesim/sim/controller/certificates"
)

// Types of package listen.
type (
	// Listener serves the simulated API server on a socket, for clients in other processes.
	Listener = listen.Listener
	// ListenOptions configure a Listener.
	ListenOptions = listen.Options
)

var errClosed = errors.New("kubesim: the server is closed: listen before Close")

// Listen serves on a socket until Close, and lets the server call webhooks over the network (AdmitThrough). It must not
// be used in testing/synctest bubbles, in which time does not advance while a goroutine waits for a socket, unless
// ListenOptions.Socket is in memory. Listen returns an error if the server is closed, if it cannot listen on the
// address, or if an option is invalid.
func (s *Server) Listen(o ListenOptions) (*Listener, error) {
	pick := s.pick
	if o.Replica != 0 {
		if s.cluster.Replica(o.Replica) == nil {
			return nil, fmt.Errorf("kubesim: there is no replica %d to listen for: the number of replicas is %d", o.Replica, s.cluster.Replicas())
		}
		server := s.cluster.Server(o.Replica)
		pick = func(*http.Request) *apiserver.Server { return server }
	}
	if s.closed() {
		return nil, errClosed
	}
	if o.Socket == nil {
		var err error
		o.Address = cmp.Or(o.Address, "127.0.0.1:0")
		if o.Socket, err = net.Listen("tcp", o.Address); err != nil {
			return nil, fmt.Errorf("kubesim: cannot listen on %s: %w", o.Address, err)
		}
	}
	l, err := s.listener(o, pick)
	if err != nil {
		return nil, errors.Join(err, o.Socket.Close())
	}
	if ca := l.CA(); ca != nil {
		s.cluster.PublishCA(string(ca))
		s.trustSigner()
	}
	s.outbound.ReachOut()
	go func() {
		if err := l.Serve(); err != nil && s.test != nil {
			s.test.Logf("kubesim: the listener on %s ended: %v", l.URL(), err)
		}
	}()
	s.mu.Lock()
	late := s.closed()
	if !late {
		s.listeners = append(s.listeners, l)
	}
	s.mu.Unlock()
	if late { // the server was closed concurrently, and does not know this listener
		l.Close()
		return nil, errClosed
	}
	return l, nil
}

// listener returns a listener on o.Socket for the API servers that pick returns.
func (s *Server) listener(o ListenOptions, pick func(*http.Request) *apiserver.Server) (*Listener, error) {
	api := answer.NewHandler(pick, s.client, cmp.Or(o.MaxWatches, listen.MaxWatches), s.log)
	return listen.New(o, served{s.withControl(api, pick), s.trust, pick})
}

// served implements listen.Server.
type served struct {
	http.Handler
	*listen.Trust
	pick func(*http.Request) *apiserver.Server // returns the API server of a request
}

// Preflight implements listen.Server.
func (x served) Preflight(w http.ResponseWriter, r *http.Request) {
	w.Header()["Audit-Id"] = []string{x.pick(r).AuditID(r.Header.Get("Audit-Id"))}
	w.Header()["Cache-Control"] = []string{"no-cache, private"}
	w.WriteHeader(http.StatusNoContent)
}

// trustSigner trusts the authority that signs client certificates in the cluster, if there is a controller that signs
// them.
func (s *Server) trustSigner() {
	seed, ok := s.cluster.SigningSeed()
	if !ok {
		return
	}
	if a, err := certificates.NewAuthority(seed); err == nil { // no key can be generated for one seed in 2³²
		s.trust.Add(a.Certificate)
	}
}

// closed reports whether the server was closed.
func (s *Server) closed() bool { return s.life.Err() != nil }

// KubeConfig returns a kubeconfig file for clients in other processes, such as kubectl. It starts a listener if the
// server does not have one yet. If requests are authenticated, the file contains the first token, which kubectl sends
// only over TLS. KubeConfig returns an error if the server cannot listen.
func (s *Server) KubeConfig() ([]byte, error) {
	s.mu.Lock()
	listeners := s.listeners
	s.mu.Unlock()
	token := listen.UnreadToken
	if s.options.authenticates() {
		token = append(s.options.Tokens, auth.DefaultTokens()...)[0].Token
	}
	if len(listeners) > 0 {
		return listeners[0].KubeConfig(token), nil
	}
	l, err := s.Listen(ListenOptions{TLS: s.options.authenticates()})
	if err != nil {
		return nil, err
	}
	return l.KubeConfig(token), nil
}
