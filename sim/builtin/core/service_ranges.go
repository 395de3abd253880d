package core

import (
	"encoding/binary"
	"net/netip"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

const serviceCIDRs = "servicecidrs.networking.k8s.io"

// clusterFamily is the only configured address family.
const clusterFamily = "IPv4"

var defaultServiceCIDR = netip.MustParsePrefix("10.0.0.0/24")

// addressRange is a range of numbered addresses: 0 is the network address, and last+1 is the broadcast address
// (calculateRangeOffset of ipallocator).
type addressRange struct {
	netip.Prefix
	drawn, last int  // numbers of the first address that is drawn and of the last address; the first address is 1
	ready       bool // addresses may be allocated from it; they can always be released
}

func rangeOf(p netip.Prefix) addressRange {
	if !p.IsValid() {
		p = defaultServiceCIDR
	}
	size := 1 << (32 - p.Bits())
	r := addressRange{Prefix: p.Masked(), drawn: 1, last: size - 2, ready: true}
	if size > 16 {
		r.drawn += min(max(size/16, 16), 256)
	}
	return r
}

// at returns the address with number i.
func (r addressRange) at(i int) string {
	b := r.Addr().As4()
	var out [4]byte
	binary.BigEndian.PutUint32(out[:], binary.BigEndian.Uint32(b[:])+uint32(i))
	return netip.AddrFrom4(out).String()
}

// has reports whether the range contains an address that a service can use.
func (r addressRange) has(ip string) bool {
	addr, ok := field.ParseIP(ip)
	if !ok || !r.Contains(addr) {
		return false
	}
	a, b := addr.As4(), r.Addr().As4()
	i := int(binary.BigEndian.Uint32(a[:]) - binary.BigEndian.Uint32(b[:]))
	return i > 0 && i <= r.last
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

// rangesIn returns the ranges of a ServiceCIDR that have the configured family.
func rangesIn(obj object.Object) (all []addressRange) {
	ready := obj.DeletionTimestamp() == "" && cidrReady(obj)
	for _, cidr := range obj.Strings("spec", "cidrs") {
		if p, err := netip.ParsePrefix(cidr); err == nil && p.Addr().Is4() {
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
