// Package apps has the workload kinds of apps: Deployment, ReplicaSet, StatefulSet, DaemonSet and ControllerRevision. Their pod
// templates are checked by package podspec.
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

// docApps is the definition name in front of the types of apps/v1.
const docApps = "io.k8s.api.apps.v1."

// Kinds returns the kinds of apps.
func Kinds() []kind.Kind {
	return []kind.Kind{deploymentKind(), replicaSetKind(), statefulSetKind(), daemonSetKind(), controllerRevisionKind()}
}

// cellReady is how many pods are ready of how many wanted.
func cellReady(obj object.Object) any {
	return strconv.FormatInt(obj.Int64("status", "readyReplicas"), 10) + "/" + strconv.FormatInt(obj.Int64("spec", "replicas"), 10)
}

// cellSelector prints spec.selector; unlike other kinds, a Deployment shows nothing for an empty one.
func cellSelector(obj object.Object) any {
	s, _ := selector.FromLabelSelector(obj.Map("spec", "selector")) // it is valid
	return s.String()
}

// noReplicas is Strategy.Blank of kinds whose replicas are a plain number in memory.
func noReplicas(obj object.Object) { obj.Set(int64(0), "spec", "replicas") }

// readNumber prints an annotation that is a number as numbers are printed.
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

// warnWorkload warns about the template of a new object, or of one whose generation changed.
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

// validateSelector checks the required selector of a workload, which word names.
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

// validateCollisions checks that the collisionCount of a status only grows.
func validateCollisions(at field.Cursor) {
	n, isSet := at.Int("collisionCount")
	before, wasSet := at.Old().Int("collisionCount")
	at.Child("collisionCount").OrZero().InvalidIf(wasSet && (!isSet || n < before), "cannot be decremented")
}
