package network

import (
	"fmt"
	"slices"
	"time"

	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/controller/workload"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

const (
	mirrorController = "endpointslicemirroring-controller.k8s.io"
	skipMirror       = "endpointslice.kubernetes.io/skip-mirror"
	lastApplied      = "kubectl.kubernetes.io/last-applied-configuration"

	// perMirror is the maximum number of mirrored addresses of a subset (--mirroring-max-endpoints-per-subset).
	perMirror = 1000
)

// Mirroring maintains EndpointSlices that mirror the Endpoints of services without a selector
// (pkg/controller/endpointslicemirroring).
func Mirroring() controller.Controller {
	r := &mirrors{}
	r.writer = writer{tracker: &r.memory, of: "Endpoints"}
	watches := append([]controller.Watch{{Resource: services, Keys: unselective}, {Resource: endpoints, Keys: mirrored}},
		r.tracker.watches(mirrorController, controller.Watch{})...)
	c := controller.Account("endpointslice-mirroring-controller", "endpointslicemirroring-controller", r, watches...)
	c.Component, c.Retries, c.RetryMin, c.RetryMax = "endpoint-slice-mirroring-controller", maxRetries, time.Second, 100*time.Second
	return c
}

// unselective returns the key of a service that has no selector now or had none before.
func unselective(_ *controller.Client, c *commit.Commit) []controller.Key {
	none := func(it *resource.Item) bool { return len(serviceOf(it).Map("spec", "selector")) == 0 }
	switch now, before := c.Item(), c.Before(); {
	case c.Deleted() || c.Created():
		if !none(now) {
			return nil
		}
	case none(now) == none(before):
		return nil
	}
	return []controller.Key{{Namespace: c.Namespace, Name: c.Name}}
}

// mirrored returns the key of Endpoints that must be mirrored, or were mirrored before.
func mirrored(_ *controller.Client, c *commit.Commit) []controller.Key {
	if !isMirrored(c.Object()) && (c.Before() == nil || !isMirrored(c.OldObject())) {
		return nil
	}
	return []controller.Key{{Namespace: c.Namespace, Name: c.Name}}
}

func isMirrored(obj object.Object) bool {
	_, ofLeader := obj.Annotations()[leader]
	return obj.Labels()[skipMirror] != "true" && !ofLeader
}

// mirrors contains the controller's writes of slices.
type mirrors struct {
	writer
	memory tracker
}

// Memory implements controller.Rememberer.
func (r *mirrors) Memory() any { return &r.memory }

// Reconcile implements controller.Reconciler.
func (r *mirrors) Reconcile(api *controller.Client, key controller.Key) (time.Duration, *status.Status) {
	have := list(api, key, mirrorController)
	obj, s := api.Get(endpoints, key.Namespace, key.Name), find(api, key)
	if obj == nil || !isMirrored(obj) || s == nil || len(s.Map("spec", "selector")) > 0 {
		r.tracker.forget(key)
		return 0, deleteAll(api, key, have)
	}
	if r.tracker.stale(key, have) {
		return 0, outOfDate()
	}
	groups, skipped := mirrorGroups(obj)
	if skipped > 0 {
		_ = api.Event(obj, "Warning", "TooManyAddressesToMirror", fmt.Sprintf(
			"A max of %d addresses can be mirrored to EndpointSlices per Endpoints subset. %d addresses were skipped", perMirror, skipped))
	}
	byKey := map[string][]*slice{}
	for _, x := range have {
		k := x.family() + "-" + portsKey(x.ports())
		byKey[k] = append(byKey[k], x)
	}
	var c changes
	for _, g := range groups {
		c.add(g.mirror(obj, byKey[g.key]))
		delete(byKey, g.key)
	}
	for _, k := range object.SortedKeys(byKey) {
		c.remove = append(c.remove, byKey[k]...)
	}
	c.recycle(func(old, made *slice) bool { return old.family() == made.family() })
	return 0, r.write(api, obj, c, func(*slice) {})
}

// deleteAll deletes slices that are no longer needed. It continues after an error, and returns one error for all failures.
func deleteAll(api *controller.Client, key controller.Key, all []*slice) *status.Status {
	n, first := 0, ""
	for _, x := range all {
		s := workload.Found(api.Delete(endpointSlices, controller.Key{Namespace: key.Namespace, Name: x.Name()}, controller.Preconditions{}))
		if s != nil {
			if n++; n == 1 {
				first = s.Message
			}
		}
	}
	if n == 0 {
		return nil
	}
	return status.Plain("error(s) deleting %d/%d EndpointSlices for %s Endpoints, including: %s", n, len(all), key, first)
}

// mirrorGroup contains the addresses of Endpoints in one IP family with the same ports.
type mirrorGroup struct {
	group
	family string
}

// mirrorGroups returns the endpoints for the slices of an Endpoints object, and the number of addresses that exceed the limit.
func mirrorGroups(obj object.Object) (groups []*mirrorGroup, skipped int) {
	of := func(family string, ports []port) *mirrorGroup {
		key := family + "-" + portsKey(ports)
		at := slices.IndexFunc(groups, func(g *mirrorGroup) bool { return g.key == key })
		if at < 0 {
			at = len(groups)
			groups = append(groups, &mirrorGroup{group{key: key, ports: ports}, family})
		}
		return groups[at]
	}
	for _, s := range subsets(stored(obj)) {
		ports := slices.Clone(s.ports)
		sortSlicePorts(ports)
		n := 0
		for _, list := range []struct {
			ready     bool
			addresses []object.Object
		}{{true, s.ready}, {false, s.unready}} {
			for _, a := range list.addresses {
				at, _ := parseIP(a.String("ip")) // cannot fail: the address has been validated
				if n++; n > perMirror {
					skipped++
					continue
				}
				of(at.family, ports).insert(mirrorOf(a, at, list.ready))
			}
		}
	}
	return groups, skipped
}

// stored returns the addresses of Endpoints, once for each of their ports.
func stored(obj object.Object) (all []address) {
	for _, s := range obj.Objects("subsets") {
		ports := portsOf(s.Objects("ports"))
		for _, list := range []string{"addresses", "notReadyAddresses"} {
			for _, a := range s.Objects(list) {
				if len(ports) == 0 {
					all = append(all, address{a, list == "addresses", nil})
				}
				for i := range ports {
					all = append(all, address{a, list == "addresses", &ports[i]})
				}
			}
		}
	}
	return all
}

// mirrorOf returns the endpoint for an address.
func mirrorOf(a object.Object, at ip, ready bool) object.Object {
	e := object.Object{"addresses": []any{at.text}, "conditions": map[string]any{"ready": ready}}
	for _, name := range []string{"targetRef", "nodeName", "hostname"} {
		if v, ok := a[name]; ok && v != "" {
			e[name] = v
		}
	}
	return e
}

// mirror returns the changes to the slices of a group, after which the first slice contains all endpoints.
func (g *mirrorGroup) mirror(obj object.Object, have []*slice) (c changes) {
	made := newSlice(obj, "Endpoints", g.family, g.ports, map[string]any{})
	labels, annotations := map[string]any{}, map[string]any{}
	for name, value := range obj.Labels() { // order does not matter: the result is a map
		labels[name] = value
	}
	for name, value := range obj.Annotations() { // order does not matter: the result is a map
		if name != triggerTime && name != lastApplied {
			annotations[name] = value
		}
	}
	labels[serviceName], labels[managedBy] = obj.Name(), mirrorController
	made.SetMeta("labels", labels)
	setMap(made.Object, "annotations", annotations)
	if len(have) > 0 {
		c.remove = have[1:]
		if g.matches(have[0]) && object.Equal(have[0].Map("metadata", "labels"), labels) &&
			object.SemanticEqual(have[0].Map("metadata", "annotations"), annotations) && !ofDeletedEndpoints(have[0], obj) {
			return c
		}
		made.Remove("metadata", "generateName")
		made.SetMeta("name", have[0].Name())
		c.update = []*slice{made}
	} else {
		c.create = []*slice{made}
	}
	g.fill(made, perMirror)
	return c
}

// matches reports whether a slice has the endpoints of the group.
func (g *mirrorGroup) matches(x *slice) bool {
	return len(x.endpoints) == g.len() && !slices.ContainsFunc(x.endpoints, func(e object.Object) bool {
		want := g.byKey[endpointKey(e)]
		return want == nil || !sameEndpoint(e, want)
	})
}

// ofDeletedEndpoints reports whether a slice belongs to deleted Endpoints of the same name.
func ofDeletedEndpoints(x *slice, obj object.Object) bool {
	return slices.ContainsFunc(x.Objects("metadata", "ownerReferences"), func(ref object.Object) bool {
		return ref.Kind() == "Endpoints" && ref.String("name") == obj.Name() && ref.String("uid") != obj.UID()
	})
}
