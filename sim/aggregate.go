package sim

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/apiserver"
	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/discovery"
	"github.com/kubesim/kubesim/sim/object"
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

// Aggregator reaches aggregated API servers. It is called without the Cluster's lock, but for Placed.
type Aggregator interface {
	// Placed reports whether it has been said where the server is: then nobody looks at the service and its endpoints.
	Placed(s *APIService) bool
	// Start runs a probe, which asks the server: at once, or in a goroutine when an answer may take long.
	Start(s *APIService, probe func())
	// Check says why the server does not count as available.
	Check(s *APIService, within Within) error
	// Resources returns the APIResourceDiscovery of the server's version; stale says that it did not tell.
	Resources(s *APIService, within Within) (rows []any, stale bool)
	// OpenAPI returns the server's documents; one that is nil was not to be had.
	OpenAPI(s *APIService, within Within) discovery.RemoteOpenAPI
	// Forward passes a request of a user on. A nil Answer says that the service cannot be resolved.
	Forward(s *APIService, q *apiserver.Request, user resource.User, within Within) *apiserver.Answer
}

// Within returns a context that ends after a time of the Cluster's clock, and what ends it before.
type Within = func(time.Duration) (ctx context.Context, end func())

const (
	// recheckInterval is how often an available server is asked whether it still is, documentsInterval how often what it
	// serves (the real server's resync of APIServices, discoveryRefreshInterval).
	recheckInterval   = 30 * time.Second
	documentsInterval = time.Minute
	// recheckFirst is when one that failed is asked again for the first time; each time after that it takes twice as long.
	recheckFirst = 5 * time.Millisecond

	endpointSlices = "endpointslices.discovery.k8s.io"
	serviceName    = "kubernetes.io/service-name"
)

var errNoAggregator = errors.New("kubesim: nothing carries requests to aggregated API servers: use Server.Aggregate, or listen")

// aggregation is what API servers know of aggregated ones (k8s.io/kube-aggregator: the proxy handlers, the controller of
// conditions and the manager of discovery). The servers are asked after the lock was given back:
//
//	commit of an APIService, Service, EndpointSlice ─▶ soon ─▶ judge ─┬─ what is stored does not do ─▶ condition False
//	                                                                 └─ asks ─ Unlock ─▶ Aggregator.Check ─▶ condition
type aggregation struct {
	through Aggregator                  // nil: nobody reaches them
	known   map[string]*remote          // by name of the APIService
	listed  map[string]discovery.Remote // APIServices without a service, of versions that nobody serves, by name
	asks    []func()                    // to be run when the lock was given back
	writing bool                        // a condition: what is stored anew needs no look
}

// remote is one aggregated API server, of one version of a group.
type remote struct {
	APIService
	available bool
	document  discovery.Remote

	round    int       // counts the times that it was judged: an answer to an earlier question is not heard
	failures int       // in a row
	read     time.Time // when document was last asked for
	dirty    bool      // document is to be asked for anew
	forget   func()    // takes back the next look; nil: there is none
}

// AggregateThrough sets what reaches aggregated API servers. Those of a Cluster that was loaded count as what they were
// until something happens to them, or Recheck is called.
func (c *Cluster) AggregateThrough(a Aggregator) {
	c.door.Lock()
	defer c.door.Unlock()
	c.aggregation.through = a
}

// Recheck has all aggregated API servers looked at: they may be reached in another way.
func (c *Cluster) Recheck() {
	c.door.Lock()
	defer c.door.Unlock()
	for _, name := range object.SortedKeys(c.aggregation.known) {
		c.jobs.soon = append(c.jobs.soon, func() { c.judge(name) })
	}
}

// rememberServices takes in the APIServices of a store that was read: they are as available as they were.
func (c *Cluster) rememberServices() {
	c.objects().Each(apiServices, "", func(obj object.Object) bool {
		if obj.Map("spec", "service") == nil {
			c.list(obj.Name(), obj)
			return true
		}
		r := newRemote(obj)
		if c.aggregation.known == nil {
			c.aggregation.known = map[string]*remote{}
		}
		if c.aggregation.known[r.Name] = r; c.aggregation.through != nil {
			c.ask(r)
		}
		return true
	})
	if len(c.aggregation.known) > 0 {
		c.rediscover()
	}
}

// takeAsks returns what is to be asked without the lock.
func (a *aggregation) takeAsks() []func() {
	asks := a.asks
	a.asks = nil
	return asks
}

// followServices queues the looks that a commit leads to.
func (c *Cluster) followServices(e *commit.Commit) {
	switch e.Storage {
	case apiServices:
		if !c.aggregation.writing {
			name := e.Key[strings.LastIndexByte(e.Key, '/')+1:]
			c.jobs.soon = append(c.jobs.soon, func() { c.judge(name) })
			if _, group, _ := strings.Cut(name, "."); len(c.definitions(group)) > 0 {
				c.jobs.soon = append(c.jobs.soon, func() { c.register(group) })
			}
		}
		return
	case "services", endpointSlices:
	default:
		return
	}
	if len(c.aggregation.known) == 0 {
		return
	}
	item := e.Item()
	service := item.Name
	if e.Storage == endpointSlices {
		service = item.Object().Labels()[serviceName]
	}
	for _, name := range object.SortedKeys(c.aggregation.known) {
		if r := c.aggregation.known[name]; r.Namespace == item.Namespace && r.Service == service {
			c.jobs.soon = append(c.jobs.soon, func() { c.judge(name) })
		}
	}
}

func (c *Cluster) rediscover() {
	for _, r := range c.replicas {
		r.server.Discovery.Changed()
	}
}

// remotes is discovery.Options' Remotes.
func (c *Cluster) remotes() []discovery.Remote {
	var all []discovery.Remote
	for _, name := range object.SortedKeys(c.aggregation.known) {
		all = append(all, c.aggregation.known[name].document)
	}
	for _, name := range object.SortedKeys(c.aggregation.listed) {
		all = append(all, c.aggregation.listed[name])
	}
	return all
}

// priorities is discovery.Options' Priorities: the highest one of each group's APIServices.
func (c *Cluster) priorities() map[string]int64 {
	all := map[string]int64{}
	c.objects().Each(apiServices, "", func(obj object.Object) bool {
		priority, _ := obj.Int("spec", "groupPriorityMinimum")
		group := obj.String("spec", "group")
		all[group] = max(all[group], priority)
		return true
	})
	return all
}

// aggregated is apiserver.Server's Aggregated.
func (c *Cluster) aggregated(path string) apiserver.Forward {
	if len(c.aggregation.known) == 0 {
		return nil
	}
	r := c.remoteOf(path)
	if r == nil {
		return nil
	}
	return func(q *apiserver.Request, user resource.User) (a *apiserver.Answer) {
		through := c.aggregation.through
		if !r.available || through == nil {
			return nil
		}
		c.door.Outside(func() { a = through.Forward(&r.APIService, q, user, c.door.Within) })
		return a
	}
}

// remoteOf returns the aggregated API server that a path belongs to, or nil.
func (c *Cluster) remoteOf(path string) *remote {
	if key, ok := strings.CutPrefix(path, "/openapi/v3/"); ok {
		for _, name := range object.SortedKeys(c.aggregation.known) {
			if r := c.aggregation.known[name]; r.document.OpenAPI.V3[key] != nil {
				return r
			}
		}
		return nil
	}
	parts := strings.SplitN(path, "/", 5)
	switch {
	case len(parts) >= 2 && parts[1] == "api":
		return c.aggregation.known["v1."]
	case len(parts) >= 4 && parts[1] == "apis" && parts[2] != "":
		return c.aggregation.known[parts[3]+"."+parts[2]]
	}
	return nil
}
