package fake_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/object"
)

const (
	inBatch   = "/apis/batch/v1/namespaces/default/"
	podsPath  = "/api/v1/namespaces/default/pods"
	jobPods   = `"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}`
	succeeded = `{"status":{"phase":"Succeeded"}}`
	failed    = `{"status":{"phase":"Failed"}}`
)

// pass lets the duration d pass and waits until all work is done.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// end sets the status of the pods that are pending or running.
func (c client) end(status string) {
	c.t.Helper()
	for _, p := range c.must("GET", podsPath, "").Objects("items") {
		if phase := p.String("status", "phase"); phase == "Pending" || phase == "Running" {
			if code, _, text := c.ask("PATCH", podsPath+"/"+p.Name()+"/status", "application/merge-patch+json", "", status); code != 200 {
				c.t.Fatal(text)
			}
		}
	}
}

// verdicts returns the types and reasons of the conditions of an object that are True.
func verdicts(obj object.Object) (all []string) {
	for _, x := range obj.Objects("status", "conditions") {
		if x.String("status") == "True" {
			all = append(all, x.String("type")+" "+x.String("reason"))
		}
	}
	return all
}

func TestJob(t *testing.T) {
	live(t, func(t *testing.T, is *is.I, c client) {
		c.must("POST", inBatch+"jobs", `{"metadata":{"name":"work"},"spec":{"completions":3,"parallelism":2,`+jobPods+`}}`)
		is.Equal(len(c.names(podsPath)), 2)
		for range 3 {
			c.end(succeeded)
			pass(2 * time.Second)
		}
		job := c.must("GET", inBatch+"jobs/work", "")
		is.Equal(verdicts(job), []string{"SuccessCriteriaMet CompletionsReached", "Complete CompletionsReached"})
		is.Equal(job.Int64("status", "succeeded"), int64(3))
		is.Equal(len(job.Map("status", "uncountedTerminatedPods")), 0)
		is.Equal(c.reasons(), []string{"SuccessfulCreate", "SuccessfulCreate", "SuccessfulCreate", "Completed"})
		for _, p := range c.must("GET", podsPath, "").Objects("items") {
			is.Equal(len(p.Finalizers()), 0) // the pods have been counted
		}
	})
}

func TestIndexedJob(t *testing.T) {
	live(t, func(t *testing.T, is *is.I, c client) {
		c.must("POST", inBatch+"jobs", `{"metadata":{"name":"work"},"spec":{"completions":5,"parallelism":5,"completionMode":"Indexed",`+jobPods+`}}`)
		for _, p := range c.must("GET", podsPath, "").Objects("items") {
			index := p.Annotations()["batch.kubernetes.io/job-completion-index"]
			is.Equal(p.Labels()["batch.kubernetes.io/job-completion-index"], index)
			is.Equal(p.String("spec", "hostname"), "work-"+index)
			is.True(strings.HasPrefix(p.Name(), "work-"+index+"-"))
			is.Equal(p.Objects("spec", "containers")[0].Objects("env")[0].String("name"), "JOB_COMPLETION_INDEX")
			if index != "3" {
				c.ask("PATCH", podsPath+"/"+p.Name()+"/status", "application/merge-patch+json", "", succeeded)
			}
		}
		pass(2 * time.Second)
		is.Equal(c.must("GET", inBatch+"jobs/work", "").String("status", "completedIndexes"), "0-2,4")
	})
}

// TestJobBackoff checks that a failed pod is replaced after 10 s, and the next one after 20 s, until the backoff limit
// is exceeded.
func TestJobBackoff(t *testing.T) {
	live(t, func(t *testing.T, is *is.I, c client) {
		c.must("POST", inBatch+"jobs", `{"metadata":{"name":"work"},"spec":{"backoffLimit":2,`+jobPods+`}}`)
		for i, pause := range []time.Duration{10 * time.Second, 20 * time.Second} {
			c.end(`{"status":{"phase":"Failed","containerStatuses":[{"name":"c","image":"i","imageID":"","ready":false,"restartCount":0,` +
				`"state":{"terminated":{"exitCode":1,"finishedAt":"` + object.Time(time.Now()) + `"}}}]}}`)
			pass(pause - time.Second)
			is.Equal(len(c.names(podsPath)), i+1) // not replaced yet
			pass(2 * time.Second)
			is.Equal(len(c.names(podsPath)), i+2)
		}
		c.end(failed)
		pass(3 * time.Second)
		is.Equal(verdicts(c.must("GET", inBatch+"jobs/work", "")), []string{"FailureTarget BackoffLimitExceeded", "Failed BackoffLimitExceeded"})
	})
}

// TestPodFailurePolicy checks the effect of a pod's exit code on its Job.
func TestPodFailurePolicy(t *testing.T) {
	const rule = `{"action":"ACTION","onExitCodes":{"operator":"In","values":[42]}}`
	for _, test := range []struct {
		action, spec string
		conditions   []string
		failed       int64
		lost         string // status.failedIndexes
	}{
		{"FailJob", "", []string{"FailureTarget PodFailurePolicy", "Failed PodFailurePolicy"}, 1, ""},
		{"Ignore", "", nil, 0, ""},
		{"Count", "", []string{"FailureTarget BackoffLimitExceeded", "Failed BackoffLimitExceeded"}, 1, ""},
		{"FailIndex", `"completionMode":"Indexed","completions":1,"backoffLimitPerIndex":3,`,
			[]string{"FailureTarget FailedIndexes", "Failed FailedIndexes"}, 1, "0"},
	} {
		t.Run(test.action, func(t *testing.T) {
			live(t, func(t *testing.T, is *is.I, c client) {
				spec := test.spec
				if spec == "" {
					spec = `"backoffLimit":0,`
				}
				c.must("POST", inBatch+"jobs", `{"metadata":{"name":"work"},"spec":{`+spec+`"podFailurePolicy":{"rules":[`+
					strings.Replace(rule, "ACTION", test.action, 1)+`]},`+jobPods+`}}`)
				c.end(`{"status":{"phase":"Failed","containerStatuses":[{"name":"c","image":"i","imageID":"","ready":false,"restartCount":0,` +
					`"state":{"terminated":{"exitCode":42,"finishedAt":"` + object.Time(time.Now()) + `"}}}]}}`)
				pass(4 * time.Second)
				job := c.must("GET", inBatch+"jobs/work", "")
				is.Equal(verdicts(job), test.conditions)
				is.Equal(job.Int64("status", "failed"), test.failed)
				is.Equal(job.String("status", "failedIndexes"), test.lost)
			})
		})
	}
}

func TestSuccessPolicy(t *testing.T) {
	live(t, func(t *testing.T, is *is.I, c client) {
		c.must("POST", inBatch+"jobs", `{"metadata":{"name":"work"},"spec":{"completionMode":"Indexed","completions":3,"parallelism":3,`+
			`"successPolicy":{"rules":[{"succeededIndexes":"1-2","succeededCount":1}]},`+jobPods+`}}`)
		for _, name := range c.names(podsPath) {
			if strings.HasPrefix(name, "work-2-") {
				c.ask("PATCH", podsPath+"/"+name+"/status", "application/merge-patch+json", "", succeeded)
			}
		}
		pass(4 * time.Second)
		is.Equal(verdicts(c.must("GET", inBatch+"jobs/work", "")), []string{"SuccessCriteriaMet SuccessPolicy", "Complete SuccessPolicy"})
		is.Equal(len(c.names(podsPath)), 1) // the other pods were removed
	})
}

func TestSuspendedJob(t *testing.T) {
	live(t, func(t *testing.T, is *is.I, c client) {
		c.must("POST", inBatch+"jobs", `{"metadata":{"name":"work"},"spec":{"activeDeadlineSeconds":60,"suspend":true,`+jobPods+`}}`)
		pass(50 * time.Minute)
		is.Equal(verdicts(c.must("GET", inBatch+"jobs/work", "")), []string{"Suspended JobSuspended"})
		is.Equal(len(c.names(podsPath)), 0)
		c.mergePatch(inBatch+"jobs/work", `{"spec":{"suspend":false}}`)
		is.Equal(len(c.names(podsPath)), 1)
		pass(59 * time.Second)
		is.Equal(verdicts(c.must("GET", inBatch+"jobs/work", "")), nil) // activeDeadlineSeconds began again when the Job was resumed
		pass(4 * time.Second)
		is.Equal(verdicts(c.must("GET", inBatch+"jobs/work", "")), []string{"FailureTarget DeadlineExceeded", "Failed DeadlineExceeded"})
		is.Equal(c.reasons(), []string{"Suspended", "SuccessfulCreate", "Resumed", "SuccessfulDelete", "DeadlineExceeded"})
	})
}

// TestJobLags checks that the controller does not repeat an action whose effect it does not see yet: it neither creates
// pods again nor finishes the Job again.
func TestJobLags(t *testing.T) {
	live(t, func(t *testing.T, is *is.I, c client) {
		c.srv.Controllers.Lag("job-controller", "pods")
		c.must("POST", inBatch+"jobs", `{"metadata":{"name":"work"},"spec":{"completions":2,"parallelism":2,`+jobPods+`}}`)
		c.mergePatch(inBatch+"jobs/work", `{"spec":{"parallelism":3,"completions":2}}`)
		pass(time.Minute)
		is.Equal(len(c.names(podsPath)), 2)
		c.srv.Controllers.Resume("job-controller")
		c.end(succeeded)
		c.srv.Controllers.Lag("job-controller", "jobs.batch")
		pass(time.Minute)
		c.srv.Controllers.Resume("job-controller")
		pass(time.Minute)
		job := c.must("GET", inBatch+"jobs/work", "")
		is.Equal(job.Int64("status", "succeeded"), int64(2))
		is.Equal(c.reasons(), []string{"SuccessfulCreate", "SuccessfulCreate", "Completed"})
	})
}

// TestJobControllerCrashes checks that a Job continues after a crash of its controller.
func TestJobControllerCrashes(t *testing.T) {
	live(t, func(t *testing.T, is *is.I, c client) {
		c.must("POST", inBatch+"jobs", `{"metadata":{"name":"work"},"spec":{"completions":2,`+jobPods+`}}`)
		c.srv.Controllers.Crash("job-controller")
		c.end(succeeded)
		pass(time.Minute)
		is.Equal(len(c.names(podsPath)), 1)
		c.srv.Controllers.Start("job-controller")
		pass(2 * time.Second)
		c.end(succeeded)
		pass(3 * time.Second)
		is.Equal(verdicts(c.must("GET", inBatch+"jobs/work", "")), []string{"SuccessCriteriaMet CompletionsReached", "Complete CompletionsReached"})
	})
}

// TestJobDeleted checks that the pods of a deleted Job are deleted with it, although the controller no longer counts
// them.
func TestJobDeleted(t *testing.T) {
	live(t, func(t *testing.T, is *is.I, c client) {
		for _, how := range []string{"Background", "Foreground"} {
			c.must("POST", inBatch+"jobs", `{"metadata":{"name":"work"},"spec":{"parallelism":2,"completions":2,`+jobPods+`}}`)
			c.must("DELETE", inBatch+"jobs/work", `{"propagationPolicy":"`+how+`"}`)
			pass(3 * time.Second)
			is.Equal(len(c.names(inBatch+"jobs")), 0)
			is.Equal(len(c.names(podsPath)), 0)
		}
	})
}

// TestJobManagedBy checks that the controller does not touch a Job that another controller manages.
func TestJobManagedBy(t *testing.T) {
	live(t, func(t *testing.T, is *is.I, c client) {
		c.must("POST", inBatch+"jobs", `{"metadata":{"name":"work"},"spec":{"managedBy":"example.com/me",`+jobPods+`}}`)
		is.Equal(len(c.names(podsPath)), 0)
	})
}

func TestTTLAfterFinished(t *testing.T) {
	live(t, func(t *testing.T, is *is.I, c client) {
		c.must("POST", inBatch+"jobs", `{"metadata":{"name":"work"},"spec":{"ttlSecondsAfterFinished":60,`+jobPods+`}}`)
		c.end(succeeded)
		pass(59 * time.Second)
		is.Equal(len(c.names(inBatch+"jobs")), 1)
		pass(4 * time.Second)
		is.Equal(len(c.names(inBatch+"jobs")), 0)
		is.Equal(len(c.names(podsPath)), 0)
	})
}

const nightly = `{"metadata":{"name":"report"},"spec":{"schedule":"30 2 * * *",MORE"jobTemplate":{"spec":{` + jobPods + `}}}}`

func cronJob(more string) string { return strings.Replace(nightly, "MORE", more, 1) }

// TestCronJob checks that a CronJob creates its Jobs at the scheduled time. A bubble begins at midnight, UTC.
func TestCronJob(t *testing.T) {
	live(t, func(t *testing.T, is *is.I, c client) {
		c.must("POST", inBatch+"cronjobs", cronJob(`"successfulJobsHistoryLimit":1,`))
		pass(150 * time.Minute)
		is.Equal(len(c.names(inBatch+"jobs")), 0)
		pass(time.Second)
		jobs := c.names(inBatch + "jobs")
		is.Equal(jobs, []string{"report-15778230"}) // the name has the minutes since 1970
		cron := c.must("GET", inBatch+"cronjobs/report", "")
		is.Equal(cron.String("status", "lastScheduleTime"), "2000-01-01T02:30:00Z")
		is.Equal(cron.Objects("status", "active")[0].String("name"), jobs[0])
		c.end(succeeded)
		pass(3 * time.Second)
		cron = c.must("GET", inBatch+"cronjobs/report", "")
		is.Equal(len(cron.Objects("status", "active")), 0)
		is.Equal(cron.String("status", "lastSuccessfulTime"), "2000-01-01T02:30:01Z")
		pass(24 * time.Hour)
		c.end(succeeded)
		pass(3 * time.Second)
		is.Equal(c.names(inBatch+"jobs"), []string{"report-15779670"}) // the first Job was removed as history
		is.True(slices.Contains(c.reasons(), "SawCompletedJob"))
	})
}

// TestCronJobTimeZone checks that the schedule of a CronJob is in its time zone, which here is nine hours ahead.
func TestCronJobTimeZone(t *testing.T) {
	live(t, func(t *testing.T, is *is.I, c client) {
		c.must("POST", inBatch+"cronjobs", cronJob(`"timeZone":"Asia/Tokyo",`))
		pass(17*time.Hour + 30*time.Minute + time.Second)
		is.Equal(c.names(inBatch+"jobs"), []string{"report-15779130"})
		job := c.must("GET", inBatch+"jobs/report-15779130", "")
		is.Equal(job.Annotations()["batch.kubernetes.io/cronjob-scheduled-timestamp"], "2000-01-02T02:30:00+09:00")
	})
}

// TestConcurrencyPolicy checks what a CronJob does with a Job that is still running when the next one is due.
func TestConcurrencyPolicy(t *testing.T) {
	for policy, want := range map[string][]string{"Allow": {"report-15778230", "report-15779670"}, "Forbid": {"report-15778230"}, "Replace": {"report-15779670"}} {
		t.Run(policy, func(t *testing.T) {
			live(t, func(t *testing.T, is *is.I, c client) {
				c.must("POST", inBatch+"cronjobs", cronJob(`"concurrencyPolicy":"`+policy+`",`))
				pass(27 * time.Hour)
				is.Equal(c.names(inBatch+"jobs"), want)
				is.Equal(len(c.must("GET", inBatch+"cronjobs/report", "").Objects("status", "active")), len(want))
			})
		})
	}
}

// TestMissedStarts checks that one Job makes up for all missed times of a CronJob, unless the starting deadline has
// passed.
func TestMissedStarts(t *testing.T) {
	for _, test := range []struct {
		more, schedule string
		jobs           int
		reason         string
	}{
		{"", "0 * * * *", 1, "SuccessfulCreate"},
		{"", "* * * * *", 1, "TooManyMissedTimes"},
		{`"startingDeadlineSeconds":600,`, "0 0 * * *", 0, ""},
	} {
		t.Run(test.schedule+test.more, func(t *testing.T) {
			live(t, func(t *testing.T, is *is.I, c client) {
				body := strings.Replace(cronJob(`"suspend":true,`+test.more), "30 2 * * *", test.schedule, 1)
				c.must("POST", inBatch+"cronjobs", body)
				pass(30*time.Hour + 30*time.Minute)
				c.mergePatch(inBatch+"cronjobs/report", `{"spec":{"suspend":false}}`)
				synctest.Wait()
				is.Equal(len(c.names(inBatch+"jobs")), test.jobs)
				is.Equal(test.reason == "" || slices.Contains(c.reasons(), test.reason), true)
			})
		})
	}
}
