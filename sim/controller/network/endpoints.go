package network

import (
	"fmt"
	"maps"
	"time"

	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/controller/workload"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/status"
)

const (
	endpointsManager = "endpoints.kubernetes.io/managed-by"
	overCapacity     = "endpoints.kubernetes.io/over-capacity"
	leader           = "control-plane.alpha.kubernetes.io/leader"

	// capacity is the maximum number of addresses in an Endpoints object.
	capacity = 1000
)

// Endpoints maintains the Endpoints of services with a selector (pkg/controller/endpoint).
func Endpoints() controller.Controller {
	c := controller.Account("endpoints-controller", "endpoint-controller", &endpointsOf{}, controller.Watch{Resource: services}, podWatch(),
		controller.Watch{Resource: endpoints, Keys: func(_ *controller.Client, c *commit.Commit) (keys []controller.Key) {
			if c.Deleted() {
				keys = append(keys, controller.Key{Namespace: c.Namespace, Name: c.Name})
			}
			return keys
		}},
		controller.Watch{Resource: endpoints, Listed: true, Keys: func(_ *controller.Client, c *commit.Commit) (keys []controller.Key) {
			if _, ofLeader := c.Object().Annotations()[leader]; !ofLeader {
				keys = append(keys, controller.Key{Namespace: c.Namespace, Name: c.Name})
			}
			return keys
		}})
	c.Component, c.Retries = "endpoint-controller", maxRetries
	return c
}

// endpointsOf contains the sources of Endpoints, and the versions of Endpoints that are outdated.
type endpointsOf struct {
	memory struct {
		Triggers triggers          `json:",omitempty"`
		Stale    map[string]string `json:",omitempty"` // resourceVersions of Endpoints by key, as of before the controller's last write
	}
}

// Memory implements controller.Rememberer.
func (r *endpointsOf) Memory() any { return &r.memory }

// Reconcile implements controller.Reconciler.
func (r *endpointsOf) Reconcile(api *controller.Client, key controller.Key) (time.Duration, *status.Status) {
	s := find(api, key)
	if s == nil {
		delete(r.memory.Triggers, key.String())
		delete(r.memory.Stale, key.String())
		if api.Item(endpoints, key.Namespace, key.Name) == nil {
			return 0, nil
		}
		return 0, workload.Found(api.Delete(endpoints, key, controller.Preconditions{}))
	}
	if !s.selects() {
		return 0, nil
	}
	var selected []*pod
	s.pods(api, func(p *pod) { selected = append(selected, p) })
	changed := r.memory.Triggers.last(s, selected)
	before := api.Get(endpoints, key.Namespace, key.Name)
	if before != nil && r.memory.Stale[key.String()] == before.ResourceVersion() {
		return 0, status.Internal(fmt.Errorf("endpoints informer cache is out of date, resource version %s already processed for endpoints %s",
			before.ResourceVersion(), key))
	}
	want := subsets(addresses(s, selected))
	if before != nil && unchanged(s, before, want) {
		return 0, nil
	}
	return 0, r.write(api, s, before, want, changed)
}

// addresses returns the addresses of a service's pods, once for each of the service's ports.
func addresses(s *service, selected []*pod) (all []address) {
	published := s.publishesUnready()
	for _, p := range selected {
		if !p.answers() || p.deleting && !published {
			continue
		}
		a := endpointAddress(s, p)
		if a == nil {
			continue
		}
		if len(s.List("spec", "ports")) == 0 {
			if s.String("spec", "clusterIP") == "None" {
				all = append(all, address{a, published || p.ready, nil})
			}
			continue
		}
		for _, at := range s.ports(p) {
			all = append(all, address{a, published || p.ready, &at})
		}
	}
	return all
}

// endpointAddress returns a pod's address in the service's preferred IP family, or nil if it has none.
func endpointAddress(s *service, p *pod) object.Object {
	family := s.families()[0]
	for _, at := range p.ips {
		if at.family != family {
			continue
		}
		a := object.Object{"ip": at.text, "nodeName": p.node, "targetRef": p.ref()}
		if name := p.hostnameIn(s); name != "" {
			a["hostname"] = name
		}
		return a
	}
	return nil
}

// unchanged reports whether Endpoints already have the desired content.
func unchanged(s *service, before object.Object, want []subset) bool {
	if _, full := before.Annotations()[overCapacity]; full {
		return false
	}
	have := before.Copy()
	n := 0
	for _, x := range have.Objects("subsets") {
		for _, list := range []string{"addresses", "notReadyAddresses"} {
			for _, a := range x.Objects(list) {
				a.Remove("targetRef", "resourceVersion")
				n++
			}
		}
	}
	if n > capacity || !object.SemanticEqual(have.List("subsets"), subsetsJSON(want)) {
		return false
	}
	labels := maps.Clone(before.Labels())
	managed := labels[endpointsManager] == "endpoint-controller"
	delete(labels, endpointsManager)
	delete(labels, headless)
	return managed && maps.Equal(labels, s.Labels())
}

func subsetsJSON(list []subset) []any {
	var values []any
	for _, x := range list {
		values = append(values, x.json())
	}
	return values
}

// write creates or updates the Endpoints of a service. before is the existing object, or nil. changed is the trigger time for the
// annotation.
func (r *endpointsOf) write(api *controller.Client, s *service, before object.Object, want []subset, changed string) *status.Status {
	key := controller.Key{Namespace: s.Namespace(), Name: s.Name()}
	now := before
	if before == nil {
		now = object.Object{"kind": "Endpoints", "apiVersion": "v1", "metadata": map[string]any{"name": key.Name, "namespace": key.Namespace}}
	}
	annotations := now.Map("metadata", "annotations")
	if annotations == nil {
		annotations = map[string]any{}
	}
	annotate(annotations, changed)
	delete(annotations, overCapacity)
	if truncate(want, capacity) {
		annotations[overCapacity] = "truncated"
	}
	setMap(now, "annotations", annotations)
	labels := map[string]any{}
	for name, value := range s.Labels() { // order does not matter: the result is a map
		labels[name] = value
	}
	if delete(labels, headless); s.headless() {
		labels[headless] = ""
	}
	labels[endpointsManager] = "endpoint-controller"
	now.SetMeta("labels", labels)
	if delete(now, "subsets"); len(want) > 0 {
		now["subsets"] = subsetsJSON(want)
	}
	if before == nil {
		about := now.Copy()
		_, failed := api.Create(endpoints, now)
		if failed == nil || workload.Terminating(failed) {
			return nil
		}
		_ = api.Event(about, "Warning", "FailedToCreateEndpoint", fmt.Sprintf("Failed to create endpoint for service %s: %s", key, failed.Message))
		return failed
	}
	version := before.ResourceVersion()
	made, failed := api.Update(endpoints, "", now)
	if failed != nil {
		_ = api.Event(before, "Warning", "FailedToUpdateEndpoint", fmt.Sprintf("Failed to update endpoint %s: %s", key, failed.Message))
		return failed
	}
	if made.ResourceVersion() != version {
		if r.memory.Stale == nil {
			r.memory.Stale = map[string]string{}
		}
		r.memory.Stale[key.String()] = version
	}
	return nil
}
