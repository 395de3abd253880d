package builtin

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/field"
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

// taken is what other services have.
type taken struct {
	ctx       *resource.Context
	addresses map[string]bool
	ports     map[int64]bool
	drawn     []int64 // ports that a dry run has handed out
}

func takenByOthers(ctx *resource.Context, obj object.Object) *taken {
	t := &taken{ctx: ctx, addresses: map[string]bool{}, ports: map[int64]bool{}}
	ctx.Objects.Each("services", "", func(other object.Object) bool {
		if other.Name() == obj.Name() && other.Namespace() == obj.Namespace() {
			return true
		}
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
		t.drawn = append(t.drawn, port)
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

// allocateService fills in addresses, families and ports, and takes away those that the service no longer has.
func allocateService(ctx *resource.Context, obj, old object.Object) field.ErrorList {
	spec, was := objectAt(obj, "spec"), objectAt(old, "spec")
	if was != nil {
		patchAllocated(spec, was)
	}
	mirrorClusterIP(spec, was)
	if errs := initFamilies(spec, was); len(errs) > 0 {
		return errs
	}
	t := takenByOthers(ctx, obj)
	if errs := t.allocateAddresses(spec, was); len(errs) > 0 {
		return errs
	}
	if errs := t.allocatePorts(spec, was); len(errs) > 0 {
		return errs
	}
	if was != nil {
		dropForType(spec, was)
		if spec.String("type") != typeLoadBalancer && present(obj, "status", "loadBalancer") {
			obj.Set(map[string]any{}, "status", "loadBalancer")
		}
	}
	if policy := spec.String("internalTrafficPolicy"); spec.String("type") == typeExternalName && (policy == "Cluster" || policy == "Local") {
		delete(spec, "internalTrafficPolicy") // it has no meaning and is not shown
	}
	return nil
}

// allocateAddresses gives a service its cluster IP. An update does so only when the service was an external name
// before.
func (t *taken) allocateAddresses(spec, was object.Object) field.ErrorList {
	kind := spec.String("type")
	ips := stringsAt(spec, "clusterIPs")
	if kind == typeExternalName || len(ips) > 0 && ips[0] == headless {
		return nil
	}
	if was != nil && was.String("type") != typeExternalName {
		return nil
	}
	p := field.Root("spec.clusterIPs")
	if len(ips) > 0 {
		if why := t.takeAddress(ips[0]); why != "" {
			return field.ErrorList{field.Invalid(p, ips, "failed to allocate IP "+ips[0]+": "+why)}
		}
		return nil
	}
	ip := t.nextAddress()
	if ip == "" {
		return field.ErrorList{field.Invalid(p, []string{""}, "failed to allocate IP: range is full")}
	}
	spec["clusterIP"], spec["clusterIPs"] = ip, []any{ip}
	return nil
}

// allocatesNodePorts reports whether ports without a node port get one.
func allocatesNodePorts(spec object.Object) bool {
	switch spec.String("type") {
	case typeNodePort:
		return true
	case typeLoadBalancer:
		allocate, ok := spec.Bool("allocateLoadBalancerNodePorts")
		return allocate || !ok
	}
	return false
}

// hasNodePorts reports whether the type of service may have node ports.
func hasNodePorts(spec object.Object) bool {
	return spec.String("type") == typeNodePort || spec.String("type") == typeLoadBalancer
}

func (t *taken) allocatePorts(spec, was object.Object) field.ErrorList {
	if hasNodePorts(spec) {
		kept := map[int64]bool{}
		for _, port := range objectsAt(was, "ports") {
			kept[intAt(port, "nodePort")] = true
		}
		if errs := t.allocateNodePorts(spec, was, kept); len(errs) > 0 {
			return errs
		}
	}
	if !needsHealthCheck(spec) || needsHealthCheck(was) {
		return nil
	}
	if port := intAt(spec, "healthCheckNodePort"); port != 0 {
		if why := t.takePort(port); why != "" {
			return field.ErrorList{field.Internal(field.Path{}, // which is no answer to the client, but a failure
				fmt.Errorf("failed to allocate requested HealthCheck NodePort %d: %s", port, why))}
		}
		return nil
	}
	spec["healthCheckNodePort"] = t.nextPort()
	return nil
}

// allocateNodePorts gives each port a node port. On create ports with the same number, say TCP and UDP, share one.
func (t *taken) allocateNodePorts(spec, was object.Object, kept map[int64]bool) field.ErrorList {
	ports := objectsAt(spec, "ports")
	for port := range kept { // order does not matter
		t.ports[port] = true
	}
	shared := map[int64]int64{}
	if was == nil {
		for _, p := range ports {
			if number, own := intAt(p, "port"), intAt(p, "nodePort"); own != 0 && shared[number] == 0 {
				shared[number] = own
			}
		}
	}
	mine := map[int64]bool{}
	for i, p := range ports {
		number, own := intAt(p, "port"), intAt(p, "nodePort")
		if own == 0 && !allocatesNodePorts(spec) {
			continue
		}
		if own == 0 {
			own = shared[number]
		}
		if own == 0 {
			own = t.nextPort()
		} else if !kept[own] && !mine[own] {
			if why := t.takePort(own); why != "" {
				return field.ErrorList{field.Invalid(field.Root("spec.ports").Index(i).Child("nodePort"), own, why)}
			}
		}
		p["nodePort"] = own
		mine[own] = true
		if was == nil && shared[number] == 0 {
			shared[number] = own
		}
	}
	return nil
}

// patchAllocated keeps what was allocated when a client sends its manifest again, which does not have it.
func patchAllocated(spec, was object.Object) {
	if spec.String("type") != typeExternalName && was.String("type") != typeExternalName {
		if spec.String("clusterIP") == "" && was.String("clusterIP") != "" {
			spec["clusterIP"] = was["clusterIP"]
		}
		if len(spec.List("clusterIPs")) == 0 && len(was.List("clusterIPs")) > 0 {
			spec["clusterIPs"] = object.Copy(was["clusterIPs"])
		}
	}
	if allocatesNodePorts(spec) && allocatesNodePorts(was) {
		patchNodePorts(spec, was)
	}
	if needsHealthCheck(spec) && needsHealthCheck(was) && intAt(spec, "healthCheckNodePort") == 0 {
		spec["healthCheckNodePort"] = was["healthCheckNodePort"]
	}
}

// patchNodePorts gives ports the node port that the port with the same name had, unless another one has it now.
func patchNodePorts(spec, was object.Object) {
	used, byName := map[int64]bool{}, map[string]int64{}
	for _, p := range objectsAt(spec, "ports") {
		used[intAt(p, "nodePort")] = true
	}
	for _, p := range objectsAt(was, "ports") {
		byName[p.String("name")] = intAt(p, "nodePort")
	}
	for _, p := range objectsAt(spec, "ports") {
		if old := byName[p.String("name")]; intAt(p, "nodePort") == 0 && old != 0 && !used[old] {
			p["nodePort"] = old
		}
	}
}

// mirrorClusterIP keeps clusterIPs in step for clients that know clusterIP only.
func mirrorClusterIP(spec, was object.Object) {
	ip, ips := spec.String("clusterIP"), stringsAt(spec, "clusterIPs")
	if was == nil {
		if ip != "" && len(ips) == 0 {
			spec["clusterIPs"] = []any{ip}
		}
		return
	}
	oldIP, oldIPs := was.String("clusterIP"), stringsAt(was, "clusterIPs")
	same := slices.Equal(ips, oldIPs)
	switch {
	case ip == oldIP:
		if len(oldIPs) > 0 && len(ips) == 0 {
			spec["clusterIPs"] = object.Copy(was["clusterIPs"])
		}
	case !same:
	case oldIP != "" && ip == "":
		delete(spec, "clusterIPs")
	default:
		spec["clusterIPs"] = []any{ip}
	}
}

// dropForType takes away what the new type of a service does not have, unless the client changed it too.
func dropForType(spec, was object.Object) {
	same := func(name string) bool { return object.SemanticEqual(spec[name], was[name]) }
	drop := func(names ...string) {
		for _, name := range names {
			if same(name) {
				delete(spec, name)
			}
		}
	}
	external := spec.String("type") == typeExternalName
	if external && was.String("type") != typeExternalName {
		if same("clusterIP") && same("clusterIPs") {
			drop("clusterIP", "clusterIPs")
		}
		drop("ipFamilies", "ipFamilyPolicy")
	}
	if hasNodePorts(was) && !hasNodePorts(spec) && sameNodePorts(spec, was) {
		for _, p := range objectsAt(spec, "ports") {
			delete(p, "nodePort")
		}
	}
	if needsHealthCheck(was) && !needsHealthCheck(spec) {
		drop("healthCheckNodePort")
	}
	if was.String("type") == typeLoadBalancer && spec.String("type") != typeLoadBalancer {
		drop("allocateLoadBalancerNodePorts", "loadBalancerClass")
	}
	if isExternal(was) && !isExternal(spec) {
		drop("externalTrafficPolicy")
	}
}

// sameNodePorts reports whether the service has no node port that it did not have before.
func sameNodePorts(spec, was object.Object) bool {
	had := map[int64]bool{0: true}
	for _, p := range objectsAt(was, "ports") {
		had[intAt(p, "nodePort")] = true
	}
	for _, p := range objectsAt(spec, "ports") {
		if !had[intAt(p, "nodePort")] {
			return false
		}
	}
	return true
}

// familyOf returns the IP family of an address.
func familyOf(ip string) string {
	if strings.Contains(ip, ":") {
		return "IPv6"
	}
	return "IPv4"
}
