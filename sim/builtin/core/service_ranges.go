package core

import (
	"encoding/binary"
	"math/bits"
	"net/netip"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

const serviceCIDRs = "servicecidrs.networking.k8s.io"

var defaultServiceCIDR = netip.MustParsePrefix("10.0.0.0/24")

// configuredRanges returns the configured ranges of services: one, or one of each family. The first one has the default family.
func configuredRanges(ctx *resource.Context) []netip.Prefix {
	if len(ctx.ServiceCIDRs) == 0 {
		return []netip.Prefix{defaultServiceCIDR}
	}
	return ctx.ServiceCIDRs
}

// familiesOf returns the families of the configured ranges.
func familiesOf(ctx *resource.Context) (families []string) {
	for _, p := range configuredRanges(ctx) {
		families = append(families, FamilyOf(p.String()))
	}
	return families
}

// addressRange is a range of numbered addresses. Number 0 is the network address. An IPv4 range ends with the broadcast address,
// which has the number last+1 (NewIPAllocator of ipallocator).
type addressRange struct {
	netip.Prefix
	drawn, last int  // numbers of the first address that is drawn and of the last address; the first address is 1
	ready       bool // addresses may be allocated from it; they can always be released
}

func rangeOf(p netip.Prefix) addressRange {
	p = p.Masked()
	size := 1 << min(p.Addr().BitLen()-p.Bits(), bits.UintSize-2)
	r := addressRange{Prefix: p, drawn: 1, last: size - 1, ready: true}
	if p.Addr().Is4() {
		r.last--
	}
	if size > 16 {
		r.drawn += min(max(size/16, 16), 256)
	}
	return r
}

// low returns the low 64 bits of an address. They contain the number of an address in its range, because an IPv6 range of
// services has at least 64 bits in common.
func low(addr netip.Addr) uint64 {
	b := addr.As16()
	return binary.BigEndian.Uint64(b[8:])
}

// at returns the address with number i.
func (r addressRange) at(i int) string {
	b := r.Addr().As16()
	binary.BigEndian.PutUint64(b[8:], low(r.Addr())+uint64(i))
	return netip.AddrFrom16(b).Unmap().String()
}

// has reports whether the range contains an address that a service can use.
func (r addressRange) has(ip string) bool {
	addr, ok := field.ParseIP(ip)
	return ok && r.Contains(addr) && addr != r.Addr() && (addr.Is6() || low(addr)-low(r.Addr()) <= uint64(r.last))
}

// rangesOf returns the ranges of all ServiceCIDRs without duplicates (KEP-1880; syncAllocators of the real server's
// MetaAllocator). A range is ready if at least one of its ServiceCIDRs is.
func rangesOf(stored resource.Reader) []addressRange {
	var all []addressRange
	stored.Items(serviceCIDRs, "", func(it *resource.Item) bool {
		for _, r := range resource.Derived(it, rangesIn) {
			known := false
			for i := range all {
				if all[i].Prefix == r.Prefix {
					all[i].ready, known = all[i].ready || r.ready, true
				}
			}
			if !known {
				all = append(all, r)
			}
		}
		return true
	})
	return all
}

// rangesIn returns the ranges of a ServiceCIDR. IPv6 ranges with more than 64 variable bits are never used, as in the real server.
func rangesIn(obj object.Object) (all []addressRange) {
	ready := obj.DeletionTimestamp() == "" && cidrReady(obj)
	for _, cidr := range obj.Strings("spec", "cidrs") {
		if p, err := netip.ParsePrefix(cidr); err == nil && p.Addr().BitLen()-p.Bits() <= 64 {
			r := rangeOf(p)
			r.ready = ready
			all = append(all, r)
		}
	}
	return all
}

// cidrReady reports whether a ServiceCIDR is ready. It also returns true if there is no Ready condition.
func cidrReady(obj object.Object) bool {
	ready := obj.Condition("Ready")
	return ready == nil || ready.String("status") == "True"
}
