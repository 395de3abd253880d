package builtin

import (
	"net/netip"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/selector"
)

func networkingKinds() []kind {
	return []kind{ingressKind(), ingressClassKind(), networkPolicyKind(), serviceCIDRKind(), ipAddressKind()}
}

func ingressClassKind() kind {
	return kind{
		storage: "ingressclasses.networking.k8s.io",
		changed: semantically.of("spec"),
		strategy: resource.Strategy{
			Checks: resource.Checks{Update: []resource.Check{resource.CheckMetaUpdate, resource.CheckKind, resource.CheckMeta}},
			Validate: func(_ *resource.Context, obj object.Object) field.ErrorList {
				return validateIngressClass(obj)
			},
			ValidateUpdate: func(_ *resource.Context, obj, old object.Object) field.ErrorList {
				errs := immutable(field.Root("spec.controller"), obj.String("spec", "controller"), old.String("spec", "controller"))
				return append(errs, validateIngressClass(obj)...)
			},
		},
		defaults: everyVersion(func(obj object.Object) {
			if obj.Has("spec", "parameters") {
				obj.SetDefault("Cluster", "spec", "parameters", "scope")
			}
		}),
		columns: []column{colName(), colText("Controller", "Controller that is responsible for handling this class"),
			colText("Parameters", "A reference to a resource with additional parameters"), colAge()},
		row: func(now time.Time, obj object.Object) resource.Row {
			parameters := cellNone
			if p := obj.At("spec", "parameters"); p != nil {
				parameters = p.String("kind")
				if p.Has("apiGroup") {
					parameters += "." + p.String("apiGroup")
				}
				parameters += "/" + p.String("name")
			}
			return cells(nameOrDefault(obj, "ingressclass.kubernetes.io/is-default-class"), obj.String("spec", "controller"),
				parameters, cellAge(now, obj))
		},
	}
}

// nameOrDefault is the cell for the name of a class; the default one is marked.
func nameOrDefault(obj object.Object, annotations ...string) string {
	for _, key := range annotations {
		if obj.Annotations()[key] == "true" {
			return obj.Name() + " (default)"
		}
	}
	return obj.Name()
}

func validateIngressClass(obj object.Object) field.ErrorList {
	const longest = 250
	var errs field.ErrorList
	p := field.Root("spec.controller")
	controller := obj.String("spec", "controller")
	if len(controller) > longest {
		errs = append(errs, field.TooLong(p, longest))
	}
	errs = append(errs, field.DomainPrefixedPath(p, controller)...)
	ref, at := obj.At("spec", "parameters"), field.Root("spec.parameters")
	if ref == nil {
		return errs
	}
	errs = append(errs, validateTypedReference(at, ref)...)
	scope, namespace := ref.String("scope"), ref.Has("namespace")
	errs = append(errs, field.MustBeOneOf(at.Child("scope"), scope, "Cluster", "Namespace")...)
	switch {
	case scope == "Namespace" && !namespace:
		errs = append(errs, field.Required(at.Child("namespace"), "`parameters.scope` is set to 'Namespace'"))
	case scope == "Namespace":
		errs = append(errs, field.Check(at.Child("namespace"), ref.String("namespace"), field.DNS1123Label)...)
	case scope == "Cluster" && namespace:
		errs = append(errs, field.Forbidden(at.Child("namespace"), "`parameters.scope` is set to 'Cluster'"))
	}
	return errs
}

// validateTypedReference checks a reference to an object of any kind.
func validateTypedReference(p field.Path, ref object.Object) field.ErrorList {
	var errs field.ErrorList
	if ref.Has("apiGroup") {
		errs = append(errs, field.Check(p.Child("apiGroup"), ref.String("apiGroup"), field.DNS1123Subdomain)...)
	}
	errs = append(errs, checkOrRequire(p.Child("kind"), ref.String("kind"), field.PathSegment)...)
	return append(errs, checkOrRequire(p.Child("name"), ref.String("name"), field.PathSegment)...)
}

func networkPolicyKind() kind {
	return kind{
		storage: "networkpolicies.networking.k8s.io",
		changed: literally.of("spec"),
		strategy: resource.Strategy{
			Validate: func(ctx *resource.Context, obj object.Object) field.ErrorList {
				return validateNetworkPolicy(ctx, obj, nil)
			},
			ValidateUpdate: func(ctx *resource.Context, obj, old object.Object) field.ErrorList {
				return validateNetworkPolicy(ctx, obj, old)
			},
			Warn: warnNetworkPolicy,
		},
		defaults: everyVersion(defaultNetworkPolicy),
		columns:  []column{colName(), colDoc("Pod-Selector", docNetworking+"NetworkPolicySpec", "podSelector"), colAge()},
		row: func(now time.Time, obj object.Object) resource.Row {
			pods := obj.Map("spec", "podSelector")
			if pods == nil {
				pods = map[string]any{}
			}
			return cells(obj.Name(), selector.FormatLabelSelector(pods), cellAge(now, obj))
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

func serviceCIDRKind() kind {
	return kind{
		storage: "servicecidrs.networking.k8s.io",
		strategy: resource.Strategy{
			Resets:    map[string]resource.Reset{"status": {Fields: []string{"metadata", "spec"}}},
			HasStatus: true, CustomStatus: true,
			Validate: func(_ *resource.Context, obj object.Object) field.ErrorList {
				return validateCIDRs(obj)
			},
			ValidateUpdate: validateCIDRsUpdate,
		},
		columns: []column{colName(), colDoc("CIDRs", docNetworking+"ServiceCIDRSpec", "cidrs"), colAge()},
		row: func(now time.Time, obj object.Object) resource.Row {
			return cells(obj.Name(), strings.Join(obj.Strings("spec", "cidrs"), ","), cellAge(now, obj))
		},
	}
}

func validateCIDRs(obj object.Object) field.ErrorList {
	p, cidrs := field.Root("spec.cidrs"), obj.Strings("spec", "cidrs")
	switch {
	case len(cidrs) == 0:
		return field.ErrorList{field.Required(p, "at least one CIDR required")}
	case len(cidrs) > 2:
		return field.ErrorList{field.Invalid(p, goValue("ServiceCIDRSpec", obj.At("spec")), "may only hold up to 2 values")}
	}
	var errs field.ErrorList
	families := map[bool]bool{}
	for i, cidr := range cidrs {
		errs = append(errs, field.Check(p.Index(i), cidr, field.CIDR)...)
		if prefix, err := netip.ParsePrefix(cidr); err == nil {
			if v4 := prefix.Addr().Is4(); families[v4] {
				errs = append(errs, field.Invalid(p, cidrs, "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64"))
			} else {
				families[v4] = true
			}
		}
	}
	return errs
}

// validateCIDRsUpdate allows one change: a second network may be added.
func validateCIDRsUpdate(ctx *resource.Context, obj, old object.Object) field.ErrorList {
	if ctx.Subresource == "status" {
		return nil
	}
	p := field.Root("spec.cidrs")
	before, after := old.Strings("spec", "cidrs"), obj.Strings("spec", "cidrs")
	if len(before) != len(after) && (len(before) != 1 || len(after) != 2) {
		return field.ErrorList{field.Invalid(p, pointer(obj, "spec", "cidrs"), field.TextImmutable)}
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

func ipAddressKind() kind {
	return kind{
		storage: "ipaddresses.networking.k8s.io",
		strategy: resource.Strategy{
			Checks:   resource.Checks{Update: []resource.Check{resource.CheckMeta, resource.CheckMetaUpdate, resource.CheckKind}},
			NameRule: func(name string, _ bool) []string { return field.IP(name) }, PlainGenerateName: true,
			Validate: func(_ *resource.Context, obj object.Object) field.ErrorList {
				return validateParentRef(obj)
			},
			ValidateUpdate: func(_ *resource.Context, obj, old object.Object) field.ErrorList {
				errs := validateParentRef(obj)
				if !object.SemanticEqual(obj.Map("spec", "parentRef"), old.Map("spec", "parentRef")) {
					errs = append(errs, field.Invalid(field.Root("spec.parentRef"), goPointer("ParentReference", obj.At("spec", "parentRef")),
						field.TextImmutable))
				}
				return errs
			},
		},
		columns: []column{colName(), colDoc("ParentRef", docNetworking+"IPAddressSpec", "parentRef")},
		row: func(now time.Time, obj object.Object) resource.Row {
			ref := obj.At("spec", "parentRef")
			if ref == nil {
				return cells(obj.Name(), cellNone, cellAge(now, obj))
			}
			name := ref.String("resource")
			if group := ref.String("group"); group != "" {
				name += "." + group
			}
			name = strings.ToLower(name)
			if namespace := ref.String("namespace"); namespace != "" {
				name += "/" + namespace
			}
			return cells(obj.Name(), name+"/"+ref.String("name"), cellAge(now, obj)) // one cell more than columns, as it is
		},
	}
}

func validateParentRef(obj object.Object) field.ErrorList {
	p, ref := field.Root("spec.parentRef"), obj.At("spec", "parentRef")
	if ref == nil {
		return field.ErrorList{field.Required(p, "")}
	}
	var errs field.ErrorList
	if group := ref.String("group"); group != "" {
		errs = append(errs, field.Check(p.Child("group"), group, field.DNS1123Subdomain)...)
	}
	errs = append(errs, checkOrRequire(p.Child("resource"), ref.String("resource"), field.PathSegment)...)
	errs = append(errs, checkOrRequire(p.Child("name"), ref.String("name"), field.PathSegment)...)
	return append(errs, field.Check(p.Child("namespace"), ref.String("namespace"), field.PathSegment)...)
}
