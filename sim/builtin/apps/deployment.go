package apps

import (
	"fmt"
	"time"

	"github.com/kubesim/kubesim/sim/builtin/gotext"
	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/podspec"
	"github.com/kubesim/kubesim/sim/builtin/table"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

const rollbackTo = "deprecated.deployment.rollback.to"

func defaultDeployment(obj object.Object) {
	if text, ok := obj.Annotations()[rollbackTo]; ok && text == "" {
		obj.Remove("metadata", "annotations", rollbackTo)
	}
	obj.SetDefault(map[string]any{}, "spec")
	spec := obj.At("spec")
	spec.SetDefault(int64(1), "replicas")
	if spec.String("strategy", "type") == "" {
		spec.Set("RollingUpdate", "strategy", "type")
	}
	if spec.String("strategy", "type") == "RollingUpdate" {
		spec.SetDefault("25%", "strategy", "rollingUpdate", "maxUnavailable")
		spec.SetDefault("25%", "strategy", "rollingUpdate", "maxSurge")
	}
	spec.SetDefault(int64(10), "revisionHistoryLimit")
	spec.SetDefault(int64(600), "progressDeadlineSeconds")
	podspec.DefaultTemplateOf(obj)
}

// prepareDeploymentUpdate keeps the labels of a Deployment whose status is written; other kinds let them change.
func prepareDeploymentUpdate(ctx *resource.Context, obj, old object.Object) {
	if ctx.Subresource == "status" {
		kind.KeepOld(obj.At("metadata"), old.At("metadata"), "labels")
		keepInner(obj, old, rollbackTo)
	}
}

// keepInner puts an annotation back that is a field of the spec in memory.
func keepInner(obj, old object.Object, name string) {
	if value, ok := old.Get("metadata", "annotations", name); ok {
		obj.Set(value, "metadata", "annotations", name)
		return
	}
	obj.Remove("metadata", "annotations", name)
	if len(obj.Annotations()) == 0 {
		obj.Remove("metadata", "annotations")
	}
}

// readRollbackTo reads an annotation in which apps/v1 keeps what older versions of Deployment had in the spec.
func readRollbackTo(obj object.Object) (object.Object, error) {
	text := obj.String("metadata", "annotations", rollbackTo)
	if err := readNumber(obj, rollbackTo); err != nil {
		return nil, fmt.Errorf("failed to parse annotation[%s]=%s as int64: %w", rollbackTo, text, err)
	}
	return obj, nil
}

func deploymentKind() kind.Kind {
	return kind.Kind{
		Storage: "deployments.apps",
		Gates: append(podspec.Gates("spec.template.spec."), []kind.Gate{
			{Name: "DeploymentReplicaSetTerminatingReplicas", Fields: []string{"status.terminatingReplicas"}},
		}...),
		Strategy: resource.Strategy{
			Resets:    map[string]resource.Reset{"status": {Fields: []string{"spec", "metadata.labels"}}},
			HasStatus: true, InnerAnnotation: rollbackTo, Blank: noReplicas,
			SpecChanged: func(obj, old object.Object) bool { // annotations are copied to the replica sets
				return gotext.SpecChanged("DeploymentSpec")(obj, old) ||
					!object.SemanticEqual(obj.Map("metadata", "annotations"), old.Map("metadata", "annotations"))
			},
			PrepareForUpdate: prepareDeploymentUpdate,
			Validate: func(ctx *resource.Context, obj object.Object) field.ErrorList {
				return validateDeployment(ctx, obj, nil)
			},
			ValidateUpdate: validateDeploymentUpdate,
			Warn:           warnReplicated,
		},
		Defaults: kind.EveryVersion(defaultDeployment),
		Convert:  map[string]kind.Conversion{"apps/v1": {ToHub: readRollbackTo}},
		Connect:  map[string]resource.Connector{"scale": kind.ScaleWorkload},
		Columns: append([]table.Column{
			table.Name(), table.Text("Ready", "Number of the pod with ready state"),
			table.Doc("Up-to-date", docApps+"DeploymentStatus", "updatedReplicas"),
			table.Doc("Available", docApps+"DeploymentStatus", "availableReplicas"), table.Age(),
		}, podspec.TemplateColumns(docApps+"DeploymentSpec")...),
		Row: func(now time.Time, obj object.Object) resource.Row {
			return table.Row(obj.Name(), cellReady(obj), obj.Int64("status", "updatedReplicas"), obj.Int64("status", "availableReplicas"),
				table.AgeCell(now, obj), podspec.ContainersCell(obj, "name", "spec", "template"), podspec.ContainersCell(obj, "image", "spec", "template"),
				cellSelector(obj))
		},
	}
}

func validateDeployment(ctx *resource.Context, obj, old object.Object) field.ErrorList {
	spec, p := obj.At("spec"), field.Root("spec")
	errs := kind.NonNegatives(p, spec, "replicas")
	errs = append(errs, validateReplicated(ctx, spec, old.At("spec"))...)
	errs = append(errs, validateDeploymentStrategy(p.Child("strategy"), spec.At("strategy"))...)
	errs = append(errs, kind.NonNegatives(p, spec, "minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds")...)
	if n, ok := spec.Int("progressDeadlineSeconds"); ok && n <= spec.Int64("minReadySeconds") {
		errs = append(errs, field.Invalid(p.Child("progressDeadlineSeconds"), n, "must be greater than minReadySeconds"))
	}
	return errs
}

func validateDeploymentUpdate(ctx *resource.Context, obj, old object.Object) field.ErrorList {
	if ctx.Subresource == "status" {
		return append(validateDeploymentStatus(obj.At("status")), validateCollisions(obj, old)...)
	}
	return append(validateDeployment(ctx, obj, old),
		kind.ImmutableSelector(field.Root("spec").Child("selector"), obj.Map("spec", "selector"), old.Map("spec", "selector"))...)
}

func validateDeploymentStatus(s object.Object) field.ErrorList {
	p := field.Root("status")
	errs := kind.NonNegatives(p, s, "observedGeneration", "replicas", "updatedReplicas", "readyReplicas", "availableReplicas",
		"unavailableReplicas", "terminatingReplicas", "collisionCount")
	errs = append(errs, notAbove(p, s, "replicas", aboveReplicas, "updatedReplicas", "readyReplicas", "availableReplicas")...)
	return append(errs, notAbove(p, s, "readyReplicas", "cannot be greater than readyReplicas", "availableReplicas")...)
}

func validateDeploymentStrategy(p field.Path, s object.Object) field.ErrorList {
	rolling := s.At("rollingUpdate")
	switch s.String("type") {
	case "Recreate":
		if rolling == nil {
			return nil
		}
		return field.ErrorList{field.Forbidden(p.Child("rollingUpdate"), "may not be specified when strategy `type` is 'Recreate'")}
	case "RollingUpdate":
		return validateRollingDeployment(p.Child("rollingUpdate"), rolling)
	}
	return field.ErrorList{field.NotSupported(p, gotext.Value("DeploymentStrategy", s), "Recreate", "RollingUpdate")}
}

func validateRollingDeployment(p field.Path, rolling object.Object) field.ErrorList {
	unavailable, surge := rolling["maxUnavailable"], rolling["maxSurge"]
	errs := kind.ValidateAmountOrPercent(p.Child("maxUnavailable"), unavailable)
	errs = append(errs, kind.ValidateAmountOrPercent(p.Child("maxSurge"), surge)...)
	if amountOrPercent(unavailable) == 0 && amountOrPercent(surge) == 0 {
		errs = append(errs, field.Invalid(p.Child("maxUnavailable"), kind.IntOrString(unavailable), "may not be 0 when `maxSurge` is 0"))
	}
	return append(errs, kind.ValidateAtMost100Percent(p.Child("maxUnavailable"), unavailable)...)
}
