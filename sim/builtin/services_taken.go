package builtin

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// Addresses and ports of services, as a server hands them out that was started with the defaults of a small cluster.
// Both ranges begin with a part that is given away last, for those who choose themselves (KEP-3070, KEP-3668). A free
// one is looked for from a place that Context.Random draws; a dry run draws nothing and shows made-up values.
//
//	10.0.0.0/24   .1 ─ .16 chosen   .17 ─ .254 drawn        30000 ─ 30085 chosen   30086 ─ 32767 drawn
//
// The range of addresses is Context.ServiceCIDR; that of the picture is the default.
const clusterFamily = "IPv4" // the only one that is configured

const (
	nodePortFirst, nodePortLast = 30000, 32767
	nodePortDrawn               = nodePortFirst + (nodePortLast-nodePortFirst+1)/32
)

var defaultServiceCIDR = netip.MustParsePrefix("10.0.0.0/24")

// addressRange is the range of addresses by their numbers in it: 0 is the address of the network, the one after last
// that of everybody (calculateRangeOffset of ipallocator).
type addressRange struct {
	netip.Prefix
	drawn, last int // first is 1
}

func rangeOf(p netip.Prefix) addressRange {
	if !p.IsValid() {
		p = defaultServiceCIDR
	}
	size := 1 << (32 - p.Bits())
	r := addressRange{p.Masked(), 1, size - 2}
	if size > 16 {
		r.drawn += min(max(size/16, 16), 256)
	}
	return r
}

// at returns the address with a number.
func (r addressRange) at(i int) string {
	b := r.Addr().As4()
	var out [4]byte
	binary.BigEndian.PutUint32(out[:], binary.BigEndian.Uint32(b[:])+uint32(i))
	return netip.AddrFrom4(out).String()
}

// number returns the number of an address, 0 for one that nobody can have.
func (r addressRange) number(ip string) int {
	addr, err := netip.ParseAddr(ip)
	if err != nil || !r.Contains(addr) {
		return 0
	}
	a, b := addr.As4(), r.Addr().As4()
	i := int(binary.BigEndian.Uint32(a[:]) - binary.BigEndian.Uint32(b[:]))
	if i > r.last {
		return 0
	}
	return i
}

// taken is what services have.
type taken struct {
	ctx       *resource.Context
	within    addressRange
	addresses map[string]bool
	ports     map[int64]bool
	drawn     []int64 // ports that a dry run has handed out
}

// takenNow returns what all services have, also the one that an update is about: it keeps what it had until the update is
// done.
func takenNow(ctx *resource.Context) *taken {
	t := &taken{ctx: ctx, within: rangeOf(ctx.ServiceCIDR), addresses: map[string]bool{}, ports: map[int64]bool{}}
	ctx.Objects.Each("services", "", func(other object.Object) bool {
		for _, ip := range other.Strings("spec", "clusterIPs") {
			t.addresses[ip] = true
		}
		for _, port := range other.Objects("spec", "ports") {
			t.ports[port.Int64("nodePort")] = true
		}
		t.ports[other.Int64("spec", "healthCheckNodePort")] = true
		return true
	})
	return t
}

// draw returns the first number from first to last, and then round from the beginning, that is free, starting at a
// random one; -1 when none is.
func (t *taken) draw(first, last int, free func(int) bool) int {
	n := last - first + 1
	if n < 1 {
		return -1
	}
	start := t.ctx.Random(n)
	for i := range n {
		if at := first + (start+i)%n; free(at) {
			return at
		}
	}
	return -1
}

// nextAddress returns a free address, "" when there is none.
func (t *taken) nextAddress() string {
	if t.ctx.DryRun {
		return t.within.Addr().String()
	}
	free := func(i int) bool { return !t.addresses[t.within.at(i)] }
	i := t.draw(t.within.drawn, t.within.last, free)
	if i < 0 {
		i = t.draw(1, t.within.drawn-1, free)
	}
	if i < 0 {
		return ""
	}
	return t.within.at(i)
}

// takeAddress returns why the address cannot be had, or "".
func (t *taken) takeAddress(ip string) string {
	outside := t.within.number(ip) == 0
	switch {
	case outside && t.ctx.DryRun: // asks the range itself, not what looks for a range that has the address
		return "the provided IP (" + ip + ") is not in the valid range. The range of valid IPs is " + t.within.String()
	case outside:
		return "the provided network does not match the current range"
	case t.addresses[ip] && !t.ctx.DryRun:
		return "provided IP is already allocated"
	}
	return ""
}

// nextPort returns a free node port, 0 when there is none.
func (t *taken) nextPort() int64 {
	if t.ctx.DryRun { // numbers beyond the range
		port := int64(nodePortLast + 2)
		if len(t.drawn) > 0 {
			port = slices.Max(t.drawn) + 1
		}
		t.ports[port], t.drawn = true, append(t.drawn, port)
		return port
	}
	free := func(i int) bool { return !t.ports[int64(i)] }
	port := t.draw(nodePortDrawn, nodePortLast, free)
	if port < 0 {
		port = t.draw(nodePortFirst, nodePortDrawn-1, free)
	}
	if port < 0 {
		return 0
	}
	t.ports[int64(port)] = true
	return int64(port)
}

// takePort returns why the node port cannot be had, or "".
func (t *taken) takePort(port int64) string {
	switch {
	case t.ports[port]:
		return "provided port is already allocated"
	case (port < nodePortFirst || port > nodePortLast) && !t.ctx.DryRun:
		return fmt.Sprintf("provided port is not in the valid range. The range of valid ports is %d-%d", nodePortFirst, nodePortLast)
	}
	t.ports[port] = true
	t.drawn = append(t.drawn, port)
	return ""
}
