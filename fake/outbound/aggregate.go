package outbound

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"sync"

	"github.com/kubesim/kubesim/sim"
	"github.com/kubesim/kubesim/sim/config"
)

// Aggregator implements sim.Aggregator for API servers in process or on the network.
//
//	Check, …, Forward ─ upstream ─▶ in process: the handler ── or ── http.Transport ─ dial ─▶ the service's address
type Aggregator struct {
	places  places
	options *config.Cluster
	life    context.Context // of the server

	mu       sync.Mutex
	handlers map[string]http.Handler // by name of the APIService
	network  bool                    // the server has a listener, so it may wait for sockets

	dialers sync.Map // *http.Transport by dialerKey
}

// dialerKey identifies a connection pool. Requests to aggregated API servers with the same key share connections.
type dialerKey struct {
	bundle, serverName string
	insecure, upgrade  bool
	own                *authority
}

// Handle serves an APIService with a handler. If h is nil, it removes the handler.
func (a *Aggregator) Handle(apiService string, h http.Handler) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.handlers == nil {
		a.handlers = map[string]http.Handler{}
	}
	delete(a.handlers, apiService)
	if h != nil {
		a.handlers[apiService] = h
	}
}

// Adopt copies the handlers of the server from which this one was forked. Until the fork has a listener, it cannot reach API
// servers over the network.
func (a *Aggregator) Adopt(from *Aggregator) {
	from.mu.Lock()
	a.handlers = maps.Clone(from.handlers)
	from.mu.Unlock()
	a.places.cluster.Recheck()
}

func (a *Aggregator) handler(x *sim.APIService) http.Handler {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.handlers[x.Name]
}

// listen allows requests to aggregated API servers over the network.
func (a *Aggregator) listen() {
	a.mu.Lock()
	was := a.network
	a.network = true
	a.mu.Unlock()
	if !was {
		a.places.cluster.Recheck()
	}
}

// Placed implements sim.Aggregator.
func (a *Aggregator) Placed(x *sim.APIService) bool {
	return a.handler(x) != nil || a.places.services.address(x.Namespace, x.Service, x.Port) != ""
}

// Constant implements sim.Aggregator.
func (a *Aggregator) Constant(x *sim.APIService) bool {
	_, own := a.handler(x).(Metrics)
	return own
}

// Start implements sim.Aggregator. It probes a handler in process immediately, because that does not wait for a socket.
func (a *Aggregator) Start(x *sim.APIService, probe func()) {
	a.mu.Lock()
	waits := a.network && a.handlers[x.Name] == nil
	a.mu.Unlock()
	if waits {
		go probe()
		return
	}
	probe()
}

var errNoNetwork = errors.New("kubesim: this server has no listener, and sends no requests over the network: use Server.Aggregate")

// upstream returns the HOST:PORT of an aggregated API server, and the transport for requests to it.
func (a *Aggregator) upstream(x *sim.APIService, upgrade bool) (host string, t http.RoundTripper, err error) {
	serverName := x.Service + "." + x.Namespace + ".svc"
	if h := a.handler(x); h != nil {
		return net.JoinHostPort(serverName, strconv.FormatInt(x.Port, 10)), inProcess{h, a.life}, nil
	}
	if host, err = a.places.address(x.Namespace, x.Service, x.Port); err != nil {
		return "", nil, err
	}
	a.mu.Lock()
	network := a.network
	a.mu.Unlock()
	if !network {
		return "", nil, errNoNetwork
	}
	key := dialerKey{string(x.Bundle), serverName, x.Insecure, upgrade, a.places.services.signer()}
	if known, ok := a.dialers.Load(key); ok {
		return host, known.(http.RoundTripper), nil
	}
	made, err := a.dialer(key)
	if err != nil {
		return host, nil, err
	}
	known, _ := a.dialers.LoadOrStore(key, made)
	return host, known.(http.RoundTripper), nil
}

// dialer returns a transport for an aggregated API server. Connections that will be upgraded use HTTP/1.1.
func (a *Aggregator) dialer(key dialerKey) (*http.Transport, error) {
	config, err := trusting([]byte(key.bundle), key.own)
	if err != nil {
		return nil, err
	}
	config.ServerName, config.InsecureSkipVerify = key.serverName, key.insecure
	if o := a.options; len(o.ProxyClientCert) > 0 {
		pair, err := tls.X509KeyPair(o.ProxyClientCert, o.ProxyClientKey)
		if err != nil {
			return nil, fmt.Errorf("kubesim: ProxyClientCert: %w", err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	if key.upgrade {
		config.NextProtos = []string{"http/1.1"}
	}
	return &http.Transport{TLSClientConfig: config, ForceAttemptHTTP2: !key.upgrade}, nil
}

// location returns the URL of a path of an aggregated API server.
func location(host, path string, query url.Values) *url.URL {
	return &url.URL{Scheme: "https", Host: host, Path: path, RawQuery: query.Encode()}
}
