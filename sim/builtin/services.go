package builtin

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

func serviceKinds() []kind { return []kind{serviceKind(), endpointsKind()} }

const (
	typeClusterIP    = "ClusterIP"
	typeNodePort     = "NodePort"
	typeLoadBalancer = "LoadBalancer"
	typeExternalName = "ExternalName"
	headless         = "None" // in place of a cluster IP
)

func serviceKind() kind {
	const spec = docCore + "ServiceSpec"
	return kind{
		storage: "services",
		strategy: resource.Strategy{
			HasStatus: true, CreateOnUpdate: true, ReturnsDeleted: true, DeletesWith: "endpoints", NameRule: field.NameDNSLabel,
			ApplyCreates: "status", Decorate: decorateService,
			Allocate: allocateService, Released: releaseService,
			Validate: func(_ *resource.Context, obj object.Object) field.ErrorList {
				return validateService(obj, nil)
			},
			ValidateUpdate: validateServiceUpdate,
			Warn:           warnService,
			Fields: func(obj object.Object) map[string]string {
				return map[string]string{"spec.clusterIP": obj.String("spec", "clusterIP"), "spec.type": obj.String("spec", "type")}
			},
		},
		defaults: everyVersion(defaultService),
		labels:   sameLabels("spec.clusterIP", "spec.type"),
		unknown:  unsupportedLabel,
		columns: []column{colName(), colDoc("Type", spec, "type"), colDoc("Cluster-IP", spec, "clusterIP"),
			colDoc("External-IP", spec, "externalIPs"), colDoc("Port(s)", spec, "ports"), colAge(),
			colDoc("Selector", spec, "selector").wide()},
		row: serviceRow,
	}
}

func defaultService(obj object.Object) {
	obj.SetDefault(map[string]any{}, "spec")
	spec := objectAt(obj, "spec")
	setEmpty(spec, "sessionAffinity", "None")
	setEmpty(spec, "type", typeClusterIP)
	switch spec.String("sessionAffinity") {
	case "None":
		delete(spec, "sessionAffinityConfig")
	case "ClientIP":
		if !present(spec, "sessionAffinityConfig", "clientIP", "timeoutSeconds") {
			spec["sessionAffinityConfig"] = map[string]any{"clientIP": map[string]any{"timeoutSeconds": int64(10800)}}
		}
	}
	for _, port := range objectsAt(spec, "ports") {
		setEmpty(port, "protocol", "TCP")
		if target := port["targetPort"]; target == nil || target == int64(0) || target == "" {
			port["targetPort"] = intAt(port, "port")
		}
	}
	if isExternal(spec) {
		setEmpty(spec, "externalTrafficPolicy", "Cluster")
	}
	kind := spec.String("type")
	if kind == typeClusterIP || kind == typeNodePort || kind == typeLoadBalancer {
		spec.SetDefault("Cluster", "internalTrafficPolicy")
	}
	if kind != typeLoadBalancer {
		return
	}
	spec.SetDefault(true, "allocateLoadBalancerNodePorts")
	for _, ingress := range objectsAt(obj, "status", "loadBalancer", "ingress") {
		if ingress.String("ip") != "" {
			ingress.SetDefault("VIP", "ipMode")
		}
	}
}

// decorateService shows an address also as a list, and no internalTrafficPolicy where it means nothing
// (pkg/registry/core/service/storage.REST.defaultOnRead). Families, which it shows of services that older servers have
// stored without, are always stored here.
func decorateService(obj object.Object) (object.Object, bool) {
	spec := objectAt(obj, "spec")
	unlisted := spec.String("clusterIP") != "" && len(spec.List("clusterIPs")) == 0
	needless := spec.String("type") == typeExternalName && present(spec, "internalTrafficPolicy")
	if !unlisted && !needless {
		return obj, false
	}
	obj = obj.Copy()
	spec = objectAt(obj, "spec")
	if unlisted {
		spec["clusterIPs"] = []any{spec["clusterIP"]}
	}
	if needless {
		delete(spec, "internalTrafficPolicy")
	}
	return obj, true
}

// isHeadless reports whether a service has no address of its own.
func isHeadless(spec object.Object) bool {
	return slices.Equal(stringsAt(spec, "clusterIPs"), []string{headless})
}

// isExternal reports whether a service can be reached from outside of the cluster.
func isExternal(spec object.Object) bool {
	switch spec.String("type") {
	case typeLoadBalancer, typeNodePort:
		return true
	case typeClusterIP:
		return len(spec.List("externalIPs")) > 0
	}
	return false
}

// needsHealthCheck reports whether load balancers have to ask each node whether it runs pods of the service.
func needsHealthCheck(spec object.Object) bool {
	return spec.String("type") == typeLoadBalancer && spec.String("externalTrafficPolicy") == "Local"
}

func serviceRow(now time.Time, obj object.Object) resource.Row {
	spec := objectAt(obj, "spec")
	ip := cellNone
	if ips := stringsAt(spec, "clusterIPs"); len(ips) > 0 {
		ip = ips[0]
	}
	var ports []string
	for _, p := range objectsAt(spec, "ports") {
		text := strconv.FormatInt(intAt(p, "port"), 10)
		if n := intAt(p, "nodePort"); n > 0 {
			text += ":" + strconv.FormatInt(n, 10)
		}
		ports = append(ports, text+"/"+p.String("protocol"))
	}
	return cells(obj.Name(), spec.String("type"), ip, externalIPs(obj), orNone(strings.Join(ports, ","), cellNone),
		cellAge(now, obj), cellLabels(object.StringMap(spec.Map("selector"))))
}

// externalIPs is the cell for where a service can be reached from outside.
func externalIPs(obj object.Object) string {
	spec := objectAt(obj, "spec")
	ips := stringsAt(spec, "externalIPs")
	switch spec.String("type") {
	case typeClusterIP, typeNodePort:
		return orNone(strings.Join(ips, ","), cellNone)
	case typeLoadBalancer:
		return orNone(strings.Join(append(ingressPoints(obj), ips...), ","), "<pending>")
	case typeExternalName:
		return spec.String("externalName")
	}
	return cellUnknown
}

// ingressPoints returns the addresses or names of the load balancer in the status, sorted.
func ingressPoints(obj object.Object) []string {
	var points []string
	for _, ingress := range objectsAt(obj, "status", "loadBalancer", "ingress") {
		if point := orNone(ingress.String("ip"), ingress.String("hostname")); point != "" {
			points = append(points, point)
		}
	}
	return sortedSet(points)
}
