package core

import (
	"fmt"
	"slices"
	"time"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// MendInterval is the interval at which an API server checks all cluster IPs. An IPAddress and a service belong together if
// the service has the address, and the IPAddress refers to the service and has the labels of the allocator. API servers repair
// mismatches (RepairIPAddress of ipallocator's controller) after each write to a service or an IPAddress, and at this
// interval.
const (
	MendInterval = 3 * time.Minute

	// mendService is the time for which an IPAddress may exist before its service is created. mendOther is that time if the service
	// exists with another address.
	mendService = time.Minute
	mendOther   = 5 * time.Second
)

// AddressRepair is the repair of one address. The zero value does nothing.
type AddressRepair struct {
	Delete string        // name of an IPAddress
	Create object.Object // IPAddress that replaces it
	// Event is an Event of events.k8s.io without a name and a time, or nil.
	Event object.Object
}

// reference is the data in an IPAddress that identifies its owner.
type reference struct {
	parent, managedBy, family string
	namespace, name           string // namespace and name of a service
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

// MendService returns the necessary repairs of a service's addresses.
func MendService(stored resource.Reader, namespace, name string) (all []AddressRepair) {
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

func mendServiceAt(stored resource.Reader, ranges []addressRange, it *resource.Item, ip string) (m AddressRepair) {
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

// MendAddress returns the necessary repair of an IPAddress, and the time after which it must be checked again, or 0 if it need not
// be checked.
func MendAddress(stored resource.Reader, name string, now time.Time) (m AddressRepair, again time.Duration) {
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
	case h.external && age < mendService: // an update may be about to change the service's type
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

// MendParent returns the service to which the current or the previous version of an IPAddress refers, or "" if there is none.
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
