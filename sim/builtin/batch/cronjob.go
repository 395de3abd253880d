package batch

import (
	"time"

	"github.com/kubesim/kubesim/sim/builtin/gotext"
	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/podspec"
	"github.com/kubesim/kubesim/sim/builtin/table"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/selector"
)

func cronJobKind() kind.Kind {
	return kind.Kind{
		Storage: "cronjobs.batch",
		Gates:   podspec.Gates("spec.jobTemplate.spec.template.spec."),
		Strategy: resource.Strategy{
			Checks:    resource.Checks{Subresources: map[string][]resource.Check{"status": {resource.CheckKind}}},
			HasStatus: true, SpecChanged: gotext.SpecChanged("CronJobSpec"),
			Validate:       validateNewCronJob,
			ValidateUpdate: validateCronJobUpdate,
			Warn:           warnCronJob,
		},
		Defaults: kind.EveryVersion(defaultCronJob),
		Columns: append([]table.Column{
			table.Name(), table.Doc("Schedule", docBatch+"CronJobSpec", "schedule"), table.Doc("Timezone", docBatch+"CronJobSpec", "timeZone"),
			table.Doc("Suspend", docBatch+"CronJobSpec", "suspend").Of("boolean"),
			table.Doc("Active", docBatch+"CronJobStatus", "active").Of("integer"),
			table.Doc("Last Schedule", docBatch+"CronJobStatus", "lastScheduleTime"), table.Age(),
		}, podspec.TemplateColumns(docBatch+"JobSpec")...),
		Row: cronJobRow,
	}
}

func cronJobRow(now time.Time, obj object.Object) resource.Row {
	suspend := table.Unset
	if v, ok := obj.Bool("spec", "suspend"); ok {
		suspend = map[bool]string{true: "True", false: "False"}[v]
	}
	last := table.None
	if at := obj.String("status", "lastScheduleTime"); at != "" {
		last = table.SinceCell(now, at)
	}
	zone := table.None
	if obj.Has("spec", "timeZone") {
		zone = obj.String("spec", "timeZone")
	}
	template := []string{"spec", "jobTemplate", "spec", "template"}
	return table.Row(obj.Name(), obj.String("spec", "schedule"), zone, suspend, int64(len(obj.List("status", "active"))), last,
		table.AgeCell(now, obj), podspec.ContainersCell(obj, "name", template...), podspec.ContainersCell(obj, "image", template...),
		selector.FormatLabelSelector(obj.Map("spec", "jobTemplate", "spec", "selector")))
}

// defaultCronJob fills in the defaults of a CronJob; the Job in its template gets those of its pods only.
func defaultCronJob(obj object.Object) {
	obj.SetDefault(map[string]any{}, "spec")
	spec := obj.At("spec")
	kind.SetEmpty(spec, "concurrencyPolicy", "Allow")
	spec.SetDefault(false, "suspend")
	spec.SetDefault(int64(3), "successfulJobsHistoryLimit")
	spec.SetDefault(int64(1), "failedJobsHistoryLimit")
	spec.SetDefault(map[string]any{}, "jobTemplate", "spec", "template")
	podspec.DefaultTemplate(spec.Map("jobTemplate", "spec", "template"))
	defaultFailurePolicy(spec.At("jobTemplate", "spec"))
}

func warnCronJob(ctx *resource.Context, obj, old object.Object) {
	if ctx.Subresource == "status" {
		return
	}
	if old == nil {
		podspec.WarnNames(ctx, obj)
	}
	if old == nil || obj.Generation() != old.Generation() {
		kind.WarnAll(ctx, jobSpecWarnings(ctx, obj.At("spec", "jobTemplate", "spec"), field.Root("spec").Child("jobTemplate", "spec")))
	}
	if old != nil && hasTimeZone(obj.String("spec", "schedule")) {
		ctx.Warn("cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details")
	}
}

func validateNewCronJob(ctx *resource.Context, obj object.Object) field.ErrorList {
	errs := validateCronJobSpec(ctx, obj, nil)
	if len(obj.Name()) > cronNameMax { // the names of its Jobs have 11 more characters
		errs = append(errs, field.Invalid(field.Root("metadata").Child("name"), obj.Name(), field.CharactersText(cronNameMax)))
	}
	return errs
}

func validateCronJobUpdate(ctx *resource.Context, obj, old object.Object) field.ErrorList {
	if ctx.Subresource == "status" {
		return nil
	}
	return validateCronJobSpec(ctx, obj, old)
}

func validateCronJobSpec(ctx *resource.Context, obj, old object.Object) field.ErrorList {
	at, before := field.CursorAt(obj, old, "spec"), old.At("spec")
	zone, job := at.Child("timeZone"), at.Child("jobTemplate", "spec")
	if schedule := at.Child("schedule").Declared(ctx.Since(37), field.Cursor.Given); schedule.Has() {
		at.Report(validateSchedule(schedule.Path(), schedule.String(), hasTimeZone(before.String("schedule")), zone.Has()))
	}
	at.Child("startingDeadlineSeconds").NonNegative()
	if zone.Has() && (old == nil || zone.Changed()) {
		at.Report(validateTimeZone(zone.Path(), zone.String()))
	}
	at.Child("concurrencyPolicy").Required().OneOf("Allow", "Forbid", "Replace")
	at.Report(validateJobTemplate(ctx, job.Path(), job.Object(), before.At("jobTemplate", "spec")))
	if s := job.Child("selector"); s.Has() {
		s.Invalid(kind.SelectorValue(s.Object()), "`selector` will be auto-generated")
	}
	if job.True("manualSelector") {
		job.Child("manualSelector").NotSupported(true, "nil", "false")
	}
	at.Child("successfulJobsHistoryLimit").NonNegative()
	at.Child("failedJobsHistoryLimit").NonNegative()
	return at.Errors()
}
