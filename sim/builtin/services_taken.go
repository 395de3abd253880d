package builtin

import (
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
var (
	serviceCIDR   = netip.MustParsePrefix("10.0.0.0/24")
	clusterFamily = "IPv4" // the only one that is configured
)

const (
	addressFirst, addressDrawn, addressLast = 1, 17, 254
	nodePortFirst, nodePortLast             = 30000, 32767
	nodePortDrawn                           = nodePortFirst + (nodePortLast-nodePortFirst+1)/32
)

// taken is what services have.
type taken struct {
	ctx       *resource.Context
	addresses map[string]bool
	ports     map[int64]bool
	drawn     []int64 // ports that a dry run has handed out
}

// takenNow returns what all services have, also the one that an update is about: it keeps what it had until the update is
// done.
func takenNow(ctx *resource.Context) *taken {
	t := &taken{ctx: ctx, addresses: map[string]bool{}, ports: map[int64]bool{}}
	ctx.Objects.Each("services", "", func(other object.Object) bool {
		for _, ip := range stringsAt(other, "spec", "clusterIPs") {
			t.addresses[ip] = true
		}
		for _, port := range objectsAt(other, "spec", "ports") {
			t.ports[intAt(port, "nodePort")] = true
		}
		t.ports[intAt(other, "spec", "healthCheckNodePort")] = true
		return true
	})
	return t
}

// draw returns the first number from first to last, and then round from the beginning, that is free, starting at a
// random one; -1 when none is.
func (t *taken) draw(first, last int, free func(int) bool) int {
	n := last - first + 1
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
		return serviceCIDR.Addr().String()
	}
	address := func(i int) string {
		b := serviceCIDR.Addr().As4()
		b[3] = byte(i)
		return netip.AddrFrom4(b).String()
	}
	free := func(i int) bool { return !t.addresses[address(i)] }
	i := t.draw(addressDrawn, addressLast, free)
	if i < 0 {
		i = t.draw(addressFirst, addressDrawn-1, free)
	}
	if i < 0 {
		return ""
	}
	return address(i)
}

// takeAddress returns why the address cannot be had, or "".
func (t *taken) takeAddress(ip string) string {
	addr, err := netip.ParseAddr(ip)
	last := 0
	if err == nil && serviceCIDR.Contains(addr) {
		last = int(addr.As4()[3])
	}
	outside := last < addressFirst || last > addressLast
	switch {
	case outside && t.ctx.DryRun: // asks the range itself, not what looks for a range that has the address
		return "the provided IP (" + ip + ") is not in the valid range. The range of valid IPs is " + serviceCIDR.String()
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
