package apps

import (
	"strconv"

	"github.com/kubesim/kubesim/sim/builtin/gotext"
	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/podspec"
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
