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
func cellReady(obj object.Object) string {
	return strconv.FormatInt(obj.Int64("status", "readyReplicas"), 10) + "/" + strconv.FormatInt(obj.Int64("spec", "replicas"), 10)
}

// cellSelector prints spec.selector; unlike other kinds, a Deployment shows nothing for an empty one.
func cellSelector(obj object.Object) string {
	s, err := selector.FromLabelSelector(obj.Map("spec", "selector"))
	if err != nil {
		return "<invalid>"
	}
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
		kind.WarnAll(ctx, podspec.TemplateWarnings(ctx, obj.Map("spec", "template"), field.Root("spec").Child("template")))
	}
}

func warnReplicated(ctx *resource.Context, obj, old object.Object) {
	if old == nil {
		podspec.WarnNames(ctx, obj)
	}
	warnWorkload(ctx, obj, old)
}

// validateSelector checks the required selector of a workload, which word names.
func validateSelector(p field.Path, s map[string]any, word string) field.ErrorList {
	if s == nil {
		return field.ErrorList{field.Required(p, "")}
	}
	errs := selector.ValidateLabelSelector(p, s, selector.ValidateOptions{})
	return append(errs, validateNotEmpty(p, s, word)...)
}

func validateNotEmpty(p field.Path, s object.Object, word string) field.ErrorList {
	if len(s.Map("matchLabels"))+len(s.List("matchExpressions")) > 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(p, kind.SelectorValue(s), "empty selector is invalid for "+word)}
}

// validateAlwaysRestarts checks what the pods of a kind that replaces them may not have.
func validateAlwaysRestarts(p field.Path, template object.Object, kind string) field.ErrorList {
	errs := field.MustBeOneOf(p.Child("spec", "restartPolicy"), template.String("spec", "restartPolicy"), "Always")
	if template.Has("spec", "activeDeadlineSeconds") {
		errs = append(errs, field.Forbidden(p.Child("spec", "activeDeadlineSeconds"), "activeDeadlineSeconds in "+kind+" is not Supported"))
	}
	return errs
}

// notAbove checks that none of the named numbers is greater than the number limit.
func notAbove(p field.Path, s object.Object, limit, detail string, names ...string) field.ErrorList {
	var errs field.ErrorList
	for _, name := range names {
		if n := s.Int64(name); n > s.Int64(limit) {
			errs = append(errs, field.Invalid(p.Child(name), n, detail))
		}
	}
	return errs
}

// validateCollisions checks that status.collisionCount only grows.
func validateCollisions(obj, old object.Object) field.ErrorList {
	n, isSet := obj.Int("status", "collisionCount")
	before, wasSet := old.Int("status", "collisionCount")
	if !wasSet || isSet && n >= before {
		return nil
	}
	return field.ErrorList{field.Invalid(field.Root("status").Child("collisionCount"), n, notDecremented)}
}

// amountOrPercent returns the number in an IntOrString; other texts are 0.
func amountOrPercent(v any) int {
	if n, ok := kind.PercentOf(v); ok {
		return n
	}
	if s, ok := v.(string); ok {
		n, _ := strconv.Atoi(s)
		return n
	}
	n, _ := v.(int64)
	return int(n)
}
