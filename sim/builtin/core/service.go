package core

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/table"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

const (
	typeClusterIP    = "ClusterIP"
	typeNodePort     = "NodePort"
	typeLoadBalancer = "LoadBalancer"
	typeExternalName = "ExternalName"
	headless         = "None" // value of clusterIP for a service without a cluster IP
)

func serviceKind() kind.Kind {
	const spec = table.DocCore + "ServiceSpec"
	return kind.Kind{
		Storage:   "services",
		Streams:   map[string]*resource.Stream{"proxy": proxy()},
		KeyPrefix: "services/specs",
		Strategy: resource.Strategy{
			Quota:     serviceQuota,
			HasStatus: true, AllowCreateOnUpdate: true, ReturnDeletedObject: true, DeletesWith: "endpoints", NameRule: field.NameDNSLabel,
			ApplyCreates: "status", Decorator: decorateService,
			Allocate: allocateService, AfterDelete: releaseService,
			NameRuleOf: serviceNameRule,
			Warn:       warnService,
		},
		Validate: validateService, ValidateStatus: validateLoadBalancerStatus,
		Defaults: kind.EveryVersion(defaultService),
		Select:   []string{"spec.clusterIP", "spec.type"},
		Columns: []table.Column{table.Name(), table.Doc("Type", spec, "type").At("spec", "type"),
			table.Doc("Cluster-IP", spec, "clusterIP").Cell(func(obj object.Object) any { return append(obj.Strings("spec", "clusterIPs"), table.None)[0] }),
			table.Doc("External-IP", spec, "externalIPs").Cell(externalIPs), table.Doc("Port(s)", spec, "ports").Cell(portsCell), table.Age(),
			table.Doc("Selector", spec, "selector").Wide().Labels("spec", "selector")},
	}
}

// serviceNameRule returns the rule for names. Without RelaxedServiceNameValidation (KEP-5311) a name must be a label that
// begins with a letter.
func serviceNameRule(ctx *resource.Context, _ object.Object) func(name string, prefix bool) []string {
	if ctx.Enabled("RelaxedServiceNameValidation") {
		return field.NameDNSLabel
	}
	return field.NameDNS1035Label
}

func defaultService(obj object.Object) {
	spec := kind.ObjectAt(obj, "spec")
	kind.SetEmpty(spec, "None", "sessionAffinity")
	kind.SetEmpty(spec, typeClusterIP, "type")
	switch spec.String("sessionAffinity") {
	case "None":
		delete(spec, "sessionAffinityConfig")
	case "ClientIP":
		if !spec.Has("sessionAffinityConfig", "clientIP", "timeoutSeconds") {
			spec["sessionAffinityConfig"] = map[string]any{"clientIP": map[string]any{"timeoutSeconds": int64(10800)}}
		}
	}
	for _, port := range spec.Objects("ports") {
		kind.SetEmpty(port, "TCP", "protocol")
		if target := port["targetPort"]; target == nil || target == int64(0) || target == "" {
			port["targetPort"] = port.Int64("port")
		}
	}
	if isExternal(spec) {
		kind.SetEmpty(spec, "Cluster", "externalTrafficPolicy")
	}
	kind := spec.String("type")
	if kind == typeClusterIP || kind == typeNodePort || kind == typeLoadBalancer {
		spec.SetDefault("Cluster", "internalTrafficPolicy")
	}
	if kind != typeLoadBalancer {
		return
	}
	spec.SetDefault(true, "allocateLoadBalancerNodePorts")
	for _, ingress := range obj.Objects("status", "loadBalancer", "ingress") {
		if ingress.String("ip") != "" {
			ingress.SetDefault("VIP", "ipMode")
		}
	}
}

// decorateService adds clusterIPs if a stored service has only clusterIP, and removes internalTrafficPolicy if the type
// does not use it (pkg/registry/core/service/storage.REST.defaultOnRead). The real server also adds ipFamilies, which
// older servers did not store; here they are always stored.
func decorateService(obj object.Object) (object.Object, bool) {
	spec := obj.At("spec")
	unlisted := spec.String("clusterIP") != "" && len(spec.List("clusterIPs")) == 0
	needless := spec.String("type") == typeExternalName && spec.Has("internalTrafficPolicy")
	if !unlisted && !needless {
		return obj, false
	}
	obj = obj.Copy()
	spec = obj.At("spec")
	if unlisted {
		spec["clusterIPs"] = []any{spec["clusterIP"]}
	}
	if needless {
		delete(spec, "internalTrafficPolicy")
	}
	return obj, true
}

// isHeadless reports whether a service is headless, that is, has no cluster IP.
func isHeadless(spec object.Object) bool {
	return slices.Equal(spec.Strings("clusterIPs"), []string{headless})
}

// isExternal reports whether a service can be reached from outside the cluster.
func isExternal(spec object.Object) bool {
	switch spec.String("type") {
	case typeLoadBalancer, typeNodePort:
		return true
	case typeClusterIP:
		return len(spec.List("externalIPs")) > 0
	}
	return false
}

// needsHealthCheck reports whether load balancers must check on each node whether pods of the service run there.
func needsHealthCheck(spec object.Object) bool {
	return spec.String("type") == typeLoadBalancer && spec.String("externalTrafficPolicy") == "Local"
}

func portsCell(obj object.Object) any {
	var ports []string
	for _, p := range obj.Objects("spec", "ports") {
		text := strconv.FormatInt(p.Int64("port"), 10)
		if n := p.Int64("nodePort"); n > 0 {
			text += ":" + strconv.FormatInt(n, 10)
		}
		ports = append(ports, text+"/"+p.String("protocol"))
	}
	return cmp.Or(strings.Join(ports, ","), table.None)
}

// externalIPs returns a cell that shows the external addresses of a service.
func externalIPs(obj object.Object) any {
	spec := obj.At("spec")
	ips := spec.Strings("externalIPs")
	switch spec.String("type") {
	case typeClusterIP, typeNodePort:
		return cmp.Or(strings.Join(ips, ","), table.None)
	case typeLoadBalancer:
		return cmp.Or(strings.Join(append(IngressPoints(obj), ips...), ","), "<pending>")
	case typeExternalName:
		return spec.String("externalName")
	}
	return table.Unknown
}

// IngressPoints returns the IP addresses or hostnames of the load balancer in the status, sorted.
func IngressPoints(obj object.Object) []string {
	var points []string
	for _, ingress := range obj.Objects("status", "loadBalancer", "ingress") {
		if point := cmp.Or(ingress.String("ip"), ingress.String("hostname")); point != "" {
			points = append(points, point)
		}
	}
	return kind.SortedSet(points)
}
