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
		Defaults: map[string]func(object.Object){
			"":        func(obj object.Object) { defaultClaimSpec(obj.At("spec", "spec"), exactRequests) },
			"v1beta1": func(obj object.Object) { defaultClaimSpec(obj.At("spec", "spec"), flatRequests) },
		},
		Convert: claimConversion("spec", "spec"),
		Columns: []table.Column{table.Name(), table.Age()},
	}
}

func validateClaimTemplate(ctx *resource.Context, all field.Cursor) {
	at := all.Child("spec")
	meta, spec := at.Child("metadata"), at.Child("spec")
	if !at.Updates() {
		validateAdminAccess(ctx, all.Object().Namespace(), spec.ReportAt(at)) // the real server's path contains only one "spec"
	}
	podspec.CheckAnnotations(meta.Child("annotations"))
	meta.Child("labels").Labels()
	at.Report(gotext.OnlyLabelsAndAnnotations(meta.Path(), meta.Object()))
	validateClaimSpec(ctx, spec)
	kind.ImmutableStruct(at, gotext.ResourceClaimTemplateSpec.In(ctx.Server.Minor))
}
