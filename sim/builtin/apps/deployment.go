package apps

import (
	"fmt"
	"slices"
	"strconv"

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
	spec := kind.ObjectAt(obj, "spec")
	spec.SetDefault(int64(1), "replicas")
	kind.SetEmpty(spec, "RollingUpdate", "strategy", "type")
	if spec.String("strategy", "type") == "RollingUpdate" {
		spec.SetDefault("25%", "strategy", "rollingUpdate", "maxUnavailable")
		spec.SetDefault("25%", "strategy", "rollingUpdate", "maxSurge")
	}
	spec.SetDefault(int64(10), "revisionHistoryLimit")
	spec.SetDefault(int64(600), "progressDeadlineSeconds")
	podspec.DefaultTemplateOf(obj)
}

// prepareDeploymentUpdate keeps the labels of a Deployment when its status is updated. For other kinds, such an update may change
// labels.
func prepareDeploymentUpdate(ctx *resource.Context, obj, old object.Object) {
	if ctx.Subresource == "status" {
		kind.KeepOld(obj.At("metadata"), old.At("metadata"), "labels")
		keepInner(obj, old, rollbackTo)
	}
}

// keepInner restores the annotation with the name, which in the server's memory is a field of the spec.
func keepInner(obj, old object.Object, name string) {
	kind.KeepAt(obj, old, "metadata", "annotations", name)
	if len(obj.Annotations()) == 0 {
		obj.Remove("metadata", "annotations")
	}
}

// readRollbackTo rewrites the rollback annotation, in which apps/v1 stores a spec field of older versions of Deployment, in
// canonical form. It returns an error if its value is not a number.
func readRollbackTo(obj object.Object) (object.Object, error) {
	text := obj.String("metadata", "annotations", rollbackTo)
	if err := readNumber(obj, rollbackTo); err != nil {
		return nil, fmt.Errorf("failed to parse annotation[%s]=%s as int64: %w", rollbackTo, text, err)
	}
	return obj, nil
}

// terminatingGate is the gate of the field terminatingReplicas of Deployments and ReplicaSets (KEP-3973).
var terminatingGate = kind.Gate{Name: "DeploymentReplicaSetTerminatingReplicas", Fields: []string{"status.terminatingReplicas"}}

func deploymentKind() kind.Kind {
	return kind.Kind{
		Storage: "deployments.apps",
		Gates:   append(podspec.Gates("spec.template.spec."), terminatingGate),
		Strategy: resource.Strategy{
			ResetFields: map[string][]string{"status": {"spec", "metadata.labels"}},
			HasStatus:   true, InnerAnnotation: rollbackTo, Blank: noReplicas,
			SpecChanged: func(obj, old object.Object) bool { // annotations count, because they are copied to the ReplicaSets
				return gotext.SpecChanged(gotext.DeploymentSpec)(obj, old) ||
					!object.SemanticEqual(obj.Map("metadata", "annotations"), old.Map("metadata", "annotations"))
			},
			PrepareForUpdate: prepareDeploymentUpdate,
			Warn:             warnReplicated,
		},
		Validate: validateDeployment, ValidateStatus: validateDeploymentStatus,
		Defaults: kind.EveryVersion(defaultDeployment),
		Convert:  map[string]kind.Conversion{"apps/v1": {ToHub: readRollbackTo}},
		Connect:  map[string]resource.Connector{"scale": kind.ScaleWorkload},
		Columns: slices.Concat([]table.Column{
			table.Name(), table.Text("Ready", "Number of the pod with ready state").Cell(cellReady),
			table.Doc("Up-to-date", docApps+"DeploymentStatus", "updatedReplicas").Int("status", "updatedReplicas").Of("string"),
			table.Doc("Available", docApps+"DeploymentStatus", "availableReplicas").Int("status", "availableReplicas").Of("string"), table.Age(),
		}, podspec.ContainerColumns("spec", "template"), []table.Column{table.Doc("Selector", docApps+"DeploymentSpec", "selector").Wide().Cell(cellSelector)}),
	}
}

func validateDeployment(ctx *resource.Context, at field.Cursor) {
	spec := at.Child("spec")
	kind.NonNegative(spec, "replicas")
	validateReplicated(ctx, spec)
	validateDeploymentStrategy(spec.Child("strategy"))
	kind.NonNegative(spec, "minReadySeconds", "revisionHistoryLimit")
	if n, err := strconv.ParseInt(at.String("metadata", "annotations", rollbackTo), 10, 64); err == nil && n < 0 {
		spec.Child("rollback", "version").Invalid(n, field.TextNonNegative)
	}
	spec.Child("progressDeadlineSeconds").NonNegative().Min(spec.Int64("minReadySeconds")+1, "must be greater than minReadySeconds")
	kind.CheckSelectorKept(spec.Child("selector"))
}

func validateDeploymentStatus(_ *resource.Context, all field.Cursor) {
	at := all.Child("status")
	kind.NonNegative(at, "observedGeneration", "replicas", "updatedReplicas", "readyReplicas", "availableReplicas",
		"unavailableReplicas", "terminatingReplicas", "collisionCount")
	kind.NotAbove(at, "replicas", kind.AboveReplicas, "updatedReplicas", "readyReplicas", "availableReplicas")
	kind.NotAbove(at, "readyReplicas", kind.AboveReady, "availableReplicas")
	validateCollisions(at)
}

func validateDeploymentStrategy(at field.Cursor) {
	switch at.String("type") {
	case "Recreate":
		at.ForbidAny("may not be specified when strategy `type` is 'Recreate'", "rollingUpdate")
	case "RollingUpdate":
		unavailable, surge := at.Child("rollingUpdate", "maxUnavailable"), at.Child("rollingUpdate", "maxSurge")
		kind.CheckAmountOrPercent(unavailable)
		kind.CheckAmountOrPercent(surge)
		if kind.AmountOf(unavailable) == 0 && kind.AmountOf(surge) == 0 {
			kind.InvalidAmount(unavailable, "may not be 0 when `maxSurge` is 0")
		}
		kind.CheckAtMost100Percent(unavailable)
	default:
		at.NotSupported(gotext.Value(gotext.DeploymentStrategy, at.Object()), "Recreate", "RollingUpdate")
	}
}
