package batch

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/kubesim/kubesim/sim/builtin/gotext"
	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/podspec"
	"github.com/kubesim/kubesim/sim/builtin/table"
	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
)

// docBatch is the prefix of the definition names of batch/v1 types.
const docBatch = "io.k8s.api.batch.v1."

const jobPropagation = "child pods are preserved by default when jobs are deleted; " +
	"set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning"

// Labels of a Job's pods that refer to the Job. Those without a prefix are older.
const (
	labelJobName             = "batch.kubernetes.io/job-name"
	labelControllerUID       = "batch.kubernetes.io/controller-uid"
	labelLegacyJobName       = "job-name"
	labelLegacyControllerUID = "controller-uid"
)

func jobKind() kind.Kind {
	return kind.Kind{
		Storage: "jobs.batch",
		Gates:   append(podspec.Gates("spec.template.spec."), kind.Gate{Name: "WorkloadWithJob", Fields: []string{"spec.scheduling"}}),
		Strategy: resource.Strategy{
			Checks:    resource.Checks{Update: []resource.Check{resource.CheckMeta, resource.CheckFirst, resource.CheckMetaUpdate, resource.CheckKind}},
			HasStatus: true, OrphansByDefault: true, PropagationWarning: jobPropagation, SpecChanged: gotext.SpecChanged(gotext.JobSpec),
			PrepareForCreate: prepareJob, ReadsMore: labelledLate, DefaultsLate: podspec.Unlabelled,
			Warn: warnJob,
			Fields: resource.Fields{{Name: "status.successful", Text: func(obj object.Object) string {
				return strconv.FormatInt(obj.Int64("status", "succeeded"), 10)
			}}},
		},
		Validate: func(ctx *resource.Context, at field.Cursor) {
			if at.Updates() {
				validateJobUpdate(ctx, at)
			} else {
				validateJob(ctx, at)
			}
		},
		ValidateStatus: validateJobStatus, ValidateFirst: validateJobFirst,
		Defaults: kind.EveryVersion(defaultJob),
		Unknown: func(_ schema.GVK, label string) string {
			return fmt.Sprintf("field label %q not supported for Job", label)
		},
		Columns: append([]table.Column{
			table.Name(), table.Text("Status", "Status of the job.").Cell(cellJobStatus),
			table.Doc("Completions", docBatch+"JobStatus", "succeeded").Cell(cellCompletions),
			table.Text("Duration", "Time required to complete the job.").CellNow(cellDuration), table.Age(),
		}, podspec.TemplateColumns(docBatch+"JobSpec", "spec")...),
	}
}

// defaultJob sets the defaults of a Job. A Job without labels gets those of its template.
func defaultJob(obj object.Object) {
	spec := kind.ObjectAt(obj, "spec")
	if !spec.Has("completions") && !spec.Has("parallelism") {
		spec["completions"] = int64(1)
	}
	spec.SetDefault(int64(1), "parallelism")
	backoff := int64(6)
	if spec.Has("backoffLimitPerIndex") {
		backoff = math.MaxInt32
	}
	spec.SetDefault(backoff, "backoffLimit")
	spec.SetDefault("NonIndexed", "completionMode")
	spec.SetDefault(false, "suspend")
	replacement := "TerminatingOrFailed"
	if spec.Has("podFailurePolicy") {
		replacement = "Failed"
	}
	spec.SetDefault(replacement, "podReplacementPolicy")
	spec.SetDefault(false, "manualSelector")
	podspec.DefaultTemplateOf(obj)
	defaultFailurePolicy(spec)
	labelJob(obj)
}

// labelledLate reports whether a Job has the labels of its template only because its selector was generated.
func labelledLate(obj object.Object) bool {
	labels := obj.Map("metadata", "labels")
	for name := range labels { // order does not matter
		switch name {
		case labelJobName, labelControllerUID, labelLegacyJobName, labelLegacyControllerUID:
		default:
			return false
		}
	}
	return len(labels) > 0 && object.Equal(labels, obj.Map("spec", "template", "metadata", "labels"))
}

// labelJob gives a Job without labels those of its template. In the real server, a new Job and its template then share one map, so
// the Job also gets the labels that are added to the template when the selector is generated. If these are the template's only
// labels, the Job gets them after validation.
func labelJob(obj object.Object) {
	labels := obj.Map("spec", "template", "metadata", "labels")
	if len(labels) == 0 || len(obj.Map("metadata", "labels")) > 0 {
		return
	}
	if obj.UID() != "" {
		labels = object.Copy(labels).(map[string]any)
	}
	obj.Set(labels, "metadata", "labels")
}

func defaultFailurePolicy(spec object.Object) {
	for _, rule := range spec.Objects("podFailurePolicy", "rules") {
		for _, pattern := range rule.Objects("onPodConditions") {
			kind.SetEmpty(pattern, "True", "status")
		}
	}
}

// prepareJob generates the selector of a new Job unless manualSelector is set.
func prepareJob(ctx *resource.Context, obj object.Object) {
	if obj.True("spec", "manualSelector") {
		return
	}
	labels := object.Object{}
	if m := obj.Map("spec", "template", "metadata", "labels"); m != nil {
		labels = m
	} else {
		obj.Set(map[string]any(labels), "spec", "template", "metadata", "labels")
	}
	for _, key := range []string{labelLegacyJobName, labelJobName} {
		labels.SetDefault(obj.Name(), key)
	}
	for _, key := range []string{labelLegacyControllerUID, labelControllerUID} {
		labels.SetDefault(obj.UID(), key)
	}
	obj.SetDefault(obj.UID(), "spec", "selector", "matchLabels", labelControllerUID)
}

func warnJob(ctx *resource.Context, obj, old object.Object) {
	if old == nil {
		podspec.WarnNames(ctx, obj)
	}
	if old == nil || obj.Generation() != old.Generation() {
		warnJobSpec(ctx, obj.At("spec"), field.Root("spec"))
	}
}

// warnJobSpec adds the warnings about a Job spec. p is the path of the spec.
func warnJobSpec(ctx *resource.Context, spec object.Object, p field.Path) {
	if spec.String("completionMode") == "Indexed" && spec.Int64("completions") > manyCompletions && spec.Int64("parallelism") > manyParallel {
		ctx.Warn(p.String() + ": In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail")
	}
	podspec.WarnTemplate(ctx, spec.Map("template"), p.Child("template"))
}

// cellJobStatus returns a cell that shows the status which the Job's conditions imply.
func cellJobStatus(obj object.Object) any {
	for _, name := range []string{"Complete", "Failed"} {
		if jobIs(obj, name) {
			return name
		}
	}
	if obj.DeletionTimestamp() != "" {
		return "Terminating"
	}
	for _, name := range []string{"Suspended", "FailureTarget", "SuccessCriteriaMet"} {
		if jobIs(obj, name) {
			return name
		}
	}
	return "Running"
}

// jobIs reports whether the given condition of a Job is True.
func jobIs(obj object.Object, condition string) bool {
	return kind.HasCondition(obj, condition, "True")
}

func cellCompletions(obj object.Object) any {
	succeeded := obj.Int64("status", "succeeded")
	if n, ok := obj.Int("spec", "completions"); ok {
		return fmt.Sprintf("%d/%d", succeeded, n)
	}
	if n := obj.Int64("spec", "parallelism"); n > 1 {
		return fmt.Sprintf("%d/1 of %d", succeeded, n)
	}
	return fmt.Sprintf("%d/1", succeeded)
}

// cellDuration returns a cell that shows how long a Job took or has been running.
func cellDuration(now time.Time, obj object.Object) any {
	start, err := time.Parse(time.RFC3339, obj.String("status", "startTime"))
	if err != nil {
		return ""
	}
	if end, err := time.Parse(time.RFC3339, obj.String("status", "completionTime")); err == nil {
		now = end
	}
	return codec.HumanDuration(now.Sub(start))
}
