package networking

import (
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
		},
		Validate: func(_ *resource.Context, at field.Cursor) { validateIngressClass(at.Child("spec")) },
		Defaults: kind.EveryVersion(func(obj object.Object) {
			if obj.Has("spec", "parameters") {
				obj.SetDefault("Cluster", "spec", "parameters", "scope")
			}
		}),
		Columns: []table.Column{table.NameOrDefault("ingressclass.kubernetes.io/is-default-class"),
			table.Text("Controller", "Controller that is responsible for handling this class").At("spec", "controller"),
			table.Text("Parameters", "A reference to a resource with additional parameters").Cell(cellParameters), table.Age()},
	}
}

func cellParameters(obj object.Object) any {
	p := obj.At("spec", "parameters")
	switch {
	case p == nil:
		return table.None
	case p.Has("apiGroup"):
		return p.String("kind") + "." + p.String("apiGroup") + "/" + p.String("name")
	}
	return p.String("kind") + "/" + p.String("name")
}

func validateIngressClass(at field.Cursor) {
	controller := at.Child("controller").OrEmpty().Immutable().MaxBytes(250)
	at.Report(field.DomainPrefixedPath(controller.Path(), controller.String()))
	ref := at.Child("parameters")
	if !ref.Has() {
		return
	}
	validateTypedReference(ref)
	scope, namespace := ref.Child("scope").OrEmpty().OneOf("Cluster", "Namespace").String(), ref.Child("namespace")
	switch scope {
	case "Namespace":
		namespace.RequireIf(!namespace.Has(), "`parameters.scope` is set to 'Namespace'").Check(field.DNS1123Label)
	case "Cluster":
		namespace.ForbidIf(namespace.Has(), "`parameters.scope` is set to 'Cluster'")
	}
}

// validateTypedReference checks a reference to an object of any kind.
func validateTypedReference(at field.Cursor) {
	at.Child("apiGroup").Check(field.DNS1123Subdomain)
	at.Child("kind").Required().Check(field.PathSegment)
	at.Child("name").Required().Check(field.PathSegment)
}
