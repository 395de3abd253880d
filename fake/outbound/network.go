package outbound

import (
	"cmp"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/kubesim/kubesim/fake/kubeconfig"
	"github.com/kubesim/kubesim/sim"
)

// Network is an http.RoundTripper that sends requests to webhooks according to their configuration.
//
//	called ─ Trusted ─ caBundle ──────┐
//	       └ Plugin ── credentials ───┼▶ one http.Transport per transportKey ── dial ─▶ URL, or the service's address
//	Services ─ authority ─────────────┘
type Network struct {
	places  places
	plugins Plugins
	trusts  sync.Map // *http.Transport by transportKey
}

// transportKey identifies a connection pool: requests with the same key share connections.
type transportKey struct {
	trusted, host, plugin string
	own                   *authority // nil until a certificate for a service is signed
}

// RoundTrip implements http.RoundTripper.
func (n *Network) RoundTrip(q *http.Request) (*http.Response, error) {
	call := webhookRequestOf(q)
	if a, err := n.places.simulated(q, call); a != nil || err != nil {
		return a, err
	}
	key := transportKey{string(call.Trusted), q.URL.Host, call.Plugin, n.places.services.signer()}
	known := n.plugins.user(key.plugin, q.URL)
	t, ok := n.trusts.Load(key)
	if !ok {
		made, err := n.transport(key, q.URL.Hostname(), known)
		if err != nil {
			return nil, err
		}
		t, _ = n.trusts.LoadOrStore(key, made)
	}
	return t.(*http.Transport).RoundTrip(known.Authenticate(q))
}

// transport returns a transport for a host whose certificate must be signed by one of the trusted authorities or, without a
// caBundle, by those of the system or kubesim's own. It uses HTTP/2 only for URLs of this machine, so that connections to a service
// are not bound to one of its endpoints (k8s.io/apiserver, webhook.ClientManager).
func (n *Network) transport(key transportKey, host string, known *kubeconfig.User) (*http.Transport, error) {
	config, err := trusting([]byte(key.trusted), key.own)
	if err != nil {
		return nil, err
	}
	config.ServerName = host
	if known != nil && known.Certificate != nil {
		config.Certificates = []tls.Certificate{*known.Certificate}
	}
	t := &http.Transport{TLSClientConfig: config, DialContext: n.places.dial}
	if ip := net.ParseIP(host); strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback() {
		t.ForceAttemptHTTP2 = true
	} else {
		config.NextProtos = []string{"http/1.1"}
	}
	return t, nil
}

// forget closes idle connections, because addresses of services have changed.
func (n *Network) forget() {
	n.trusts.Range(func(_, t any) bool {
		t.(*http.Transport).CloseIdleConnections()
		return true
	})
}

// dial connects to an address. It looks up addresses of services, NAME.NAMESPACE.svc.
func (p places) dial(ctx context.Context, kind, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	if parts := strings.Split(host, "."); len(parts) == 3 && parts[2] == "svc" {
		number, err := strconv.ParseInt(port, 10, 32)
		if err != nil {
			return nil, err
		}
		if address, err = p.address(parts[1], parts[0], number); err != nil {
			return nil, err
		}
	}
	return (&net.Dialer{}).DialContext(ctx, kind, address)
}

// places looks up the addresses of a cluster's services, first in Services and then in the Service objects.
type places struct {
	cluster  *sim.Cluster
	services *Services
}

// address returns the HOST:PORT of a service port.
func (p places) address(namespace, name string, port int64) (string, error) {
	if address := p.services.address(namespace, name, port); address != "" {
		return address, nil
	}
	return p.cluster.ServiceAddress(namespace, name, cmp.Or(port, 443))
}
