package batch

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/controller/workload"
	"github.com/kubesim/kubesim/sim/object"
)

// cleanUp deletes the oldest finished Jobs that exceed the history limits (cleanupFinishedJobs).
func (j *cronJob) cleanUp() {
	for _, kept := range []struct{ limit, end string }{{"successfulJobsHistoryLimit", "Complete"}, {"failedJobsHistoryLimit", "Failed"}} {
		limit, limited := j.Object.Int("spec", kept.limit)
		if !limited {
			continue
		}
		var ended []object.Object
		for _, job := range j.children {
			if finished(job) == kept.end {
				ended = append(ended, job)
			}
		}
		slices.SortStableFunc(ended, func(a, b object.Object) int {
			from, to := a.String("status", "startTime"), b.String("status", "startTime")
			if (from == "") != (to == "") {
				return strings.Compare(to, from) // Jobs that have not started are last
			}
			return cmp.Or(strings.Compare(from, to), strings.Compare(a.Name(), b.Name()))
		})
		for _, job := range ended[:max(len(ended)-int(limit), 0)] {
			j.delete(job)
		}
	}
}

// delete deletes a Job and its pods, and reports whether it succeeded.
func (j *cronJob) delete(job object.Object) bool {
	key := controller.Key{Namespace: job.Namespace(), Name: job.Name()}
	if s := j.API.Delete(jobs, key, controller.Preconditions{Propagation: "Background"}); s != nil {
		j.warn("FailedDelete", "Deleted job: "+s.Message)
		return false
	}
	j.strike(job.UID())
	j.dirty = true
	j.say("SuccessfulDelete", "Deleted job "+job.Name())
	return true
}

// listed reports whether status.active contains a Job.
func (j *cronJob) listed(uid string) bool {
	return slices.ContainsFunc(j.status.Objects("active"), func(ref object.Object) bool { return ref.String("uid") == uid })
}

// strike removes a Job from status.active.
func (j *cronJob) strike(uid string) {
	left := slices.DeleteFunc(j.status.List("active"), func(v any) bool { return object.As(v).String("uid") == uid })
	if delete(j.status, "active"); len(left) > 0 {
		j.status["active"] = left
	}
}

// observe updates the status with the Jobs that have ended, and records events.
func (j *cronJob) observe() {
	for _, job := range j.children {
		end, listed := finished(job), j.listed(job.UID())
		switch {
		case end == "" && !listed:
			live := j.API.Live(cronJobs, j.Object.Namespace(), j.Object.Name())
			if slices.ContainsFunc(live.Objects("status", "active"), func(ref object.Object) bool { return ref.String("uid") == job.UID() }) {
				j.Object, j.status = live, live.Copy().At("status")
				continue
			}
			j.warn("UnexpectedJob", "Saw a job that the controller did not create or forgot: "+job.Name())
		case end != "" && listed:
			j.strike(job.UID())
			j.say("SawCompletedJob", "Saw completed job: "+job.Name()+", condition: "+end)
			j.dirty = true
		}
		if at := job.String("status", "completionTime"); end == "Complete" && at != "" &&
			workload.TimeOf(at).After(workload.TimeOf(j.status.String("lastSuccessfulTime"))) {
			j.status["lastSuccessfulTime"], j.dirty = at, true
		}
	}
}

// missing removes Jobs that no longer exist from status.active.
func (j *cronJob) missing() {
	for _, ref := range j.status.Objects("active") {
		known := func(job object.Object) bool { return job.UID() == ref.String("uid") }
		if slices.ContainsFunc(j.children, known) || j.API.Live(jobs, j.Object.Namespace(), ref.String("name")) != nil {
			continue
		}
		j.say("MissingJob", "Active job went missing: "+ref.String("name"))
		j.strike(ref.String("uid"))
		j.dirty = true
	}
}
