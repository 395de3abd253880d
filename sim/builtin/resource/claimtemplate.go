package resource

import (
	"github.com/kubesim/kubesim/sim/builtin/gotext"
	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/podspec"
	"github.com/kubesim/kubesim/sim/builtin/table"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

func resourceClaimTemplateKind() kind.Kind {
	return kind.Kind{
		Storage: "resourceclaimtemplates.resource.k8s.io",
		Gates:   requestGates("spec.spec."),
		Strategy: resource.Strategy{
			Checks:              resource.Checks{Update: []resource.Check{resource.CheckMeta, resource.CheckMetaUpdate, resource.CheckKind}},
			ReturnDeletedObject: true,
		},
		Validate: validateClaimTemplate,
		Defaults: kind.EveryVersion(func(obj object.Object) { defaultClaimSpec(obj.At("spec", "spec")) }),
		Columns:  []table.Column{table.Name(), table.Age()},
	}
}

func validateClaimTemplate(ctx *resource.Context, all field.Cursor) {
	at := all.Child("spec")
	meta, spec := at.Child("metadata"), at.Child("spec")
	if !at.Updates() {
		validateAdminAccess(ctx, all.Object().Namespace(), spec.ReportAt(at)) // of the two specs the real server names one
	}
	podspec.CheckAnnotations(meta.Child("annotations"))
	meta.Child("labels").Labels()
	at.Report(gotext.OnlyLabelsAndAnnotations(meta.Path(), meta.Object()))
	validateClaimSpec(ctx, spec)
	kind.ImmutableStruct(at, gotext.ResourceClaimTemplateSpec.In(ctx.Server.Minor))
}
