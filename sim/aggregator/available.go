package aggregator

import (
	"encoding/base64"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/controller/server"
	"github.com/kubesim/kubesim/sim/discovery"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/registry"
	"github.com/kubesim/kubesim/sim/status"
)

// Availability is the name of the availability controller.
const Availability = "AvailableConditionController"

// Controller returns the controller that sets the Available condition of each APIService (k8s.io/kube-aggregator,
// pkg/controllers/status/remote). It reads only stored objects; requests to the servers are sent after the lock has been released.
func (a *Aggregator) Controller() controller.Controller {
	return server.Own(Availability, a, controller.Watch{Resource: server.APIServices, Others: true},
		controller.Watch{Resource: services, Keys: a.concerned}, controller.Watch{Resource: endpointSlices, Keys: a.concerned})
}

// concerned returns the APIServices that depend on a changed Service or EndpointSlice.
func (a *Aggregator) concerned(_ *controller.Client, c *commit.Commit) []controller.Key {
	if len(a.known) == 0 {
		return nil
	}
	service := c.Name
	if c.Storage == endpointSlices {
		service, _ = c.Item().Label(serviceName)
	}
	var keys []controller.Key
	for _, name := range object.SortedKeys(a.known) {
		if r := a.known[name]; r.Namespace == c.Namespace && r.Service == service {
			keys = append(keys, controller.Key{Name: name})
		}
	}
	return keys
}

// Reconcile implements controller.Reconciler. If the stored objects allow the server of an APIService to be available, it requests
// a check of the server.
func (a *Aggregator) Reconcile(_ *controller.Client, key controller.Key) (time.Duration, *status.Status) {
	a.judge(key.Name)
	return 0, nil
}

func (a *Aggregator) judge(name string) {
	obj := a.servers.Reader().Get(server.APIServices, "", name)
	old := a.known[name]
	if old != nil {
		old.stop()
	}
	a.list(name, obj)
	if obj == nil || obj.Map("spec", "service") == nil {
		if old != nil {
			delete(a.known, name)
			a.servers.Rediscover()
		}
		if obj != nil {
			a.conclude(obj, "True", "Local", "Local APIServices are always available")
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
	a.put(r)
	if old == nil || !reflect.DeepEqual(r.document, old.document) {
		a.servers.Rediscover()
	}
	reason, message := a.missing(r)
	if reason == "" && a.through == nil {
		reason, message = "FailedDiscoveryCheck", errNoProxy.Error()
	}
	if reason != "" {
		r.available = false
		a.stale(r)
		a.conclude(obj, "False", reason, message)
		return
	}
	a.ask(r)
}

// list adds an APIService without a service to the listed ones if its version is not served, for example because the names of the
// definition conflict with those of another one.
func (a *Aggregator) list(name string, obj object.Object) {
	_, was := a.listed[name]
	is := obj != nil && obj.Map("spec", "service") == nil &&
		!a.servers.Serves(obj.String("spec", "group"), obj.String("spec", "version"))
	if !was && !is {
		return
	}
	delete(a.listed, name)
	if is {
		if a.listed == nil {
			a.listed = map[string]discovery.Remote{}
		}
		document := newRemote(obj).document
		document.Nobody = true
		a.listed[name] = document
	}
	a.servers.Rediscover()
}

// newRemote returns the remote that an APIService describes.
func newRemote(obj object.Object) *remote {
	r := &remote{APIService: APIService{Name: obj.Name(), Group: obj.String("spec", "group"), Version: obj.String("spec", "version"),
		Namespace: obj.String("spec", "service", "namespace"), Service: obj.String("spec", "service", "name"),
		Port: obj.Int64("spec", "service", "port"), Insecure: obj.True("spec", "insecureSkipTLSVerify")}}
	r.Bundle, _ = base64.StdEncoding.DecodeString(obj.String("spec", "caBundle")) // validation has checked it
	r.document = discovery.Remote{Group: r.Group, Version: r.Version, Stale: true, VersionPriority: obj.Int64("spec", "versionPriority")}
	r.available = obj.Condition("Available").String("status") == "True"
	return r
}

// stop cancels the next check of the server, if one is scheduled.
func (r *remote) stop() {
	if r.forget != nil {
		r.forget()
	}
	r.forget = nil
}

// missing returns the reason why the stored objects do not allow r's server to be available, or "" if they do.
func (a *Aggregator) missing(r *remote) (reason, message string) {
	if a.through != nil && a.through.Placed(&r.APIService) {
		return "", ""
	}
	service := a.servers.Reader().Get(services, r.Namespace, r.Service)
	if service == nil {
		return "ServiceNotFound", fmt.Sprintf("service/%s in %q is not present", r.Service, r.Namespace)
	}
	if service.String("spec", "type") != "ClusterIP" {
		return "", ""
	}
	ports := service.List("spec", "ports")
	i := slices.IndexFunc(ports, func(x any) bool { return object.As(x).Int64("port") == r.Port })
	if i < 0 {
		return "ServicePortError", fmt.Sprintf("service/%s in %q is not listening on port %d", r.Service, r.Namespace, r.Port)
	}
	port := object.Object(ports[i].(map[string]any)).String("name")
	found, ready := false, false
	for _, obj := range a.servers.Reader().All(endpointSlices, r.Namespace) {
		if obj.Labels()[serviceName] == r.Service {
			found, ready = true, ready || endpointsReady(obj, port)
		}
	}
	switch {
	case !found:
		return "EndpointsNotFound", fmt.Sprintf("cannot find endpointslices for service/%s in %q", r.Service, r.Namespace)
	case !ready:
		return "MissingEndpoints", fmt.Sprintf("endpointslices for service/%s in %q have no addresses with port name %q", r.Service, r.Namespace, port)
	}
	return "", ""
}

// ReadyNodes returns the names of the nodes of a service's ready endpoints, "" for an endpoint without a node.
func ReadyNodes(objects registry.Reader, namespace, service string) (nodes []string) {
	for _, obj := range objects.All(endpointSlices, namespace) {
		if obj.Labels()[serviceName] != service {
			continue
		}
		for _, endpoint := range obj.Objects("endpoints") {
			if ready, said := endpoint.Bool("conditions", "ready"); ready || !said {
				nodes = append(nodes, endpoint.String("nodeName"))
			}
		}
	}
	return nodes
}

// endpointsReady reports whether an EndpointSlice has a ready endpoint and a port with the given name.
func endpointsReady(slice object.Object, port string) bool {
	return slices.ContainsFunc(slice.List("endpoints"), func(x any) bool {
		ready, said := object.Object(x.(map[string]any)).Bool("conditions", "ready")
		return ready || !said
	}) && slices.ContainsFunc(slice.List("ports"), func(x any) bool {
		p := x.(map[string]any)
		return p["name"] == port && p["port"] != nil
	})
}

// ask adds a check of r's server that will run after the lock has been released.
func (a *Aggregator) ask(r *remote) {
	r.round++
	round, through := r.round, a.through
	documents := r.dirty || r.document.Stale || a.schedule.Now().Sub(r.read) >= documentsInterval
	r.dirty = false
	a.asks = append(a.asks, func() {
		through.Start(&r.APIService, func() {
			available := a.checked(r, round, documents, through.Check(&r.APIService, a.lock.Within))
			if !documents {
				return
			}
			rows, stale := through.Resources(&r.APIService, a.lock.Within)
			a.described(r, func(d *discovery.Remote) { d.Resources, d.Stale = rows, stale })
			if available {
				read := through.OpenAPI(&r.APIService, a.lock.Within)
				a.described(r, func(d *discovery.Remote) { d.OpenAPI.Take(read) })
			}
		})
	})
}

// checked records the result of a check, unless a newer check has begun. documents reports whether the server's documents are
// requested next. It is called without the lock.
func (a *Aggregator) checked(r *remote, round int, documents bool, err error) (available bool) {
	a.lock.Do(func() { available = a.checkedLocked(r, round, documents, err) })
	return available
}

func (a *Aggregator) checkedLocked(r *remote, round int, documents bool, err error) (available bool) {
	obj := a.servers.Reader().Get(server.APIServices, "", r.Name)
	if a.known[r.Name] != r || r.round != round || obj == nil {
		return false
	}
	if r.available != (err == nil) && !documents {
		r.dirty = true
		defer a.ask(r) // as the commit of its changed condition would cause
	}
	next := recheckInterval
	if r.available = err == nil; r.available {
		r.failures = 0
		a.conclude(obj, "True", "Passed", "all checks passed")
	} else {
		next = min(recheckFirst<<min(r.failures, 20), recheckInterval)
		r.failures++
		a.conclude(obj, "False", "FailedDiscoveryCheck", err.Error())
	}
	r.stop()
	if r.available && a.through.Constant(&r.APIService) {
		return true
	}
	r.forget = a.schedule.After(next, func() {
		r.forget = nil
		if a.known[r.Name] == r {
			a.ask(r)
		}
	})
	return r.available
}

// described applies a change to the description of a server. It is called without the lock.
func (a *Aggregator) described(r *remote, change func(*discovery.Remote)) {
	a.lock.Do(func() {
		if a.known[r.Name] != r {
			return
		}
		was := r.document
		change(&r.document)
		r.read = a.schedule.Now()
		if !reflect.DeepEqual(was, r.document) {
			a.servers.Rediscover()
		}
	})
}

// stale records that the resources of r's server are unknown.
func (a *Aggregator) stale(r *remote) {
	if r.document.Resources != nil || !r.document.Stale {
		r.document.Resources, r.document.Stale = nil, true
		a.servers.Rediscover()
	}
}

// conclude updates the Available condition of an APIService if it has changed.
func (a *Aggregator) conclude(obj object.Object, value, reason, message string) {
	conditions := obj.List("status", "conditions")
	i := slices.IndexFunc(conditions, func(x any) bool { return x.(map[string]any)["type"] == "Available" })
	condition := map[string]any{"type": "Available", "status": value, "lastTransitionTime": object.Time(a.schedule.Now()), "reason": reason, "message": message}
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
	_, _ = a.clients.Client(Availability).Update(server.APIServices, "status", obj) // obj was just read
}
