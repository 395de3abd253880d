package manager

import (
	"slices"
	"time"

	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/selector"
	"github.com/kubesim/kubesim/sim/status"
)

const (
	replicaSets            = "replicasets.apps"
	replicationControllers = "replicationcontrollers"

	// burstReplicas is how many pods are made or deleted in one go.
	burstReplicas = 500
)

// ReplicaSet makes and deletes pods until a ReplicaSet has as many as it wants (pkg/controller/replicaset).
func ReplicaSet() controller.Controller {
	return replicator(owner{resource: replicaSets}, "replicaset-controller", "replicaset-controller")
}

// ReplicationController does so for ReplicationControllers (pkg/controller/replication).
func ReplicationController() controller.Controller {
	return replicator(owner{resource: replicationControllers, plain: true}, "replicationcontroller-controller", "replication-controller")
}

func replicator(of owner, name, user string) controller.Controller {
	r := &replicas{owner: of}
	c := account(user, r, controller.Watch{Resource: of.resource}, of.watch(pods, r.seen))
	c.Name = name
	return c
}

// replicas remembers what it has done to the pods of its objects and not seen yet.
type replicas struct {
	owner
	expectations expectations
}

// Memory is controller.Rememberer's.
func (r *replicas) Memory() any { return &r.expectations }

// seen is told of each pod that has a controller.
func (r *replicas) seen(key controller.Key, c *commit.Commit) {
	switch p := podOf(c.Item()); {
	case c.Deleted() || p.deleting:
		r.expectations.deleted(key.String(), p.Name)
	case c.Created():
		r.expectations.created(key.String(), 1)
	}
}

// Reconcile is controller.Reconciler's.
func (r *replicas) Reconcile(api *controller.Client, key controller.Key) (again time.Duration, failed *status.Status) {
	w, ok := r.of(api, key)
	if !ok {
		delete(r.expectations, key.String())
		return 0, nil
	}
	candidates := w.candidates(pods)
	active, failed := w.claim(pods, slices.DeleteFunc(slices.Clone(candidates), func(it *resource.Item) bool { return !podOf(it).active() }))
	if failed != nil {
		return 0, failed
	}
	set := replicaSet{workload: w, expectations: &r.expectations, pods: podsOf(active)}
	for _, it := range candidates {
		if p := podOf(it); p.deleting && !p.finished() && p.owner.String("uid") == w.obj.UID() && w.selector.Match(it.Label) {
			set.terminating++
		}
	}
	var wrong *status.Status
	if r.expectations.fulfilled(key.String(), api.Now()) && w.obj.DeletionTimestamp() == "" {
		wrong = set.manage()
	}
	if s := set.report(wrong); s != nil {
		return 0, s
	}
	return set.nextAvailable(), wrong
}

func podsOf(items []*resource.Item) (all []*pod) {
	for _, it := range items {
		all = append(all, podOf(it))
	}
	return all
}

// replicaSet is a ReplicaSet, or a ReplicationController, and its active pods.
type replicaSet struct {
	workload
	*expectations
	pods        []*pod
	terminating int64 // pods that are going
}

func (s *replicaSet) want() int { return int(s.obj.Int64("spec", "replicas")) }

func (s *replicaSet) minReady() time.Duration {
	return time.Duration(s.obj.Int64("spec", "minReadySeconds")) * time.Second
}

// manage makes or deletes pods.
func (s *replicaSet) manage() (failed *status.Status) {
	key := s.key().String()
	switch missing := min(s.want()-len(s.pods), burstReplicas); {
	case missing > 0:
		s.expect(key, missing, nil, s.api.Now())
		made, failed := slowly(missing, func() *status.Status {
			if failed := s.createPod(nil); failed != nil && !terminating(failed) {
				return failed
			}
			return nil
		})
		s.created(key, missing-made)
		return failed
	case missing < 0:
		going := s.surplus(min(-missing, burstReplicas))
		var names []string
		for _, p := range going {
			names = append(names, p.Name)
		}
		s.expect(key, 0, names, s.api.Now())
		for _, p := range going {
			if x := s.deletePod(p); x != nil {
				s.deleted(key, p.Name)
				if x.Reason != status.ReasonNotFound {
					failed = x
				}
			}
		}
	}
	return failed
}

// surplus returns the n pods that go first.
func (s *replicaSet) surplus(n int) []*pod {
	if n >= len(s.pods) {
		return s.pods
	}
	ranks := map[string]int{}
	for _, p := range s.related() {
		if p.active() {
			ranks[p.node]++
		}
	}
	sorted := slices.Clone(s.pods)
	byDeletion(sorted, ranks, s.api.Now())
	return sorted[:n]
}

// related returns the pods of the sets that have the same controller: those of one Deployment.
func (s *replicaSet) related() []*pod {
	parent := controllerOf(s.obj)
	if parent == nil {
		return s.pods
	}
	var all []*pod
	for _, ref := range s.api.Owned(parent.String("uid")) {
		if ref.Resource != s.resource {
			continue
		}
		sibling := s.api.Get(ref.Resource, ref.Namespace, ref.Name)
		for _, x := range s.api.Owned(sibling.UID()) {
			if it := s.api.Item(pods, x.Namespace, x.Name); x.Resource == pods && it != nil {
				all = append(all, podOf(it))
			}
		}
	}
	return all
}

// report writes the status of the set where it is not what there is.
func (s *replicaSet) report(wrong *status.Status) *status.Status {
	before := object.Object(s.obj.Map("status"))
	now := before.Copy()
	if now == nil {
		now = object.Object{}
	}
	labelled, ready, available := int64(0), int64(0), int64(0)
	template := selector.FromSet(object.StringMap(s.obj.Map("spec", "template", "metadata", "labels")))
	for _, p := range s.pods {
		if template.Match(p.Label) {
			labelled++
		}
		if p.ready {
			ready++
		}
		if p.available(s.minReady(), s.api.Now()) {
			available++
		}
	}
	setCounts(now, map[string]int64{"fullyLabeledReplicas": labelled, "readyReplicas": ready, "availableReplicas": available})
	now["replicas"] = int64(len(s.pods))
	if !s.plain {
		now["terminatingReplicas"] = s.terminating
	}
	s.condition(now, wrong)
	if object.Equal(map[string]any(now), map[string]any(before)) && s.obj.Generation() == before.Int64("observedGeneration") {
		return nil
	}
	now["observedGeneration"] = s.obj.Generation()
	return s.writeStatus(now)
}

// condition keeps the condition ReplicaFailure: it is there while pods cannot be made or deleted.
func (s *replicaSet) condition(now object.Object, wrong *status.Status) {
	has := condition(object.Object{"status": map[string]any(now)}, "ReplicaFailure") != nil
	switch {
	case wrong != nil && !has:
		reason := "FailedCreate"
		if len(s.pods) > s.want() {
			reason = "FailedDelete"
		}
		now["conditions"] = append(now.List("conditions"), map[string]any{"type": "ReplicaFailure", "status": "True",
			"lastTransitionTime": object.Time(s.api.Now()), "reason": reason, "message": wrong.Message})
	case wrong == nil && has:
		left := slices.DeleteFunc(now.List("conditions"), func(v any) bool { return v.(map[string]any)["type"] == "ReplicaFailure" })
		if delete(now, "conditions"); len(left) > 0 {
			now["conditions"] = left
		}
	}
}

// nextAvailable is how long until one more of the pods that are ready counts as available. 0: all do.
func (s *replicaSet) nextAvailable() (soonest time.Duration) {
	for _, p := range s.pods {
		if left, ready := p.availableIn(s.minReady(), s.api.Now()); ready && left > 0 && (soonest == 0 || left < soonest) {
			soonest = left
		}
	}
	return soonest
}

// setCounts sets numbers; a field with omitempty is not there when it is 0.
func setCounts(obj object.Object, numbers map[string]int64) {
	for name, n := range numbers { // order does not matter
		if delete(obj, name); n != 0 {
			obj[name] = n
		}
	}
}

// writeStatus writes the status of a workload; one that somebody else has written meanwhile is read anew, once.
func (w *workload) writeStatus(now object.Object) *status.Status {
	obj := w.obj
	for attempt := 0; ; attempt++ {
		obj["status"] = map[string]any(now)
		_, s := w.api.Update(w.resource, "status", obj)
		if s == nil || attempt > 0 {
			return s
		}
		if obj = w.api.Live(w.resource, obj.Namespace(), obj.Name()); obj == nil {
			return s
		}
	}
}
