package networking

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/builtin/core"
	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/table"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

const ingressClassKey = "kubernetes.io/ingress.class" // what there was before spec.ingressClassName

func ingressKind() kind.Kind {
	return kind.Kind{
		Storage:   "ingresses.networking.k8s.io",
		KeyPrefix: "ingress",
		Changed:   kind.Semantically.Of("spec"),
		Strategy: resource.Strategy{
			Checks:         resource.Checks{Update: []resource.Check{resource.CheckMetaUpdate, resource.CheckMeta, resource.CheckKind}},
			HasStatus:      true,
			Validate:       validateNewIngress,
			ValidateUpdate: validateIngressUpdate,
			Warn:           warnIngress,
		},
		Columns: []table.Column{table.Name(),
			table.Text("Class", "The name of the IngressClass resource that should be used for additional configuration"),
			table.Text("Hosts", "Hosts that incoming requests are matched against before the ingress rule"),
			table.Text("Address", "Address is a list containing ingress points for the load-balancer"),
			table.Text("Ports", "Ports of TLS configurations that open"), table.Age()},
		Row: func(now time.Time, obj object.Object) resource.Row {
			class, ports := table.None, "80"
			if obj.Has("spec", "ingressClassName") {
				class = obj.String("spec", "ingressClassName")
			}
			if len(obj.List("spec", "tls")) > 0 {
				ports = "80, 443"
			}
			return table.Row(obj.Name(), class, hostsCell(obj), strings.Join(core.IngressPoints(obj), ","), ports, table.AgeCell(now, obj))
		},
	}
}

// hostsCell lists the first three hosts. How many more there are is counted over all rules.
func hostsCell(obj object.Object) string {
	const most = 3
	var hosts []string
	rules := obj.Objects("spec", "rules")
	more := false
	for _, rule := range rules {
		if len(hosts) == most {
			more = true
			break
		}
		if host := rule.String("host"); host != "" {
			hosts = append(hosts, host)
		}
	}
	switch {
	case len(hosts) == 0:
		return "*"
	case more:
		return strings.Join(hosts, ",") + " + " + strconv.Itoa(len(rules)-most) + " more..."
	}
	return strings.Join(hosts, ",")
}

func validateNewIngress(_ *resource.Context, obj object.Object) field.ErrorList {
	errs := validateIngressSpec(obj.At("spec"), nil)
	class, ok := obj.Annotations()[ingressClassKey]
	if ok && obj.Has("spec", "ingressClassName") && class != obj.String("spec", "ingressClassName") {
		errs = append(errs, field.Invalid(field.Root("annotations").Child(ingressClassKey), class,
			"must match `ingressClassName` when both are specified"))
	}
	return errs
}

func validateIngressUpdate(ctx *resource.Context, obj, old object.Object) field.ErrorList {
	if ctx.Subresource != "status" {
		return validateIngressSpec(obj.At("spec"), old.At("spec"))
	}
	var before []string
	for _, point := range old.Objects("status", "loadBalancer", "ingress") {
		before = append(before, point.String("ip"))
	}
	var errs field.ErrorList
	for i, point := range obj.Objects("status", "loadBalancer", "ingress") {
		p := field.Root("status.loadBalancer.ingress").Index(i)
		if ip := point.String("ip"); ip != "" && !slices.Contains(before, ip) {
			errs = append(errs, kind.ValidateIP(ctx, p.Child("ip"), ip)...)
		}
		errs = append(errs, core.ValidateIngressHost(p.Child("hostname"), point.String("hostname"))...)
	}
	return errs
}

// validateIngressSpec checks an ingress; was is nil on create. Mistakes that older servers let in are let pass again.
func validateIngressSpec(spec, was object.Object) field.ErrorList {
	p := field.Root("spec")
	var errs field.ErrorList
	rules := spec.Objects("rules")
	if len(rules) == 0 && !spec.Has("defaultBackend") {
		errs = append(errs, field.Invalid(p, kind.Pointer(spec, "rules"), "either `defaultBackend` or `rules` must be specified"))
	}
	if backend := spec.At("defaultBackend"); backend != nil {
		errs = append(errs, validateIngressBackend(p.Child("defaultBackend"), backend)...)
	}
	anyWildcard := slices.ContainsFunc(was.Objects("rules"), func(r object.Object) bool {
		return strings.Contains(r.String("host"), "*") && len(validateHTTPRule(field.Path{}, r)) > 0
	})
	for i, rule := range rules {
		errs = append(errs, validateIngressRule(p.Child("rules").Index(i), rule, anyWildcard)...)
	}
	anySecret := slices.ContainsFunc(was.Objects("tls"), func(t object.Object) bool { return len(secretName(field.Path{}, t)) > 0 })
	for i, tls := range spec.Objects("tls") {
		at := p.Child("tls").Index(i)
		for j, host := range tls.Strings("hosts") {
			errs = append(errs, ruleHost(at.Child("hosts").Index(j), host)...)
		}
		if !anySecret {
			errs = append(errs, secretName(at.Child("secretName"), tls)...)
		}
	}
	if spec.Has("ingressClassName") {
		errs = append(errs, field.Check(p.Child("ingressClassName"), spec.String("ingressClassName"), field.DNS1123Subdomain)...)
	}
	return errs
}

func secretName(p field.Path, tls object.Object) field.ErrorList {
	if name := tls.String("secretName"); name != "" {
		return field.Check(p, name, field.DNS1123Subdomain)
	}
	return nil
}

// ruleHost checks a host name, which may begin with a wildcard.
func ruleHost(p field.Path, host string) field.ErrorList {
	if strings.Contains(host, "*") {
		return field.Check(p, host, field.WildcardDNS1123Subdomain)
	}
	return field.Check(p, host, field.DNS1123Subdomain)
}

func validateIngressRule(p field.Path, rule object.Object, anyWildcard bool) field.ErrorList {
	var errs field.ErrorList
	host := rule.String("host")
	if host != "" {
		if ip, err := netip.ParseAddr(host); err == nil && ip.Zone() == "" {
			errs = append(errs, field.Invalid(p.Child("host"), host, "must be a DNS name, not an IP address"))
		}
		errs = append(errs, ruleHost(p.Child("host"), host)...)
	}
	if anyWildcard && strings.Contains(host, "*") {
		return errs
	}
	return append(errs, validateHTTPRule(p, rule)...)
}

func validateHTTPRule(p field.Path, rule object.Object) field.ErrorList {
	http := rule.At("http")
	if http == nil {
		return nil
	}
	var errs field.ErrorList
	at := p.Child("http", "paths")
	paths := http.Objects("paths")
	if len(paths) == 0 {
		errs = append(errs, field.Required(at, ""))
	}
	for i, path := range paths {
		errs = append(errs, validateHTTPPath(at.Index(i), path)...)
	}
	return errs
}

func validateHTTPPath(p field.Path, path object.Object) field.ErrorList {
	if !path.Has("pathType") {
		return field.ErrorList{field.Required(p.Child("pathType"), "pathType must be specified")}
	}
	var errs field.ErrorList
	at, text := p.Child("path"), path.String("path")
	kind := path.String("pathType")
	exact := kind == "Exact" || kind == "Prefix"
	if !strings.HasPrefix(text, "/") && (exact || kind == "ImplementationSpecific" && text != "") {
		errs = append(errs, field.Invalid(at, text, "must be an absolute path"))
	}
	if exact {
		for _, bad := range []string{"//", "/./", "/../", "%2f", "%2F"} {
			if strings.Contains(text, bad) {
				errs = append(errs, field.Invalid(at, text, "must not contain '"+bad+"'"))
			}
		}
		for _, bad := range []string{"/..", "/."} {
			if strings.HasSuffix(text, bad) {
				errs = append(errs, field.Invalid(at, text, "cannot end with '"+bad+"'"))
			}
		}
	}
	errs = append(errs, field.MustBeOneOf(p.Child("pathType"), kind, "Exact", "ImplementationSpecific", "Prefix")...)
	backend := path.At("backend")
	return append(errs, validateIngressBackend(p.Child("backend"), backend)...)
}

func validateIngressBackend(p field.Path, backend object.Object) field.ErrorList {
	ref, service := backend.At("resource"), backend.At("service")
	switch {
	case ref != nil && service != nil:
		return field.ErrorList{field.Invalid(p, "", "cannot set both resource and service backends")}
	case ref != nil:
		return validateTypedReference(p.Child("resource"), ref)
	case service == nil:
		return field.ErrorList{field.Invalid(p, "", "resource or service backend is required")}
	}
	errs := kind.CheckOrRequire(p.Child("service", "name"), service.String("name"), field.DNS1123Label)
	name, number := service.String("port", "name"), service.Int64("port", "number")
	at := p.Child("service", "port")
	switch {
	case name != "" && number != 0:
		errs = append(errs, field.Invalid(p, "", "cannot set both port name & port number"))
	case name != "":
		errs = append(errs, field.Check(at.Child("name"), name, field.PortName)...)
	case number != 0:
		errs = append(errs, field.Messages(at.Child("number"), number, field.PortNumber(number))...)
	default:
		errs = append(errs, field.Required(p, "port name or number is required"))
	}
	return errs
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
