// Package aggregator registers aggregated API servers, checks their availability, and forwards requests to them
// (k8s.io/kube-aggregator: the proxy handlers, the controller of conditions and the discovery manager). Requests to them are sent
// after the lock has been released:
//
//	commit of an APIService, Service, EndpointSlice ─▶ Reconcile ─┬─ unavailable by stored objects ─▶ condition False
//	                                                             └─ asks ─ lock is released ─▶ Proxy.Check ─▶ condition
package aggregator

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/sim/apiserver"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/controller/server"
	"github.com/kubesim/kubesim/sim/discovery"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/registry"
	"github.com/kubesim/kubesim/sim/resource"
)

// APIService is an APIService that refers to a service: an aggregated API server provides its API.
type APIService struct {
	Name, Group, Version string
	Namespace, Service   string // of the service
	Port                 int64
	Bundle               []byte // spec.caBundle, PEM
	Insecure             bool   // spec.insecureSkipTLSVerify
}

// Proxy sends requests to aggregated API servers. It is called without the Cluster's lock, except for Placed.
type Proxy interface {
	// Placed reports whether the server's location is configured. In that case the service and its endpoints are ignored.
	Placed(s *APIService) bool
	// Constant reports whether the server is part of the simulator. Its documents never change, so they are requested only once.
	Constant(s *APIService) bool
	// Start runs a probe, which sends requests to the server. If a response may take long, the probe runs in a goroutine.
	Start(s *APIService, probe func())
	// Check returns an error if the server is not available.
	Check(s *APIService, within Within) error
	// Resources returns the APIResourceDiscovery list of the server's version. stale is true if the server did not return it.
	Resources(s *APIService, within Within) (rows []any, stale bool)
	// OpenAPI returns the server's documents. A document that could not be fetched is nil.
	OpenAPI(s *APIService, within Within) discovery.RemoteOpenAPI
	// Forward forwards a user's request. It returns nil if the service cannot be resolved.
	Forward(s *APIService, q *apiserver.Request, user resource.User, within Within) *apiserver.Answer
}

// Within returns a context with a timeout on the Cluster's clock, and a function that cancels it.
type Within = func(time.Duration) (ctx context.Context, end func())

const (
	// recheckInterval is the interval between checks of an available server, and documentsInterval that between requests for its
	// documents (the real server's resync of APIServices, and discoveryRefreshInterval).
	recheckInterval   = 30 * time.Second
	documentsInterval = time.Minute
	// recheckFirst is the delay of the first recheck of a failed server. It doubles with each further failure.
	recheckFirst = 5 * time.Millisecond

	services       = "services"
	endpointSlices = "endpointslices.discovery.k8s.io"
	serviceName    = "kubernetes.io/service-name"
)

var errNoProxy = errors.New("kubesim: the server cannot call aggregated API servers: use Server.Aggregate, or listen")

// Lock is the Cluster's lock.
type Lock interface {
	// Do runs f with the lock held. Unlocked runs f without it during a request.
	Do(f func())
	Unlocked(f func())
	// Within returns a context that is done when d has passed on the cluster's clock. It is called without the lock.
	Within(d time.Duration) (context.Context, func())
}

// Servers are the API servers of a cluster.
type Servers interface {
	// Serves reports whether the API servers themselves serve a version.
	Serves(group, version string) bool
	// Rediscover notifies the API servers that discovery has changed.
	Rediscover()
	// Reader returns a reader of the stored objects.
	Reader() registry.Reader
}

// Aggregator contains the state of a cluster's aggregated API servers. The Cluster's lock guards it.
type Aggregator struct {
	lock     Lock
	servers  Servers
	schedule *clock.Schedule
	clients  Clients

	through Proxy                       // if nil, aggregated API servers cannot be reached
	known   map[string]*remote          // by name of the APIService
	listed  map[string]discovery.Remote // APIServices without a service whose versions are not served, by name
	asks    []func()                    // functions to run after the lock has been released
}

// Clients provides the clients of controllers.
type Clients interface {
	// Client returns the client of the named controller.
	Client(name string) *controller.Client
}

// New returns the Aggregator of a cluster without APIServices.
func New(lock Lock, servers Servers, schedule *clock.Schedule, clients Clients) *Aggregator {
	return &Aggregator{lock: lock, servers: servers, schedule: schedule, clients: clients}
}

// Reset removes all aggregated API servers.
func (a *Aggregator) Reset() { a.known, a.listed, a.asks = nil, nil, nil }

// remote is an aggregated API server for one group version.
type remote struct {
	APIService
	available bool
	document  discovery.Remote

	round    int       // number of checks so far; results of earlier checks are ignored
	failures int       // number of successive failures
	read     time.Time // time of the last request for document
	dirty    bool      // document has to be requested again
	forget   func()    // cancels the next check; nil if none is scheduled
}

// Through sets the Proxy for aggregated API servers. After a Load, the availability of the servers does not change until a related
// object changes.
func (a *Aggregator) Through(p Proxy) { a.through = p }

// Known returns the names of the APIServices of aggregated API servers.
func (a *Aggregator) Known() []string { return object.SortedKeys(a.known) }

// Load registers the APIServices of a loaded store, with their stored availability.
func (a *Aggregator) Load() {
	for _, obj := range a.servers.Reader().All(server.APIServices, "") {
		if obj.Map("spec", "service") == nil {
			a.list(obj.Name(), obj)
			continue
		}
		r := newRemote(obj)
		if a.put(r); a.through != nil {
			a.ask(r)
		}
	}
	if len(a.known) > 0 {
		a.servers.Rediscover()
	}
}

func (a *Aggregator) put(r *remote) {
	if a.known == nil {
		a.known = map[string]*remote{}
	}
	a.known[r.Name] = r
}

// TakeAsks returns the pending checks, which the caller must run without the lock.
func (a *Aggregator) TakeAsks() []func() {
	asks := a.asks
	a.asks = nil
	return asks
}

// Remotes implements discovery.Host.
func (a *Aggregator) Remotes() []discovery.Remote {
	var all []discovery.Remote
	for _, name := range object.SortedKeys(a.known) {
		all = append(all, a.known[name].document)
	}
	for _, name := range object.SortedKeys(a.listed) {
		all = append(all, a.listed[name])
	}
	return all
}

// Priorities implements discovery.Host: it returns the highest priority of each group's APIServices.
func (a *Aggregator) Priorities() map[string]int64 {
	all := map[string]int64{}
	for _, obj := range a.servers.Reader().All(server.APIServices, "") {
		priority := obj.Int64("spec", "groupPriorityMinimum")
		group := obj.String("spec", "group")
		all[group] = max(all[group], priority)
	}
	return all
}

// Aggregated returns the function that forwards requests for a path to an aggregated API server, or nil if no such server serves
// the path.
func (a *Aggregator) Aggregated(path string) apiserver.Forward {
	if len(a.known) == 0 {
		return nil
	}
	r := a.remoteOf(path)
	if r == nil {
		return nil
	}
	return func(q *apiserver.Request, user resource.User) (answer *apiserver.Answer) {
		through := a.through
		if !r.available || through == nil {
			return nil
		}
		a.lock.Unlocked(func() { answer = through.Forward(&r.APIService, q, user, a.lock.Within) })
		return answer
	}
}

// remoteOf returns the aggregated API server that serves a path, or nil.
func (a *Aggregator) remoteOf(path string) *remote {
	if key, ok := strings.CutPrefix(path, "/openapi/v3/"); ok {
		for _, name := range object.SortedKeys(a.known) {
			if r := a.known[name]; r.document.OpenAPI.V3[key] != nil {
				return r
			}
		}
		return nil
	}
	parts := strings.SplitN(path, "/", 5)
	switch {
	case len(parts) >= 2 && parts[1] == "api":
		return a.known["v1."]
	case len(parts) >= 4 && parts[1] == "apis" && parts[2] != "":
		return a.known[parts[3]+"."+parts[2]]
	}
	return nil
}

// Address returns the HOST:PORT at which an API server reaches a service port: its cluster IP or external name (k8s.io/apiserver,
// proxy.ResolveCluster). It returns the real server's errors.
func Address(objects registry.Reader, namespace, name string, port int64) (string, error) {
	service := objects.Get(services, namespace, name)
	if service == nil {
		return "", fmt.Errorf("service %q not found", name)
	}
	number := strconv.FormatInt(port, 10)
	ip := service.String("spec", "clusterIP")
	switch kind := service.String("spec", "type"); {
	case kind == "ExternalName":
		return net.JoinHostPort(service.String("spec", "externalName"), number), nil
	case kind == "ClusterIP" && ip == "None":
		return "", fmt.Errorf(`cannot route to service with ClusterIP "None"`)
	}
	for _, x := range service.List("spec", "ports") {
		if object.Object(x.(map[string]any)).Int64("port") == port {
			return net.JoinHostPort(ip, number), nil
		}
	}
	return "", fmt.Errorf("no service port %d found for service %q", port, name)
}
