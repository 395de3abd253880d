package batch

import (
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/builtin/kindtest"
	"github.com/kubesim/kubesim/sim/object"
)

const jobJSON = `{"metadata":{"name":"j","namespace":"n","uid":"u1","generation":1},
	"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i:1"}]}}}}`

// storedJobJSON is a stored Job, with the fields that the server generates.
const storedJobJSON = `{"metadata":{"name":"j","namespace":"n","uid":"u1","generation":1},"spec":{
	"completions":1,"parallelism":1,"selector":{"matchLabels":{"batch.kubernetes.io/controller-uid":"u1"}},
	"template":{"metadata":{"labels":{"batch.kubernetes.io/controller-uid":"u1","batch.kubernetes.io/job-name":"j","controller-uid":"u1","job-name":"j"}},
	"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i:1"}]}}}}`

func TestJobDefaults(t *testing.T) {
	rt := kindtest.Rules{Kinds: served, Storage: "jobs.batch", Base: jobJSON}
	tests := []struct{ patch, want string }{
		{`{}`, `{"backoffLimit":6,"completionMode":"NonIndexed","completions":1,"manualSelector":false,"parallelism":1,"podReplacementPolicy":"TerminatingOrFailed","suspend":false}`},
		{`{"spec":{"parallelism":3}}`, `{"backoffLimit":6,"completionMode":"NonIndexed","manualSelector":false,"parallelism":3,"podReplacementPolicy":"TerminatingOrFailed","suspend":false}`},
		{`{"spec":{"backoffLimitPerIndex":1,"podFailurePolicy":{"rules":[{"action":"Ignore","onPodConditions":[{"type":"X"}]}]}}}`,
			`{"backoffLimit":2147483647,"backoffLimitPerIndex":1,"completionMode":"NonIndexed","completions":1,"manualSelector":false,"parallelism":1,` +
				`"podFailurePolicy":{"rules":[{"action":"Ignore","onPodConditions":[{"status":"True","type":"X"}]}]},"podReplacementPolicy":"Failed","suspend":false}`},
	}
	for _, tt := range tests {
		t.Run(tt.patch, func(t *testing.T) {
			is := is.New(t)
			obj := rt.Make(t, tt.patch)
			again := obj.Copy()
			defaultJob(again)
			is.Equal(again, obj) // defaults are idempotent
			obj.Remove("spec", "template")
			is.Equal(string(object.JSON(obj["spec"])), tt.want) // same defaults as the real server
		})
	}
}

func TestJobSelector(t *testing.T) {
	is := is.New(t)
	rt := kindtest.Rules{Kinds: served, Storage: "jobs.batch", Base: jobJSON}
	obj, errs, _ := rt.Result(t, kindtest.Case{})
	is.Equal(errs, "")                                                                                                        // generated values are valid
	is.Equal(string(object.JSON(obj.Map("spec", "selector"))), `{"matchLabels":{"batch.kubernetes.io/controller-uid":"u1"}}`) // selects by uid
	const labels = `{"batch.kubernetes.io/controller-uid":"u1","batch.kubernetes.io/job-name":"j","controller-uid":"u1","job-name":"j"}`
	is.Equal(string(object.JSON(obj.Map("spec", "template", "metadata", "labels"))), labels) // four labels
	is.Equal(string(object.JSON(obj.Map("metadata", "labels"))), labels)                     // and on the Job, which has none
	obj, _, _ = rt.Result(t, kindtest.Case{Patch: `{"metadata":{"uid":null},"spec":{"template":{"metadata":{"labels":{"a":"b"}}}}}`})
	is.Equal(obj.Labels()["job-name"], "j") // a new Job shares the labels of its template
	obj, _, _ = rt.Result(t, kindtest.Case{Patch: `{"metadata":{"labels":{"x":"y"}}}`})
	is.Equal(len(obj.Labels()), 1) // its own labels are unchanged
	obj, errs, _ = rt.Result(t, kindtest.Case{Patch: `{"spec":{"manualSelector":true,"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}}}}}`})
	is.Equal(errs, "")                                                                   // a manual selector is fine
	is.Equal(len(obj.Map("spec", "template", "metadata", "labels")), 1)                  // nothing is added
	is.Equal(served()["jobs.batch"].Strategy.Fields.Text("status.successful", obj), "0") // field selectors support it
}

func TestJobRules(t *testing.T) {
	const manual = `"manualSelector":true,"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}}}`
	kindtest.Rules{Kinds: served, Storage: "jobs.batch", Base: jobJSON}.Run(t, []kindtest.Case{
		{Name: "always", Patch: `{"spec":{"template":{"spec":{"restartPolicy":null}}}}`,
			Want: `spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"`},
		{Name: "own selector", Patch: `{"spec":{"selector":{"matchLabels":{"a":"b"}}}}`,
			Want: "spec.selector: Invalid value: {\"matchLabels\":{\"a\":\"b\",\"batch.kubernetes.io/controller-uid\":\"u1\"}}: `selector` not auto-generated\n" +
				"spec.template.metadata.labels: Invalid value: {\"batch.kubernetes.io/controller-uid\":\"u1\",\"batch.kubernetes.io/job-name\":\"j\",\"controller-uid\":\"u1\",\"job-name\":\"j\"}: `selector` does not match template `labels`"},
		{Name: "own label", Patch: `{"spec":{` + manual + `,"manualSelector":false,"selector":null,"template":{"metadata":{"labels":{"job-name":"x"}}}}}`,
			Want: `spec.template.metadata.labels[job-name]: Invalid value: {"batch.kubernetes.io/controller-uid":"u1","batch.kubernetes.io/job-name":"j","controller-uid":"u1","job-name":"x"}: must be 'j'`},
		{Name: "negative", Patch: `{"spec":{"parallelism":-1,"completions":-2,"backoffLimit":-3}}`,
			Want: "spec.parallelism: Invalid value: -1: must be greater than or equal to 0\n" +
				"spec.completions: Invalid value: -2: must be greater than or equal to 0\n" +
				"spec.backoffLimit: Invalid value: -3: must be greater than or equal to 0"},
		{Name: "indexed", Patch: `{"spec":{"completionMode":"Indexed","parallelism":100001}}`,
			Want: "spec.completions: Required value: when completion mode is Indexed\n" +
				"spec.parallelism: Invalid value: 100001: must be less than or equal to 100000 when completion mode is Indexed"},
		{Name: "not indexed", Patch: `{"spec":{"backoffLimitPerIndex":1,"maxFailedIndexes":2,"successPolicy":{"rules":[{"succeededCount":1}]}}}`,
			Want: "spec.backoffLimitPerIndex: Invalid value: 1: requires indexed completion mode\n" +
				"spec.maxFailedIndexes: Invalid value: 2: requires indexed completion mode\n" +
				`spec.successPolicy: Invalid value: {"Rules":[{"SucceededIndexes":null,"SucceededCount":1}]}: requires indexed completion mode`},
		{Name: "mode", Patch: `{"spec":{"completionMode":"Other","podReplacementPolicy":"X","managedBy":"x"}}`,
			Want: `spec.managedBy: Invalid value: "x": must be a domain-prefixed path (such as "acme.io/foo")` + "\n" +
				`spec.completionMode: Unsupported value: "Other": supported values: "NonIndexed", "Indexed"` + "\n" +
				`spec.podReplacementPolicy: Unsupported value: "X": supported values: "Failed", "TerminatingOrFailed"`},
		{Name: "success", Patch: `{"spec":{"completionMode":"Indexed","completions":5,"successPolicy":{"rules":[{},{"succeededIndexes":"1,3-7"},{"succeededIndexes":"0-2","succeededCount":4}]}}}`,
			Want: "spec.successPolicy.rules[0]: Required value: at least one of succeededCount or succeededIndexes must be specified\n" +
				`spec.successPolicy.rules[1].succeededIndexes: Invalid value: "1,3-7": error parsing succeededIndexes: too large index: "7"` + "\n" +
				"spec.successPolicy.rules[2].succeededCount: Invalid value: 4: must be less than or equal to 3 (the number of indexes in the specified succeededIndexes field)"},
		{Name: "failure", Patch: `{"spec":{"podFailurePolicy":{"rules":[{"action":"","onExitCodes":{"operator":"In","containerName":"x","values":[3,0,3]}},{"action":"FailIndex"},{"action":"X","onPodConditions":[{"type":"a b"}]}]}}}`,
			Want: `spec.podFailurePolicy.rules[0].action: Required value: valid values: ["Count" "FailIndex" "FailJob" "Ignore"]` + "\n" +
				`spec.podFailurePolicy.rules[0].onExitCodes.containerName: Invalid value: "x": must be one of the container or initContainer names in the pod template` + "\n" +
				"spec.podFailurePolicy.rules[0].onExitCodes.values[1]: Invalid value: 0: must not be 0 for the In operator\n" +
				"spec.podFailurePolicy.rules[0].onExitCodes.values[2]: Duplicate value: 3\n" +
				"spec.podFailurePolicy.rules[0].onExitCodes.values: Invalid value: [3,0,3]: must be ordered\n" +
				`spec.podFailurePolicy.rules[1].action: Invalid value: "FailIndex": requires the backoffLimitPerIndex to be set` + "\n" +
				"spec.podFailurePolicy.rules[1]: Invalid value: specifying one of OnExitCodes and OnPodConditions is required\n" +
				`spec.podFailurePolicy.rules[2].action: Unsupported value: "X": supported values: "Count", "FailIndex", "FailJob", "Ignore"` + "\n" +
				`spec.podFailurePolicy.rules[2].onPodConditions[0].type: Invalid value: "a b": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`},
		{Name: "host name", Patch: `{"metadata":{"name":"a.b"},"spec":{"completionMode":"Indexed","completions":3}}`,
			Want: `metadata.name: Invalid value: "a.b": will not able to create pod with invalid DNS label: a.b-2`},
	})
}

func TestJobUpdates(t *testing.T) {
	rt := kindtest.Rules{Kinds: served, Storage: "jobs.batch", Base: storedJobJSON}
	const suspended = `{"spec":{"suspend":true}}`
	rt.Run(t, []kindtest.Case{
		{Name: "allowed", Old: `{}`, Patch: `{"spec":{"parallelism":4,"backoffLimit":2,"suspend":true,"ttlSecondsAfterFinished":9}}`},
		{Name: "completions", Old: `{}`, Patch: `{"spec":{"completions":4}}`, Want: "spec.completions: Invalid value: 4: field is immutable"},
		{Name: "elastic", Old: `{"spec":{"completionMode":"Indexed","completions":2}}`, Patch: `{"spec":{"completionMode":"Indexed","completions":4,"parallelism":4}}`},
		{Name: "not in tandem", Old: `{"spec":{"completionMode":"Indexed","completions":2}}`, Patch: `{"spec":{"completionMode":"Indexed","completions":4,"parallelism":3}}`,
			Want: "spec.completions: Invalid value: 4: can only be modified in tandem with spec.parallelism"},
		{Name: "mode", Old: `{}`, Patch: `{"spec":{"completionMode":"Indexed"}}`, Want: `spec.completionMode: Invalid value: "Indexed": field is immutable`},
		{Name: "suspended", Old: suspended, Patch: `{"spec":{"suspend":true,"template":{"metadata":{"annotations":{"a":"b"}},"spec":{"nodeSelector":{"a":"b"},"tolerations":[{"operator":"Exists"}],` +
			`"affinity":{"nodeAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":1,"preference":{"matchExpressions":[{"key":"a","operator":"Exists"}]}}]}},"containers":[{"name":"c","image":"i:1","resources":{"limits":{"cpu":"1"}}}]}}}}`},
		{Name: "policies", Old: `{"spec":{"podFailurePolicy":{"rules":[{"action":"Ignore","onPodConditions":[{"type":"X"}]}]}}}`,
			Patch: `{"spec":{"podFailurePolicy":{"rules":[{"action":"Count","onPodConditions":[{"type":"X"}]}]}}}`,
			Want:  `spec.podFailurePolicy: Invalid value: {"Rules":[{"Action":"Count","OnExitCodes":null,"OnPodConditions":[{"Type":"X","Status":"True"}]}]}: field is immutable`},
	})
	is := is.New(t)
	_, errs, _ := rt.Result(t, kindtest.Case{Old: `{}`, Patch: `{"spec":{"template":{"spec":{"nodeSelector":{"a":"b"}}}}}`})
	const start, end = `spec.template: Invalid value: {"labels":{"batch.kubernetes.io/controller-uid":"u1",`, `: field is immutable`
	is.Equal(errs[:len(start)], start)       // the template is printed as it is in memory
	is.Equal(errs[len(errs)-len(end):], end) // and it cannot change
	_, errs, _ = rt.Result(t, kindtest.Case{Old: suspended, Patch: `{"spec":{"suspend":true,"template":{"spec":{"hostNetwork":true}}}}`})
	const podSpec = `spec.template.spec: Invalid value: {"Volumes":null,`
	is.Equal(errs[:len(podSpec)], podSpec) // a suspended Job may change few fields
}

// TestJobUpdatesWithoutGates checks that without the gates, which an older minor lacks, a suspended Job keeps its
// resources, and after its start also its scheduling directives.
func TestJobUpdatesWithoutGates(t *testing.T) {
	is := is.New(t)
	rules := kindtest.On("1.36", map[string]bool{"MutablePodResourcesForSuspendedJobs": false, "MutableSchedulingDirectivesForSuspendedJobs": false}, Kinds)
	rules.Storage, rules.Base = "jobs.batch", storedJobJSON
	const fresh = `{"spec":{"suspend":true}}`
	const stopped = `{"spec":{"suspend":true},"status":{"startTime":"2026-01-01T00:00:00Z","conditions":[{"type":"Suspended","status":"True"}]}}`
	const moved = `{"spec":{"suspend":true,"template":{"metadata":{"annotations":{"a":"b"}},"spec":{"nodeSelector":{"a":"b"}}}}}`
	const resized = `{"spec":{"suspend":true,"template":{"spec":{"containers":[{"name":"c","image":"i:1","resources":{"limits":{"cpu":"1"}}}]}}}}`
	for _, x := range []struct {
		old, patch string
		fine       [2]bool // whether the change is valid without the gates, and with them
	}{{fresh, moved, [2]bool{true, true}}, {fresh, resized, [2]bool{false, true}}, {stopped, moved, [2]bool{false, true}}, {stopped, resized, [2]bool{false, true}}} {
		for i, rt := range []kindtest.Rules{rules, {Kinds: served, Storage: "jobs.batch", Base: storedJobJSON}} {
			_, errs, _ := rt.Result(t, kindtest.Case{Old: x.old, Patch: x.patch})
			is.Equal(errs == "", x.fine[i])
			is.True(errs == "" || strings.HasPrefix(errs, "spec.template: Invalid value: ") && strings.HasSuffix(errs, ": field is immutable"))
		}
	}
}

func TestJobStatusRules(t *testing.T) {
	const complete = `{"type":"Complete","status":"True"}`
	const met = `{"type":"SuccessCriteriaMet","status":"True"}`
	status := func(fields string) string { return `{"status":{` + fields + `}}` }
	kindtest.Rules{Kinds: served, Storage: "jobs.batch", Base: storedJobJSON}.Run(t, []kindtest.Case{
		{Name: "done", Sub: "status", Old: `{}`, Patch: status(`"startTime":"2026-01-01T00:00:00Z","completionTime":"2026-01-01T00:01:00Z","succeeded":1,"conditions":[` + met + `,` + complete + `]`)},
		{Name: "complete alone", Sub: "status", Old: `{}`, Patch: status(`"conditions":[` + complete + `]`),
			Want: "status.completionTime: Required value: completionTime is required for Complete jobs\n" +
				"status.conditions: Invalid value: cannot set Complete=True condition without the SuccessCriteriaMet=true condition\n" +
				"status.startTime: Required value: startTime is required for finished job"},
		{Name: "failed alone", Sub: "status", Old: `{}`, Patch: status(`"startTime":"2026-01-01T00:00:00Z","active":1,"ready":2,"conditions":[{"type":"Failed","status":"True"}]`),
			Want: "status.conditions: Invalid value: cannot set Failed=True condition without the FailureTarget=true condition\n" +
				"status.active: Invalid value: 1: active>0 is invalid for finished job\n" +
				"status.ready: Invalid value: 2: cannot set more ready pods than active"},
		{Name: "fewer than none", Sub: "status", Old: `{}`, Patch: status(`"startTime":"2026-01-01T00:00:00Z","active":-1`),
			Want: "status.active: Invalid value: -1: must be greater than or equal to 0"}, // a missing ready is not 0
		{Name: "times", Sub: "status", Old: `{}`, Patch: status(`"startTime":"2026-01-01T00:00:00Z","completionTime":"2025-01-01T00:01:00Z"`),
			Want: "status.completionTime: Invalid value: \"2025-01-01T00:01:00Z\": cannot set completionTime when there is no Complete=True condition\n" +
				"status.completionTime: Invalid value: \"2025-01-01T00:01:00Z\": must be equal to or after `startTime`"},
		{Name: "backwards", Sub: "status", Old: status(`"failed":2,"succeeded":2,"startTime":"2026-01-01T00:00:00Z","conditions":[` + met + `]`), Patch: status(`"failed":1,"succeeded":1,"startTime":"2026-01-02T00:00:00Z"`),
			Want: "status.failed: Invalid value: 1: cannot decrease the failed counter\n" +
				"status.succeeded: Invalid value: 1: cannot decrease the succeeded counter\n" +
				`status.startTime: Invalid value: "2026-01-02T00:00:00Z": field is immutable for unsuspended job once set` + "\n" +
				"status.conditions: Invalid value: cannot disable the SuccessCriteriaMet=True condition"},
		{Name: "broken before", Sub: "status", Old: status(`"conditions":[` + complete + `]`), Patch: status(`"active":0,"conditions":[` + complete + `]`)},
		{Name: "indexes", Sub: "status", Old: `{}`, Patch: status(`"completedIndexes":"0","failedIndexes":"0"`),
			Want: `status.completedIndexes: Invalid value: "0": cannot set non-empty completedIndexes when non-indexed completion mode` + "\n" +
				`status.failedIndexes: Invalid value: "0": cannot set non-null failedIndexes when backoffLimitPerIndex is null` + "\n" +
				`status.failedIndexes: Invalid value: "0": failedIndexes and completedIndexes overlap at index: 0`},
		{Name: "uncounted", Sub: "status", Old: `{}`, Patch: status(`"uncountedTerminatedPods":{"succeeded":["a",""],"failed":["a"]}`),
			Want: `status.uncountedTerminatedPods.succeeded[1]: Invalid value: "": must not be empty` + "\n" +
				`status.uncountedTerminatedPods.failed[0]: Duplicate value: "a"`},
	})
}

func TestIndexes(t *testing.T) {
	tests := []struct {
		text  string
		count int64
		err   string
	}{
		{"", 0, ""},
		{"1,3-5,9", 5, ""},
		{"1,1", 0, "non-increasing order, previous: 1, current: 1"},
		{"3-3", 0, "non-increasing order, previous: 3, current: 3"},
		{"1-2-3", 0, `the fragment "1-2-3" violates the requirement that an index interval can have at most two parts separated by '-'`},
		{"x", 0, `cannot convert string to integer for index: "x"`},
		{"1-", 0, `cannot convert string to integer for index: ""`},
		{"10", 0, `too large index: "10"`},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			is := is.New(t)
			n, err := countIndexes(tt.text, 10)
			is.Equal(n, tt.count) // the number of indexes
			if tt.err != "" {
				is.Equal(err.Error(), tt.err) // the exact error
			} else {
				is.NoErr(err) // the list is valid
			}
		})
	}
}

func TestBatchWarnings(t *testing.T) {
	const name = "metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended: [must not contain dots]"
	kindtest.Rules{Kinds: served, Storage: "cronjobs.batch", Base: cronJSON}.Warns(t, []kindtest.Case{
		{Name: "none"},
		{Name: "name", Patch: `{"metadata":{"name":"a.b"}}`, Want: name},
		{Name: "zone", Old: `{"spec":{"schedule":"TZ=UTC * * * * *"}}`, Patch: `{"spec":{"schedule":"TZ=UTC * * * * *"}}`,
			Want: "cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details"},
	})
	kindtest.Rules{Kinds: served, Storage: "jobs.batch", Base: jobJSON}.Warns(t, []kindtest.Case{
		{Name: "many", Patch: `{"spec":{"completionMode":"Indexed","completions":100001,"parallelism":10001}}`,
			Want: "spec: In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail"},
	})
}

func TestBatchCells(t *testing.T) {
	is := is.New(t)
	job := kindtest.Rules{Kinds: served, Storage: "jobs.batch", Base: storedJobJSON}
	is.Equal(job.Cells(t, `{}`), `["j","Running","0/1","","60s","c","i:1","batch.kubernetes.io/controller-uid=u1"]`)                    // not started
	is.Equal(job.Cells(t, `{"spec":{"completions":null,"parallelism":3},"status":{"startTime":"2026-01-02T03:04:00Z","succeeded":1}}`), // running
		`["j","Running","1/1 of 3","5s","60s","c","i:1","batch.kubernetes.io/controller-uid=u1"]`)
	is.Equal(job.Cells(t, `{"status":{"startTime":"2026-01-02T03:00:00Z","completionTime":"2026-01-02T03:02:00Z","conditions":[{"type":"Complete","status":"True"}]}}`), // done
		`["j","Complete","0/1","2m","60s","c","i:1","batch.kubernetes.io/controller-uid=u1"]`)
	cron := kindtest.Rules{Kinds: served, Storage: "cronjobs.batch", Base: cronJSON}
	is.Equal(cron.Cells(t, `{"status":{"active":[{}],"lastScheduleTime":"2026-01-02T03:04:00Z"},"spec":{"timeZone":"UTC"}}`),
		`["c","* * * * *","UTC","False",1,"5s","60s","c","i:1","<none>"]`) // same output as the real server
}

// TestShapesOfBatch runs every rule on objects with missing values.
func TestShapesOfBatch(t *testing.T) {
	for _, rt := range []kindtest.Rules{
		{Kinds: served, Storage: "jobs.batch", Base: storedJobJSON},
		{Kinds: served, Storage: "cronjobs.batch", Base: cronJSON},
	} {
		t.Run(rt.Storage, func(t *testing.T) { rt.DoNotPanic(t) })
	}
}
