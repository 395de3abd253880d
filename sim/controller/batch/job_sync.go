package batch

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/kubesim/kubesim/sim/controller/workload"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

// job is a Job that is being reconciled:
//
//	count ─▶ judge: has it finished? ─▶ stop: deletes active pods
//	                └─▶ manage: creates or deletes pods ─▶ complete, suspended, resumed?
//	        ─▶ track: counts ended pods, removes their finalizers, updates the status
type job struct {
	workload.Workload
	*progress
	expectations *workload.Expectations
	status       object.Object // the new status
	dirty        bool          // the status has to be written
	ended        bool          // the status includes the condition with which the Job has finished

	pods, working        []*pod // all pods, and only the active ones
	uncounted            map[string]map[string]bool
	succeeded, failed    int      // including pods that the status does not count yet
	failures             failures // failures of pods, including failures that the status does not count yet
	before, done, lost   indexes  // completion indexes: previously succeeded, succeeded, and failed
	delayed              map[int]*pod
	verdict              object.Object // the condition that ends the Job, or nil
	active, ready, going int
}

func newJob(w workload.Workload, claimed []*resource.Item, m *progress, expectations *workload.Expectations) *job {
	j := &job{Workload: w, progress: m, expectations: expectations}
	j.load(w.Object)
	for _, it := range claimed {
		p := podOf(it)
		if p.Controller().UID == "" { // the pod has just been adopted, and the cache does not show it yet
			p.tracked = true
		}
		j.pods = append(j.pods, p)
		switch {
		case p.Active():
			j.working = append(j.working, p)
			if p.Ready {
				j.ready++
			}
		case p.Deleting && !p.Finished():
			j.going++
		}
	}
	j.active = len(j.working)
	return j
}

// load sets the Job to the version that the API server returned.
func (j *job) load(obj object.Object) {
	j.Object = obj
	obj.SetDefault(map[string]any{}, "status", "uncountedTerminatedPods")
	j.status = obj.At("status")
}

// sync performs one reconcile of the Job (syncJob). satisfied reports whether the cache shows all creations and deletions of its
// pods.
func (j *job) sync(satisfied bool) (again time.Duration, failed *status.Status) {
	was := j.status.Copy()
	j.count()
	if !j.suspended() {
		j.status.SetDefault(object.Time(j.API.Now()), "startTime")
	}
	again = j.judge()
	if j.indexed() {
		j.judgeIndexes()
	}
	if j.verdict != nil {
		failed = j.stop(satisfied)
	} else {
		var wait time.Duration
		wait, failed = j.syncActive(satisfied)
		again = sooner(again, wait)
	}
	workload.SetCounts(j.status, map[string]int64{"active": int64(j.active)})
	j.status["ready"], j.status["terminating"] = int64(j.ready), int64(j.going)
	for _, name := range []string{"active", "ready", "terminating"} {
		j.dirty = j.dirty || j.status.Int64(name) != was.Int64(name) || j.status.Has(name) != was.Has(name)
	}
	if s := j.track(); s != nil {
		return 0, s
	}
	return again, failed
}

// sooner returns the shorter of two durations. Zero means that there is none.
func sooner(a, b time.Duration) time.Duration {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

func (j *job) spec() object.Object { return j.Object.At("spec") }
func (j *job) suspended() bool     { return j.spec().True("suspend") }
func (j *job) indexed() bool       { return j.spec().String("completionMode") == "Indexed" }
func (j *job) perIndex() bool      { return j.spec().Has("backoffLimitPerIndex") }
func (j *job) completions() int    { return int(j.spec().Int64("completions")) }

// onlyFailed reports whether pods are replaced only after they have ended (KEP-3939).
func (j *job) onlyFailed() bool {
	return j.spec().String("podReplacementPolicy") == "Failed" || j.spec().Has("podFailurePolicy")
}

// hasFailed reports whether a pod counts as failed. A pod that is being deleted does, unless pods are replaced only after they
// have ended.
func (j *job) hasFailed(p *pod) bool {
	return p.Phase == "Failed" || p.Deleting && p.Phase != "Succeeded" && !j.onlyFailed()
}

// valid reports whether a pod has an index below the Job's completions, or the Job is not indexed.
func (j *job) valid(p *pod) bool {
	return !j.indexed() || p.index != noIndex && p.index < j.completions()
}

// hasTrackingFinalizer reports whether a pod still has the finalizer, taking into account removals that the cache does not show yet.
func (j *job) hasTrackingFinalizer(p *pod) bool {
	return p.tracked && !slices.Contains(j.Unseen, p.UID)
}

// count counts the pods that have ended, both those in the status and new ones.
func (j *job) count() {
	j.uncounted = map[string]map[string]bool{}
	for _, name := range []string{"succeeded", "failed"} {
		j.uncounted[name] = map[string]bool{}
		for _, uid := range j.status.Strings("uncountedTerminatedPods", name) {
			j.uncounted[name][uid] = true
		}
	}
	var succeeded, failed []*pod
	for _, p := range j.pods {
		if !j.hasTrackingFinalizer(p) || !j.valid(p) {
			continue
		}
		if p.Phase == "Succeeded" && !j.uncounted["succeeded"][p.UID] {
			succeeded = append(succeeded, p)
		}
		if j.hasFailed(p) && !j.uncounted["failed"][p.UID] {
			failed = append(failed, p)
			if judge(j.spec().Map("podFailurePolicy"), p).counts() {
				j.failed++
			}
		}
	}
	j.succeeded = int(j.status.Int64("succeeded")) + len(succeeded) + len(j.uncounted["succeeded"])
	j.failed += int(j.status.Int64("failed")) + len(j.uncounted["failed"])
	j.failures = j.Failures.after(succeeded, failed)
}

// condition returns a new condition of the Job.
func (j *job) condition(kind, reason, message string) object.Object {
	now := object.Time(j.API.Now())
	return object.Object{"type": kind, "status": "True", "lastProbeTime": now, "lastTransitionTime": now, "reason": reason, "message": message}
}

func (j *job) addCondition(c object.Object) {
	j.status["conditions"] = append(j.status.List("conditions"), map[string]any(c))
	j.dirty = true
}

// judge decides whether the Job has finished, based on an earlier verdict, its policy, the backoff limit and its deadline. It
// returns the time until the deadline, or 0 if there is none.
func (j *job) judge() (deadline time.Duration) {
	if c := j.Object.Condition("SuccessCriteriaMet"); c.String("status") == "True" {
		j.verdict = c
	} else if c := j.Object.Condition("FailureTarget"); c.String("status") == "True" {
		j.verdict = j.condition("Failed", c.String("reason"), c.String("message"))
	} else if policy := j.spec().Map("podFailurePolicy"); policy != nil {
		for _, p := range j.pods {
			if message := judge(policy, p).message; message != "" && j.hasFailed(p) {
				j.verdict = j.condition("FailureTarget", "PodFailurePolicy", message)
				break
			}
		}
	}
	if j.verdict != nil {
		return 0
	}
	left, timed := j.timeLeft()
	switch {
	case j.failed > int(j.spec().Int64("backoffLimit")) || j.restartedTooOften():
		j.verdict = j.condition("FailureTarget", "BackoffLimitExceeded", "Job has reached the specified backoff limit")
	case timed && left <= 0:
		j.verdict = j.condition("FailureTarget", "DeadlineExceeded", "Job was active longer than specified deadline")
	case timed:
		return left
	}
	return 0
}

// timeLeft returns the time until the Job exceeds activeDeadlineSeconds, and reports whether it has such a deadline.
func (j *job) timeLeft() (time.Duration, bool) {
	seconds, ok := j.spec().Int("activeDeadlineSeconds")
	if !ok || j.suspended() {
		return 0, false
	}
	start := workload.TimeOf(j.status.String("startTime"))
	return time.Duration(seconds)*time.Second - j.API.Now().Sub(start), true
}

// restartedTooOften reports whether the restarts of containers in the Job's pods have reached the backoff limit.
func (j *job) restartedTooOften() bool {
	if j.spec().String("template", "spec", "restartPolicy") != "OnFailure" {
		return false
	}
	restarts := int64(0)
	for _, p := range j.pods {
		if p.Phase == "Running" || p.Phase == "Pending" {
			restarts += p.restarts
		}
	}
	return restarts >= max(j.spec().Int64("backoffLimit"), 1)
}

// judgeIndexes counts the succeeded and failed indexes, and decides whether they end the Job.
func (j *job) judgeIndexes() {
	var done, lost []int
	for _, p := range j.pods {
		switch {
		case !j.valid(p) || !p.tracked:
		case p.Phase == "Succeeded":
			done = append(done, p.index)
		case j.perIndex() && j.failsIndex(p):
			lost = append(lost, p.index)
		}
	}
	j.before = parseIndexes(j.status.String("completedIndexes"), j.completions())
	j.done = j.before.with(done)
	j.succeeded = j.done.count()
	if j.perIndex() {
		j.lost = parseIndexes(j.status.String("failedIndexes"), j.completions()).with(lost)
		most, limited := j.spec().Int("maxFailedIndexes")
		switch n := j.lost.count(); {
		case j.verdict != nil || n == 0:
		case limited && n > int(most):
			j.verdict = j.condition("FailureTarget", "MaxFailedIndexesExceeded", "Job has exceeded the specified maximal number of failed indexes")
		case n+j.succeeded >= j.completions():
			j.verdict = j.condition("FailureTarget", "FailedIndexes", "Job has failed indexes")
		}
		j.delay()
	}
	if j.verdict == nil {
		if rule, met := succeeds(j.spec().Map("successPolicy"), j.completions(), j.done); met {
			j.verdict = j.condition("SuccessCriteriaMet", "SuccessPolicy", fmt.Sprintf("Matched rules at index %d", rule))
		}
	}
}

// failsIndex reports whether a pod's failure exceeds the backoff limit of its index (isIndexFailed).
func (j *job) failsIndex(p *pod) bool {
	if !j.hasFailed(p) {
		return false
	}
	v := judge(j.spec().Map("podFailurePolicy"), p)
	return v.action == "FailIndex" || v.counts() && int64(p.failures) >= j.spec().Int64("backoffLimitPerIndex")
}

// delay finds, for each index that has to be retried, the pod that failed last. This pod keeps its finalizer until its
// replacement is created, which inherits the number of failures (getPodsWithDelayedDeletionPerIndex).
func (j *job) delay() {
	j.delayed = map[int]*pod{}
	busy := map[int]bool{}
	for _, p := range j.working {
		busy[p.index] = true
	}
	for _, p := range j.pods {
		if !j.hasTrackingFinalizer(p) || !j.valid(p) || !j.hasFailed(p) || j.done.has(p.index) || j.lost.has(p.index) || busy[p.index] {
			continue
		}
		last := j.delayed[p.index]
		if last == nil || last.failures+last.ignored <= p.failures+p.ignored && !p.finishedAt.Before(last.finishedAt) {
			j.delayed[p.index] = p
		}
	}
}

// stop deletes the active pods of a Job that has finished. If the deletion of a pod fails, or the cache does not show all pods, a
// later reconcile finishes the Job.
func (j *job) stop(satisfied bool) (failed *status.Status) {
	deleted, failed := j.deletePods(j.working, false)
	if deleted < len(j.working) || !satisfied {
		j.verdict = nil
	}
	return failed
}

// syncActive manages the pods of a Job that has not finished, and checks whether it is complete, suspended or resumed.
func (j *job) syncActive(satisfied bool) (wait time.Duration, failed *status.Status) {
	managed := satisfied && j.Object.DeletionTimestamp() == ""
	if managed {
		wait, failed = j.manage()
	}
	want := 1 // any successful pod completes the Job
	if j.spec().Has("completions") {
		want = j.completions()
	}
	switch {
	case j.succeeded >= want && j.active == 0:
		j.verdict = j.condition("SuccessCriteriaMet", "CompletionsReached", "Reached expected number of succeeded pods")
	case managed && j.suspended():
		if j.setCondition("Suspended", "True", "JobSuspended", "Job suspended") {
			_ = j.API.Event(j.Object, "Normal", "Suspended", "Job suspended") // failed events are not retried
			if j.API.Since(36) {                                              // MutableSchedulingDirectivesForSuspendedJobs
				delete(j.status, "startTime")
			}
		}
	case managed:
		if j.setCondition("Suspended", "False", "JobResumed", "Job resumed") {
			_ = j.API.Event(j.Object, "Normal", "Resumed", "Job resumed")
			j.status["startTime"] = object.Time(j.API.Now())
		}
	}
	return wait, failed
}

// setCondition sets a condition, and reports whether it changed. A missing condition counts as False (ensureJobConditionStatus).
func (j *job) setCondition(kind, value, reason, message string) bool {
	now := j.condition(kind, reason, message)
	now["status"] = value
	c := j.Object.Condition(kind)
	switch {
	case c == nil && value == "False":
		return false
	case c == nil:
		j.addCondition(now)
	case c.String("status") == value && c.String("reason") == reason && c.String("message") == message:
		return false
	default:
		for name, v := range now { // order does not matter
			c[name] = v
		}
	}
	j.dirty = true
	return true
}

// rev returns the resourceVersion of an object as a number.
func rev(obj object.Object) uint64 {
	n, _ := strconv.ParseUint(obj.ResourceVersion(), 10, 64)
	return n
}
