package batch

import (
	"time"

	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/controller/workload"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/status"
)

// TTLAfterFinished deletes Jobs when their TTL after finishing has expired (pkg/controller/ttlafterfinished).
func TTLAfterFinished() controller.Controller {
	return controller.Account("ttl-after-finished-controller", "ttl-after-finished-controller", controller.Func(expire),
		controller.Watch{Resource: jobs, Keys: func(_ *controller.Client, c *commit.Commit) []controller.Key {
			if c.Deleted() || !factsOf(c.Item()).finished {
				return nil
			}
			return []controller.Key{{Namespace: c.Namespace, Name: c.Name}}
		}})
}

// expire deletes a Job if its TTL has expired according to the API server.
func expire(api *controller.Client, key controller.Key) (again time.Duration, failed *status.Status) {
	left, expires := timeToLive(api.Get(jobs, key.Namespace, key.Name), api.Now())
	if !expires || left > 0 {
		return left, nil
	}
	live := api.Live(jobs, key.Namespace, key.Name)
	if left, expires = timeToLive(live, api.Now()); !expires || left > 0 {
		return left, nil
	}
	return 0, api.Delete(jobs, key, controller.Preconditions{UID: live.UID(), Propagation: "Foreground"})
}

// timeToLive returns the remaining TTL of a Job, which may be nil. It returns false if the Job has no TTL, has not finished, or is
// already being deleted.
func timeToLive(job object.Object, now time.Time) (time.Duration, bool) {
	seconds, ok := job.Int("spec", "ttlSecondsAfterFinished")
	end := finished(job)
	if !ok || end == "" || job.DeletionTimestamp() != "" {
		return 0, false
	}
	at := workload.TimeOf(job.Condition(end).String("lastTransitionTime"))
	if at.IsZero() {
		return 0, false
	}
	return max(at.Add(time.Duration(seconds)*time.Second).Sub(now), 0), true
}
