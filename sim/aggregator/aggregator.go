// Package aggregator registers aggregated API servers, checks their availability, and passes requests on to them
// (k8s.io/kube-aggregator: the proxy handlers, the controller of conditions and the manager of discovery). Requests to them are
// sent after the lock has been released:
//
//	commit of an APIService, Service, EndpointSlice ─▶ Reconcile ─┬─ stored objects do not suffice ─▶ condition False
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

// APIService is an APIService whose API a service answers for: an aggregated API server.
type APIService struct {
	Name, Group, Version string
	Namespace, Service   string // of the service
	Port                 int64
	Bundle               []byte // spec.caBundle, PEM
	Insecure             bool   // spec.insecureSkipTLSVerify
}

// Proxy reaches aggregated API servers. It is called without the Cluster's lock, but for Placed.
type Proxy interface {
	// Placed reports whether the location of the server is configured: then the service and its endpoints are ignored.
	Placed(s *APIService) bool
	// Constant reports whether the server is a part of the simulator: its documents never change, and are requested once.
	Constant(s *APIService) bool
	// Start runs a probe, which sends requests to the server: at once, or in a goroutine if an answer may take long.
	Start(s *APIService, probe func())
	// Check returns an error if the server is not available.
	Check(s *APIService, within Within) error
	// Resources returns the APIResourceDiscovery of the server's version; stale is true if the server did not return it.
	Resources(s *APIService, within Within) (rows []any, stale bool)
	// OpenAPI returns the server's documents. A document that could not be read is nil.
	OpenAPI(s *APIService, within Within) discovery.RemoteOpenAPI
	// Forward passes a request of a user on. It returns nil if the service cannot be resolved.
	Forward(s *APIService, q *apiserver.Request, user resource.User, within Within) *apiserver.Answer
}

// Within returns a context that ends after a time of the Cluster's clock, and what ends it before.
type Within = func(time.Duration) (ctx context.Context, end func())

const (
	// recheckInterval is the interval of checks of an available server, documentsInterval that of reading its documents (the real
	// server's resync of APIServices, discoveryRefreshInterval).
	recheckInterval   = 30 * time.Second
	documentsInterval = time.Minute
	// recheckFirst is the time before the first recheck of a failed server; it doubles with each further failure.
	recheckFirst = 5 * time.Millisecond

	services       = "services"
	endpointSlices = "endpointslices.discovery.k8s.io"
	serviceName    = "kubernetes.io/service-name"
)

var errNoProxy = errors.New("kubesim: nothing carries requests to aggregated API servers: use Server.Aggregate, or listen")

// Lock is the Cluster's lock as an Aggregator uses it.
type Lock interface {
	// Do runs f under the lock, Unlocked without it in the middle of a request.
	Do(f func())
	Unlocked(f func())
	// Within returns a context that ends when d of the cluster's time has passed. It is called without the lock.
	Within(d time.Duration) (context.Context, func())
}

// Servers are the API servers of a cluster as an Aggregator sees them.
type Servers interface {
	// Serves reports whether the API servers themselves serve a version.
	Serves(group, version string) bool
	// Rediscover reports that discovery has changed.
	Rediscover()
	// Reader returns a reader of the stored objects.
	Reader() registry.Reader
}

// Aggregator keeps the state of the aggregated API servers of a cluster. The Cluster's lock guards it.
type Aggregator struct {
	lock     Lock
	servers  Servers
	schedule *clock.Schedule
	clients  Clients

	through Proxy                       // if nil, aggregated API servers cannot be reached
	known   map[string]*remote          // by name of the APIService
	listed  map[string]discovery.Remote // APIServices without a service, of versions that are not served, by name
	asks    []func()                    // to be run after the lock has been released
}

// Clients finds the clients of controllers.
type Clients interface {
	// Client returns the client of the controller with a name.
	Client(name string) *controller.Client
}

// New returns the Aggregator of a cluster that has no APIServices yet.
func New(lock Lock, servers Servers, schedule *clock.Schedule, clients Clients) *Aggregator {
	return &Aggregator{lock: lock, servers: servers, schedule: schedule, clients: clients}
}

// Reset forgets all aggregated API servers.
func (a *Aggregator) Reset() { a.known, a.listed, a.asks = nil, nil, nil }

// remote is one aggregated API server, of one version of a group.
type remote struct {
	APIService
	available bool
	document  discovery.Remote

	round    int       // counts the times that it was judged: an answer to an earlier question is not heard
	failures int       // in a row
	read     time.Time // time of the last request for document
	dirty    bool      // document is to be requested again
	forget   func()    // cancels the next check, if there is one
}

// Through sets the Proxy that reaches aggregated API servers. After a Load their availability stays as loaded until a related
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

// TakeAsks returns the pending requests to aggregated servers, to be run without the lock.
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

// Aggregated is apiserver.Server's: what passes requests for a path on, or nil.
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

// remoteOf returns the aggregated API server that a path belongs to, or nil.
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

// Address returns the HOST:PORT at which an API server reaches a port of a service: its cluster IP, or its external name
// (k8s.io/apiserver, proxy.ResolveCluster). The errors are those of the real server.
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
