package fake

import (
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"

	"github.com/kubesim/kubesim/sim"
	"github.com/kubesim/kubesim/sim/object"
)

// Aggregate answers requests for the version of a group that an APIService stands for with a handler in place of an
// aggregated API server. The APIService, VERSION.GROUP, is made unless there is one. The handler is asked what it serves
// before Aggregate returns: GET /apis/GROUP/VERSION has to be an APIResourceList. It gets requests as a real one does, with
// the user in X-Remote-User, X-Remote-Group and X-Remote-Extra-…; what it writes after a Flush streams. It may use the
// server. nil takes it back.
//
//	srv.Aggregate("v1beta1.metrics.k8s.io", metrics)
//
// It is safe in a testing/synctest bubble. Servers that listen are reached, in a server with a Listener, where their
// service is (ServiceAddress).
func (s *Server) Aggregate(apiService string, handler http.Handler) {
	version, group, ok := strings.Cut(apiService, ".")
	if !ok || version == "" || group == "" {
		s.fail("Aggregate: %q is no APIService such as v1beta1.metrics.k8s.io", apiService)
		return
	}
	s.aggregator.handle(apiService, handler)
	s.cluster.Recheck()
	if handler == nil {
		return
	}
	const path = "/apis/apiregistration.k8s.io/v1/apiservices"
	body := object.JSON(map[string]any{"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService",
		"metadata": map[string]any{"name": apiService},
		"spec": map[string]any{"group": group, "version": version, "groupPriorityMinimum": int64(1000), "versionPriority": int64(15),
			"insecureSkipTLSVerify": true,
			"service":               map[string]any{"namespace": "default", "name": strings.ReplaceAll(apiService, ".", "-")}}})
	code, answer, err := s.loader().send(http.MethodPost, path, "application/json", body)
	if err == nil && code >= 300 && code != http.StatusConflict {
		err = errors.New(answer.String("message"))
	}
	if err != nil {
		s.fail("Aggregate: %s: %v", apiService, err)
	}
}

// aggregator is a sim.Aggregator: it reaches aggregated API servers in process, or over the network.
//
//	Check, …, Forward ─ upstream ─▶ in process: the handler ── or ── http.Transport ─ dial ─▶ where the service is
type aggregator struct {
	server *Server

	mu       sync.Mutex
	handlers map[string]http.Handler // by name of the APIService
	network  bool                    // a server has a listener: it may wait for sockets

	dialers sync.Map // *http.Transport by dialerKey
}

// dialerKey is what requests to aggregated API servers have to share to share connections.
type dialerKey struct {
	bundle, serverName string
	insecure, upgrade  bool
	own                *authority
}

func (a *aggregator) handle(apiService string, h http.Handler) {
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

// adopt takes over the handlers of the server that a server was forked from. Nobody is reached over the network.
func (a *aggregator) adopt(from *aggregator) {
	from.mu.Lock()
	a.handlers = maps.Clone(from.handlers)
	from.mu.Unlock()
	a.server.cluster.Recheck()
}

func (a *aggregator) handler(x *sim.APIService) http.Handler {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.handlers[x.Name]
}

// listen lets the server reach aggregated API servers over the network.
func (a *aggregator) listen() {
	a.mu.Lock()
	was := a.network
	a.network = true
	a.mu.Unlock()
	if !was {
		a.server.cluster.Recheck()
	}
}

// Placed is sim.Aggregator's.
func (a *aggregator) Placed(x *sim.APIService) bool {
	return a.handler(x) != nil || a.server.services.address(x.Namespace, x.Service, x.Port) != ""
}

// Constant is sim.Aggregator's.
func (a *aggregator) Constant(x *sim.APIService) bool {
	_, own := a.handler(x).(metricsServer)
	return own
}

// Start is sim.Aggregator's: a handler in process is asked at once, and nobody waits for a socket.
func (a *aggregator) Start(x *sim.APIService, probe func()) {
	a.mu.Lock()
	waits := a.network && a.handlers[x.Name] == nil
	a.mu.Unlock()
	if waits {
		go probe()
		return
	}
	probe()
}

var errNoNetwork = errors.New("kubesim: this server has no listener, and asks nobody over the network: use Server.Aggregate")

// upstream returns the HOST:PORT at which an aggregated API server is reached, and what carries requests there.
func (a *aggregator) upstream(x *sim.APIService, upgrade bool) (host string, t http.RoundTripper, err error) {
	serverName := x.Service + "." + x.Namespace + ".svc"
	if h := a.handler(x); h != nil {
		return net.JoinHostPort(serverName, strconv.FormatInt(x.Port, 10)), inProcess{h, a.server.life}, nil
	}
	if host, err = a.server.serviceAddress(x.Namespace, x.Service, x.Port); err != nil {
		return "", nil, err
	}
	a.mu.Lock()
	network := a.network
	a.mu.Unlock()
	if !network {
		return "", nil, errNoNetwork
	}
	key := dialerKey{string(x.Bundle), serverName, x.Insecure, upgrade, a.server.services.signer()}
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

// dialer makes what connects to an aggregated API server. A connection that is to be upgraded speaks HTTP/1.1.
func (a *aggregator) dialer(key dialerKey) (*http.Transport, error) {
	config, err := trusting([]byte(key.bundle), key.own)
	if err != nil {
		return nil, err
	}
	config.ServerName, config.InsecureSkipVerify = key.serverName, key.insecure
	if o := a.server.options; len(o.ProxyClientCert) > 0 {
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

// location is where a path of an aggregated API server is.
func location(host, path string, query url.Values) *url.URL {
	return &url.URL{Scheme: "https", Host: host, Path: path, RawQuery: query.Encode()}
}
