package core

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/builtin/gotext"
	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/podspec"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

const (
	topologyHints     = "service.kubernetes.io/topology-aware-hints" // deprecated in favour of topologyMode
	topologyMode      = "service.kubernetes.io/topology-mode"
	sourceRangesKey   = "service.beta.kubernetes.io/load-balancer-source-ranges"
	onlyLoadBalancers = "may only be used when `type` is 'LoadBalancer'"
)

// validateService checks a new or changed service.
func validateService(ctx *resource.Context, at field.Cursor) {
	spec := at.Child("spec")
	if at.Updates() {
		validateAddressChange(spec)
		class, was := spec.Child("loadBalancerClass"), spec.Old()
		class.AsEnum().InvalidIf(isBalancer(spec.Object()) && isBalancer(was) && !object.Equal(class.Value(), was["loadBalancerClass"]), "may not change once set")
		validateLoadBalancerClass(spec)
		health := spec.Child("healthCheckNodePort")
		health.ForbidIf(needsHealthCheck(was) && needsHealthCheck(spec.Object()) && was.Int64("healthCheckNodePort") != health.Int64(), field.TextImmutable)
	}
	annotations := at.Child("metadata", "annotations")
	mode := annotations.Key(topologyMode)
	mode.InvalidIf(mode.Has() && annotations.Has(topologyHints) && mode.String() != annotations.String(topologyHints),
		"must match annotations["+topologyHints+"] when both are specified")
	ports, serviceType := spec.Child("ports"), spec.String("type")
	ports.RequireIf(ports.Len() == 0 && !isHeadless(spec.Object()) && serviceType != typeExternalName, "")
	validateServiceType(spec)
	validateServicePorts(ports)
	spec.Child("selector").Labels()
	if spec.Child("sessionAffinity").Required().OneOf("ClientIP", "None").String() == "ClientIP" {
		const longest = 86400
		seconds := spec.Child("sessionAffinityConfig", "clientIP", "timeoutSeconds").OrZero()
		seconds.InvalidIf(seconds.Int64() <= 0 || seconds.Int64() > longest, "must be greater than 0 and less than "+strconv.Itoa(longest))
	}
	validateServiceAddresses(ctx, spec)
	for ip := range spec.Each("externalIPs") {
		validateExternalIP(ctx, ip, spec.Old().Strings("externalIPs"))
	}
	spec.Child("type").Required().OneOf(typeClusterIP, typeExternalName, typeLoadBalancer, typeNodePort)
	validatePortUse(ports, serviceType)
	validateSourceRanges(ctx, at)
	if serviceType != typeLoadBalancer {
		spec.ForbidAny(onlyLoadBalancers, "allocateLoadBalancerNodePorts")
	}
	validateLoadBalancerClass(spec)
	validateTrafficPolicies(spec)
}

func isBalancer(spec object.Object) bool { return spec.String("type") == typeLoadBalancer }

// validateServiceType checks the fields that the type of a service requires or forbids.
func validateServiceType(spec field.Cursor) {
	switch serviceType := spec.String("type"); serviceType {
	case typeLoadBalancer, typeNodePort:
		spec.Child("clusterIPs").Index(0).InvalidIf(isHeadless(spec.Object()), "may not be set to 'None' for "+serviceType+" services")
	case typeExternalName:
		const text = "may not be set for ExternalName services"
		for _, name := range []string{"clusterIPs", "ipFamilies"} {
			spec.Child(name).ForbidIf(spec.Len(name) > 0, text)
		}
		spec.ForbidAny(text, "ipFamilyPolicy")
		spec.Child("externalName").With(strings.TrimSuffix(spec.String("externalName"), ".")).Required().Check(field.DNS1123Subdomain)
	}
}

func validateServicePorts(ports field.Cursor) {
	names := field.Seen{}
	for port := range ports.Each() {
		validatePort(port, ports.Len() > 1, names)
		podspec.PortOrName(port.Child("targetPort"))
		port.Child("appProtocol").Check(field.QualifiedName)
	}
}

// validateExternalIP checks an external address, unless the service already had it before the update.
func validateExternalIP(ctx *resource.Context, ip field.Cursor, old []string) {
	before := len(ip.Errors())
	if !slices.Contains(old, ip.String()) {
		ip.Check(kind.IP(ctx))
	}
	if len(ip.Errors()) == before {
		CheckEndpointIP(ip)
	}
}

// CheckEndpointIP rejects addresses to which no connection can be made.
func CheckEndpointIP(at field.Cursor) {
	ip := at.String()
	addr, ok := field.ParseIP(ip)
	if !ok {
		at.Invalid(ip, "must be a valid IP address")
		return
	}
	at.InvalidIf(addr.IsUnspecified(), "may not be unspecified ("+ip+")")
	at.InvalidIf(addr.IsLoopback(), "may not be in the loopback range (127.0.0.0/8, ::1/128)")
	at.InvalidIf(addr.IsLinkLocalUnicast(), "may not be in the link-local range (169.254.0.0/16, fe80::/10)")
	at.InvalidIf(addr.IsLinkLocalMulticast(), "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)")
}

// validatePortUse rejects node ports on ClusterIP services, duplicate node ports, and duplicate ports.
func validatePortUse(ports field.Cursor, serviceType string) {
	for port := range ports.Each() {
		port.Child("nodePort").ForbidIf(port.Int64("nodePort") != 0 && serviceType == typeClusterIP, "may not be used when `type` is 'ClusterIP'")
	}
	used, nodePorts := field.Seen{}, field.Seen{}
	for port := range ports.Each() {
		if own := port.Child("nodePort"); own.Int64() != 0 {
			own.UniqueBy(nodePorts, fmt.Sprint(port.String("protocol"), "/", own.Int64()))
		}
	}
	for port := range ports.Each() {
		protocol, number := port.String("protocol"), port.Int64("port")
		if used.Again(fmt.Sprint(protocol, "/", number)) {
			port.Duplicate(gotext.Value(gotext.ServicePort, object.Object{"protocol": protocol, "port": number}))
		}
	}
}

// validateSourceRanges checks the client networks that may use a load balancer, in the field or in the older annotation.
func validateSourceRanges(ctx *resource.Context, at field.Cursor) {
	balancer, before := isBalancer(at.Child("spec").Object()), at.Old()
	if ranges := at.Child("spec", "loadBalancerSourceRanges").ReportAt(at.Child("spec", "LoadBalancerSourceRanges")); ranges.Len() > 0 {
		ranges.ForbidIf(!balancer, onlyLoadBalancers)
		var old []string
		for _, cidr := range before.Strings("spec", "loadBalancerSourceRanges") {
			old = append(old, strings.TrimSpace(cidr))
		}
		for cidr := range ranges.Each() {
			if text := strings.TrimSpace(cidr.String()); !slices.Contains(old, text) {
				cidr.With(text).Check(kind.CIDR(ctx))
			}
		}
		return
	}
	annotation := at.Child("metadata", "annotations").Key(sourceRangesKey)
	annotation.ForbidIf(annotation.Has() && !balancer, onlyLoadBalancers)
	if had, ok := before.Annotations()[sourceRangesKey]; ok && had == annotation.String() || strings.TrimSpace(annotation.String()) == "" {
		return
	}
	for cidr := range strings.SplitSeq(annotation.String(), ",") {
		annotation.With(strings.TrimSpace(cidr)).Check(kind.CIDR(ctx))
	}
}

func validateLoadBalancerClass(spec field.Cursor) {
	class := spec.Child("loadBalancerClass")
	if isBalancer(spec.Object()) {
		class.Check(field.QualifiedName)
	} else {
		class.ForbidIf(class.Has(), onlyLoadBalancers)
	}
}

// validateTrafficPolicies checks the policies that select endpoints for external and internal traffic.
func validateTrafficPolicies(spec field.Cursor) {
	external, check, internal := spec.Child("externalTrafficPolicy"), spec.Child("healthCheckNodePort").IfGiven(), spec.Child("internalTrafficPolicy")
	if isExternal(spec.Object()) {
		external.Required().OneOf("Cluster", "Local")
	} else if external.String() != "" {
		external.InvalidEnum("may only be set for externally-accessible services")
	}
	if needsHealthCheck(spec.Object()) {
		check.Required().CheckInt(field.PortNumber)
	} else {
		check.InvalidIf(check.Has(), "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'")
	}
	internal.OneOf("Cluster", "Local").RequireIf(!internal.Has() && (spec.String("type") == typeClusterIP || hasNodePorts(spec.Object())), "")
	spec.Child("trafficDistribution").OneOf("PreferClose", "PreferSameZone", "PreferSameNode")
}

func validateLoadBalancerStatus(ctx *resource.Context, at field.Cursor) {
	list := at.Child("status", "loadBalancer", "ingress")
	if list.Len() > 0 && !isBalancer(at.Child("spec").Object()) {
		list.Forbidden("may only be used when `spec.type` is 'LoadBalancer'")
		return
	}
	before := kind.Texts(at.Old().Objects("status", "loadBalancer", "ingress"), "ip")
	for ingress := range list.Each() {
		ip, mode := ingress.String("ip"), ingress.Child("ipMode")
		if ip != "" && !slices.Contains(before, ip) {
			ingress.Child("ip").Check(kind.IP(ctx))
		}
		mode.RequireIf(!mode.Has() && ip != "", "must be specified when `ip` is set")
		if ip == "" {
			mode.ForbidIf(mode.Has(), "may not be specified when `ip` is not set")
		} else {
			mode.OneOf("Proxy", "VIP")
		}
		CheckIngressHost(ingress.Child("hostname"))
	}
}

// CheckIngressHost checks the hostname of a load balancer, which may be missing.
func CheckIngressHost(at field.Cursor) {
	host := at.IfGiven().Check(field.DNS1123Subdomain)
	_, ok := field.ParseIP(host.String())
	host.InvalidIf(ok, "must be a DNS name, not an IP address")
}

func warnService(ctx *resource.Context, obj, _ object.Object) {
	if ctx.Subresource == "status" {
		for i, ingress := range obj.Objects("status", "loadBalancer", "ingress") {
			kind.WarnIP(ctx, field.Root("status.loadBalancer.ingress").Index(i), ingress.String("ip"))
		}
		return
	}
	spec, p := obj.At("spec"), field.Root("spec")
	warn := func(when bool, text string) {
		if when {
			ctx.Warn(text)
		}
	}
	serviceType, ip := spec.String("type"), spec.String("clusterIP")
	bare, external := serviceType == typeClusterIP && ip == headless, serviceType == typeExternalName
	_, hints := obj.Annotations()[topologyHints]
	warn(hints, "annotation "+topologyHints+" is deprecated, please use "+topologyMode+" instead")
	for i, ip := range spec.Strings("clusterIPs") {
		kind.WarnIP(ctx, p.Child("clusterIPs").Index(i), ip)
	}
	ips := spec.Strings("externalIPs")
	warn(bare && spec.String("loadBalancerIP") != "", "spec.loadBalancerIP is ignored for headless services")
	warn(bare && len(ips) > 0, "spec.externalIPs is ignored for headless services")
	warn(bare && spec.String("sessionAffinity") != "None", "spec.SessionAffinity is ignored for headless services")
	for i, ip := range ips {
		kind.WarnIP(ctx, p.Child("externalIPs").Index(i), ip)
	}
	warn(ctx.Since(36) && len(ips) > 0 && !bare && !external, "spec.externalIPs is deprecated and may no longer be implemented in some clusters")
	kind.WarnIP(ctx, p.Child("loadBalancerIP"), spec.String("loadBalancerIP"))
	for i, cidr := range spec.Strings("loadBalancerSourceRanges") {
		kind.WarnCIDR(ctx, p.Child("loadBalancerSourceRanges").Index(i), cidr)
	}
	warn(external && len(ips) > 0, `spec.externalIPs is ignored when spec.type is "ExternalName"`)
	warn(!external && spec.String("externalName") != "", `spec.externalName is ignored when spec.type is not "ExternalName"`)
	warn(spec.String("trafficDistribution") == "PreferClose", `spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"`)
}
