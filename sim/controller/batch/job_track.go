package batch

import (
	"slices"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/status"
)

// track counts the pods that have ended and removes their finalizers. It writes the status before the removal, with the UIDs of
// the pods, and after it (trackJobStatusAndRemoveFinalizers).
func (j *job) track() *status.Status {
	held := map[string]bool{}
	for _, p := range j.pods {
		if j.hasTrackingFinalizer(p) {
			held[p.UID] = true
		}
	}
	j.countReleased(held)
	released, all := j.release()
	if j.indexed() {
		j.printIndexes(released)
	}
	final := j.announce()
	if s := j.flush(); s != nil {
		return s
	}
	failed := j.untrack(released, held)
	j.countReleased(held)
	if failed == nil && all && final != nil && j.finish(final) {
		j.ended = true
	}
	if s := j.flush(); s != nil {
		return s
	}
	if j.ended {
		j.recordFinal(final)
	}
	return failed
}

// countReleased adds the pods that have lost their finalizer to the counters (cleanUncountedPodsWithoutFinalizers).
func (j *job) countReleased(held map[string]bool) {
	for _, name := range []string{"succeeded", "failed"} {
		uids := j.status.Strings("uncountedTerminatedPods", name)
		left := slices.DeleteFunc(slices.Clone(uids), func(uid string) bool { return !held[uid] })
		if n := len(uids) - len(left); n > 0 {
			j.status[name] = j.status.Int64(name) + int64(n)
			j.setUncounted(name, left)
		}
	}
}

func (j *job) setUncounted(name string, uids []string) {
	j.dirty = true
	if len(uids) == 0 {
		j.status.Remove("uncountedTerminatedPods", name)
	} else {
		j.status.Set(object.FromStrings(uids), "uncountedTerminatedPods", name)
	}
}

// release records the ended pods in the status, and returns the pods whose finalizers can be removed. all reports whether these are
// all pods that have ended; the status can record only a limited number at once.
func (j *job) release() (released []*pod, all bool) {
	if j.indexed() {
		slices.SortStableFunc(j.pods, func(a, b *pod) int { return a.index - b.index })
	}
	policy := j.spec().Map("podFailurePolicy")
	noted := map[string][]string{}
	fresh := 0 // the number of indexes that are not in the status yet
	for _, name := range []string{"succeeded", "failed"} {
		noted[name] = j.status.Strings("uncountedTerminatedPods", name)
	}
	note := func(name, uid string) {
		if !j.uncounted[name][uid] {
			noted[name] = append(noted[name], uid)
			j.setUncounted(name, noted[name])
		}
	}
	over := j.verdict != nil && j.verdict.String("type") != "SuccessCriteriaMet"
	for _, p := range j.pods {
		if !j.hasTrackingFinalizer(p) || !j.releases(p) {
			continue
		}
		released = append(released, p)
		switch {
		case p.Phase == "Succeeded" && !j.uncounted["failed"][p.UID]:
			if !j.indexed() {
				note("succeeded", p.UID)
			} else if j.valid(p) && !j.before.has(p.index) {
				fresh++
				j.dirty = true
			}
		case (j.hasFailed(p) || over) && j.valid(p) && judge(policy, p).counts():
			note("failed", p.UID)
		}
		if fresh+len(noted["succeeded"])+len(noted["failed"]) >= podsMax {
			return released, false
		}
	}
	return released, true
}

// releases reports whether a pod's finalizer can be removed (canRemoveFinalizer).
func (j *job) releases(p *pod) bool {
	if j.Object.DeletionTimestamp() != "" || j.verdict != nil || p.Phase == "Succeeded" {
		return true
	}
	last := j.delayed[p.index]
	return j.hasFailed(p) && (last == nil || last.UID != p.UID)
}

// printIndexes writes the succeeded and failed indexes to the status.
func (j *job) printIndexes(released []*pod) {
	var fresh []int
	for _, p := range released {
		if p.Phase == "Succeeded" && j.valid(p) && !j.uncounted["failed"][p.UID] {
			fresh = append(fresh, p.index)
		}
	}
	j.done = j.done.with(fresh)
	before := j.status.Copy()
	j.status["succeeded"], j.status["completedIndexes"] = int64(j.done.count()), j.done.String()
	for _, name := range []string{"succeeded", "completedIndexes"} {
		if object.Blank(j.status[name]) {
			delete(j.status, name)
		}
	}
	if j.perIndex() {
		j.status["failedIndexes"] = j.lost.String()
	}
	for _, name := range []string{"completedIndexes", "failedIndexes"} {
		j.dirty = j.dirty || !object.Equal(j.status[name], before[name])
	}
}

// announce records in the status how the Job will finish, before its pods lose their finalizers. It returns the final condition,
// or nil if the Job has not finished.
func (j *job) announce() (final object.Object) {
	v := j.verdict
	switch v.String("type") {
	case "FailureTarget":
		j.addCondition(v)
		return j.condition("Failed", v.String("reason"), v.String("message"))
	case "SuccessCriteriaMet":
		if !slices.ContainsFunc(j.status.Objects("conditions"), func(c object.Object) bool { return c.String("type") == "SuccessCriteriaMet" }) {
			j.addCondition(v)
		}
		return j.condition("Complete", v.String("reason"), v.String("message"))
	}
	return v
}

// flush writes the status to the server if it has changed, and then uses the returned object.
func (j *job) flush() *status.Status {
	if !j.dirty {
		return nil
	}
	now, s := j.API.Update(jobs, "status", j.Object)
	if s != nil {
		return s
	}
	j.load(now)
	j.Failures, j.Written, j.dirty = j.failures, rev(now), false
	return nil
}

// untrack removes the finalizers from pods, and removes the pods from held.
func (j *job) untrack(pods []*pod, held map[string]bool) (failed *status.Status) {
	for _, p := range pods {
		j.Unseen = append(j.Unseen, p.UID)
		s := untrack(j.API, p)
		if s != nil {
			j.Unseen = slices.DeleteFunc(j.Unseen, func(uid string) bool { return uid == p.UID })
		}
		switch {
		case s == nil || s.Reason == status.ReasonNotFound:
			delete(held, p.UID)
		default:
			failed = s
		}
	}
	return failed
}

// finish sets the final condition of the Job after all its pods have been counted and have ended. It reports whether it did
// (enactJobFinished).
func (j *job) finish(final object.Object) bool {
	uncounted := j.status.At("uncountedTerminatedPods")
	if len(uncounted.List("succeeded"))+len(uncounted.List("failed")) > 0 || j.going > 0 {
		return false
	}
	j.setCondition(final.String("type"), "True", final.String("reason"), final.String("message"))
	if final.String("type") == "Complete" {
		j.status["completionTime"] = final["lastTransitionTime"]
	}
	j.dirty = true
	return true
}

// recordFinal records an event with the result of the Job.
func (j *job) recordFinal(final object.Object) {
	if final.String("type") != "Complete" {
		_ = j.API.Event(j.Object, "Warning", final.String("reason"), final.String("message")) // failed events are not retried
		return
	}
	if n, ok := j.spec().Int("completions"); ok && j.status.Int64("succeeded") > n {
		_ = j.API.Event(j.Object, "Warning", "TooManySucceededPods", "Too many succeeded pods running after completion count reached")
	}
	_ = j.API.Event(j.Object, "Normal", "Completed", "Job completed")
}
