package fake

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/kubesim/kubesim/sim/webhook"
)

// Network returns what asks webhooks over the network, as the real server does: the caBundle of a configuration is
// trusted, and a service is reached at its cluster IP, or where its external name says.
//
//	srv.AdmitThrough(srv.Network())
//	srv.ConvertThrough(srv.Network())
//
// It is not for testing/synctest bubbles, where time stands still while somebody waits for a socket.
func (s *Server) Network() http.RoundTripper { return &network{server: s} }

// network is an http.RoundTripper that goes by what the configuration of a webhook says.
type network struct {
	server *Server
	trusts sync.Map // *http.Transport by certificates and host
}

// transportKey is what requests have to share to share connections.
type transportKey struct{ trusted, host string }

func (n *network) RoundTrip(q *http.Request) (*http.Response, error) {
	key := transportKey{string(webhook.Trusted(q.Context())), q.URL.Host}
	t, known := n.trusts.Load(key)
	if !known {
		made, err := n.transport(key.trusted, q.URL.Hostname())
		if err != nil {
			return nil, err
		}
		t, _ = n.trusts.LoadOrStore(key, made)
	}
	return t.(*http.Transport).RoundTrip(q)
}

// transport makes connections to a host with a certificate of one of the trusted authorities, or of the system's.
func (n *network) transport(trusted, host string) (*http.Transport, error) {
	config := &tls.Config{ServerName: host}
	if trusted != "" {
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM([]byte(trusted)) {
			return nil, errors.New("unable to load root certificates: unable to parse bytes as PEM block")
		}
	}
	return &http.Transport{TLSClientConfig: config, DialContext: n.dial}, nil
}

// dial connects to an address; that of a service, NAME.NAMESPACE.svc, is looked up in the server.
func (n *network) dial(ctx context.Context, kind, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	if parts := strings.Split(host, "."); len(parts) == 3 && parts[2] == "svc" {
		number, err := strconv.ParseInt(port, 10, 32)
		if err != nil {
			return nil, err
		}
		if address, err = n.server.cluster.ServiceAddress(parts[1], parts[0], number); err != nil {
			return nil, err
		}
	}
	return (&net.Dialer{}).DialContext(ctx, kind, address)
}
