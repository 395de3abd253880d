package core

import (
	"errors"
	"fmt"
	"slices"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

// Cluster IPs of services (KEP-1880). The creator of an IPAddress owns the address. A service creates one before it is stored, and
// deletes it when the service is deleted or becomes an external name.
//
//	ServiceCIDRs ─ rangesOf ─▶ a range ─ draw ─▶ an address ─ Reserve ─▶ IPAddress ─▶ the Service
//
// A cluster without ServiceCIDRs, such as a bare one, keeps no IPAddresses: addresses are drawn from Context.ServiceCIDR, and the
// addresses of services are in use.
const (
	ipAddresses = "ipaddresses.networking.k8s.io"

	familyLabel    = "ipaddress.kubernetes.io/ip-family"
	managedByLabel = "ipaddress.kubernetes.io/managed-by"
	allocatorName  = "ipallocator.k8s.io"
)

var (
	// errFull is why nothing can be drawn from a range any more. That is a failure of the server, not of the request.
	errFull         = errors.New("range is full")
	errAllocated    = errors.New("provided IP is already allocated")
	errOtherNetwork = errors.New("the provided network does not match the current range")
	errNotReady     = errors.New("allocator not ready")
)

// allocateAddresses gives a service its cluster IP. An update does so only when the service was an external name
// before, and gives the address back when it becomes one.
func (t *taken) allocateAddresses(obj, old object.Object) (field.ErrorList, *status.Status) {
	spec, was := obj.At("spec"), old.At("spec")
	external := spec.String("type") == typeExternalName
	if was != nil && was.String("type") != typeExternalName {
		if external && t.ctx.Reservations != nil {
			for _, of := range t.reservations(was) {
				t.ctx.Reservations.Release(of)
			}
		}
		return nil, nil
	}
	ips := spec.Strings("clusterIPs")
	switch {
	case external || len(ips) > 0 && ips[0] == headless:
		return nil, nil
	case len(ips) > 0:
		if _, ok := field.ParseIP(ips[0]); !ok { // which validation leaves alone where it was there before
			return nil, status.Internal(fmt.Errorf("failed to parse service IP %q", ips[0]))
		}
		if err := t.takeAddress(obj, ips[0]); err != nil {
			return field.ErrorList{field.Invalid(addressesPath, ips, "failed to allocate IP "+ips[0]+": "+err.Error())}, nil
		}
		return nil, nil
	}
	ip, err := t.nextAddress(obj)
	switch {
	case errors.Is(err, errFull):
		return nil, status.Internal(fmt.Errorf("failed to allocate a serviceIP for Service %q: %w", obj.Name(), err))
	case err != nil:
		return field.ErrorList{field.Invalid(addressesPath, []string{""}, "failed to allocate IP: "+err.Error())}, nil
	}
	spec["clusterIP"], spec["clusterIPs"] = ip, []any{ip}
	return nil, nil
}

// nextAddress takes any free address, from a range that is drawn too if there are several. A dry run shows the address of
// a network.
func (t *taken) nextAddress(obj object.Object) (string, error) {
	if t.ctx.DryRun {
		r, err := t.dryRange("")
		return r.Addr().String(), err
	}
	first := 0
	if len(t.ranges) > 1 {
		first = t.ctx.Random(len(t.ranges))
	}
	for i := range t.ranges {
		r := t.ranges[(first+i)%len(t.ranges)]
		if !r.ready {
			continue
		}
		if ip, err := t.nextIn(obj, r); !errors.Is(err, errFull) {
			return ip, err
		}
	}
	return "", errFull
}

// nextIn takes any free address of a range.
func (t *taken) nextIn(obj object.Object, r addressRange) (ip string, err error) {
	take := func(i int) bool {
		ip = r.at(i)
		if t.hasAddress(ip) {
			return false
		}
		err = t.reserve(obj, ip)
		return !errors.Is(err, errAllocated) // another client was faster
	}
	if t.draw(r.drawn, r.last, take) < 0 && t.draw(1, r.drawn-1, take) < 0 {
		return "", errFull
	}
	return ip, err
}

// takeAddress takes the address that a client chose. A dry run does not check whether it is in use.
func (t *taken) takeAddress(obj object.Object, ip string) error {
	if t.ctx.DryRun {
		r, err := t.dryRange(ip)
		if err == nil && !r.has(ip) { // asks the range itself, not what looks for a range that has the address
			err = fmt.Errorf("the provided IP (%s) is not in the valid range. The range of valid IPs is %s", ip, r)
		}
		return err
	}
	for _, r := range t.ranges {
		if r.ready && r.has(ip) {
			return t.reserve(obj, ip)
		}
	}
	return errOtherNetwork
}

// dryRange returns the range that a dry run asks. The real server asks any; here it is one that has the address and is
// ready, if there is one.
func (t *taken) dryRange(ip string) (addressRange, error) {
	var ready []addressRange
	for _, r := range t.ranges {
		if r.ready && r.has(ip) {
			return r, nil
		}
		if r.ready {
			ready = append(ready, r)
		}
	}
	if len(ready) == 0 {
		return addressRange{}, errNotReady
	}
	return ready[0], nil
}

// hasAddress reports whether an address is in use.
func (t *taken) hasAddress(ip string) bool {
	if t.keeps {
		_, exists := t.ctx.Objects.Field(ipAddresses, "", ip, "metadata.name")
		return exists
	}
	return t.scan().addresses[ip]
}

// reserve takes an address for a service.
func (t *taken) reserve(obj object.Object, ip string) error {
	if !t.keeps {
		switch {
		case obj.Name() == "": // as the IPAddress, which has to name its service, would be refused
			return fmt.Errorf("IPAddress.networking.k8s.io %q is invalid: spec.parentRef.name: Required value", ip)
		case t.hasAddress(ip):
			return errAllocated
		}
		return nil
	}
	s := t.ctx.Reservations.Reserve(ipAddresses, ipAddress(ip, obj.Namespace(), obj.Name()))
	switch {
	case s == nil:
		return nil
	case s.Reason == status.ReasonAlreadyExists:
		return errAllocated
	}
	return errors.New(s.Message)
}

// ipAddress is the IPAddress of a service.
func ipAddress(ip, namespace, name string) object.Object {
	return object.Object{"kind": "IPAddress", "apiVersion": "networking.k8s.io/v1",
		"metadata": map[string]any{"name": addressName(ip), "labels": map[string]any{familyLabel: FamilyOf(ip), managedByLabel: allocatorName}},
		"spec":     map[string]any{"parentRef": map[string]any{"resource": "services", "namespace": namespace, "name": name}}}
}

// addressName returns the name of an address's IPAddress: zeros in front of a number are not in it.
func addressName(ip string) string {
	if addr, ok := field.ParseIP(ip); ok {
		return addr.String()
	}
	return ip
}

// reservations returns the IPAddresses of a service. Addresses outside of all ranges stay when the service is deleted.
func (t *taken) reservations(spec object.Object) (all []resource.Reservation) {
	if !t.keeps || spec.String("type") == typeExternalName || isHeadless(spec) {
		return nil
	}
	for _, ip := range spec.Strings("clusterIPs") {
		if slices.ContainsFunc(t.ranges, func(r addressRange) bool { return r.has(ip) }) {
			all = append(all, resource.Reservation{Storage: ipAddresses, Name: addressName(ip)})
		}
	}
	return all
}

// releaseService is the Strategy's Released of services.
func releaseService(stored resource.Reader, obj object.Object) []resource.Reservation {
	return takenNow(&resource.Context{Objects: stored}).reservations(obj.At("spec"))
}
