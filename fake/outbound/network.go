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

	"github.com/kubesim/kubesim/sim"
)

// Network is an http.RoundTripper that goes by what the configuration of a webhook says.
//
//	called ─ Trusted ─ caBundle ──────┐
//	       └ Plugin ── credentials ───┼▶ one http.Transport for each transportKey ── dial ─▶ URL, or where the service is
//	Services ─ authority ─────────────┘
type Network struct {
	places  places
	plugins Plugins
	trusts  sync.Map // *http.Transport by transportKey
}

// transportKey is what requests have to share to share connections.
type transportKey struct {
	trusted, host, plugin string
	own                   *authority // nil before a certificate was signed for a service
}

// RoundTrip implements http.RoundTripper.
func (n *Network) RoundTrip(q *http.Request) (*http.Response, error) {
	call := webhookRequestOf(q)
	key := transportKey{string(call.Trusted), q.URL.Host, call.Plugin, n.places.services.signer()}
	known := n.plugins.credentials(key.plugin, q.URL)
	t, ok := n.trusts.Load(key)
	if !ok {
		made, err := n.transport(key, q.URL.Hostname(), known)
		if err != nil {
			return nil, err
		}
		t, _ = n.trusts.LoadOrStore(key, made)
	}
	return t.(*http.Transport).RoundTrip(known.authenticate(q))
}

// transport makes connections to a host with a certificate of one of the trusted authorities, or of the system's and
// kubesim's own. Only what listens on this machine by a URL is spoken to in HTTP/2: connections to services are not kept
// to one of their endpoints (k8s.io/apiserver, webhook.ClientManager).
func (n *Network) transport(key transportKey, host string, known *credentials) (*http.Transport, error) {
	config, err := trusting([]byte(key.trusted), key.own)
	if err != nil {
		return nil, err
	}
	config.ServerName = host
	if known != nil && known.certificate != nil {
		config.Certificates = []tls.Certificate{*known.certificate}
	}
	t := &http.Transport{TLSClientConfig: config, DialContext: n.places.dial}
	if ip := net.ParseIP(host); strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback() {
		t.ForceAttemptHTTP2 = true
	} else {
		config.NextProtos = []string{"http/1.1"}
	}
	return t, nil
}

// forget closes connections that are not in use: services are elsewhere.
func (n *Network) forget() {
	n.trusts.Range(func(_, t any) bool {
		t.(*http.Transport).CloseIdleConnections()
		return true
	})
}

// dial connects to an address; that of a service, NAME.NAMESPACE.svc, is looked up.
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

// places finds the addresses of a cluster's services: those in Services, or else those of the Service objects.
type places struct {
	cluster  *sim.Cluster
	services *Services
}

// address returns the HOST:PORT at which a port of a service is reached.
func (p places) address(namespace, name string, port int64) (string, error) {
	if address := p.services.address(namespace, name, port); address != "" {
		return address, nil
	}
	return p.cluster.ServiceAddress(namespace, name, cmp.Or(port, 443))
}
