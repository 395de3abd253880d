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

// Cluster IPs of services (KEP-1880). The client that creates an IPAddress object owns the address. The server creates an
// IPAddress before it stores the service, and deletes it when the service is deleted or becomes an ExternalName service.
//
//	ServiceCIDRs ─ rangesOf ─▶ a range ─ draw ─▶ an address ─ Reserve ─▶ IPAddress ─▶ the Service
//
// A cluster without ServiceCIDRs, such as a bare one, has no IPAddresses. Addresses are drawn from Context.ServiceCIDRs, and those of
// the stored services are in use.
const (
	ipAddresses = "ipaddresses.networking.k8s.io"

	familyLabel    = "ipaddress.kubernetes.io/ip-family"
	managedByLabel = "ipaddress.kubernetes.io/managed-by"
	allocatorName  = "ipallocator.k8s.io"
)

var (
	// errFull is the error for a range without free addresses. It is a failure of the server, not of the request.
	errFull         = errors.New("range is full")
	errAllocated    = errors.New("provided IP is already allocated")
	errOtherNetwork = errors.New("the provided network does not match the current range")
	errNotReady     = errors.New("allocator not ready")
)

// allocateAddresses allocates the cluster IPs of a service, one of each of its families. On update it does so only if the service
// was an ExternalName service, or gets a second family. It releases addresses that the service no longer needs.
func (t *taken) allocateAddresses(obj, old object.Object) (field.ErrorList, *status.Status) {
	spec, was := obj.At("spec"), old.At("spec")
	families, before, first := spec.Strings("ipFamilies"), was.Strings("ipFamilies"), 0
	switch hadNone := was == nil || was.String("type") == typeExternalName; {
	case hadNone && (spec.String("type") == typeExternalName || isHeadless(spec)), staysPreferDual(spec, was), isHeadless(was):
		return nil, nil
	case hadNone:
	case spec.String("type") == typeExternalName:
		t.release(was, 0)
		return nil, nil
	case len(before) == 2 && len(families) == 1:
		t.release(was, 1)
		return nil, nil
	case len(before) == 1 && len(families) == 2:
		first = 1
	default:
		return nil, nil
	}
	ips := spec.Strings("clusterIPs")
	for len(ips) < len(families) {
		ips = append(ips, "")
	}
	for i := first; i < len(families); i++ {
		if errs, failure := t.allocateAddress(obj, ips, i, families[i]); len(errs) > 0 || failure != nil {
			return errs, failure
		}
	}
	spec["clusterIP"], spec["clusterIPs"] = ips[0], object.FromStrings(ips)
	return nil, nil
}

// release releases the addresses of a service from index first on.
func (t *taken) release(was object.Object, first int) {
	if t.ctx.Reservations == nil {
		return
	}
	for _, of := range t.reservations(was, first) {
		t.ctx.Reservations.Release(of)
	}
}

// allocateAddress allocates ips[i]. If it is empty, it becomes a free address of the family.
func (t *taken) allocateAddress(obj object.Object, ips []string, i int, family string) (field.ErrorList, *status.Status) {
	if ip := ips[i]; ip != "" {
		if _, ok := field.ParseIP(ip); !ok { // validation does not check an address that was already stored
			return nil, status.Internal(fmt.Errorf("failed to parse service IP %q", ip))
		}
		if err := t.takeAddress(obj, ip); err != nil {
			return field.ErrorList{field.Invalid(addressesPath, ips, "failed to allocate IP "+ip+": "+err.Error())}, nil
		}
		return nil, nil
	}
	ip, err := t.nextAddress(obj, family)
	switch {
	case errors.Is(err, errFull):
		return nil, status.Internal(fmt.Errorf("failed to allocate a serviceIP for Service %q: %w", obj.Name(), err))
	case err != nil:
		return field.ErrorList{field.Invalid(addressesPath, ips, "failed to allocate IP: "+err.Error())}, nil
	}
	ips[i] = ip
	return nil, nil
}

// rangesFor returns the ranges of a family.
func (t *taken) rangesFor(family string) (all []addressRange) {
	for _, r := range t.ranges {
		if FamilyOf(r.String()) == family {
			all = append(all, r)
		}
	}
	return all
}

// nextAddress allocates any free address of a family. If there are several ranges, it starts with a random one. A dry run returns
// the network address of a range.
func (t *taken) nextAddress(obj object.Object, family string) (string, error) {
	if t.ctx.DryRun {
		r, err := t.dryRange("", family)
		return r.Addr().String(), err
	}
	first, ranges := 0, t.rangesFor(family)
	if len(ranges) > 1 {
		first = t.ctx.Random(len(ranges))
	}
	for i := range ranges {
		r := ranges[(first+i)%len(ranges)]
		if !r.ready {
			continue
		}
		if ip, err := t.nextIn(obj, r); !errors.Is(err, errFull) {
			return ip, err
		}
	}
	return "", errFull
}

// nextIn allocates a free address of a range and returns it. It returns errFull if there is none.
func (t *taken) nextIn(obj object.Object, r addressRange) (ip string, err error) {
	take := func(i int) bool {
		ip = r.at(i)
		if t.hasAddress(ip) {
			return false
		}
		err = t.reserve(obj, ip)
		return !errors.Is(err, errAllocated) // after errAllocated, because another client was faster, the search continues
	}
	if t.draw(r.drawn, r.last, take) < 0 && t.draw(1, r.drawn-1, take) < 0 {
		return "", errFull
	}
	return ip, err
}

// takeAddress allocates the address that a client has chosen. In a dry run it does not check whether the address is in use.
func (t *taken) takeAddress(obj object.Object, ip string) error {
	if t.ctx.DryRun {
		r, err := t.dryRange(ip, FamilyOf(ip))
		if err == nil && !r.has(ip) { // this error is that of a single range, not of the allocator that searches all ranges
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

// dryRange returns a range of a family for a dry run. The real server uses any range. Here it is a ready range that contains the
// address, if there is one.
func (t *taken) dryRange(ip, family string) (addressRange, error) {
	var ready []addressRange
	for _, r := range t.rangesFor(family) {
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

// reserve reserves an address for a service. It returns errAllocated if the address is already reserved.
func (t *taken) reserve(obj object.Object, ip string) error {
	if !t.keeps {
		switch {
		case obj.Name() == "": // the IPAddress would be rejected because it must name its service
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

// ipAddress returns the IPAddress object that reserves an address for a service.
func ipAddress(ip, namespace, name string) object.Object {
	return object.Object{"kind": "IPAddress", "apiVersion": "networking.k8s.io/v1",
		"metadata": map[string]any{"name": addressName(ip), "labels": map[string]any{familyLabel: FamilyOf(ip), managedByLabel: allocatorName}},
		"spec":     map[string]any{"parentRef": map[string]any{"resource": "services", "namespace": namespace, "name": name}}}
}

// addressName returns the name of the IPAddress for an address, without leading zeros.
func addressName(ip string) string {
	if addr, ok := field.ParseIP(ip); ok {
		return addr.String()
	}
	return ip
}

// reservations returns the IPAddresses that belong to a service, from its address with the index first on. It omits addresses
// outside all ranges, which remain when the service is deleted.
func (t *taken) reservations(spec object.Object, first int) (all []resource.Reservation) {
	if !t.keeps || spec.String("type") == typeExternalName || isHeadless(spec) {
		return nil
	}
	for i, ip := range spec.Strings("clusterIPs") {
		if i >= first && slices.ContainsFunc(t.ranges, func(r addressRange) bool { return r.has(ip) }) {
			all = append(all, resource.Reservation{Storage: ipAddresses, Name: addressName(ip)})
		}
	}
	return all
}

// releaseService implements Strategy.AfterDelete for services.
func releaseService(stored resource.Reader, obj object.Object) []resource.Reservation {
	return takenNow(&resource.Context{Objects: stored}).reservations(obj.At("spec"), 0)
}
