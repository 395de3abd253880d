package apps

import (
	"fmt"

	"github.com/kubesim/kubesim/sim/builtin/gotext"
	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/podspec"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/quantity"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/selector"
)

// statefulRules says what an update of a StatefulSet lets pass because it cannot be changed any more.
type statefulRules struct {
	update      bool // serviceName and volumeClaimTemplates are immutable
	badTemplate bool // the old object had errors of its own
}

func validateStatefulSet(ctx *resource.Context, obj, old object.Object, rules statefulRules) field.ErrorList {
	spec, p := obj.At("spec"), field.Root("spec")
	var errs field.ErrorList
	switch policy := spec.String("podManagementPolicy"); policy {
	case "":
		errs = append(errs, field.Required(p.Child("podManagementPolicy"), ""))
	case "OrderedReady", "Parallel":
	default:
		errs = append(errs, field.Invalid(p.Child("podManagementPolicy"), field.Enum(policy), "must be 'OrderedReady' or 'Parallel'"))
	}
	errs = append(errs, validateStatefulStrategy(p.Child("updateStrategy"), spec.At("updateStrategy"))...)
	if retention := spec.At("persistentVolumeClaimRetentionPolicy"); retention != nil {
		for _, when := range []string{"whenDeleted", "whenScaled"} {
			errs = append(errs, field.MustBeOneOf(p.Child("persistentVolumeClaimRetentionPolicy", when), retention.String(when), "Retain", "Delete")...)
		}
	}
	if !rules.update {
		for i, claim := range spec.Objects("volumeClaimTemplates") {
			for _, e := range podspec.ValidateClaim(claim.Map("spec"), nil) {
				e.Field = p.Child("volumeClaimTemplates").Index(i).Child(e.Field.String())
				errs = append(errs, e)
			}
		}
	}
	errs = append(errs, kind.NonNegatives(p, spec, "replicas", "minReadySeconds")...)
	errs = append(errs, field.NonNegative(spec.Int64("ordinals", "start"), p.Child("ordinals.start"))...)
	if name := spec.String("serviceName"); name != "" && !rules.update {
		errs = append(errs, field.Check(p.Child("serviceName"), name, field.DNS1123Label)...)
	}
	errs = append(errs, validateSelector(p.Child("selector"), spec.Map("selector"), "statefulset")...)
	s, err := selector.FromLabelSelector(spec.Map("selector"))
	if err != nil {
		errs = append(errs, field.Invalid(p.Child("selector"), kind.SelectorValue(spec.Map("selector")), ""))
	} else {
		errs = append(errs, validateStatefulTemplate(ctx, p.Child("template"), s, spec, old.At("spec"), rules)...)
	}
	return append(errs, validateAlwaysRestarts(p.Child("template"), spec.At("template"), "StatefulSet")...)
}

func validateStatefulStrategy(p field.Path, s object.Object) field.ErrorList {
	rolling := s.At("rollingUpdate")
	switch s.String("type") {
	case "":
		return field.ErrorList{field.Required(p, "")}
	case "OnDelete":
		if rolling == nil {
			return nil
		}
		return field.ErrorList{field.Invalid(p.Child("rollingUpdate"), gotext.Value("RollingUpdateStatefulSetStrategy", rolling),
			"only allowed for updateStrategy 'RollingUpdate'")}
	case "RollingUpdate":
		return validateRollingStatefulSet(p.Child("rollingUpdate"), rolling)
	}
	return field.ErrorList{field.Invalid(p, gotext.Value("StatefulSetUpdateStrategy", s), "must be 'RollingUpdate' or 'OnDelete'")}
}

func validateRollingStatefulSet(p field.Path, rolling object.Object) field.ErrorList {
	errs := kind.NonNegatives(p, rolling, "partition")
	if !rolling.Has("maxUnavailable") {
		return errs
	}
	v, p := rolling["maxUnavailable"], p.Child("maxUnavailable")
	errs = append(errs, kind.ValidateAmountOrPercent(p, v)...)
	if amountOrPercent(v) == 0 {
		errs = append(errs, field.Invalid(p, kind.IntOrString(v), "cannot be 0"))
	}
	return append(errs, kind.ValidateAtMost100Percent(p, v)...)
}

// validateStatefulTemplate checks the template of a StatefulSet as its pods will be: the controller sets the names they
// have on the network and adds a volume for each claim.
func validateStatefulTemplate(ctx *resource.Context, p field.Path, s selector.Labels, spec, old object.Object, rules statefulRules) field.ErrorList {
	template := object.Object(object.Copy(spec.Map("template")).(map[string]any))
	errs := podspec.ValidateSelected(p, s, template)
	if pod := template.At("spec"); pod != nil {
		delete(pod, "subdomain")
		delete(pod, "hostname")
		if claims := spec.Objects("volumeClaimTemplates"); len(claims) > 0 {
			pod["volumes"] = volumesOfClaims(claims, pod.Objects("volumes"))
		}
	}
	if !rules.badTemplate {
		errs = append(errs, podspec.ValidateTemplateUpdate(ctx, template, old.Map("template"), p)...)
	}
	errs = append(errs, field.CheckLabels(p.Child("labels"), template.Labels())...)
	return append(errs, podspec.ValidateTemplateAnnotations(p.Child("annotations"), template.Annotations())...)
}

// volumesOfClaims returns the volumes of a pod of a StatefulSet: claims win over volumes of the same name.
func volumesOfClaims(claims, volumes []object.Object) []any {
	var out []any
	claimed := map[string]bool{}
	for _, claim := range claims {
		if name := claim.Name(); !claimed[name] {
			claimed[name] = true
			out = append(out, map[string]any{"name": name, "persistentVolumeClaim": map[string]any{"claimName": name}})
		}
	}
	for _, v := range volumes {
		if !claimed[v.String("name")] {
			out = append(out, map[string]any(v))
		}
	}
	return out
}

func validateStatefulSetUpdate(ctx *resource.Context, obj, old object.Object) field.ErrorList {
	if ctx.Subresource == "status" {
		return append(validateStatefulStatus(obj.At("status")), validateCollisions(obj, old)...)
	}
	rules := statefulRules{update: true}
	rules.badTemplate = len(validateStatefulSet(ctx, old, old, rules)) > 0
	errs := validateStatefulSet(ctx, obj, old, rules)
	rest := obj.Copy()
	kind.KeepOld(rest.At("spec"), old.At("spec"), "replicas", "template", "updateStrategy", "minReadySeconds", "ordinals",
		"revisionHistoryLimit", "persistentVolumeClaimRetentionPolicy")
	if !gotext.Same("StatefulSetSpec", rest.At("spec"), old.At("spec")) {
		errs = append(errs, field.Forbidden(field.Root("spec"), statefulSetChanges))
	}
	return errs
}

func validateStatefulStatus(s object.Object) field.ErrorList {
	p := field.Root("status")
	errs := kind.NonNegatives(p, s, "replicas", "readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas",
		"observedGeneration", "collisionCount")
	errs = append(errs, notAbove(p, s, "replicas", aboveReplicas, "readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas")...)
	return append(errs, notAbove(p, s, "readyReplicas", "cannot be greater than status.readyReplicas", "availableReplicas")...)
}

func validateDaemonSet(ctx *resource.Context, obj, old object.Object) field.ErrorList {
	spec, p := obj.At("spec"), field.Root("spec")
	raw := spec.Map("selector")
	options := selector.ValidateOptions{AllowInvalidValues: selector.HasInvalidValue(old.Map("spec", "selector"))}
	errs := selector.ValidateLabelSelector(p.Child("selector"), raw, options)
	template := spec.At("template")
	if s, err := selector.FromLabelSelector(raw); err == nil {
		errs = append(errs, podspec.ValidateSelected(p.Child("template"), s, template)...)
	}
	if raw != nil {
		errs = append(errs, validateNotEmpty(p.Child("selector"), raw, "daemonset")...)
	}
	errs = append(errs, podspec.ValidateTemplateUpdate(ctx, template, old.Map("spec", "template"), p.Child("template"))...)
	errs = append(errs, validateAlwaysRestarts(p.Child("template"), template, "DaemonSet")...)
	errs = append(errs, kind.NonNegatives(p, spec, "minReadySeconds")...)
	errs = append(errs, field.NonNegative(generationOfTemplate(obj), p.Child("templateGeneration"))...)
	errs = append(errs, validateDaemonStrategy(p.Child("updateStrategy"), spec.At("updateStrategy"))...)
	return append(errs, kind.NonNegatives(p, spec, "revisionHistoryLimit")...)
}

func validateDaemonStrategy(p field.Path, s object.Object) field.ErrorList {
	rolling := s.At("rollingUpdate")
	switch s.String("type") {
	case "OnDelete":
		return nil
	case "RollingUpdate":
		return validateRollingDaemonSet(p.Child("rollingUpdate"), rolling)
	}
	return field.ErrorList{field.NotSupported(p, gotext.Value("DaemonSetUpdateStrategy", s), "RollingUpdate", "OnDelete")}
}

func validateRollingDaemonSet(p field.Path, rolling object.Object) field.ErrorList {
	unavailable, surge := rolling["maxUnavailable"], rolling["maxSurge"]
	errs := kind.ValidateAmountOrPercent(p.Child("maxUnavailable"), unavailable)
	errs = append(errs, kind.ValidateAmountOrPercent(p.Child("maxSurge"), surge)...)
	errs = append(errs, kind.ValidateAtMost100Percent(p.Child("maxUnavailable"), unavailable)...)
	errs = append(errs, kind.ValidateAtMost100Percent(p.Child("maxSurge"), surge)...)
	hasUnavailable, hasSurge := amountOrPercent(unavailable) != 0, amountOrPercent(surge) != 0
	switch {
	case hasUnavailable && hasSurge:
		errs = append(errs, field.Invalid(p.Child("maxSurge"), kind.IntOrString(surge), "may not be set when maxUnavailable is non-zero"))
	case !hasUnavailable && !hasSurge:
		errs = append(errs, field.Required(p.Child("maxUnavailable"), "cannot be 0 when maxSurge is 0"))
	}
	return errs
}

func validateDaemonSetUpdate(ctx *resource.Context, obj, old object.Object) field.ErrorList {
	if ctx.Subresource == "status" {
		errs := kind.NonNegatives(field.Root("status"), obj.At("status"), "currentNumberScheduled", "numberMisscheduled",
			"desiredNumberScheduled", "numberReady", "observedGeneration", "updatedNumberScheduled", "numberAvailable",
			"numberUnavailable", "collisionCount")
		return append(errs, validateCollisions(obj, old)...)
	}
	errs := kind.ImmutableSelector(field.Root("spec").Child("selector"), obj.Map("spec", "selector"), old.Map("spec", "selector"))
	return append(errs, validateDaemonSet(ctx, obj, old)...)
}

// warnWorkload warns about the template of a new object, or of one whose generation changed.
func warnWorkload(ctx *resource.Context, obj, old object.Object) {
	if old == nil || obj.Generation() != old.Generation() {
		kind.WarnAll(ctx, podspec.TemplateWarnings(ctx, obj.Map("spec", "template"), field.Root("spec").Child("template")))
	}
}

// warnDaemonSet warns about the template of a new object, or about one that changed.
func warnDaemonSet(ctx *resource.Context, obj, old object.Object) {
	if old == nil || generationOfTemplate(obj) != generationOfTemplate(old) {
		kind.WarnAll(ctx, podspec.TemplateWarnings(ctx, obj.Map("spec", "template"), field.Root("spec").Child("template")))
	}
}

func warnReplicated(ctx *resource.Context, obj, old object.Object) {
	if old == nil {
		podspec.WarnNames(ctx, obj)
	}
	warnWorkload(ctx, obj, old)
}

// warnClaimTemplate warns about sizes that are no whole number of bytes.
func warnClaimTemplate(ctx *resource.Context, p field.Path, claim object.Object) {
	for _, list := range []string{"requests", "limits"} {
		size, ok := claim.Map("spec", "resources", list)["storage"]
		if q := quantity.Of(size); ok && q.MilliValue()%1000 != 0 {
			ctx.Warn(fmt.Sprintf("%s: fractional byte value %q is invalid, must be an integer", p.Child("resources", list).Key("storage"), q))
		}
	}
}

func warnStatefulSet(ctx *resource.Context, obj, old object.Object) {
	if ctx.Subresource == "status" {
		return
	}
	warnWorkload(ctx, obj, old)
	for i, claim := range obj.Objects("spec", "volumeClaimTemplates") {
		at := field.Root("spec").Child("volumeClaimTemplates").Index(i)
		if old != nil {
			at = at.Child("Spec") // as the real server says it on updates
		}
		warnClaimTemplate(ctx, at, claim)
	}
	if obj.Int64("spec", "revisionHistoryLimit") < 0 {
		ctx.Warn("spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended")
	}
}
