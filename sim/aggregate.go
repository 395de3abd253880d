package sim

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/apiserver"
	"github.com/kubesim/kubesim/sim/discovery"
	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/registry"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
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
	// Probe asks the server what it serves, as far as it is wanted. within returns a context that ends after a time of the
	// Cluster's clock, and what ends it before.
	Probe(s *APIService, documents bool, within func(time.Duration) (context.Context, func())) Probed
	// Forward passes a request of a user on. A nil Answer says that the service cannot be resolved.
	Forward(s *APIService, q *apiserver.Request, user resource.User, within func(time.Duration) (context.Context, func())) *apiserver.Answer
}

// Probed is what an aggregated API server said when it was asked.
type Probed struct {
	Err       error // why it does not count as available
	Resources []any // APIResourceDiscovery of its version
	Stale     bool  // it did not say what it serves

	// OpenAPI are its documents; a nil one was not to be had.
	OpenAPI discovery.RemoteOpenAPI
}

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
//	                                                                 └─ asks ─ Unlock ─▶ Aggregator.Probe ─▶ condition
type aggregation struct {
	through Aggregator         // nil: nobody reaches them
	known   map[string]*remote // by name of the APIService
	asks    []func()           // to be run when the lock was given back
	writing bool               // a condition: what is stored anew needs no look
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

// AggregateThrough sets what reaches aggregated API servers, and has all of them looked at.
func (c *Cluster) AggregateThrough(a Aggregator) {
	locker{c}.Lock()
	defer locker{c}.Unlock()
	c.aggregation.through = a
	c.judgeAll()
}

// rememberServices takes in the APIServices of a store that was read: they are as available as they were.
func (c *Cluster) rememberServices() {
	c.objects().Each(apiServices, "", func(obj object.Object) bool {
		if obj.Map("spec", "service") == nil {
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

// judgeAll looks at every APIService that is stored.
func (c *Cluster) judgeAll() {
	c.objects().Each(apiServices, "", func(obj object.Object) bool {
		if name := obj.Name(); obj.Map("spec", "service") != nil {
			c.jobs.soon = append(c.jobs.soon, func() { c.judge(name) })
		}
		return true
	})
}

// takeAsks returns what is to be asked without the lock.
func (a *aggregation) takeAsks() []func() {
	asks := a.asks
	a.asks = nil
	return asks
}

// followServices queues the looks that a commit leads to.
func (c *Cluster) followServices(e *mvcc.Event) {
	storage := storageOf(e.Key)
	switch storage {
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
	kv := e.KV
	if kv == nil {
		kv = e.Prev
	}
	item := resource.ItemOf(c.hub(storage), kv)
	service := item.Name
	if storage == endpointSlices {
		service = item.Object().Labels()[serviceName]
	}
	for _, name := range object.SortedKeys(c.aggregation.known) {
		if r := c.aggregation.known[name]; r.Namespace == item.Namespace && r.Service == service {
			c.jobs.soon = append(c.jobs.soon, func() { c.judge(name) })
		}
	}
}

// judge looks at an APIService: whether what is stored lets its server be available, and then whether it is.
func (c *Cluster) judge(name string) {
	obj := c.objects().Get(apiServices, "", name)
	old := c.aggregation.known[name]
	if old != nil && old.forget != nil {
		old.forget()
		old.forget = nil
	}
	if obj == nil || obj.Map("spec", "service") == nil {
		if old != nil {
			delete(c.aggregation.known, name)
			c.rediscover()
		}
		if obj != nil {
			c.conclude(obj, "True", "Local", "Local APIServices are always available")
		}
		return
	}
	r := newRemote(obj)
	if old != nil {
		r.failures, r.dirty = old.failures, true
		if reflect.DeepEqual(r.APIService, old.APIService) {
			r.document.Resources, r.document.Stale, r.document.OpenAPI = old.document.Resources, old.document.Stale, old.document.OpenAPI
			r.read = old.read
		}
	}
	if c.aggregation.known == nil {
		c.aggregation.known = map[string]*remote{}
	}
	c.aggregation.known[name] = r
	if old == nil || !reflect.DeepEqual(r.document, old.document) {
		c.rediscover()
	}
	reason, message := c.missing(r)
	if reason == "" && c.aggregation.through == nil {
		reason, message = "FailedDiscoveryCheck", errNoAggregator.Error()
	}
	if reason != "" {
		r.available = false
		c.stale(r)
		c.conclude(obj, "False", reason, message)
		return
	}
	c.ask(r)
}

// newRemote reads an APIService.
func newRemote(obj object.Object) *remote {
	r := &remote{APIService: APIService{Name: obj.Name(), Group: obj.String("spec", "group"), Version: obj.String("spec", "version"),
		Namespace: obj.String("spec", "service", "namespace"), Service: obj.String("spec", "service", "name")}}
	r.Port, _ = obj.Int("spec", "service", "port")
	r.Insecure, _ = obj.Bool("spec", "insecureSkipTLSVerify")
	r.Bundle, _ = base64.StdEncoding.DecodeString(obj.String("spec", "caBundle")) // which validation has seen
	r.document = discovery.Remote{Group: r.Group, Version: r.Version, Stale: true}
	r.document.GroupPriority, _ = obj.Int("spec", "groupPriorityMinimum")
	r.document.VersionPriority, _ = obj.Int("spec", "versionPriority")
	for _, x := range obj.List("status", "conditions") {
		if m, _ := x.(map[string]any); object.Object(m).String("type") == "Available" {
			r.available = object.Object(m).String("status") == "True"
		}
	}
	return r
}

// missing says why the server of r cannot be available by what is stored about its service ("": it can be).
func (c *Cluster) missing(r *remote) (reason, message string) {
	if c.aggregation.through != nil && c.aggregation.through.Placed(&r.APIService) {
		return "", ""
	}
	service := c.objects().Get("services", r.Namespace, r.Service)
	if service == nil {
		return "ServiceNotFound", fmt.Sprintf("service/%s in %q is not present", r.Service, r.Namespace)
	}
	if service.String("spec", "type") != "ClusterIP" {
		return "", ""
	}
	ports := service.List("spec", "ports")
	i := slices.IndexFunc(ports, func(x any) bool {
		port, _ := object.Object(x.(map[string]any)).Int("port")
		return port == r.Port
	})
	if i < 0 {
		return "ServicePortError", fmt.Sprintf("service/%s in %q is not listening on port %d", r.Service, r.Namespace, r.Port)
	}
	port := object.Object(ports[i].(map[string]any)).String("name")
	found, ready := false, false
	c.objects().Each(endpointSlices, r.Namespace, func(obj object.Object) bool {
		if obj.Labels()[serviceName] == r.Service {
			found, ready = true, ready || endpointsReady(obj, port)
		}
		return !ready
	})
	switch {
	case !found:
		return "EndpointsNotFound", fmt.Sprintf("cannot find endpointslices for service/%s in %q", r.Service, r.Namespace)
	case !ready:
		return "MissingEndpoints", fmt.Sprintf("endpointslices for service/%s in %q have no addresses with port name %q", r.Service, r.Namespace, port)
	}
	return "", ""
}

// endpointsReady reports whether a slice has an endpoint that is ready, and a port with the name.
func endpointsReady(slice object.Object, port string) bool {
	return slices.ContainsFunc(slice.List("endpoints"), func(x any) bool {
		ready, said := object.Object(x.(map[string]any)).Bool("conditions", "ready")
		return ready || !said
	}) && slices.ContainsFunc(slice.List("ports"), func(x any) bool {
		p := x.(map[string]any)
		return p["name"] == port && p["port"] != nil
	})
}

// ask has the server of r asked when the lock was given back.
func (c *Cluster) ask(r *remote) {
	r.round++
	round, through := r.round, c.aggregation.through
	documents := r.dirty || r.document.Stale || c.now().Sub(r.read) >= documentsInterval
	r.dirty = false
	c.aggregation.asks = append(c.aggregation.asks, func() {
		through.Start(&r.APIService, func() {
			c.heard(r, round, through.Probe(&r.APIService, documents, c.within), documents)
		})
	})
}

// within returns a context that ends when d of the Cluster's time has passed. It is called without the lock.
func (c *Cluster) within(d time.Duration) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	c.lock()
	forget := c.schedule.after(d, func() { cancel(context.DeadlineExceeded) })
	c.mu.Unlock()
	return ctx, func() {
		c.lock()
		forget()
		c.mu.Unlock()
		cancel(nil)
	}
}

// heard takes in what a server said, unless somebody asks it anew. It is called without the lock.
func (c *Cluster) heard(r *remote, round int, got Probed, documents bool) {
	locker{c}.Lock()
	defer locker{c}.Unlock()
	obj := c.objects().Get(apiServices, "", r.Name)
	if c.aggregation.known[r.Name] != r || r.round != round || obj == nil {
		return
	}
	if documents {
		r.read = c.now()
		was := r.document
		r.document.Resources, r.document.Stale = got.Resources, got.Stale
		r.document.OpenAPI.Take(got.OpenAPI)
		if !reflect.DeepEqual(was, r.document) {
			c.rediscover()
		}
	}
	next := recheckInterval
	if r.available != (got.Err == nil) && !documents {
		r.dirty = true
		defer c.ask(r) // as a commit of its condition leads to
	}
	if got.Err == nil {
		r.available, r.failures = true, 0
		c.conclude(obj, "True", "Passed", "all checks passed")
	} else {
		r.available = false
		next = min(recheckFirst<<min(r.failures, 20), recheckInterval)
		r.failures++
		c.conclude(obj, "False", "FailedDiscoveryCheck", got.Err.Error())
	}
	if r.forget != nil {
		r.forget()
	}
	r.forget = c.schedule.after(next, func() {
		r.forget = nil
		if c.aggregation.known[r.Name] == r {
			c.ask(r)
		}
	})
}

// stale says that nobody knows what the server of r serves.
func (c *Cluster) stale(r *remote) {
	if r.document.Resources != nil || !r.document.Stale {
		r.document.Resources, r.document.Stale = nil, true
		c.rediscover()
	}
}

func (c *Cluster) rediscover() {
	for _, r := range c.replicas {
		r.server.Discovery.Changed()
	}
}

// conclude writes the condition Available of an APIService, if it is another one than before.
func (c *Cluster) conclude(obj object.Object, value, reason, message string) {
	conditions := obj.List("status", "conditions")
	i := slices.IndexFunc(conditions, func(x any) bool { return x.(map[string]any)["type"] == "Available" })
	condition := map[string]any{"type": "Available", "status": value, "lastTransitionTime": object.Time(c.now()), "reason": reason, "message": message}
	if i < 0 {
		conditions = append(conditions, condition)
	} else {
		old := conditions[i].(map[string]any)
		if old["status"] == value {
			condition["lastTransitionTime"] = old["lastTransitionTime"]
		}
		if object.Equal(old, condition) {
			return
		}
		conditions[i] = condition
	}
	obj.Set(conditions, "status", "conditions")
	q := c.loopback(c.hub(apiServices), "", obj.Name())
	q.Subresource = "status"
	c.aggregation.writing = true
	defer func() { c.aggregation.writing = false }()
	_, _ = c.own().Update(q, registry.Change{Kind: registry.Put, // of what was just read
		Make: func(object.Object) (object.Object, *status.Status) { return obj, nil }})
}

// remotes is discovery.Options' Remotes.
func (c *Cluster) remotes() []discovery.Remote {
	var all []discovery.Remote
	for _, name := range object.SortedKeys(c.aggregation.known) {
		all = append(all, c.aggregation.known[name].document)
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
		c.outside(func() { a = through.Forward(&r.APIService, q, user, c.within) })
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
