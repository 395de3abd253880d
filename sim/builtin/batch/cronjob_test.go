package batch

import (
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/builtin/kindtest"
)

func TestCronSchedules(t *testing.T) {
	tests := []struct{ schedule, want string }{
		{"* * * * *", ""},
		{"*/5 0-12/2 1,15 JAN-mar ?", ""},
		{"@daily", ""},
		{"@every 1h30m", ""},
		{"TZ=UTC 0 0 * * *", ""},
		{"x", "expected exactly 5 fields, found 1: [x]"},
		{"* * * * * *", "expected exactly 5 fields, found 6: [* * * * * *]"},
		{"60 * * * *", "end of range (60) above maximum (59): 60"},
		{"* 5-2 * * *", "beginning of range (5) beyond end of range (2): 5-2"},
		{"* * 0 * *", "beginning of range (0) below minimum (1): 0"},
		{"* * * foo *", `failed to parse int from foo: strconv.Atoi: parsing "foo": invalid syntax`},
		{"*/0 * * * *", "step of range should be a positive number: */0"},
		{"1-2-3 * * * *", "too many hyphens: 1-2-3"},
		{"1/2/3 * * * *", "too many slashes: 1/2/3"},
		{"* * * * 7", "end of range (7) above maximum (6): 7"},
		{"@never", "unrecognized descriptor: @never"},
		{"@every soon", `failed to parse duration @every soon: time: invalid duration "soon"`},
		{"TZ=Nowhere 0 0 * * *", "provided bad location Nowhere: unknown time zone Nowhere"},
		{"TZ=UTC", "invalid schedule format: runtime error: slice bounds out of range [:-1]"},
	}
	for _, tt := range tests {
		t.Run(tt.schedule, func(t *testing.T) {
			is := is.New(t)
			got := ""
			if err := checkCron(tt.schedule); err != nil {
				got = err.Error()
			}
			is.Equal(got, tt.want) // text of the real parser
		})
	}
}

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
	is.Equal(obj.String("spec", "jobTemplate", "spec", "template", "spec", "schedulerName"), "default-scheduler") // its pods have
}
