package apps

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/controller/workload"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/status"
)

const (
	deployments = "deployments.apps"

	unlimited = 1<<31 - 1 // the value of progressDeadlineSeconds and revisionHistoryLimit that means no limit
)

// Deployment maintains a ReplicaSet for each of a Deployment's templates, and moves the pods from the old ReplicaSets to the newest
// according to the strategy (pkg/controller/deployment):
//
//	Deployment ─ current template ─▶ ReplicaSet web-7d4 (revision 2) ▲ scaled up, as far as maxSurge allows
//	           └ old template ─────▶ ReplicaSet web-5f9 (revision 1) ▼ scaled down, as far as maxUnavailable allows
func Deployment() controller.Controller {
	d := workload.Owner{Resource: deployments}
	return controller.Account("deployment-controller", "deployment-controller", controller.Func(func(api *controller.Client, key controller.Key) (time.Duration, *status.Status) {
		w, ok := d.Of(api, key)
		if !ok {
			return 0, nil
		}
		r := rollout{Workload: w}
		return r.sync()
	}), controller.Watch{Resource: deployments}, d.Watch(replicaSets, nil), podsOfDeployments())
}

// podsOfDeployments watches deletions of pods, because a Deployment with the strategy Recreate waits for them.
func podsOfDeployments() controller.Watch {
	ofSet, ofDeployment := workload.Owner{Resource: replicaSets}, workload.Owner{Resource: deployments}
	return controller.Watch{Resource: workload.Pods, Keys: func(api *controller.Client, c *commit.Commit) (keys []controller.Key) {
		if !c.Deleted() {
			return nil
		}
		set, _ := ofSet.Controls(api, c.Item())
		if it := api.Item(replicaSets, set.Namespace, set.Name); set.Name != "" && it != nil {
			if key, _ := ofDeployment.Controls(api, it); key.Name != "" {
				keys = append(keys, key)
			}
		}
		return keys
	}}
}

// rollout is a Deployment with its ReplicaSets.
type rollout struct {
	workload.Workload
	newest *replicaSetOf   // the ReplicaSet for the current template, or nil if it does not exist yet
	old    []*replicaSetOf // sorted by age, with the oldest first
	failed *status.Status  // the first error
}

// replicaSetOf is a ReplicaSet of a Deployment.
type replicaSetOf struct{ object.Object }

func (s *replicaSetOf) replicas() int64 {
	if s == nil {
		return 0
	}
	return s.Int64("spec", "replicas")
}

// count returns the named counter in the ReplicaSet's status.
func (s *replicaSetOf) count(name string) int64 {
	if s == nil {
		return 0
	}
	return s.Int64("status", name)
}

// sum returns the sum of a value over ReplicaSets.
func sum(sets []*replicaSetOf, of func(*replicaSetOf) int64) (n int64) {
	for _, s := range sets {
		n += of(s)
	}
	return n
}

// active returns the ReplicaSets with at least one desired replica.
func active(sets []*replicaSetOf) []*replicaSetOf {
	return slices.DeleteFunc(slices.Clone(sets), func(s *replicaSetOf) bool { return s.replicas() == 0 })
}

func (r *rollout) want() int64 { return r.Object.Int64("spec", "replicas") }

// all returns all ReplicaSets, with the newest last.
func (r *rollout) all() []*replicaSetOf {
	if r.newest == nil {
		return r.old
	}
	return append(slices.Clone(r.old), r.newest)
}

// sync performs one step of the rollout.
func (r *rollout) sync() (again time.Duration, failed *status.Status) {
	if r.Selector.Empty() {
		_ = r.API.Event(r.Object, "Warning", "SelectingAll", "This deployment is selecting all pods. A non-empty selector is required.")
		return 0, r.observe()
	}
	if failed = r.find(); failed != nil {
		return 0, failed
	}
	paused := r.Object.True("spec", "paused")
	switch {
	case r.Object.DeletionTimestamp() != "":
		r.revise(false)
		return 0, r.reportCounts()
	case r.notePause(paused) || r.failed != nil:
		return 0, r.failed // its own write causes another reconcile
	case !paused && r.rollbackTo() != nil:
		r.rollBack()
		return 0, r.failed
	case paused || r.resized():
		r.revise(false)
		r.scale()
		if paused && r.failed == nil && r.rollbackTo() == nil {
			r.cleanUp()
		}
		return 0, r.reportCounts()
	case r.Object.String("spec", "strategy", "type") == "Recreate":
		r.recreate()
	default:
		r.roll()
	}
	if r.failed != nil {
		return 0, r.failed
	}
	return r.report()
}

// find claims the ReplicaSets of the Deployment and separates the newest, which has the current template, from the others.
func (r *rollout) find() *status.Status {
	mine, failed := r.Claim(replicaSets, r.Candidates(replicaSets))
	if failed != nil {
		return failed
	}
	for _, it := range mine {
		r.old = append(r.old, &replicaSetOf{it.Object()})
	}
	slices.SortStableFunc(r.old, func(a, b *replicaSetOf) int {
		return cmp.Or(workload.TimeOf(a.String("metadata", "creationTimestamp")).Compare(workload.TimeOf(b.String("metadata", "creationTimestamp"))), cmp.Compare(a.Name(), b.Name()))
	})
	template := r.template()
	for i, s := range r.old {
		if object.SemanticEqual(template, withoutHash(s.Map("spec", "template"))) {
			r.newest = s
			r.old = slices.Delete(r.old, i, i+1)
			break
		}
	}
	return nil
}

// template returns the Deployment's template.
func (r *rollout) template() map[string]any { return withoutHash(r.Object.Map("spec", "template")) }

// withoutHash returns a copy of a template without the label pod-template-hash.
func withoutHash(template map[string]any) map[string]any {
	t := object.Object(template).Copy()
	t.Remove("metadata", "labels", templateHash)
	if meta := t.Map("metadata"); meta != nil {
		delete(meta, "creationTimestamp")
	}
	return t
}

// observe sets observedGeneration in the status to the current generation, if it is lower.
func (r *rollout) observe() *status.Status {
	if r.Object.Int64("status", "observedGeneration") >= r.Object.Generation() {
		return nil
	}
	r.Object.Set(r.Object.Generation(), "status", "observedGeneration")
	_, s := r.API.Update(deployments, "status", r.Object)
	return s
}

// notePause records in the condition Progressing that the Deployment was paused or resumed, and reports whether it did.
func (r *rollout) notePause(paused bool) bool {
	before := r.Object.Condition("Progressing")
	if !r.hasDeadline() || before.String("reason") == "ProgressDeadlineExceeded" || paused == (before.String("reason") == "DeploymentPaused") {
		return false
	}
	if paused {
		r.progress("Unknown", "DeploymentPaused", "Deployment is paused")
	} else {
		r.progress("Unknown", "DeploymentResumed", "Deployment is resumed")
	}
	_, r.failed = r.API.Update(deployments, "status", r.Object)
	return true
}

// resized reports whether the Deployment's replicas have changed since its ReplicaSets were scaled.
func (r *rollout) resized() bool {
	for _, s := range active(r.all()) {
		if desired, ok := number(s.Annotations()[desiredReplicas]); ok && desired != r.want() {
			return true
		}
	}
	return false
}

// scaleTo scales a ReplicaSet and records an event.
func (r *rollout) scaleTo(s *replicaSetOf, n int64) {
	from := s.replicas()
	annotated := r.annotateSize(s)
	if n == from && !annotated || r.failed != nil {
		return
	}
	s.Set(n, "spec", "replicas")
	live, failed := r.API.Update(replicaSets, "", s.Object)
	if r.failed = failed; failed != nil {
		return
	}
	s.Object = live
	if n != from {
		r.recordScaled(s.Name(), from, n)
	}
}

func (r *rollout) recordScaled(name string, from, to int64) {
	direction := "up"
	if to < from {
		direction = "down"
	}
	_ = r.API.Event(r.Object, "Normal", "ScalingReplicaSet", fmt.Sprintf("Scaled %s replica set %s from %d to %d", direction, name, from, to))
}

// cleanUp deletes the oldest ReplicaSets without pods that exceed revisionHistoryLimit.
func (r *rollout) cleanUp() {
	limit, limited := r.Object.Int("spec", "revisionHistoryLimit")
	if !limited || limit == unlimited {
		return
	}
	alive := slices.DeleteFunc(slices.Clone(r.old), func(s *replicaSetOf) bool { return s.DeletionTimestamp() != "" })
	slices.SortStableFunc(alive, func(a, b *replicaSetOf) int { return int(revisionOf(a.Object) - revisionOf(b.Object)) })
	for _, s := range alive[:max(len(alive)-int(limit), 0)] {
		if s.count("replicas") != 0 || s.replicas() != 0 || s.Generation() > s.count("observedGeneration") {
			continue
		}
		key := controller.Key{Namespace: s.Namespace(), Name: s.Name()}
		if x := workload.Found(r.API.Delete(replicaSets, key, controller.Preconditions{})); x != nil {
			r.failed = x
			return
		}
	}
}
