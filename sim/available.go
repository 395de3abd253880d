package sim

import (
	"encoding/base64"
	"fmt"
	"reflect"
	"slices"

	"github.com/kubesim/kubesim/sim/discovery"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/registry"
	"github.com/kubesim/kubesim/sim/status"
)

// judge looks at an APIService: whether what is stored lets its server be available, and then whether it is.
func (c *Cluster) judge(name string) {
	obj := c.objects().Get(apiServices, "", name)
	old := c.aggregation.known[name]
	if old != nil && old.forget != nil {
		old.forget()
		old.forget = nil
	}
	c.list(name, obj)
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

// list lists an APIService without a service if nobody serves its version. Those that servers make follow what is served.
func (c *Cluster) list(name string, obj object.Object) {
	_, was := c.aggregation.listed[name]
	is := obj != nil && obj.Map("spec", "service") == nil && obj.Labels()[automanaged] == "" &&
		!c.leader().server.Table.Serves(obj.String("spec", "group"), obj.String("spec", "version"))
	if !was && !is {
		return
	}
	delete(c.aggregation.listed, name)
	if is {
		if c.aggregation.listed == nil {
			c.aggregation.listed = map[string]discovery.Remote{}
		}
		document := newRemote(obj).document
		document.Nobody = true
		c.aggregation.listed[name] = document
	}
	c.rediscover()
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
			available := c.checked(r, round, documents, through.Check(&r.APIService, c.door.Within))
			if !documents {
				return
			}
			rows, stale := through.Resources(&r.APIService, c.door.Within)
			c.described(r, func(d *discovery.Remote) { d.Resources, d.Stale = rows, stale })
			if available {
				read := through.OpenAPI(&r.APIService, c.door.Within)
				c.described(r, func(d *discovery.Remote) { d.OpenAPI.Take(read) })
			}
		})
	})
}

// checked takes in whether a server is available, unless somebody asks it anew. documents says that what it serves is asked
// for next. It is called without the lock.
func (c *Cluster) checked(r *remote, round int, documents bool, err error) (available bool) {
	c.door.Lock()
	defer c.door.Unlock()
	obj := c.objects().Get(apiServices, "", r.Name)
	if c.aggregation.known[r.Name] != r || r.round != round || obj == nil {
		return false
	}
	if r.available != (err == nil) && !documents {
		r.dirty = true
		defer c.ask(r) // as a commit of its condition leads to
	}
	next := recheckInterval
	if r.available = err == nil; r.available {
		r.failures = 0
		c.conclude(obj, "True", "Passed", "all checks passed")
	} else {
		next = min(recheckFirst<<min(r.failures, 20), recheckInterval)
		r.failures++
		c.conclude(obj, "False", "FailedDiscoveryCheck", err.Error())
	}
	if r.forget != nil {
		r.forget()
	}
	r.forget = c.schedule.After(next, func() {
		r.forget = nil
		if c.aggregation.known[r.Name] == r {
			c.ask(r)
		}
	})
	return r.available
}

// described takes in what a server says of itself. It is called without the lock.
func (c *Cluster) described(r *remote, change func(*discovery.Remote)) {
	c.door.Lock()
	defer c.door.Unlock()
	if c.aggregation.known[r.Name] != r {
		return
	}
	was := r.document
	change(&r.document)
	r.read = c.now()
	if !reflect.DeepEqual(was, r.document) {
		c.rediscover()
	}
}

// stale says that nobody knows what the server of r serves.
func (c *Cluster) stale(r *remote) {
	if r.document.Resources != nil || !r.document.Stale {
		r.document.Resources, r.document.Stale = nil, true
		c.rediscover()
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
