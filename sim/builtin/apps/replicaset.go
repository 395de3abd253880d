package apps

import (
	"time"

	"github.com/kubesim/kubesim/sim/builtin/gotext"
	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/podspec"
	"github.com/kubesim/kubesim/sim/builtin/table"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/selector"
)

const (
	aboveReplicas      = "cannot be greater than status.replicas"
	notDecremented     = "cannot be decremented"
	statefulSetChanges = "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', " +
		"'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"
)

// validateReplicated checks the selector and the template of a ReplicaSet, or of a Deployment, which has the same rules.
func validateReplicated(ctx *resource.Context, spec, old object.Object) field.ErrorList {
	p := field.Root("spec")
	errs := validateSelector(p.Child("selector"), spec.Map("selector"), "deployment")
	s, err := selector.FromLabelSelector(spec.Map("selector"))
	if err != nil {
		return append(errs, field.Invalid(p.Child("selector"), kind.SelectorValue(spec.Map("selector")), "invalid label selector"))
	}
	template, p := spec.At("template"), p.Child("template")
	errs = append(errs, podspec.ValidateSelected(p, s, template)...)
	errs = append(errs, podspec.ValidateTemplateUpdate(ctx, template, old.Map("template"), p)...)
	return append(errs, validateAlwaysRestarts(p, template, "ReplicaSet")...)
}

func validateReplicaSet(ctx *resource.Context, obj, old object.Object) field.ErrorList {
	spec, p := obj.At("spec"), field.Root("spec")
	errs := kind.NonNegatives(p, spec, "replicas", "minReadySeconds")
	return append(errs, validateReplicated(ctx, spec, old.At("spec"))...)
}

func validateReplicaSetUpdate(ctx *resource.Context, obj, old object.Object) field.ErrorList {
	if ctx.Subresource == "status" {
		return validateReplicaSetStatus(obj.At("status"))
	}
	return append(validateReplicaSet(ctx, obj, old),
		kind.ImmutableSelector(field.Root("spec").Child("selector"), obj.Map("spec", "selector"), old.Map("spec", "selector"))...)
}

func validateReplicaSetStatus(s object.Object) field.ErrorList {
	p := field.Root("status")
	errs := kind.NonNegatives(p, s, "replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas", "observedGeneration",
		"terminatingReplicas")
	errs = append(errs, notAbove(p, s, "replicas", aboveReplicas, "fullyLabeledReplicas", "readyReplicas", "availableReplicas")...)
	return append(errs, notAbove(p, s, "readyReplicas", "cannot be greater than readyReplicas", "availableReplicas")...)
}

func replicaSetKind() kind.Kind {
	return kind.Kind{
		Storage: "replicasets.apps",
		Gates: append(podspec.Gates("spec.template.spec."), []kind.Gate{
			{Name: "DeploymentReplicaSetTerminatingReplicas", Fields: []string{"status.terminatingReplicas"}},
		}...),
		Strategy: resource.Strategy{
			HasStatus: true, SpecChanged: gotext.SpecChanged("ReplicaSetSpec"), Blank: noReplicas,
			Validate: func(ctx *resource.Context, obj object.Object) field.ErrorList {
				return validateReplicaSet(ctx, obj, nil)
			},
			ValidateUpdate: validateReplicaSetUpdate,
			Warn:           warnReplicated,
		},
		Connect: map[string]resource.Connector{"scale": kind.ScaleWorkload},
		Defaults: kind.EveryVersion(func(obj object.Object) {
			obj.SetDefault(int64(1), "spec", "replicas")
			podspec.DefaultTemplateOf(obj)
		}),
		Columns: append([]table.Column{
			table.Name(), table.Doc("Desired", docApps+"ReplicaSetSpec", "replicas").Of("integer"),
			table.Doc("Current", docApps+"ReplicaSetStatus", "replicas").Of("integer"),
			table.Doc("Ready", docApps+"ReplicaSetStatus", "readyReplicas").Of("integer"), table.Age(),
		}, podspec.TemplateColumns(docApps+"ReplicaSetSpec")...),
		Row: func(now time.Time, obj object.Object) resource.Row {
			return table.Row(obj.Name(), obj.Int64("spec", "replicas"), obj.Int64("status", "replicas"), obj.Int64("status", "readyReplicas"),
				table.AgeCell(now, obj), podspec.ContainersCell(obj, "name", "spec", "template"), podspec.ContainersCell(obj, "image", "spec", "template"),
				selector.FormatLabelSelector(obj.Map("spec", "selector")))
		},
	}
}
