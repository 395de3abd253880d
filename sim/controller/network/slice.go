package network

import (
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/controller/workload"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

const (
	serviceName = "kubernetes.io/service-name"
	managedBy   = "endpointslice.kubernetes.io/managed-by"
)

// slice is an EndpointSlice. Its endpoints are extracted from the object.
type slice struct {
	object.Object
	endpoints []object.Object
}

func (s *slice) family() string { return s.String("addressType") }

// ports returns the ports of a slice, sorted.
func (s *slice) ports() []port { return portsOf(s.Objects("ports")) }

func portsOf(list []object.Object) (ports []port) {
	for _, x := range list {
		p := port{name: x.String("name"), protocol: x.String("protocol"), number: x.Int64("port")}
		p.app, p.hasApp = x.Get("appProtocol")
		ports = append(ports, p)
	}
	sortSlicePorts(ports)
	return ports
}

// portsKey returns a key that is equal for equal ports.
func portsKey(ports []port) string {
	var texts []string
	for _, p := range ports {
		texts = append(texts, p.slicePort())
	}
	return strings.Join(texts, "\n")
}

// stored returns the object to send to the API server.
func (s *slice) stored() object.Object {
	s.Object["endpoints"] = nil
	if len(s.endpoints) > 0 {
		values := make([]any, len(s.endpoints))
		for i, e := range s.endpoints {
			values[i] = map[string]any(e)
		}
		s.Object["endpoints"] = values
	}
	return s.Object
}

// ownedBy reports whether the slice has an owner reference to an object of the given kind, with API version v1 and the given UID.
func (s *slice) ownedBy(kind, uid string) bool {
	return slices.ContainsFunc(s.Objects("metadata", "ownerReferences"), func(ref object.Object) bool {
		return ref.String("uid") == uid && ref.String("kind") == kind && ref.APIVersion() == "v1"
	})
}

// newSlice returns a slice for an owner, which is a Service or an Endpoints object.
func newSlice(owner object.Object, kind, family string, ports []port, labels map[string]any) *slice {
	var list []any
	for _, p := range ports {
		list = append(list, p.inSlice())
	}
	obj := object.Object{"kind": "EndpointSlice", "apiVersion": "discovery.k8s.io/v1", "addressType": family, "ports": nil,
		"metadata": map[string]any{"generateName": workload.NamePrefix(owner.Name()), "namespace": owner.Namespace(), "labels": labels,
			"ownerReferences": []any{map[string]any{"apiVersion": "v1", "kind": kind, "name": owner.Name(), "uid": owner.UID(),
				"controller": true, "blockOwnerDeletion": true}}}}
	if len(list) > 0 {
		obj["ports"] = list
	}
	return &slice{Object: obj}
}

// endpointKey returns the key of an endpoint. Versions of the same endpoint have equal keys (endpointslice/util.hashEndpoint).
func endpointKey(e object.Object) string {
	addresses := e.Strings("addresses")
	slices.Sort(addresses)
	return strings.Join(append(addresses, "", e.String("hostname"), e.String("targetRef", "namespace"), e.String("targetRef", "name")), "\x00")
}

// sameEndpoint reports whether two versions of an endpoint are equal (endpointslice/util.EndpointsEqualBeyondHash).
func sameEndpoint(a, b object.Object) bool {
	ref := func(e object.Object) map[string]any {
		r := object.Object(e.Map("targetRef")).Copy()
		delete(r, "resourceVersion")
		return r
	}
	return a.String("nodeName") == b.String("nodeName") && a.String("zone") == b.String("zone") &&
		object.Equal(a.Map("conditions"), b.Map("conditions")) && object.Equal(ref(a), ref(b))
}

// list returns the slices of a service in the cache that a controller manages and that are not being deleted.
func list(api *controller.Client, key controller.Key, manager string) (all []*slice) {
	api.Items(endpointSlices, key.Namespace, func(it *resource.Item) bool {
		if name, _ := it.Label(serviceName); name != key.Name {
			return true
		}
		if by, _ := it.Label(managedBy); by == manager {
			if obj := it.Object(); obj.DeletionTimestamp() == "" {
				all = append(all, &slice{obj, obj.Objects("endpoints")})
			}
		}
		return true
	})
	return all
}
