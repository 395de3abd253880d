package core

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

// allocateService allocates addresses, families and ports, and releases the values that the service no longer needs.
func allocateService(ctx *resource.Context, obj, old object.Object) (field.ErrorList, *status.Status) {
	spec, was := obj.At("spec"), old.At("spec")
	if was != nil {
		patchAllocated(spec, was)
	}
	mirrorClusterIP(spec, was)
	if errs := initFamilies(ctx, spec, was); len(errs) > 0 {
		return errs, nil
	}
	t := takenNow(ctx)
	if errs, failure := t.allocateAddresses(obj, old); len(errs) > 0 || failure != nil {
		return errs, failure
	}
	if errs, failure := t.allocatePorts(spec, was); len(errs) > 0 || failure != nil {
		return errs, failure
	}
	if was != nil {
		dropForType(spec, was)
		if spec.String("type") != typeLoadBalancer && obj.Has("status", "loadBalancer") {
			obj.Set(map[string]any{}, "status", "loadBalancer")
		}
	}
	return nil, nil
}

// allocatesNodePorts reports whether the server allocates node ports for the service.
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

// nodePorts returns the set of node ports of a service. If a port has no node port, the set includes 0.
func nodePorts(spec object.Object) map[int64]bool {
	all := map[int64]bool{}
	for _, p := range spec.Objects("ports") {
		all[p.Int64("nodePort")] = true
	}
	return all
}

// hasNodePorts reports whether the service's type allows node ports.
func hasNodePorts(spec object.Object) bool {
	return spec.String("type") == typeNodePort || spec.String("type") == typeLoadBalancer
}

// allocatePorts allocates the node ports of a service and the port of its health check. It returns mistakes of the client as an
// ErrorList, and failures of the server as a Status. An unavailable health check port that the client chose counts as a failure
// (pkg/registry/core/service/storage.Allocators).
func (t *taken) allocatePorts(spec, was object.Object) (field.ErrorList, *status.Status) {
	if hasNodePorts(spec) {
		allocate := t.updateNodePorts
		if was == nil {
			allocate = t.initNodePorts
		}
		if errs, failure := allocate(spec, was); len(errs) > 0 || failure != nil {
			return errs, failure
		}
	}
	if !needsHealthCheck(spec) || needsHealthCheck(was) {
		return nil, nil
	}
	port := spec.Int64("healthCheckNodePort")
	if port == 0 {
		if port = t.nextPort(); port == 0 {
			return nil, status.Internal(fmt.Errorf("failed to allocate a HealthCheck NodePort 0: %w", errFull))
		}
		spec["healthCheckNodePort"] = port
	} else if why := t.takePort(port); why != "" {
		return nil, status.Internal(fmt.Errorf("failed to allocate requested HealthCheck NodePort %d: %s", port, why))
	}
	return nil, nil
}

// nextNodePort allocates a free node port and returns it. It returns 500 Internal Error if there is none.
func (t *taken) nextNodePort() (int64, *status.Status) {
	if port := t.nextPort(); port != 0 {
		return port, nil
	}
	return 0, status.Internal(fmt.Errorf("failed to allocate a nodePort: %w", errFull))
}

// takeNodePort allocates own, the node port that the client chose for port i. It returns an error if the port is not available.
func (t *taken) takeNodePort(i int, own int64) field.ErrorList {
	if why := t.takePort(own); why != "" {
		return field.ErrorList{field.Invalid(field.Root("spec.ports").Index(i).Child("nodePort"), own, why)}
	}
	return nil
}

// initNodePorts allocates node ports for the ports of a new service. Ports with the same number, such as TCP and UDP, share
// a node port, namely the first one that is specified for any of them.
func (t *taken) initNodePorts(spec, _ object.Object) (errs field.ErrorList, failure *status.Status) {
	ports := spec.Objects("ports")
	shared := map[int64]int64{}
	for i, p := range ports {
		number, own := p.Int64("port"), p.Int64("nodePort")
		if own == 0 && !allocatesNodePorts(spec) {
			continue
		}
		common, allocated := shared[number]
		switch {
		case allocated && own == 0:
			p["nodePort"] = common
		case allocated && own != common:
			errs = t.takeNodePort(i, own)
		case !allocated:
			if common = chosenNodePort(ports[i:], number); common != 0 {
				errs = t.takeNodePort(i, common)
			} else {
				common, failure = t.nextNodePort()
			}
			shared[number] = common
			p["nodePort"] = common
		}
		if len(errs) > 0 || failure != nil {
			break
		}
	}
	return errs, failure
}

// chosenNodePort returns the first node port that the client specifies for any port with the given number, or 0 if there is none.
func chosenNodePort(ports []object.Object, number int64) int64 {
	for _, p := range ports {
		if own := p.Int64("nodePort"); own != 0 && p.Int64("port") == number {
			return own
		}
	}
	return 0
}

// updateNodePorts allocates node ports for ports without one. The service keeps its previous node ports until the update is
// complete. Ports of different protocols may share a node port.
func (t *taken) updateNodePorts(spec, was object.Object) (field.ErrorList, *status.Status) {
	type nodePort struct {
		protocol string
		number   int64
	}
	mine, seen := nodePorts(was), map[nodePort]bool{}
	for i, p := range spec.Objects("ports") {
		own := p.Int64("nodePort")
		switch {
		case own == 0 && !allocatesNodePorts(spec):
			continue
		case own == 0:
			var failure *status.Status
			if own, failure = t.nextNodePort(); failure != nil {
				return nil, failure
			}
			p["nodePort"] = own
		case !mine[own]:
			if errs := t.takeNodePort(i, own); len(errs) > 0 {
				return errs, nil
			}
			mine[own] = true
		}
		port := nodePort{p.String("protocol"), own}
		if seen[port] {
			return nil, status.Plain("duplicate nodePort: {%s %d}", port.protocol, own)
		}
		seen[port] = true
	}
	return nil, nil
}

// patchAllocated copies allocated values from the old service if the client sends its original manifest, which lacks them.
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
	if needsHealthCheck(spec) && needsHealthCheck(was) && spec.Int64("healthCheckNodePort") == 0 {
		spec["healthCheckNodePort"] = was["healthCheckNodePort"]
	}
}

// patchNodePorts copies node ports from the old ports with the same name, unless another port uses them now.
func patchNodePorts(spec, was object.Object) {
	used, byName := nodePorts(spec), map[string]int64{}
	for _, p := range was.Objects("ports") {
		byName[p.String("name")] = p.Int64("nodePort")
	}
	for _, p := range spec.Objects("ports") {
		if old := byName[p.String("name")]; p.Int64("nodePort") == 0 && old != 0 && !used[old] {
			p["nodePort"] = old
		}
	}
}

// mirrorClusterIP updates clusterIPs for clients that change only clusterIP.
func mirrorClusterIP(spec, was object.Object) {
	ip, ips := spec.String("clusterIP"), spec.Strings("clusterIPs")
	if was == nil {
		if ip != "" && len(ips) == 0 {
			spec["clusterIPs"] = []any{ip}
		}
		return
	}
	oldIP, oldIPs := was.String("clusterIP"), was.Strings("clusterIPs")
	switch {
	case ip == oldIP:
		if len(oldIPs) > 0 && len(ips) == 0 {
			spec["clusterIPs"] = object.Copy(was["clusterIPs"])
		}
	case !slices.Equal(ips, oldIPs):
	case oldIP != "" && ip == "":
		delete(spec, "clusterIPs")
	default:
		spec["clusterIPs"] = []any{ip}
	}
}

// dropForType removes fields that the new type of a service does not have, unless the client changed them as well.
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
		for _, p := range spec.Objects("ports") {
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

// sameNodePorts reports whether the service has only node ports that it had before.
func sameNodePorts(spec, was object.Object) bool {
	had := nodePorts(was)
	had[0] = true
	return !slices.ContainsFunc(spec.Objects("ports"), func(p object.Object) bool { return !had[p.Int64("nodePort")] })
}

// FamilyOf returns the IP family of an address.
func FamilyOf(ip string) string {
	if strings.Contains(ip, ":") {
		return "IPv6"
	}
	return "IPv4"
}

// serviceQuota describes how Services count against a ResourceQuota.
var serviceQuota = resource.Quota{Each: []string{"services"}, Limits: serviceLimit, Uses: serviceUses, Updates: resource.WholeUpdates}

func serviceLimit(_ *resource.Context, name string) bool {
	return name == "services.loadbalancers" || name == "services.nodeports"
}

func serviceUses(_ *resource.Context, svc object.Object) resource.Amounts {
	balancers, nodePorts := 0, 0
	spec := svc.At("spec")
	if isBalancer(spec) {
		balancers = 1
	}
	for _, port := range spec.Objects("ports") {
		if allocatesNodePorts(spec) || isBalancer(spec) && port.Int64("nodePort") != 0 {
			nodePorts++
		}
	}
	return resource.Amounts{"services.loadbalancers": resource.Count(balancers), "services.nodeports": resource.Count(nodePorts)}
}
