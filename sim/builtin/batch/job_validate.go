package batch

import (
	"fmt"

	"github.com/kubesim/kubesim/sim/builtin/gotext"
	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/podspec"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/selector"
)

// Limits of indexed Jobs: what fits into status.completedIndexes.
const (
	manyCompletions = 100_000
	manyParallel    = 10_000
	manyFailed      = 10_000
	maxManagedBy    = 63
	cronNameMax     = 52
)

// validateJob checks a Job; old is nil for a new one.
func validateJob(ctx *resource.Context, obj, old object.Object) field.ErrorList {
	spec := obj.At("spec")
	errs := validateGeneratedSelector(obj, old)
	errs = append(errs, validateJobSpec(ctx, spec, old.At("spec"))...)
	if n := spec.Int64("completions"); spec.String("completionMode") == "Indexed" && n > 0 {
		host := fmt.Sprintf("%s-%d", obj.Name(), n-1)
		if len(field.DNS1123Label(host)) > 0 {
			errs = append(errs, field.Invalid(field.Root("metadata").Child("name"), obj.Name(),
				"will not able to create pod with invalid DNS label: "+host))
		}
	}
	return errs
}

// validateGeneratedSelector checks that the labels and the selector of a Job are the generated ones.
func validateGeneratedSelector(obj, old object.Object) field.ErrorList {
	raw := obj.Map("spec", "selector")
	if obj.True("spec", "manualSelector") || raw == nil {
		return nil
	}
	expected := map[string]string{labelLegacyControllerUID: obj.UID(), labelLegacyJobName: obj.Name()}
	keys := []string{labelLegacyControllerUID, labelLegacyJobName}
	before := old.Map("spec", "template", "metadata", "labels")
	if old == nil || before[labelJobName] != nil && before[labelControllerUID] != nil {
		keys = append(keys, labelControllerUID, labelJobName)
		expected[labelControllerUID], expected[labelJobName] = obj.UID(), obj.Name()
	}
	labels := obj.Map("spec", "template", "metadata", "labels")
	var errs field.ErrorList
	for _, key := range keys {
		at := field.Root("spec").Child("template", "metadata", "labels").Key(key)
		detail := "must be '" + expected[key] + "'"
		if actual, ok := labels[key]; !ok {
			errs = append(errs, field.Required(at, detail))
		} else if actual != expected[key] {
			errs = append(errs, field.Invalid(at, labels, detail))
		}
	}
	if s, err := selector.FromLabelSelector(raw); err == nil && !s.Matches(expected) {
		errs = append(errs, field.Invalid(field.Root("spec").Child("selector"), kind.SelectorValue(raw), "`selector` not auto-generated"))
	}
	return errs
}

// validateJobSpec checks the spec of a Job, with its selector.
func validateJobSpec(ctx *resource.Context, spec, old object.Object) field.ErrorList {
	p, raw := field.Root("spec"), spec.Map("selector")
	errs := validateJobTemplate(ctx, p, spec, old)
	if raw == nil {
		errs = append(errs, field.Required(p.Child("selector"), ""))
	} else {
		options := selector.ValidateOptions{AllowInvalidValues: selector.HasInvalidValue(old.Map("selector"))}
		errs = append(errs, selector.ValidateLabelSelector(p.Child("selector"), raw, options)...)
	}
	if s, err := selector.FromLabelSelector(raw); err == nil {
		errs = append(errs, podspec.ValidateSelected(p.Child("template"), s, spec.At("template"))...)
	}
	return errs
}

// validateJobTemplate checks the spec of a Job at p but for its selector, which the Jobs of a CronJob get later.
func validateJobTemplate(ctx *resource.Context, p field.Path, spec, old object.Object) field.ErrorList {
	at := field.CursorOn(p, spec)
	for _, name := range []string{"parallelism", "completions", "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished",
		"backoffLimitPerIndex", "maxFailedIndexes"} {
		at.Child(name).NonNegative()
	}
	at.Child("backoffLimitPerIndex").RequireIf(at.Has("maxFailedIndexes") && !at.Has("backoffLimitPerIndex"), "when maxFailedIndexes is specified")
	if manager := at.Child("managedBy"); manager.Has() {
		manager.Report(field.DomainPrefixedPath(manager.Path(), manager.String())).MaxBytes(maxManagedBy)
	}
	validateCompletionMode(at)
	validateFailurePolicy(at)
	validateSuccessPolicy(at)
	if replacement := at.Child("podReplacementPolicy"); at.Has("podFailurePolicy") {
		replacement.OneOf("Failed")
	} else {
		replacement.OneOf("Failed", "TerminatingOrFailed")
	}
	at.Report(podspec.ValidateTemplateUpdate(ctx, spec.Map("template"), old.Map("template"), at.Path("template")))
	restarts := at.Child("template", "spec", "restartPolicy")
	switch policy := restarts.String(); {
	case policy == "Always", policy == "":
		restarts.Missing(`valid values: "OnFailure", "Never"`)
	case policy != "OnFailure" && policy != "Never":
		restarts.NotSupported(policy, "OnFailure", "Never")
	case policy != "Never" && at.Has("podFailurePolicy"):
		restarts.Invalid(field.Enum(policy), `only "Never" is supported when podFailurePolicy is specified`)
	}
	return at.Errors()
}

func validateCompletionMode(at field.Cursor) {
	switch mode := at.Child("completionMode").OneOf("NonIndexed", "Indexed"); {
	case mode.String() == "Indexed":
		validateIndexed(at)
	case mode.String() == "NonIndexed" || !mode.Has():
		for _, name := range []string{"backoffLimitPerIndex", "maxFailedIndexes"} {
			at.Child(name).InvalidIf(at.Has(name), "requires indexed completion mode")
		}
	}
}

func validateIndexed(at field.Cursor) {
	parallelism, failed := at.Child("parallelism"), at.Child("maxFailedIndexes")
	completions, ok := at.Int("completions")
	at.Child("completions").RequireIf(!ok, "when completion mode is Indexed")
	parallelism.Max(manyCompletions, "must be less than or equal to 100000 when completion mode is Indexed")
	if ok {
		failed.Max(completions, "must be less than or equal to completions")
	}
	failed.Max(manyCompletions, "must be less than or equal to 100000")
	if completions <= manyCompletions || !at.Has("backoffLimitPerIndex") {
		return
	}
	const high = "must be less than or equal to 10000 when completions are above 100000 and used with backoff limit per index"
	failed.RequireIf(!failed.Has(), "must be specified when completions is above 100000")
	parallelism.Max(manyParallel, high)
	failed.Max(manyFailed, high)
}

// validateJobUpdate checks a changed Job. The real server checks the spec twice, so causes repeat.
func validateJobUpdate(ctx *resource.Context, obj, old object.Object) field.ErrorList {
	if ctx.Subresource == "status" {
		return validateJobStatus(obj, old)
	}
	spec, before, p := obj.At("spec"), old.At("spec"), field.Root("spec")
	errs := validateJobSpec(ctx, spec, before)
	errs = append(errs, validateCompletionsChange(p.Child("completions"), spec, before)...)
	errs = append(errs, kind.ImmutableSelector(p.Child("selector"), spec.Map("selector"), before.Map("selector"))...)
	errs = append(errs, validateJobTemplateChange(ctx, p, obj, old)...)
	errs = append(errs, kind.Immutable(p.Child("completionMode"), spec["completionMode"], before["completionMode"])...)
	errs = append(errs, immutableStruct(p.Child("podFailurePolicy"), "PodFailurePolicy", spec["podFailurePolicy"], before["podFailurePolicy"])...)
	errs = append(errs, kind.Immutable(p.Child("backoffLimitPerIndex"), spec["backoffLimitPerIndex"], before["backoffLimitPerIndex"])...)
	errs = append(errs, kind.Immutable(p.Child("managedBy"), spec["managedBy"], before["managedBy"])...)
	return append(errs, immutableStruct(p.Child("successPolicy"), "SuccessPolicy", spec["successPolicy"], before["successPolicy"])...)
}

// immutableStruct checks that the value at p is the one it was, and prints it as the Go type of that name.
func immutableStruct(p field.Path, t gotext.Type, v, old any) field.ErrorList {
	m, ok := v.(map[string]any)
	before, had := old.(map[string]any)
	if ok == had && gotext.Same(t, m, before) {
		return nil
	}
	var shown any
	if ok {
		shown = gotext.Value(t, m)
	}
	return field.ErrorList{field.Invalid(p, shown, field.TextImmutable)}
}

func validateCompletionsChange(p field.Path, spec, old object.Object) field.ErrorList {
	if spec.String("completionMode") != "Indexed" {
		return kind.Immutable(p, spec["completions"], old["completions"])
	}
	n, ok := spec.Int("completions")
	if !ok || object.SemanticEqual(spec["completions"], old["completions"]) || n == spec.Int64("parallelism") {
		return nil
	}
	return field.ErrorList{field.Invalid(p, n, "can only be modified in tandem with spec.parallelism")}
}

// validateJobTemplateChange lets a suspended Job that has no pods change where and with which resources they will run
// (KEP-2926, KEP-5440); otherwise the template is immutable.
func validateJobTemplateChange(ctx *resource.Context, p field.Path, obj, old object.Object) field.ErrorList {
	template := obj.At("spec", "template")
	before := object.Object(object.Copy(old.Map("spec", "template")).(map[string]any))
	suspended := old.True("spec", "suspend")
	idle := suspended && (!old.Has("status", "startTime") || jobIs(old, "Suspended")) && old.Int64("status", "active") == 0
	pod, podBefore := template.At("spec"), before.At("spec")
	if !idle || pod == nil || podBefore == nil {
		return immutableStruct(p.Child("template"), gotext.PodTemplateSpec.In(ctx.Server.Minor), map[string]any(template), map[string]any(before))
	}
	kind.KeepOld(podBefore, pod, "nodeSelector", "tolerations", "schedulingGates")
	adoptNodeAffinity(podBefore, pod)
	for _, list := range []string{"containers", "initContainers"} {
		adoptResources(podBefore.Objects(list), pod.Objects(list))
	}
	return immutableStruct(p.Child("template.spec"), gotext.PodSpec.In(ctx.Server.Minor), map[string]any(pod), map[string]any(podBefore))
}

// adoptNodeAffinity gives old the node affinity of pod.
func adoptNodeAffinity(old, pod object.Object) {
	if v, ok := pod.Get("affinity", "nodeAffinity"); ok && v != nil {
		old.Set(object.Copy(v), "affinity", "nodeAffinity")
		return
	}
	old.Remove("affinity", "nodeAffinity")
}

// adoptResources gives the containers of old the resources of the ones in their place, if these have the same names.
func adoptResources(old, containers []object.Object) {
	if len(old) != len(containers) {
		return
	}
	for i := range old {
		if old[i].String("name") == containers[i].String("name") {
			kind.KeepOld(old[i], containers[i], "resources")
		}
	}
}
