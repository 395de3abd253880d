// Package apps defines the workload kinds of apps: Deployment, ReplicaSet, StatefulSet, DaemonSet and ControllerRevision.
// Package podspec checks their pod templates.
package apps

import (
	"strconv"

	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/podspec"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/selector"
)

// docApps is the prefix of the definition names of apps/v1 types.
const docApps = "io.k8s.api.apps.v1."

// Kinds returns the kinds of apps.
func Kinds() []kind.Kind {
	return []kind.Kind{deploymentKind(), replicaSetKind(), statefulSetKind(), daemonSetKind(), controllerRevisionKind()}
}

// cellReady returns a cell that shows the numbers of ready and desired pods.
func cellReady(obj object.Object) any {
	return strconv.FormatInt(obj.Int64("status", "readyReplicas"), 10) + "/" + strconv.FormatInt(obj.Int64("spec", "replicas"), 10)
}

// cellSelector returns the cell with spec.selector. For an empty selector, Deployments have an empty cell, unlike other kinds.
func cellSelector(obj object.Object) any {
	s, _ := selector.FromLabelSelector(obj.Map("spec", "selector")) // cannot fail: the selector has been validated
	return s.String()
}

// noReplicas implements Strategy.Blank for kinds whose replicas field is not a pointer in memory.
func noReplicas(obj object.Object) { obj.Set(int64(0), "spec", "replicas") }

// readNumber rewrites a numeric annotation in canonical form. It returns an error if its value is not a number.
func readNumber(obj object.Object, name string) error {
	text, ok := obj.Annotations()[name]
	if !ok {
		return nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err == nil {
		obj.Set(strconv.FormatInt(n, 10), "metadata", "annotations", name)
	}
	return err
}

// warnWorkload warns about the template of a new object, or of an object whose generation changed.
func warnWorkload(ctx *resource.Context, obj, old object.Object) {
	if old == nil || obj.Generation() != old.Generation() {
		podspec.WarnTemplate(ctx, obj.Map("spec", "template"), field.Root("spec").Child("template"))
	}
}

func warnReplicated(ctx *resource.Context, obj, old object.Object) {
	if old == nil {
		podspec.WarnNames(ctx, obj)
	}
	warnWorkload(ctx, obj, old)
}

// validateSelector checks the selector of a workload, which is required. word is the kind of workload as errors name it.
func validateSelector(at field.Cursor, word string) {
	if at.RequireIf(!at.Has(), "").Has() {
		kind.CheckSelector(at, selector.ValidateOptions{})
		validateNotEmpty(at, word)
	}
}

func validateNotEmpty(at field.Cursor, word string) {
	if at.Len("matchLabels")+at.Len("matchExpressions") == 0 {
		kind.InvalidSelector(at, "empty selector is invalid for "+word)
	}
}

// validateCollisions checks that an update of the status does not decrease collisionCount.
func validateCollisions(at field.Cursor) {
	n, isSet := at.Int("collisionCount")
	before, wasSet := at.Old().Int("collisionCount")
	at.Child("collisionCount").OrZero().InvalidIf(wasSet && (!isSet || n < before), "cannot be decremented")
}
