package network

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/controller/workload"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/status"
)

// sliceController is the managed-by label of the slices of services with a selector.
const sliceController = "endpointslice-controller.k8s.io"

// EndpointSlices maintains the EndpointSlices of services with a selector (pkg/controller/endpointslice).
func EndpointSlices() controller.Controller {
	r := &slicesOf{}
	r.writer = writer{tracker: &r.memory.Tracker, of: "Service"}
	watches := append([]controller.Watch{{Resource: services}, podWatch(), {Resource: nodes, Keys: r.memory.Topology.overloaded}},
		r.tracker.watches(sliceController, controller.Watch{After: time.Second})...)
	c := controller.Account("endpointslice-controller", "endpointslice-controller", r, watches...)
	c.Component, c.Retries, c.RetryMin = "endpoint-slice-controller", maxRetries, time.Second
	return c
}

// slicesOf contains the sources of slices and the writes of the controller.
type slicesOf struct {
	writer
	memory struct {
		Triggers triggers `json:",omitempty"`
		Tracker  tracker  `json:",omitempty"`
		Topology topology `json:",omitzero"`
	}
}

// Memory implements controller.Rememberer.
func (r *slicesOf) Memory() any { return &r.memory }

// Reconcile implements controller.Reconciler.
func (r *slicesOf) Reconcile(api *controller.Client, key controller.Key) (time.Duration, *status.Status) {
	s := find(api, key)
	if s == nil {
		delete(r.memory.Triggers, key.String())
		r.tracker.forget(key)
		return 0, nil
	}
	if !s.selects() {
		return 0, nil
	}
	have := list(api, key, sliceController)
	if r.tracker.stale(key, have) {
		return 0, outOfDate()
	}
	var selected []*pod
	s.pods(api, func(p *pod) { selected = append(selected, p) })
	changed := r.memory.Triggers.last(s, selected)
	var failed []string
	var events []hintEvent
	for _, family := range s.families() {
		of := slices.DeleteFunc(slices.Clone(have), func(x *slice) bool { return x.family() != family })
		c, missing := s.reconcile(api, family, of, selected)
		failed = append(failed, missing...)
		events = append(events, r.memory.Topology.hint(api, s, family, &c, of)...)
		c.recycle(func(old, made *slice) bool { return old.ownedBy("Service", s.UID()) })
		if x := r.write(api, s.Object, c, func(x *slice) { annotateSlice(x, changed) }); x != nil {
			failed = append(failed, x.Message)
		}
	}
	for _, x := range have {
		if slices.Contains(s.families(), x.family()) {
			continue
		}
		r.memory.Topology.remove(key.String(), x.family())
		if wrong := r.delete(api, key, x); wrong != nil {
			failed = append(failed, fmt.Sprintf("error deleting %s EndpointSlice for Service %s: %s", x.Name(), key, wrong.Message))
		}
	}
	for _, e := range events {
		_ = api.Event(s.Object, e.kind, e.reason, e.message)
	}
	if len(failed) == 0 {
		return 0, nil
	}
	text := failed[0]
	if len(failed) > 1 {
		text = "[" + strings.Join(failed, ", ") + "]"
	}
	_ = api.Event(s.Object, "Warning", "FailedToUpdateEndpointSlices", fmt.Sprintf("Error updating Endpoint Slices for Service %s: %s", key, text))
	return 0, status.Plain("%s", text)
}

func annotateSlice(x *slice, changed string) {
	annotations := x.Map("metadata", "annotations")
	if annotations == nil {
		annotations = map[string]any{}
	}
	annotate(annotations, changed)
	setMap(x.Object, "annotations", annotations)
}

// reconcile returns the changes to the slices of an IP family, and error messages for invalid pods.
func (s *service) reconcile(api *controller.Client, family string, have []*slice, selected []*pod) (c changes, missing []string) {
	byPorts := map[string][]*slice{}
	for _, x := range have {
		if x.ownedBy("Service", s.UID()) {
			key := portsKey(x.ports())
			byPorts[key] = append(byPorts[key], x)
		} else {
			c.remove = append(c.remove, x)
		}
	}
	groups, missing := s.groups(api, family, selected)
	for _, g := range groups {
		c.add(pack(byPorts[g.key], &g.endpointSet, perSlice, s.relabel, func() *slice { return s.slice(family, g.ports) }))
		delete(byPorts, g.key)
	}
	for _, key := range object.SortedKeys(byPorts) {
		c.remove = append(c.remove, byPorts[key]...)
	}
	if len(c.remove) == len(have) && len(c.create) == 0 {
		if none := s.slice(family, nil); len(c.remove) == 1 && sameSlice(c.remove[0], none) {
			c.remove = nil
		} else {
			c.create = append(c.create, none)
		}
	}
	return c, missing
}

// group contains the endpoints of a service with the same ports.
type group struct {
	key   string
	ports []port
	endpointSet
}

// groups returns the desired endpoints of a service in an IP family, and error messages for pods that are omitted.
func (s *service) groups(api *controller.Client, family string, selected []*pod) (groups []*group, missing []string) {
	for _, p := range selected {
		if !p.answers() {
			continue
		}
		ports := s.ports(p)
		sortSlicePorts(ports)
		key := portsKey(ports)
		at := slices.IndexFunc(groups, func(g *group) bool { return g.key == key })
		if at < 0 {
			at = len(groups)
			groups = append(groups, &group{key: key, ports: ports})
		}
		zone := ""
		if node := api.Item(nodes, "", p.node); node != nil {
			zone, _ = node.Label("topology.kubernetes.io/zone")
		} else if !s.publishesUnready() {
			missing = append(missing, fmt.Sprintf("skipping Pod %s for Service %s/%s: Node %s Not Found", p.name, s.Namespace(), s.Name(), p.node))
			continue
		}
		if e := s.endpoint(p, family, zone); e != nil {
			groups[at].insert(e)
		}
	}
	return groups, missing
}

// endpoint returns the endpoint for a pod, or nil if the pod has no address in the IP family.
func (s *service) endpoint(p *pod, family, zone string) object.Object {
	var addresses []any
	for _, at := range p.ips {
		if at.family == family {
			addresses = append(addresses, at.text)
		}
	}
	if addresses == nil {
		return nil
	}
	e := object.Object{"addresses": addresses, "targetRef": p.ref(), "conditions": map[string]any{
		"ready": s.publishesUnready() || p.ready && !p.deleting, "serving": p.ready, "terminating": p.deleting}}
	for name, value := range map[string]string{"nodeName": p.node, "zone": zone, "hostname": p.hostnameIn(s)} { // order does not matter: the result is a map
		if value != "" {
			e[name] = value
		}
	}
	return e
}

// slice returns a slice without endpoints.
func (s *service) slice(family string, ports []port) *slice {
	labels, _ := s.sliceLabels(nil)
	return newSlice(s.Object, "Service", family, ports, labels)
}

// relabel sets a slice's labels. It reports whether they have changed, apart from the reserved ones.
func (s *service) relabel(x *slice) bool {
	labels, others := s.sliceLabels(x.Labels())
	x.SetMeta("labels", labels)
	return others
}

// sliceLabels returns the labels of the service's slices: the service's own labels and reserved ones. others reports whether a
// slice's labels differ, apart from the reserved ones (endpointslice.setEndpointSliceLabels).
func (s *service) sliceLabels(have map[string]string) (labels map[string]any, others bool) {
	reserved := []string{serviceName, managedBy, headless}
	own := func(labels map[string]string) map[string]string {
		labels = maps.Clone(labels)
		maps.DeleteFunc(labels, func(name, _ string) bool { return slices.Contains(reserved, name) })
		return labels
	}
	labels = map[string]any{serviceName: s.Name(), managedBy: sliceController}
	for name, value := range own(s.Labels()) { // order does not matter: the result is a map
		labels[name] = value
	}
	if s.headless() {
		labels[headless] = ""
	}
	return labels, !maps.Equal(own(have), own(s.Labels()))
}

// sameSlice reports whether an existing slice has no endpoints and equals a newly created one.
func sameSlice(have, made *slice) bool {
	return len(have.endpoints) == 0 && len(have.List("ports")) == 0 && have.family() == made.family() &&
		maps.Equal(have.Labels(), made.Labels())
}

// writer writes slices, and records its writes in a tracker.
type writer struct {
	tracker *tracker
	of      string // kind of the object from which the slices are derived
}

// write writes the changes to the slices of an object until the first failure. It calls prepare for each slice that it writes. It
// creates no slices if the object or its namespace is being deleted.
func (w *writer) write(api *controller.Client, owner object.Object, c changes, prepare func(*slice)) *status.Status {
	key := controller.Key{Namespace: owner.Namespace(), Name: owner.Name()}
	if owner.DeletionTimestamp() == "" {
		for _, x := range c.create {
			prepare(x)
			made, s := api.Create(endpointSlices, x.stored())
			if s != nil {
				if workload.Terminating(s) {
					return nil
				}
				return status.Plain("failed to create EndpointSlice for %s %s: %s", w.of, key, s.Message)
			}
			w.tracker.note(key, identityOf(made).uid, identityOf(made).generation)
		}
	}
	for _, x := range c.update {
		prepare(x)
		made, s := api.Update(endpointSlices, "", x.stored())
		if s != nil {
			return status.Plain("failed to update %s EndpointSlice for %s %s: %s", x.Name(), w.of, key, s.Message)
		}
		w.tracker.note(key, made.UID(), made.Generation())
	}
	for _, x := range c.remove {
		if s := w.delete(api, key, x); s != nil {
			return status.Plain("failed to delete %s EndpointSlice for %s %s: %s", x.Name(), w.of, key, s.Message)
		}
	}
	return nil
}

// delete deletes a slice of the object key, and records in the tracker that the deletion must be observed.
func (w *writer) delete(api *controller.Client, key controller.Key, x *slice) *status.Status {
	generation, known := (*w.tracker)[key.String()][x.UID()]
	w.tracker.note(key, x.UID(), goes)
	s := api.Delete(endpointSlices, controller.Key{Namespace: key.Namespace, Name: x.Name()}, controller.Preconditions{})
	switch {
	case s != nil && known:
		w.tracker.note(key, x.UID(), generation)
	case s != nil:
		delete((*w.tracker)[key.String()], x.UID())
	}
	return s
}
