package builtin

import (
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/selector"
)

const (
	selectorMismatch   = "`selector` does not match template `labels`"
	aboveReplicas      = "cannot be greater than status.replicas"
	notDecremented     = "cannot be decremented"
	statefulSetChanges = "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', " +
		"'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"
)

// nonNegatives checks that the numbers in o, if they are there, are not negative.
func nonNegatives(p field.Path, o object.Object, names ...string) field.ErrorList {
	var errs field.ErrorList
	for _, name := range names {
		errs = append(errs, field.NonNegative(o.Int64(name), p.Child(name))...)
	}
	return errs
}

// selectorValue is a metav1.LabelSelector for the text of an error; nil prints null.
func selectorValue(s map[string]any) any {
	if s == nil {
		return nil
	}
	return field.Raw(labelSelectorJSON(s))
}

// immutableSelector checks that the metav1.LabelSelector at p is the one it was.
func immutableSelector(p field.Path, s, old map[string]any) field.ErrorList {
	if (s == nil) == (old == nil) && object.SemanticEqual(s, old) {
		return nil
	}
	return field.ErrorList{field.Invalid(p, selectorValue(s), field.TextImmutable)}
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
	return field.ErrorList{field.Invalid(p, selectorValue(s), "empty selector is invalid for "+word)}
}

// validateSelected checks that the selector matches the labels of the template at p.
func validateSelected(p field.Path, s selector.Labels, template object.Object) field.ErrorList {
	if s.Matches(template.Labels()) {
		return nil
	}
	return field.ErrorList{field.Invalid(p.Child("metadata", "labels"), template.Map("metadata", "labels"), selectorMismatch)}
}

// validateAlwaysRestarts checks what the pods of a kind that replaces them may not have.
func validateAlwaysRestarts(p field.Path, template object.Object, kind string) field.ErrorList {
	errs := field.MustBeOneOf(p.Child("spec", "restartPolicy"), template.String("spec", "restartPolicy"), "Always")
	if template.Has("spec", "activeDeadlineSeconds") {
		errs = append(errs, field.Forbidden(p.Child("spec", "activeDeadlineSeconds"), "activeDeadlineSeconds in "+kind+" is not Supported"))
	}
	return errs
}

// validateReplicated checks the selector and the template of a ReplicaSet, or of a Deployment, which has the same rules.
func validateReplicated(ctx *resource.Context, spec, old object.Object) field.ErrorList {
	p := field.Root("spec")
	errs := validateSelector(p.Child("selector"), spec.Map("selector"), "deployment")
	s, err := selector.FromLabelSelector(spec.Map("selector"))
	if err != nil {
		return append(errs, field.Invalid(p.Child("selector"), selectorValue(spec.Map("selector")), "invalid label selector"))
	}
	template, p := spec.At("template"), p.Child("template")
	errs = append(errs, validateSelected(p, s, template)...)
	errs = append(errs, validatePodTemplateUpdate(ctx, template, old.Map("template"), p)...)
	return append(errs, validateAlwaysRestarts(p, template, "ReplicaSet")...)
}

func validateReplicaSet(ctx *resource.Context, obj, old object.Object) field.ErrorList {
	spec, p := obj.At("spec"), field.Root("spec")
	errs := nonNegatives(p, spec, "replicas", "minReadySeconds")
	return append(errs, validateReplicated(ctx, spec, old.At("spec"))...)
}

func validateReplicaSetUpdate(ctx *resource.Context, obj, old object.Object) field.ErrorList {
	if ctx.Subresource == "status" {
		return validateReplicaSetStatus(obj.At("status"))
	}
	return append(validateReplicaSet(ctx, obj, old),
		immutableSelector(field.Root("spec").Child("selector"), obj.Map("spec", "selector"), old.Map("spec", "selector"))...)
}

func validateReplicaSetStatus(s object.Object) field.ErrorList {
	p := field.Root("status")
	errs := nonNegatives(p, s, "replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas", "observedGeneration",
		"terminatingReplicas")
	errs = append(errs, notAbove(p, s, "replicas", aboveReplicas, "fullyLabeledReplicas", "readyReplicas", "availableReplicas")...)
	return append(errs, notAbove(p, s, "readyReplicas", "cannot be greater than readyReplicas", "availableReplicas")...)
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

func validateDeployment(ctx *resource.Context, obj, old object.Object) field.ErrorList {
	spec, p := obj.At("spec"), field.Root("spec")
	errs := nonNegatives(p, spec, "replicas")
	errs = append(errs, validateReplicated(ctx, spec, old.At("spec"))...)
	errs = append(errs, validateDeploymentStrategy(p.Child("strategy"), spec.At("strategy"))...)
	errs = append(errs, nonNegatives(p, spec, "minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds")...)
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
		immutableSelector(field.Root("spec").Child("selector"), obj.Map("spec", "selector"), old.Map("spec", "selector"))...)
}

func validateDeploymentStatus(s object.Object) field.ErrorList {
	p := field.Root("status")
	errs := nonNegatives(p, s, "observedGeneration", "replicas", "updatedReplicas", "readyReplicas", "availableReplicas",
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
	return field.ErrorList{field.NotSupported(p, goValue("DeploymentStrategy", s), "Recreate", "RollingUpdate")}
}

func validateRollingDeployment(p field.Path, rolling object.Object) field.ErrorList {
	unavailable, surge := rolling["maxUnavailable"], rolling["maxSurge"]
	errs := validateAmountOrPercent(p.Child("maxUnavailable"), unavailable)
	errs = append(errs, validateAmountOrPercent(p.Child("maxSurge"), surge)...)
	if amountOrPercent(unavailable) == 0 && amountOrPercent(surge) == 0 {
		errs = append(errs, field.Invalid(p.Child("maxUnavailable"), intOrString(unavailable), "may not be 0 when `maxSurge` is 0"))
	}
	return append(errs, validateAtMost100Percent(p.Child("maxUnavailable"), unavailable)...)
}

// intOrString returns an IntOrString for the text of an error; an absent one is 0.
func intOrString(v any) any {
	if v == nil {
		return int64(0)
	}
	return enumValue(v)
}

// validateAmountOrPercent checks an IntOrString: a number that is not negative, or a percentage.
func validateAmountOrPercent(p field.Path, v any) field.ErrorList {
	if s, ok := v.(string); ok {
		return field.Messages(p, intOrString(v), field.Percent(s))
	}
	n, _ := v.(int64)
	return field.NonNegative(n, p)
}

// percentOf returns the number of a percentage.
func percentOf(v any) (int, bool) {
	s, ok := v.(string)
	if !ok || len(field.Percent(s)) > 0 {
		return 0, false
	}
	n, _ := strconv.Atoi(strings.TrimSuffix(s, "%"))
	return n, true
}

// amountOrPercent returns the number in an IntOrString; other texts are 0.
func amountOrPercent(v any) int {
	if n, ok := percentOf(v); ok {
		return n
	}
	if s, ok := v.(string); ok {
		n, _ := strconv.Atoi(s)
		return n
	}
	n, _ := v.(int64)
	return int(n)
}

func validateAtMost100Percent(p field.Path, v any) field.ErrorList {
	if n, ok := percentOf(v); ok && n > 100 {
		return field.ErrorList{field.Invalid(p, intOrString(v), "must not be greater than 100%")}
	}
	return nil
}
