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
