package networking

import (
	"cmp"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/builtin/core"
	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/table"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

const ingressClassKey = "kubernetes.io/ingress.class" // the annotation that preceded spec.ingressClassName

func ingressKind() kind.Kind {
	return kind.Kind{
		Storage:   "ingresses.networking.k8s.io",
		KeyPrefix: "ingress",
		Changed:   kind.Semantically.Of("spec"),
		Strategy: resource.Strategy{
			Checks:    resource.Checks{Update: []resource.Check{resource.CheckMetaUpdate, resource.CheckMeta, resource.CheckKind}},
			HasStatus: true,
			Warn:      warnIngress,
		},
		Validate: validateIngress, ValidateStatus: validateIngressStatus,
		Columns: []table.Column{table.Name(),
			table.Text("Class", "The name of the IngressClass resource that should be used for additional configuration").Given(table.None, "spec", "ingressClassName"),
			table.Text("Hosts", "Hosts that incoming requests are matched against before the ingress rule").Cell(cellHosts),
			table.Text("Address", "Address is a list containing ingress points for the load-balancer").Cell(func(obj object.Object) any {
				return strings.Join(core.IngressPoints(obj), ",")
			}),
			table.Text("Ports", "Ports of TLS configurations that open").Cell(cellPorts), table.Age()},
	}
}

func cellPorts(obj object.Object) any {
	if len(obj.List("spec", "tls")) > 0 {
		return "80, 443"
	}
	return "80"
}

// cellHosts formats the Hosts cell: the first three hosts, and the number of the remaining rules. That number includes rules
// without a host.
func cellHosts(obj object.Object) any {
	const most = 3
	var hosts []string
	rules := obj.Objects("spec", "rules")
	for _, rule := range rules {
		if len(hosts) == most {
			return strings.Join(hosts, ",") + " + " + strconv.Itoa(len(rules)-most) + " more..."
		}
		if host := rule.String("host"); host != "" {
			hosts = append(hosts, host)
		}
	}
	return cmp.Or(strings.Join(hosts, ","), "*")
}

func validateIngress(_ *resource.Context, at field.Cursor) {
	validateIngressSpec(at.Child("spec"), at.Old().At("spec"))
	class, ok := at.Object().Annotations()[ingressClassKey]
	if !at.Updates() && ok && at.Has("spec", "ingressClassName") && class != at.String("spec", "ingressClassName") {
		at.Child("annotations", ingressClassKey).Invalid(class, "must match `ingressClassName` when both are specified")
	}
}

func validateIngressStatus(ctx *resource.Context, at field.Cursor) {
	before := kind.Texts(at.Old().Objects("status", "loadBalancer", "ingress"), "ip")
	for point := range at.Each("status", "loadBalancer", "ingress") {
		ip, host := point.Child("ip"), point.Child("hostname")
		if ip.String() != "" && !slices.Contains(before, ip.String()) {
			ip.Check(kind.IP(ctx))
		}
		core.CheckIngressHost(host)
	}
}

// validateIngressSpec checks the spec of an Ingress. was is the stored spec, or nil on create. Mistakes that older servers accepted
// are no errors if the stored spec already contains such mistakes.
func validateIngressSpec(at field.Cursor, was object.Object) {
	at.Child("rules").ReportAt(at).InvalidIf(at.Len("rules") == 0 && !at.Has("defaultBackend"),
		"either `defaultBackend` or `rules` must be specified")
	if backend := at.Child("defaultBackend"); backend.Has() {
		validateIngressBackend(backend)
	}
	before := field.CursorOn(field.Path{}, was)
	anyWildcard, anySecret := false, false
	for rule := range before.Each("rules") {
		if alone := field.CursorOn(field.Path{}, rule.Value()); strings.Contains(rule.String("host"), "*") {
			validateHTTPRule(alone)
			anyWildcard = anyWildcard || len(alone.Errors()) > 0
		}
	}
	for rule := range at.Each("rules") {
		validateIngressRule(rule, anyWildcard)
	}
	for tls := range before.Each("tls") {
		name := tls.String("secretName")
		anySecret = anySecret || name != "" && len(field.DNS1123Subdomain(name)) > 0
	}
	for tls := range at.Each("tls") {
		tls.Child("hosts").CheckEach(ruleHost)
		if !anySecret {
			tls.Child("secretName").IfGiven().Check(field.DNS1123Subdomain)
		}
	}
	at.Child("ingressClassName").Check(field.DNS1123Subdomain)
}

// ruleHost checks a hostname, whose first label may be a wildcard.
func ruleHost(host string) []string {
	if strings.Contains(host, "*") {
		return field.WildcardDNS1123Subdomain(host)
	}
	return field.DNS1123Subdomain(host)
}

func validateIngressRule(at field.Cursor, anyWildcard bool) {
	host := at.Child("host").IfGiven()
	ip, err := netip.ParseAddr(host.String())
	host.InvalidIf(err == nil && ip.Zone() == "", "must be a DNS name, not an IP address").Check(ruleHost)
	if !anyWildcard || !strings.Contains(host.String(), "*") {
		validateHTTPRule(at)
	}
}

func validateHTTPRule(at field.Cursor) {
	if !at.Has("http") {
		return
	}
	paths := at.Child("http", "paths")
	paths.Required()
	for path := range paths.Each() {
		validateHTTPPath(path)
	}
}

func validateHTTPPath(at field.Cursor) {
	pathType, path := at.Child("pathType"), at.Child("path").OrEmpty()
	if !pathType.Has() {
		pathType.Missing("pathType must be specified")
		return
	}
	text, exact := path.String(), pathType.String() == "Exact" || pathType.String() == "Prefix"
	path.InvalidIf(!strings.HasPrefix(text, "/") && (exact || pathType.String() == "ImplementationSpecific" && text != ""),
		"must be an absolute path")
	if exact {
		for _, bad := range []string{"//", "/./", "/../", "%2f", "%2F"} {
			path.InvalidIf(strings.Contains(text, bad), "must not contain '"+bad+"'")
		}
		for _, bad := range []string{"/..", "/."} {
			path.InvalidIf(strings.HasSuffix(text, bad), "cannot end with '"+bad+"'")
		}
	}
	pathType.OneOf("Exact", "ImplementationSpecific", "Prefix")
	validateIngressBackend(at.Child("backend"))
}

func validateIngressBackend(at field.Cursor) {
	ref, service := at.Child("resource"), at.Child("service")
	switch {
	case ref.Has() && service.Has():
		at.Invalid("", "cannot set both resource and service backends")
		return
	case ref.Has():
		validateTypedReference(ref)
		return
	case !service.Has():
		at.Invalid("", "resource or service backend is required")
		return
	}
	service.Child("name").Required().Check(field.DNS1123Label)
	port := service.Child("port")
	name, number := port.Child("name").IfGiven(), port.Child("number").IfGiven()
	switch {
	case name.Has() && number.Has():
		at.Invalid("", "cannot set both port name & port number")
	case !name.Has() && !number.Has():
		at.Missing("port name or number is required")
	default:
		name.Check(field.PortName)
		number.CheckInt(field.PortNumber)
	}
}

func warnIngress(ctx *resource.Context, obj, old object.Object) {
	if ctx.Subresource == "status" {
		for i, point := range obj.Objects("status", "loadBalancer", "ingress") {
			kind.WarnIP(ctx, field.Root("status.loadBalancer.ingress").Index(i), point.String("ip"))
		}
		return
	}
	if _, ok := obj.Annotations()[ingressClassKey]; ok && old == nil && !obj.Has("spec", "ingressClassName") {
		ctx.Warn(`annotation "` + ingressClassKey + `" is deprecated, please use 'spec.ingressClassName' instead`)
	}
}
