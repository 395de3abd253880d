package networking

import (
	"time"

	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/table"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

func ingressClassKind() kind.Kind {
	return kind.Kind{
		Storage: "ingressclasses.networking.k8s.io",
		Changed: kind.Semantically.Of("spec"),
		Strategy: resource.Strategy{
			Checks: resource.Checks{Update: []resource.Check{resource.CheckMetaUpdate, resource.CheckKind, resource.CheckMeta}},
			Validate: func(_ *resource.Context, obj object.Object) field.ErrorList {
				return validateIngressClass(obj)
			},
			ValidateUpdate: func(_ *resource.Context, obj, old object.Object) field.ErrorList {
				errs := kind.Immutable(field.Root("spec.controller"), obj.String("spec", "controller"), old.String("spec", "controller"))
				return append(errs, validateIngressClass(obj)...)
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
	errs = append(errs, kind.CheckOrRequire(p.Child("kind"), ref.String("kind"), field.PathSegment)...)
	return append(errs, kind.CheckOrRequire(p.Child("name"), ref.String("name"), field.PathSegment)...)
}
