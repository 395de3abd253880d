// Package networking has Ingress, IngressClass, NetworkPolicy, ServiceCIDR and IPAddress.
package networking

import (
	"net/netip"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/builtin/gotext"
	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/table"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/selector"
)

// Kinds returns the kinds of networking.k8s.io.
func Kinds() []kind.Kind {
	return []kind.Kind{ingressKind(), ingressClassKind(), networkPolicyKind(), serviceCIDRKind(), ipAddressKind()}
}

func ingressClassKind() kind.Kind {
	return kind.Kind{
		Storage: "ingressclasses.networking.k8s.io",
		Changed: kind.Semantically.Of("spec"),
		Strategy: resource.Strategy{
			Checks: resource.Checks{Update: []resource.Check{resource.CheckMetaUpdate, resource.CheckKind, resource.CheckMeta}},
			Validate: func(_ *resource.Context, obj object.Object) field.ErrorList {
				return validateIngressClass(obj, nil)
			},
			ValidateUpdate: func(_ *resource.Context, obj, old object.Object) field.ErrorList {
				return validateIngressClass(obj, old)
			},
		},
		Defaults: kind.EveryVersion(func(obj object.Object) {
			if obj.Has("spec", "parameters") {
				obj.SetDefault("Cluster", "spec", "parameters", "scope")
			}
		}),
		Columns: []table.Column{table.Name(), table.Text("Controller", "Controller that is responsible for handling this class"),
			table.Text("Parameters", "A reference to a resource with additional parameters"), table.Age()},
		Row: func(now time.Time, obj object.Object) resource.Row {
			parameters := table.None
			if p := obj.At("spec", "parameters"); p != nil {
				parameters = p.String("kind")
				if p.Has("apiGroup") {
					parameters += "." + p.String("apiGroup")
				}
				parameters += "/" + p.String("name")
			}
			return table.Row(table.NameOrDefault(obj, "ingressclass.kubernetes.io/is-default-class"), obj.String("spec", "controller"),
				parameters, table.AgeCell(now, obj))
		},
	}
}

func validateIngressClass(obj, old object.Object) field.ErrorList {
	at := field.CursorAt(obj, old, "spec")
	controller := at.Child("controller").OrEmpty().Immutable().MaxBytes(250)
	at.Report(field.DomainPrefixedPath(controller.Path(), controller.String()))
	ref := at.Child("parameters")
	if !ref.Has() {
		return at.Errors()
	}
	validateTypedReference(ref)
	scope, namespace := ref.Child("scope").OrEmpty().OneOf("Cluster", "Namespace").String(), ref.Child("namespace")
	switch scope {
	case "Namespace":
		namespace.RequireIf(!namespace.Has(), "`parameters.scope` is set to 'Namespace'").Check(field.DNS1123Label)
	case "Cluster":
		namespace.ForbidIf(namespace.Has(), "`parameters.scope` is set to 'Cluster'")
	}
	return at.Errors()
}

// validateTypedReference checks a reference to an object of any kind.
func validateTypedReference(at field.Cursor) {
	at.Child("apiGroup").Check(field.DNS1123Subdomain)
	at.Child("kind").Required().Check(field.PathSegment)
	at.Child("name").Required().Check(field.PathSegment)
}

func networkPolicyKind() kind.Kind {
	return kind.Kind{
		Storage: "networkpolicies.networking.k8s.io",
		Changed: kind.Literally.Of("spec"),
		Strategy: resource.Strategy{
			Validate: func(ctx *resource.Context, obj object.Object) field.ErrorList {
				return validateNetworkPolicy(ctx, obj, nil)
			},
			ValidateUpdate: func(ctx *resource.Context, obj, old object.Object) field.ErrorList {
				return validateNetworkPolicy(ctx, obj, old)
			},
			Warn: warnNetworkPolicy,
		},
		Defaults: kind.EveryVersion(defaultNetworkPolicy),
		Columns:  []table.Column{table.Name(), table.Doc("Pod-Selector", table.DocNetworking+"NetworkPolicySpec", "podSelector"), table.Age()},
		Row: func(now time.Time, obj object.Object) resource.Row {
			pods := obj.Map("spec", "podSelector")
			if pods == nil {
				pods = map[string]any{}
			}
			return table.Row(obj.Name(), selector.FormatLabelSelector(pods), table.AgeCell(now, obj))
		},
	}
}

func defaultNetworkPolicy(obj object.Object) {
	for _, rules := range []string{"ingress", "egress"} {
		for _, rule := range obj.Objects("spec", rules) {
			for _, port := range rule.Objects("ports") {
				port.SetDefault("TCP", "protocol")
			}
		}
	}
	if len(obj.List("spec", "policyTypes")) > 0 {
		return
	}
	types := []any{"Ingress"}
	if len(obj.List("spec", "egress")) > 0 {
		types = append(types, "Egress")
	}
	obj.Set(types, "spec", "policyTypes")
}

func serviceCIDRKind() kind.Kind {
	return kind.Kind{
		Storage: "servicecidrs.networking.k8s.io",
		Strategy: resource.Strategy{
			Resets:    map[string]resource.Reset{"status": {Fields: []string{"metadata", "spec"}}},
			HasStatus: true, CustomStatus: true,
			Validate: func(_ *resource.Context, obj object.Object) field.ErrorList {
				return validateCIDRs(obj)
			},
			ValidateUpdate: validateCIDRsUpdate,
		},
		Columns: []table.Column{table.Name(), table.Doc("CIDRs", table.DocNetworking+"ServiceCIDRSpec", "cidrs"), table.Age()},
		Row: func(now time.Time, obj object.Object) resource.Row {
			return table.Row(obj.Name(), strings.Join(obj.Strings("spec", "cidrs"), ","), table.AgeCell(now, obj))
		},
	}
}

func validateCIDRs(obj object.Object) field.ErrorList {
	at := field.CursorAt(obj, nil, "spec", "cidrs")
	switch n := at.Len(); {
	case n == 0:
		return at.Missing("at least one CIDR required").Errors()
	case n > 2:
		return at.Invalid(gotext.Value("ServiceCIDRSpec", obj.At("spec")), "may only hold up to 2 values").Errors()
	}
	families := map[bool]bool{}
	for cidr := range at.Each() {
		if prefix, err := netip.ParsePrefix(cidr.Check(field.CIDR).String()); err == nil {
			if v4 := prefix.Addr().Is4(); families[v4] {
				at.Invalid(at.Strings(), "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64")
			} else {
				families[v4] = true
			}
		}
	}
	return at.Errors()
}

// validateCIDRsUpdate allows one change: a second network may be added.
func validateCIDRsUpdate(ctx *resource.Context, obj, old object.Object) field.ErrorList {
	if ctx.Subresource == "status" {
		return nil
	}
	p := field.Root("spec.cidrs")
	before, after := old.Strings("spec", "cidrs"), obj.Strings("spec", "cidrs")
	if len(before) != len(after) && (len(before) != 1 || len(after) != 2) {
		return field.ErrorList{field.Invalid(p, kind.Pointer(obj, "spec", "cidrs"), field.TextImmutable)}
	}
	var errs field.ErrorList
	for i := range before {
		if before[i] != after[i] {
			errs = append(errs, field.Invalid(p.Index(i), after[i], field.TextImmutable))
		}
	}
	if len(before) != len(after) {
		errs = append(errs, validateCIDRs(obj)...)
	}
	return errs
}

func ipAddressKind() kind.Kind {
	return kind.Kind{
		Storage: "ipaddresses.networking.k8s.io",
		Strategy: resource.Strategy{
			Checks:   resource.Checks{Update: []resource.Check{resource.CheckMeta, resource.CheckMetaUpdate, resource.CheckKind}},
			NameRule: func(name string, _ bool) []string { return field.IP(name) }, PlainGenerateName: true,
			Validate: func(_ *resource.Context, obj object.Object) field.ErrorList {
				return validateParentRef(obj)
			},
			ValidateUpdate: func(_ *resource.Context, obj, old object.Object) field.ErrorList {
				errs := validateParentRef(obj)
				if !object.SemanticEqual(obj.Map("spec", "parentRef"), old.Map("spec", "parentRef")) {
					errs = append(errs, field.Invalid(field.Root("spec.parentRef"), kind.GoPointer("ParentReference", obj.At("spec", "parentRef")),
						field.TextImmutable))
				}
				return errs
			},
		},
		Columns: []table.Column{table.Name(), table.Doc("ParentRef", table.DocNetworking+"IPAddressSpec", "parentRef")},
		Row: func(now time.Time, obj object.Object) resource.Row {
			ref := obj.At("spec", "parentRef")
			if ref == nil {
				return table.Row(obj.Name(), table.None, table.AgeCell(now, obj))
			}
			name := ref.String("resource")
			if group := ref.String("group"); group != "" {
				name += "." + group
			}
			name = strings.ToLower(name)
			if namespace := ref.String("namespace"); namespace != "" {
				name += "/" + namespace
			}
			return table.Row(obj.Name(), name+"/"+ref.String("name"), table.AgeCell(now, obj)) // one cell more than columns, as it is
		},
	}
}

func validateParentRef(obj object.Object) field.ErrorList {
	at := field.CursorAt(obj, nil, "spec", "parentRef")
	if !at.Has() {
		return at.Missing("").Errors()
	}
	at.Child("group").IfGiven().Check(field.DNS1123Subdomain)
	at.Child("resource").Required().Check(field.PathSegment)
	at.Child("name").Required().Check(field.PathSegment)
	at.Child("namespace").OrEmpty().Check(field.PathSegment)
	return at.Errors()
}
