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

// Limits of indexed Jobs, whose completedIndexes must not become too long.
const (
	manyCompletions = 100_000
	manyParallel    = 10_000
	manyFailed      = 10_000
	maxManagedBy    = 63
	cronNameMax     = 52
)

// validateJob checks a new Job, and before 1.37 also a changed one.
func validateJob(ctx *resource.Context, at field.Cursor) {
	validateGeneratedSelector(at)
	validateJobSpec(ctx, at.Child("spec"))
	validateHostNames(at)
}

// validateHostNames checks that the hostnames of an Indexed Job's pods are valid. They contain the name of the Job
// (validateNameAllowsCompletions).
func validateHostNames(at field.Cursor) {
	spec, name := at.Child("spec"), at.Child("metadata", "name").OrEmpty()
	if n := spec.Int64("completions"); spec.String("completionMode") == "Indexed" && n > 0 {
		host := fmt.Sprintf("%s-%d", name.String(), n-1)
		name.InvalidIf(len(field.DNS1123Label(host)) > 0, "will not able to create pod with invalid DNS label: "+host)
	}
}

// validateGeneratedSelector checks that the labels and the selector of a Job are the generated ones.
func validateGeneratedSelector(at field.Cursor) {
	obj, raw, labels := at.Object(), at.Child("spec", "selector"), at.Child("spec", "template", "metadata", "labels")
	if obj.True("spec", "manualSelector") || !raw.Has() {
		return
	}
	expected := map[string]string{labelLegacyControllerUID: obj.UID(), labelLegacyJobName: obj.Name()}
	keys := []string{labelLegacyControllerUID, labelLegacyJobName}
	if before := labels.Old(); !at.Updates() || before[labelJobName] != nil && before[labelControllerUID] != nil {
		keys = append(keys, labelControllerUID, labelJobName)
		expected[labelControllerUID], expected[labelJobName] = obj.UID(), obj.Name()
	}
	for _, key := range keys {
		detail := "must be '" + expected[key] + "'"
		if actual, ok := labels.Object()[key]; !ok {
			labels.Key(key).Missing(detail)
		} else if actual != expected[key] {
			labels.Key(key).Invalid(labels.Value(), detail)
		}
	}
	if s, err := selector.FromLabelSelector(raw.Object()); err == nil && !s.Matches(expected) {
		kind.InvalidSelector(raw, "`selector` not auto-generated")
	}
}

// validateJobSpec checks the spec of a Job, including its selector.
func validateJobSpec(ctx *resource.Context, at field.Cursor) {
	labels, template := at.Child("selector"), at.Child("template")
	validateJobTemplate(ctx, at)
	if labels.RequireIf(!labels.Has(), "").Has() {
		kind.CheckSelector(labels, selector.ValidateOptions{AllowInvalidValues: selector.HasInvalidValue(labels.Old())})
	}
	if s, err := selector.FromLabelSelector(labels.Object()); err == nil {
		podspec.CheckSelected(template, s)
	}
}

// validateJobTemplate checks the spec of a Job except for its selector. The Job template of a CronJob has no selector yet.
func validateJobTemplate(ctx *resource.Context, at field.Cursor) {
	kind.NonNegative(at, "parallelism", "completions", "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished",
		"backoffLimitPerIndex", "maxFailedIndexes")
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
	validateScheduling(ctx, at)
	template := at.Child("template")
	podspec.CheckTemplate(ctx, template)
	restarts := template.Child("spec", "restartPolicy")
	switch policy := restarts.String(); {
	case policy == "Always", policy == "":
		restarts.Missing(`valid values: "OnFailure", "Never"`)
	case policy != "OnFailure" && policy != "Never":
		restarts.NotSupported(policy, "OnFailure", "Never")
	case policy != "Never" && at.Has("podFailurePolicy"):
		restarts.Invalid(field.Enum(policy), `only "Never" is supported when podFailurePolicy is specified`)
	}
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

// validateJobFirst checks a changed Job as if it were new. Errors are then reported twice. Servers since 1.37 do not do this.
func validateJobFirst(ctx *resource.Context, at field.Cursor) {
	if !ctx.Since(37) {
		validateJob(ctx, at)
	}
}

// validateJobUpdate checks that an update of a Job is allowed.
func validateJobUpdate(ctx *resource.Context, all field.Cursor) {
	at := all.Child("spec")
	validateJobSpec(ctx, at)
	validateCompletionsChange(at)
	kind.CheckSelectorKept(at.Child("selector"))
	validateJobTemplateChange(ctx, at.Child("template"), all.Old())
	at.Child("completionMode").Immutable()
	kind.ImmutablePointer(at.Child("podFailurePolicy"), gotext.PodFailurePolicy)
	at.Child("backoffLimitPerIndex").Immutable()
	at.Child("managedBy").Immutable()
	kind.ImmutablePointer(at.Child("successPolicy"), gotext.SuccessPolicy)
	validatePolicyKept(at.Child("scheduling", "schedulingPolicy"))
	if ctx.Since(37) {
		validateHostNames(all)
	}
}

func validateCompletionsChange(spec field.Cursor) {
	completions := spec.Child("completions")
	if spec.String("completionMode") != "Indexed" {
		completions.Immutable()
		return
	}
	n, ok := completions.Int()
	completions.InvalidIf(ok && completions.Changed() && n != spec.Int64("parallelism"), "can only be modified in tandem with spec.parallelism")
}

// validateJobTemplateChange checks changes to the pod template, which is immutable except for a suspended Job without
// active pods. Such a Job may change its scheduling directives (KEP-2926) and resources (KEP-5440). Without
// MutableSchedulingDirectivesForSuspendedJobs, scheduling directives cannot change once the Job has been started.
func validateJobTemplateChange(ctx *resource.Context, at field.Cursor, old object.Object) {
	before := object.Object(object.Copy(old.Map("spec", "template")).(map[string]any))
	suspended, started := old.True("spec", "suspend"), old.Has("status", "startTime")
	idle := suspended && (!started || jobIs(old, "Suspended")) && old.Int64("status", "active") == 0
	moves, resizes := suspended && !started, idle && ctx.Enabled("MutablePodResourcesForSuspendedJobs")
	if ctx.Enabled("MutableSchedulingDirectivesForSuspendedJobs") {
		moves = idle
	}
	pod, podBefore := at.Child("spec").Object(), before.At("spec")
	if pod != nil && podBefore != nil && moves {
		kind.KeepOld(podBefore, pod, "nodeSelector", "tolerations", "schedulingGates")
		kind.KeepAt(podBefore, pod, "affinity", "nodeAffinity")
		kind.KeepAt(before, at.Object(), "metadata", "labels")
		kind.KeepAt(before, at.Object(), "metadata", "annotations")
	}
	if pod == nil || podBefore == nil || !resizes {
		kind.ImmutableStruct(at.Was(before), gotext.PodTemplateSpec.In(ctx.Server.Minor))
		return
	}
	for _, list := range []string{"containers", "initContainers"} {
		adoptResources(podBefore.Objects(list), pod.Objects(list))
	}
	kind.ImmutableStruct(at.Child("spec").Was(podBefore), gotext.PodSpec.In(ctx.Server.Minor))
}

// adoptResources copies resources to the containers of old if the containers have the same names in the same order.
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
