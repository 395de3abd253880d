package core

import (
	"fmt"
	"slices"
	"time"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// Addresses and ports of services, as a server hands them out that was started with the defaults of a small cluster.
// Both ranges begin with a part that is allocated last and is meant for static assignment (KEP-3070, KEP-3668). The search for a free
// value begins at a position that Context.Random draws. A dry run draws nothing and shows made-up values.
//
//	10.0.0.0/24   .1 ─ .16 chosen   .17 ─ .254 drawn        30000 ─ 30085 chosen   30086 ─ 32767 drawn
const (
	nodePortFirst, nodePortLast = 30000, 32767
	nodePortDrawn               = nodePortFirst + (nodePortLast-nodePortFirst+1)/32
)

// taken is what can be had, and what services have.
type taken struct {
	ctx    *resource.Context
	ranges []addressRange
	keeps  bool // the cluster keeps IPAddresses

	addresses map[string]bool
	ports     map[int64]bool
	drawn     []int64 // ports that a dry run has handed out
}

func takenNow(ctx *resource.Context) *taken {
	t := &taken{ctx: ctx, ranges: rangesOf(ctx.Objects)}
	if t.keeps = len(t.ranges) > 0; !t.keeps {
		t.ranges = []addressRange{rangeOf(ctx.ServiceCIDR)}
	}
	return t
}

// had is what one service has.
type had struct {
	addresses []string // None may be one
	ports     []int64
	external  bool // it is an external name
	made      time.Time
}

func hadBy(service object.Object) had {
	h := had{addresses: service.Strings("spec", "clusterIPs"), ports: []int64{service.Int64("spec", "healthCheckNodePort")},
		external: service.String("spec", "type") == typeExternalName}
	h.made, _ = time.Parse(time.RFC3339, service.String("metadata", "creationTimestamp"))
	for _, port := range service.Objects("spec", "ports") {
		h.ports = append(h.ports, port.Int64("nodePort"))
	}
	return h
}

// scan looks what all services have, also the one that an update is about: it keeps what it had until the update is done.
func (t *taken) scan() *taken {
	if t.ports != nil {
		return t
	}
	t.addresses, t.ports = map[string]bool{}, map[int64]bool{}
	t.ctx.Objects.Items("services", "", func(other *resource.Item) bool {
		h := resource.Derived(other, hadBy)
		for _, ip := range h.addresses {
			t.addresses[ip] = true
		}
		for _, port := range h.ports {
			t.ports[port] = true
		}
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

// nextPort returns a free node port, 0 when there is none.
func (t *taken) nextPort() int64 {
	t.scan()
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
	t.scan()
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
