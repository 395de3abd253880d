package core

import (
	"fmt"
	"slices"
	"time"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// An IPAddress and a service belong together when the service has the address and the IPAddress says so, with the labels
// of the allocator. API servers look after that by themselves (RepairIPAddress of ipallocator's controller): at a service
// whenever it is written, at an IPAddress whenever that is written, and at everything every MendInterval.
const (
	MendInterval = 3 * time.Minute

	// mendService is how long an IPAddress waits for the service that it was made for, mendOther for one that has another.
	mendService = time.Minute
	mendOther   = 5 * time.Second
)

// Mending is what an API server does about an address. The zero value does nothing.
type Mending struct {
	Delete string        // name of an IPAddress
	Create object.Object // IPAddress that takes its place
	// Event is an Event of events.k8s.io without a name and a time, nil for none.
	Event object.Object
}

// reference is what an IPAddress says about whose it is.
type reference struct {
	parent, managedBy, family string
	namespace, name           string // of a service
	service                   bool
	made                      time.Time
}

func referenceOf(address object.Object) reference {
	ref := address.At("spec", "parentRef")
	labels := address.Labels()
	made, _ := time.Parse(time.RFC3339, address.String("metadata", "creationTimestamp"))
	return reference{
		parent: fmt.Sprintf("&ParentReference{Group:%s,Resource:%s,Namespace:%s,Name:%s,}",
			ref.String("group"), ref.String("resource"), ref.String("namespace"), ref.String("name")),
		managedBy: labels[managedByLabel], family: labels[familyLabel],
		namespace: ref.String("namespace"), name: ref.String("name"),
		service: ref.String("group") == "" && ref.String("resource") == "services",
		made:    made,
	}
}

// MendService returns the repairs of a service's addresses.
func MendService(stored resource.Reader, namespace, name string) (all []Mending) {
	ranges, it := rangesOf(stored), stored.Item("services", namespace, name)
	if len(ranges) == 0 || it == nil {
		return nil
	}
	for _, ip := range resource.Derived(it, hadBy).addresses {
		if ip == headless {
			continue
		}
		if m := mendServiceAt(stored, ranges, it, ip); m.Event != nil || m.Create != nil {
			all = append(all, m)
		}
	}
	return all
}

func mendServiceAt(stored resource.Reader, ranges []addressRange, it *resource.Item, ip string) (m Mending) {
	note := func(reason, text string, about ...any) {
		m.Event = mendEvent("Service", "v1", it, reason, "ClusterIPAllocation", fmt.Sprintf(text, about...))
	}
	family := FamilyOf(ip)
	if !slices.ContainsFunc(ranges, func(r addressRange) bool { return r.has(ip) }) {
		note("ClusterIPOutOfRange", "Cluster IP [%s]: %s is not within any configured Service CIDR; please recreate service", family, ip)
		return m
	}
	made := ipAddress(ip, it.Namespace, it.Name)
	address := stored.Item(ipAddresses, "", made.Name())
	if address == nil {
		m.Create = made
		note("ClusterIPNotAllocated", "Cluster IP [%s]: %s is not allocated; repairing", family, ip)
		return m
	}
	ref := resource.Derived(address, referenceOf)
	other := stored.Item("services", ref.namespace, ref.name)
	switch own := ref.namespace == it.Namespace && ref.name == it.Name; {
	case !ref.service, !own && other == nil:
		m.Delete, m.Create = made.Name(), made
		note("ClusterIPNotAllocated", "the ClusterIP [%s]: %s for Service %s/%s has a wrong reference; repairing", family, ip, it.Namespace, it.Name)
		return m
	case !own && hasIP(other, made.Name()):
		note("ClusterIPAlreadyAllocated", "Cluster IP [%s]:%s was assigned to multiple services; please recreate service", family, ip)
	}
	if ref.family != family || ref.managedBy != allocatorName {
		m.Delete, m.Create = made.Name(), made
	}
	return m
}

// MendAddress returns the repair of an IPAddress, or the time after which it has to be checked again.
func MendAddress(stored resource.Reader, name string, now time.Time) (m Mending, again time.Duration) {
	it := stored.Item(ipAddresses, "", name)
	if it == nil {
		return m, 0
	}
	ref := resource.Derived(it, referenceOf)
	if ref.managedBy != allocatorName {
		return m, 0
	}
	away := func(reason, text string, about ...any) {
		m.Delete = name
		m.Event = mendEvent("IPAddress", "networking.k8s.io/v1", it, reason, "IPAddressAllocation", fmt.Sprintf(text, about...))
	}
	if !ref.service {
		away("IPAddressNotAllocated", "IPAddress %s appears to have been modified, not referencing a Service %s: cleaning up", name, ref.parent)
		return m, 0
	}
	age, service := now.Sub(ref.made), stored.Item("services", ref.namespace, ref.name)
	switch {
	case service == nil && age < mendService:
		return m, mendService - age
	case service == nil:
		away("IPAddressNotAllocated", "IPAddress: %s for Service %s/%s appears to have leaked: cleaning up", name, ref.namespace, ref.name)
		return m, 0
	case hasIP(service, name):
		return m, 0
	}
	h := resource.Derived(service, hadBy)
	switch {
	case h.external && age < mendService: // it may become another one right now
		return m, mendService - age
	case ref.made.After(h.made) && age < mendOther:
		return m, mendOther - age
	}
	away("IPAddressWrongReference", "IPAddress: %s for Service %s/%s has a wrong reference; cleaning up", name, ref.namespace, ref.name)
	return m, 0
}

// hasIP reports whether a service has the address.
func hasIP(service *resource.Item, ip string) bool {
	return slices.Contains(resource.Derived(service, hadBy).addresses, ip)
}

// MendParent returns the service that an IPAddress, as it is or was stored, says that it is of; "" for none.
func MendParent(address *resource.Item) (namespace, name string) {
	if ref := resource.Derived(address, referenceOf); ref.service {
		return ref.namespace, ref.name
	}
	return "", ""
}

// mendEvent returns an event about a repair.
func mendEvent(kind, apiVersion string, it *resource.Item, reason, action, note string) object.Object {
	namespace := it.Namespace
	regarding := map[string]any{"kind": kind, "apiVersion": apiVersion, "name": it.Name, "uid": it.Object().UID(),
		"resourceVersion": it.Object().ResourceVersion()}
	if namespace == "" {
		namespace = "default"
	} else {
		regarding["namespace"] = namespace
	}
	return object.Object{"kind": "Event", "apiVersion": eventsVersion, "metadata": map[string]any{"namespace": namespace},
		"type": "Warning", "reason": reason, "action": action, "note": note, "regarding": regarding,
		"reportingController": "ipallocator-repair-controller"}
}
