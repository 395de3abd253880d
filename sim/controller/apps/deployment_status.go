package apps

import (
	"fmt"
	"slices"
	"time"

	"github.com/kubesim/kubesim/sim/controller/workload"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/status"
)

// complete reports whether, according to an object's status, all pods have the current template and are available.
func (r *rollout) complete(obj object.Object) bool {
	at := object.Object(obj.Map("status"))
	return at.Int64("updatedReplicas") == r.want() && at.Int64("replicas") == r.want() && at.Int64("availableReplicas") == r.want() &&
		at.Int64("observedGeneration") >= r.Object.Generation()
}

func (r *rollout) hasDeadline() bool {
	n, ok := r.Object.Int("spec", "progressDeadlineSeconds")
	return ok && n != unlimited
}

// progress sets the condition Progressing of the Deployment. Its last update time changes with its reason and message, its last
// transition time with its status.
func (r *rollout) progress(value, reason, message string) {
	r.setCondition("Progressing", value, reason, message)
}

func (r *rollout) setCondition(kind, value, reason, message string) {
	now := object.Time(r.API.Now())
	c := map[string]any{"type": kind, "status": value, "reason": reason, "message": message, "lastUpdateTime": now, "lastTransitionTime": now}
	before := r.Object.Condition(kind)
	if before != nil && before.String("status") == value {
		if before.String("reason") == reason && kind != "Progressing" || before.String("reason") == reason && before.String("message") == message {
			return
		}
		c["lastTransitionTime"] = before["lastTransitionTime"]
	}
	r.forget(kind)
	r.Object.Set(append(r.Object.List("status", "conditions"), c), "status", "conditions")
}

// forget removes the named condition of the Deployment.
func (r *rollout) forget(kind string) {
	left := slices.DeleteFunc(slices.Clone(r.Object.List("status", "conditions")), func(v any) bool { return v.(map[string]any)["type"] == kind })
	if r.Object.Remove("status", "conditions"); len(left) > 0 {
		r.Object.Set(left, "status", "conditions")
	}
}

// reportCounts writes the pod counts to the status of the Deployment, but not its progress.
func (r *rollout) reportCounts() *status.Status {
	before := object.Object(r.Object.Map("status")).Copy()
	r.count()
	return r.writeStatus(before)
}

// report updates the status of the Deployment. It returns the delay after which the progress deadline has to be checked, or 0 if it
// need not be checked.
func (r *rollout) report() (again time.Duration, failed *status.Status) {
	before := object.Object(r.Object.Map("status")).Copy()
	r.count()
	if !r.hasDeadline() {
		r.forget("Progressing")
	} else if !(r.Object.Int64("status", "replicas") == r.Object.Int64("status", "updatedReplicas") &&
		object.Object{"status": map[string]any(before)}.Condition("Progressing").String("reason") == "NewReplicaSetAvailable") {
		r.sayProgress(before)
	}
	r.sayFailure()
	if object.Equal(r.Object.Map("status"), map[string]any(before)) {
		return r.untilDeadline(), nil
	}
	return 0, r.writeStatus(before)
}

// writeStatus writes the status of the Deployment if it differs from before.
func (r *rollout) writeStatus(before object.Object) *status.Status {
	if object.Equal(r.Object.Map("status"), map[string]any(before)) {
		return nil
	}
	_, failed := r.API.Update(deployments, "status", r.Object)
	return failed
}

// count sets the pod counts in the status, from those of the ReplicaSets.
func (r *rollout) count() {
	at := func(name string) int64 {
		return sum(r.all(), func(s *replicaSetOf) int64 { return s.count(name) })
	}
	available := at("availableReplicas")
	st := object.Object(r.Object.Map("status"))
	if st == nil {
		st = object.Object{}
		r.Object["status"] = map[string]any(st)
	}
	workload.SetCounts(st, map[string]int64{"replicas": at("replicas"), "updatedReplicas": r.newest.count("replicas"), "readyReplicas": at("readyReplicas"),
		"availableReplicas": available, "unavailableReplicas": max(sum(r.all(), (*replicaSetOf).replicas)-available, 0)})
	st["observedGeneration"], st["terminatingReplicas"] = r.Object.Generation(), at("terminatingReplicas")
	if _, unavailable := r.fenceposts(); available >= r.want()-unavailable {
		r.setCondition("Available", "True", "MinimumReplicasAvailable", "Deployment has minimum availability.")
	} else {
		r.setCondition("Available", "False", "MinimumReplicasUnavailable", "Deployment does not have minimum availability.")
	}
}

// sayProgress sets the condition Progressing, which reports whether the rollout is complete, is progressing or has exceeded its
// deadline.
func (r *rollout) sayProgress(before object.Object) {
	who := fmt.Sprintf("Deployment %q", r.Object.Name())
	if r.newest != nil {
		who = fmt.Sprintf("ReplicaSet %q", r.newest.Name())
	}
	now := object.Object(r.Object.Map("status"))
	grew := func(name string) bool { return now.Int64(name) > before.Int64(name) }
	switch {
	case r.complete(r.Object):
		r.progress("True", "NewReplicaSetAvailable", who+" has successfully progressed.")
	case grew("updatedReplicas"), grew("readyReplicas"), grew("availableReplicas"),
		now.Int64("replicas")-now.Int64("updatedReplicas") < before.Int64("replicas")-before.Int64("updatedReplicas"):
		c := r.Object.Condition("Progressing")
		since := c["lastTransitionTime"]
		if r.forget("Progressing"); c.String("status") != "True" {
			since = nil
		}
		r.progress("True", "ReplicaSetUpdated", who+" is progressing.")
		if since != nil {
			r.Object.Condition("Progressing")["lastTransitionTime"] = since
		}
	case r.late():
		r.progress("False", "ProgressDeadlineExceeded", who+" has timed out progressing.")
	}
}

// late reports whether there has been no progress for longer than progressDeadlineSeconds.
func (r *rollout) late() bool {
	switch c := r.Object.Condition("Progressing"); {
	case c == nil, c.String("reason") == "NewReplicaSetAvailable":
		return false
	case c.String("reason") == "ProgressDeadlineExceeded":
		return true
	default:
		return r.deadline().Before(r.API.Now())
	}
}

// deadline returns the time by which the rollout must make further progress.
func (r *rollout) deadline() time.Time {
	c := r.Object.Condition("Progressing")
	return workload.TimeOf(c.String("lastUpdateTime")).Add(time.Duration(r.Object.Int64("spec", "progressDeadlineSeconds")) * time.Second)
}

// untilDeadline returns the delay until the progress of a rollout must be checked again, or 0 if no check is needed.
func (r *rollout) untilDeadline() time.Duration {
	c := r.Object.Condition("Progressing")
	if c == nil || r.complete(r.Object) || c.String("reason") == "ProgressDeadlineExceeded" {
		return 0
	}
	return max(r.deadline().Sub(r.API.Now()), 0) + time.Second
}

// sayFailure copies the condition ReplicaFailure from the newest ReplicaSet that has it.
func (r *rollout) sayFailure() {
	sets := slices.Clone(r.all())
	slices.Reverse(sets)
	for _, s := range sets {
		if c := s.Object.Condition("ReplicaFailure"); c != nil {
			r.setCondition("ReplicaFailure", c.String("status"), c.String("reason"), c.String("message"))
			return
		}
	}
	r.forget("ReplicaFailure")
}
