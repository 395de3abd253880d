package core

import (
	"fmt"
	"slices"
	"time"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// The server allocates addresses and ports of services with the default ranges of a small cluster. Both ranges begin with
// a section that is allocated last and is meant for static assignment (KEP-3070, KEP-3668). The search for a free value
// begins at a position that Context.Random draws. A dry run draws nothing and returns made-up values.
//
//	10.0.0.0/24   .1 ─ .16 chosen   .17 ─ .254 drawn        30000 ─ 30085 chosen   30086 ─ 32767 drawn
const (
	nodePortFirst, nodePortLast = 30000, 32767
	nodePortDrawn               = nodePortFirst + (nodePortLast-nodePortFirst+1)/32
)

// taken contains the ranges from which values are allocated, and the values that services use.
type taken struct {
	ctx    *resource.Context
	ranges []addressRange
	keeps  bool // the cluster has IPAddresses

	addresses map[string]bool
	ports     map[int64]bool
	drawn     []int64 // ports that a dry run has allocated
}

func takenNow(ctx *resource.Context) *taken {
	t := &taken{ctx: ctx, ranges: rangesOf(ctx.Objects)}
	if t.keeps = len(t.ranges) > 0; !t.keeps {
		for _, p := range configuredRanges(ctx) {
			t.ranges = append(t.ranges, rangeOf(p))
		}
	}
	return t
}

// had contains the addresses and ports that one stored service has.
type had struct {
	addresses []string // may contain None
	ports     []int64
	external  bool // the service is an ExternalName service
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

// scan collects the values that all services use. It includes those of the service that is being updated, because that service
// keeps its values until the update is complete.
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

// draw returns a free number between first and last, or -1 if none is free. It starts at a random number and continues
// with first after last.
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

// nextPort returns a free node port, or 0 if there is none.
func (t *taken) nextPort() int64 {
	t.scan()
	if t.ctx.DryRun { // a dry run gets numbers beyond the range
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

// takePort allocates the given node port. If the port is not available, it returns the reason, and otherwise "".
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
