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
	topologyHints     = "service.kubernetes.io/topology-aware-hints" // deprecated for topologyMode
	topologyMode      = "service.kubernetes.io/topology-mode"
	sourceRangesKey   = "service.beta.kubernetes.io/load-balancer-source-ranges"
	onlyLoadBalancers = "may only be used when `type` is 'LoadBalancer'"
)

// validateService returns what is wrong with a service; old is nil on create.
func validateService(ctx *resource.Context, obj, old object.Object) field.ErrorList {
	var errs field.ErrorList
	spec, was, p := obj.At("spec"), old.At("spec"), field.Root("spec")
	mode, moded := obj.Annotations()[topologyMode]
	if hints, ok := obj.Annotations()[topologyHints]; ok && moded && mode != hints {
		errs = append(errs, field.Invalid(field.Root("metadata.annotations").Key(topologyMode), mode,
			"must match annotations["+topologyHints+"] when both are specified"))
	}
	serviceType := spec.String("type")
	if len(spec.List("ports")) == 0 && !isHeadless(spec) && serviceType != typeExternalName {
		errs = append(errs, field.Required(p.Child("ports"), ""))
	}
	errs = append(errs, validateServiceType(spec)...)
	names := map[string]bool{}
	ports := spec.Objects("ports")
	for i, port := range ports {
		errs = append(errs, validateServicePort(p.Child("ports").Index(i), port, len(ports) > 1, names)...)
	}
	errs = append(errs, field.CheckLabels(p.Child("selector"), object.StringMap(spec.Map("selector")))...)
	errs = append(errs, validateAffinity(spec)...)
	errs = append(errs, validateServiceAddresses(ctx, spec, was)...)
	for i, ip := range spec.Strings("externalIPs") {
		errs = append(errs, validateExternalIP(ctx, p.Child("externalIPs").Index(i), ip, was.Strings("externalIPs"))...)
	}
	errs = append(errs, field.MustBeSetToOneOf(p.Child("type"), serviceType, typeClusterIP, typeExternalName, typeLoadBalancer, typeNodePort)...)
	errs = append(errs, validatePortUse(spec)...)
	errs = append(errs, validateSourceRanges(ctx, obj, old)...)
	if spec.Has("allocateLoadBalancerNodePorts") && serviceType != typeLoadBalancer {
		errs = append(errs, field.Forbidden(p.Child("allocateLoadBalancerNodePorts"), onlyLoadBalancers))
	}
	errs = append(errs, validateLoadBalancerClass(spec)...)
	return append(errs, validateTrafficPolicies(spec)...)
}

// validateServiceType checks what a type of service cannot have.
func validateServiceType(spec object.Object) field.ErrorList {
	var errs field.ErrorList
	p := field.Root("spec")
	switch serviceType := spec.String("type"); serviceType {
	case typeLoadBalancer, typeNodePort:
		if isHeadless(spec) {
			errs = append(errs, field.Invalid(addressesPath.Index(0), headless, "may not be set to 'None' for "+serviceType+" services"))
		}
	case typeExternalName:
		for _, name := range []string{"clusterIPs", "ipFamilies"} {
			if len(spec.List(name)) > 0 {
				errs = append(errs, field.Forbidden(p.Child(name), "may not be set for ExternalName services"))
			}
		}
		if spec.Has("ipFamilyPolicy") {
			errs = append(errs, field.Forbidden(policyPath, "may not be set for ExternalName services"))
		}
		if name := strings.TrimSuffix(spec.String("externalName"), "."); name != "" {
			errs = append(errs, field.Check(p.Child("externalName"), name, field.DNS1123Subdomain)...)
		} else {
			errs = append(errs, field.Required(p.Child("externalName"), ""))
		}
	}
	return errs
}

func validateServicePort(p field.Path, port object.Object, named bool, names map[string]bool) field.ErrorList {
	var errs field.ErrorList
	name := port.String("name")
	if name != "" {
		errs = append(errs, field.Check(p.Child("name"), name, field.DNS1123Label)...)
		if names[name] {
			errs = append(errs, field.Duplicate(p.Child("name"), name))
		}
		names[name] = true
	} else if named {
		errs = append(errs, field.Required(p.Child("name"), ""))
	}
	number := port.Int64("port")
	errs = append(errs, field.Messages(p.Child("port"), number, field.PortNumber(number))...)
	errs = append(errs, field.MustBeSetToOneOf(p.Child("protocol"), port.String("protocol"), "SCTP", "TCP", "UDP")...)
	errs = append(errs, podspec.ValidatePortOrName(p.Child("targetPort"), port["targetPort"])...)
	if port.Has("appProtocol") {
		errs = append(errs, field.Check(p.Child("appProtocol"), port.String("appProtocol"), field.QualifiedName)...)
	}
	return errs
}

func validateAffinity(spec object.Object) field.ErrorList {
	p := field.Root("spec")
	affinity := spec.String("sessionAffinity")
	errs := field.MustBeSetToOneOf(p.Child("sessionAffinity"), affinity, "ClientIP", "None")
	at := p.Child("sessionAffinityConfig", "clientIP", "timeoutSeconds")
	if affinity != "ClientIP" {
		return errs
	}
	const longest = 86400
	if n := spec.Int64("sessionAffinityConfig", "clientIP", "timeoutSeconds"); n <= 0 || n > longest {
		errs = append(errs, field.Invalid(at, n, "must be greater than 0 and less than "+strconv.Itoa(longest)))
	}
	return errs
}

// validateExternalIP checks an address unless the service had it before.
func validateExternalIP(ctx *resource.Context, p field.Path, ip string, old []string) field.ErrorList {
	if !slices.Contains(old, ip) {
		if errs := kind.ValidateIP(ctx, p, ip); len(errs) > 0 {
			return errs
		}
	}
	return ValidateEndpointIP(p, ip)
}

// ValidateEndpointIP refuses addresses that make no sense as the end of a connection.
func ValidateEndpointIP(p field.Path, ip string) field.ErrorList {
	addr, ok := field.ParseIP(ip)
	if !ok {
		return field.ErrorList{field.Invalid(p, ip, "must be a valid IP address")}
	}
	var errs field.ErrorList
	refuse := func(bad bool, text string) {
		if bad {
			errs = append(errs, field.Invalid(p, ip, text))
		}
	}
	refuse(addr.IsUnspecified(), "may not be unspecified ("+ip+")")
	refuse(addr.IsLoopback(), "may not be in the loopback range (127.0.0.0/8, ::1/128)")
	refuse(addr.IsLinkLocalUnicast(), "may not be in the link-local range (169.254.0.0/16, fe80::/10)")
	refuse(addr.IsLinkLocalMulticast(), "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)")
	return errs
}

// validatePortUse finds node ports where there can be none, and ports that occur twice.
func validatePortUse(spec object.Object) field.ErrorList {
	var errs, twice field.ErrorList
	p := field.Root("spec.ports")
	nodePorts, ports := map[string]bool{}, map[string]bool{}
	for i, port := range spec.Objects("ports") {
		protocol, own := port.String("protocol"), port.Int64("nodePort")
		if own != 0 && spec.String("type") == typeClusterIP {
			errs = append(errs, field.Forbidden(p.Index(i).Child("nodePort"), "may not be used when `type` is 'ClusterIP'"))
		}
		key := fmt.Sprint(protocol, "/", port.Int64("port"))
		if ports[key] {
			same := object.Object{"protocol": protocol, "port": port.Int64("port")}
			twice = append(twice, field.Duplicate(p.Index(i), gotext.Value("ServicePort", same)))
		}
		ports[key] = true
	}
	for i, port := range spec.Objects("ports") {
		own := port.Int64("nodePort")
		key := fmt.Sprint(port.String("protocol"), "/", own)
		if own != 0 && nodePorts[key] {
			errs = append(errs, field.Duplicate(p.Index(i).Child("nodePort"), own))
		}
		nodePorts[key] = true
	}
	return append(errs, twice...)
}

// validateSourceRanges checks who may use a load balancer: the field, or the annotation from before there was one.
func validateSourceRanges(ctx *resource.Context, obj, old object.Object) field.ErrorList {
	var errs field.ErrorList
	balancer := obj.String("spec", "type") == typeLoadBalancer
	if ranges := obj.Strings("spec", "loadBalancerSourceRanges"); len(ranges) > 0 {
		p := field.Root("spec.LoadBalancerSourceRanges")
		if !balancer {
			errs = append(errs, field.Forbidden(p, onlyLoadBalancers))
		}
		before := old.Strings("spec", "loadBalancerSourceRanges")
		for i := range before {
			before[i] = strings.TrimSpace(before[i])
		}
		for i, cidr := range ranges {
			if cidr = strings.TrimSpace(cidr); !slices.Contains(before, cidr) {
				errs = append(errs, kind.ValidateCIDR(ctx, p.Index(i), cidr)...)
			}
		}
		return errs
	}
	text, ok := obj.Annotations()[sourceRangesKey]
	if !ok {
		return nil
	}
	p := field.Root("metadata.annotations").Key(sourceRangesKey)
	if !balancer {
		errs = append(errs, field.Forbidden(p, onlyLoadBalancers))
	}
	if before, ok := old.Annotations()[sourceRangesKey]; ok && before == text || strings.TrimSpace(text) == "" {
		return errs
	}
	for cidr := range strings.SplitSeq(text, ",") {
		errs = append(errs, kind.ValidateCIDR(ctx, p, strings.TrimSpace(cidr))...)
	}
	return errs
}

func validateLoadBalancerClass(spec object.Object) field.ErrorList {
	p := field.Root("spec.loadBalancerClass")
	switch {
	case !spec.Has("loadBalancerClass"):
		return nil
	case spec.String("type") != typeLoadBalancer:
		return field.ErrorList{field.Forbidden(p, onlyLoadBalancers)}
	}
	return field.Check(p, spec.String("loadBalancerClass"), field.QualifiedName)
}

// validateTrafficPolicies checks where connections from outside and inside may go.
func validateTrafficPolicies(spec object.Object) field.ErrorList {
	var errs field.ErrorList
	p := field.Root("spec")
	external := spec.String("externalTrafficPolicy")
	if isExternal(spec) {
		errs = append(errs, field.MustBeSetToOneOf(p.Child("externalTrafficPolicy"), external, "Cluster", "Local")...)
	} else if external != "" {
		errs = append(errs, field.Invalid(p.Child("externalTrafficPolicy"), field.Enum(external),
			"may only be set for externally-accessible services"))
	}
	check := spec.Int64("healthCheckNodePort")
	switch at := p.Child("healthCheckNodePort"); {
	case !needsHealthCheck(spec) && check != 0:
		errs = append(errs, field.Invalid(at, check, "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"))
	case needsHealthCheck(spec) && check == 0:
		errs = append(errs, field.Required(at, ""))
	case check != 0:
		errs = append(errs, field.Messages(at, check, field.PortNumber(check))...)
	}
	if spec.Has("internalTrafficPolicy") {
		errs = append(errs, field.MustBeOneOf(p.Child("internalTrafficPolicy"), spec.String("internalTrafficPolicy"), "Cluster", "Local")...)
	} else if serviceType := spec.String("type"); serviceType == typeClusterIP || hasNodePorts(spec) {
		errs = append(errs, field.Required(p.Child("internalTrafficPolicy"), ""))
	}
	if spec.Has("trafficDistribution") {
		errs = append(errs, field.MustBeOneOf(p.Child("trafficDistribution"), spec.String("trafficDistribution"),
			"PreferClose", "PreferSameZone", "PreferSameNode")...)
	}
	return errs
}

func validateServiceUpdate(ctx *resource.Context, obj, old object.Object) field.ErrorList {
	if ctx.Subresource == "status" {
		return validateLoadBalancerStatus(ctx, obj, old)
	}
	spec, was := obj.At("spec"), old.At("spec")
	errs := validateAddressChange(spec, was)
	balancers := spec.String("type") == typeLoadBalancer && was.String("type") == typeLoadBalancer
	if balancers && !object.Equal(spec["loadBalancerClass"], was["loadBalancerClass"]) {
		errs = append(errs, field.Invalid(field.Root("spec.loadBalancerClass"), kind.Pointer(spec, "loadBalancerClass"), "may not change once set"))
	}
	errs = append(errs, validateLoadBalancerClass(spec)...)
	if needsHealthCheck(was) && needsHealthCheck(spec) && was.Int64("healthCheckNodePort") != spec.Int64("healthCheckNodePort") {
		errs = append(errs, field.Forbidden(field.Root("spec.healthCheckNodePort"), field.TextImmutable))
	}
	return append(errs, validateService(ctx, obj, old)...)
}

func validateLoadBalancerStatus(ctx *resource.Context, obj, old object.Object) field.ErrorList {
	p := field.Root("status.loadBalancer.ingress")
	ingresses := obj.Objects("status", "loadBalancer", "ingress")
	if len(ingresses) > 0 && obj.String("spec", "type") != typeLoadBalancer {
		return field.ErrorList{field.Forbidden(p, "may only be used when `spec.type` is 'LoadBalancer'")}
	}
	var before []string
	for _, ingress := range old.Objects("status", "loadBalancer", "ingress") {
		before = append(before, ingress.String("ip"))
	}
	var errs field.ErrorList
	for i, ingress := range ingresses {
		at, ip := p.Index(i), ingress.String("ip")
		if ip != "" && !slices.Contains(before, ip) {
			errs = append(errs, kind.ValidateIP(ctx, at.Child("ip"), ip)...)
		}
		switch mode := ingress.Has("ipMode"); {
		case !mode && ip != "":
			errs = append(errs, field.Required(at.Child("ipMode"), "must be specified when `ip` is set"))
		case mode && ip == "":
			errs = append(errs, field.Forbidden(at.Child("ipMode"), "may not be specified when `ip` is not set"))
		case mode:
			errs = append(errs, field.MustBeOneOf(at.Child("ipMode"), ingress.String("ipMode"), "Proxy", "VIP")...)
		}
		errs = append(errs, ValidateIngressHost(at.Child("hostname"), ingress.String("hostname"))...)
	}
	return errs
}

// ValidateIngressHost checks the name of a load balancer, which may be missing.
func ValidateIngressHost(p field.Path, host string) field.ErrorList {
	if host == "" {
		return nil
	}
	errs := field.Check(p, host, field.DNS1123Subdomain)
	if _, ok := field.ParseIP(host); ok {
		errs = append(errs, field.Invalid(p, host, "must be a DNS name, not an IP address"))
	}
	return errs
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
