package batch

import (
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/builtin/gotext"
	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/podspec"
	"github.com/kubesim/kubesim/sim/builtin/table"
	"github.com/kubesim/kubesim/sim/cron"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

func cronJobKind() kind.Kind {
	return kind.Kind{
		Storage: "cronjobs.batch",
		Gates: append(podspec.Gates("spec.jobTemplate.spec.template.spec."),
			kind.Gate{Name: "WorkloadWithJob", Fields: []string{"spec.jobTemplate.spec.scheduling"}}),
		Strategy: resource.Strategy{
			Checks:    resource.Checks{Subresources: map[string][]resource.Check{"status": {resource.CheckKind}}},
			HasStatus: true, SpecChanged: gotext.SpecChanged(gotext.CronJobSpec),
			Warn: warnCronJob,
		},
		Validate: validateCronJob, ValidateStatus: func(*resource.Context, field.Cursor) {},
		Defaults: kind.EveryVersion(defaultCronJob),
		Columns: append([]table.Column{
			table.Name(), table.Doc("Schedule", docBatch+"CronJobSpec", "schedule").At("spec", "schedule"),
			table.Doc("Timezone", docBatch+"CronJobSpec", "timeZone").Given(table.None, "spec", "timeZone"),
			table.Doc("Suspend", docBatch+"CronJobSpec", "suspend").Of("boolean").Cell(cellSuspend),
			table.Doc("Active", docBatch+"CronJobStatus", "active").Count("status", "active"),
			table.Doc("Last Schedule", docBatch+"CronJobStatus", "lastScheduleTime").CellNow(cellLastSchedule), table.Age(),
		}, podspec.TemplateColumns(docBatch+"JobSpec", "spec", "jobTemplate", "spec")...),
	}
}

func cellSuspend(obj object.Object) any {
	if v, ok := obj.Bool("spec", "suspend"); ok {
		return map[bool]string{true: "True", false: "False"}[v]
	}
	return table.Unset
}

func cellLastSchedule(now time.Time, obj object.Object) any {
	if at := obj.String("status", "lastScheduleTime"); at != "" {
		return table.SinceCell(now, at)
	}
	return table.None
}

// defaultCronJob sets the defaults of a CronJob. The Job template gets only the defaults of its pod template and of its
// failure policy.
func defaultCronJob(obj object.Object) {
	spec := kind.ObjectAt(obj, "spec")
	kind.SetEmpty(spec, "Allow", "concurrencyPolicy")
	spec.SetDefault(false, "suspend")
	spec.SetDefault(int64(3), "successfulJobsHistoryLimit")
	spec.SetDefault(int64(1), "failedJobsHistoryLimit")
	podspec.DefaultTemplate(kind.ObjectAt(spec, "jobTemplate", "spec", "template"))
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
		warnJobSpec(ctx, obj.At("spec", "jobTemplate", "spec"), field.Root("spec").Child("jobTemplate", "spec"))
	}
	if old != nil && hasTimeZone(obj.String("spec", "schedule")) {
		ctx.Warn("cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details")
	}
}

func validateCronJob(ctx *resource.Context, at field.Cursor) {
	validateCronJobSpec(ctx, at.Child("spec"))
	name := at.Child("metadata", "name")
	name.InvalidIf(!at.Updates() && len(name.String()) > cronNameMax, field.CharactersText(cronNameMax)) // the names of a CronJob's Jobs are 11 characters longer
}

func validateCronJobSpec(ctx *resource.Context, at field.Cursor) {
	zone, job := at.Child("timeZone"), at.Child("jobTemplate", "spec")
	if schedule := at.Child("schedule").Declared(ctx.Since(37), field.Cursor.Given); schedule.Has() {
		validateSchedule(schedule, hasTimeZone(at.Old().String("schedule")), zone.Has())
	}
	at.Child("startingDeadlineSeconds").NonNegative()
	if zone.Has() && (!zone.Updates() || zone.Changed()) {
		validateTimeZone(zone)
	}
	at.Child("concurrencyPolicy").Required().OneOf("Allow", "Forbid", "Replace")
	validateJobTemplate(ctx, job)
	if s := job.Child("selector"); s.Has() {
		kind.InvalidSelector(s, "`selector` will be auto-generated")
	}
	if job.True("manualSelector") {
		job.Child("manualSelector").NotSupported(true, "nil", "false")
	}
	kind.NonNegative(at, "successfulJobsHistoryLimit", "failedJobsHistoryLimit")
}

// hasTimeZone reports whether a schedule contains a time zone.
func hasTimeZone(schedule string) bool { return strings.Contains(schedule, "TZ") }

// validateSchedule checks spec.schedule. allowTZ is true if the stored schedule already contains a time zone.
func validateSchedule(at field.Cursor, allowTZ, timeZoneSet bool) {
	_, err := cron.Parse(at.String())
	at.CheckError(err)
	named := hasTimeZone(at.String())
	at.InvalidIf(named && allowTZ && timeZoneSet, "cannot use both timeZone field and TZ or CRON_TZ in schedule")
	at.InvalidIf(named && !allowTZ, "cannot use TZ or CRON_TZ in schedule, use timeZone field instead")
}

// validateTimeZone checks the name of a time zone (RFC 6557 and the file "theory" of the IANA database).
func validateTimeZone(at field.Cursor) {
	zone := at.String()
	if zone == "" {
		at.Invalid(zone, "timeZone must be nil or non-empty string")
		return
	}
	for part := range strings.SplitSeq(zone, "/") {
		if !isTimeZonePart(part) {
			at.Invalid(zone, "unknown time zone "+zone)
			return
		}
	}
	at.InvalidIf(strings.EqualFold(zone, "Local"), "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones")
	at.CheckError(cron.CheckZone(zone))
}

func isTimeZonePart(part string) bool {
	if part == "" || len(part) > 14 || part == "." || part == ".." || part[0] == '-' {
		return false
	}
	return !strings.ContainsFunc(part, func(c rune) bool {
		return !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.ContainsRune(".-_+", c))
	})
}
