package batch

import (
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/builtin/kindtest"
)

const cronJSON = `{"metadata":{"name":"c","namespace":"n","generation":1},"spec":{"schedule":"* * * * *",
	"jobTemplate":{"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i:1"}]}}}}}}`

func TestCronJobRules(t *testing.T) {
	long := "a123456789b123456789c123456789d123456789e123456789f12"
	kindtest.Rules{Kinds: served, Storage: "cronjobs.batch", Base: cronJSON}.Run(t, []kindtest.Case{
		{Name: "minimal"},
		{Name: "no schedule", Patch: `{"spec":{"schedule":"","concurrencyPolicy":"Some","startingDeadlineSeconds":-1,"failedJobsHistoryLimit":-2}}`,
			Want: "spec.schedule: Required value\nspec.startingDeadlineSeconds: Invalid value: -1: must be greater than or equal to 0\n" +
				`spec.concurrencyPolicy: Unsupported value: "Some": supported values: "Allow", "Forbid", "Replace"` + "\n" +
				"spec.failedJobsHistoryLimit: Invalid value: -2: must be greater than or equal to 0"},
		{Name: "bad schedule", Patch: `{"spec":{"schedule":"x"}}`, Want: `spec.schedule: Invalid value: "x": expected exactly 5 fields, found 1: [x]`},
		{Name: "zone in schedule", Patch: `{"spec":{"schedule":"TZ=UTC * * * * *"}}`,
			Want: `spec.schedule: Invalid value: "TZ=UTC * * * * *": cannot use TZ or CRON_TZ in schedule, use timeZone field instead`},
		{Name: "zone", Patch: `{"spec":{"timeZone":"Europe/Berlin"}}`},
		{Name: "unknown zone", Patch: `{"spec":{"timeZone":"Mars/Base"}}`, Want: `spec.timeZone: Invalid value: "Mars/Base": unknown time zone Mars/Base`},
		{Name: "bad zone", Patch: `{"spec":{"timeZone":"../x"}}`, Want: `spec.timeZone: Invalid value: "../x": unknown time zone ../x`},
		{Name: "local", Patch: `{"spec":{"timeZone":"Local"}}`,
			Want: `spec.timeZone: Invalid value: "Local": timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones`},
		{Name: "empty zone", Patch: `{"spec":{"timeZone":""}}`, Want: `spec.timeZone: Invalid value: "": timeZone must be nil or non-empty string`},
		{Name: "long name", Patch: `{"metadata":{"name":"` + long + `"}}`, Want: `metadata.name: Invalid value: "` + long + `": must be no more than 52 characters`},
		{Name: "long name stays", Old: `{"metadata":{"name":"` + long + `"}}`, Patch: `{"metadata":{"name":"` + long + `"}}`},
		{Name: "selector", Patch: `{"spec":{"jobTemplate":{"spec":{"manualSelector":true,"selector":{"matchLabels":{"a":"b"}}}}}}`,
			Want: "spec.jobTemplate.spec.selector: Invalid value: {\"matchLabels\":{\"a\":\"b\"}}: `selector` will be auto-generated\n" +
				`spec.jobTemplate.spec.manualSelector: Unsupported value: true: supported values: "nil", "false"`},
		{Name: "template", Patch: `{"spec":{"jobTemplate":{"spec":{"template":{"spec":{"restartPolicy":"Always"}}}}}}`,
			Want: `spec.jobTemplate.spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"`},
	})
	is := is.New(t)
	obj := kindtest.Rules{Kinds: served, Storage: "cronjobs.batch", Base: cronJSON}.Make(t, "")
	is.Equal(obj.Int64("spec", "successfulJobsHistoryLimit"), int64(3))                                           // default
	is.True(!obj.Has("spec", "jobTemplate", "spec", "backoffLimit"))                                              // the Job has no defaults yet
	is.Equal(obj.String("spec", "jobTemplate", "spec", "template", "spec", "schedulerName"), "default-scheduler") // its pods have defaults
}
