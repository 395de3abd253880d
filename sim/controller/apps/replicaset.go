// Package apps implements the controllers of API group apps and of ReplicationControllers. They maintain pods by number, by
// template, by name or by node (pkg/controller/replicaset, deployment, statefulset, daemon).
package apps

import (
	"slices"
	"time"

	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/controller/workload"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/selector"
	"github.com/kubesim/kubesim/sim/status"
)

const (
	replicaSets            = "replicasets.apps"
	replicationControllers = "replicationcontrollers"

	// burstReplicas is the maximum number of pods that are created or deleted at once.
	burstReplicas = 500
)

// ReplicaSet creates and deletes pods until a ReplicaSet has the desired number (pkg/controller/replicaset).
func ReplicaSet() controller.Controller {
	c := replicator(workload.Owner{Resource: replicaSets}, "replicaset-controller", "replicaset-controller")
	c.ReadsWrites = []string{workload.Pods, replicaSets}
	return c
}

// ReplicationController creates and deletes pods until a ReplicationController has the desired number (pkg/controller/replication).
func ReplicationController() controller.Controller {
	return replicator(workload.Owner{Resource: replicationControllers, Plain: true}, "replicationcontroller-controller", "replication-controller")
}

func replicator(of workload.Owner, name, account string) controller.Controller {
	r := &replicas{Owner: of}
	c := controller.Account(name, account, r, controller.Watch{Resource: of.Resource}, of.Watch(workload.Pods, r.expectations.Seen))
	c.Component = account
	return c
}

// replicas remembers the creations and deletions of pods that its cache does not show yet.
type replicas struct {
	workload.Owner
	expectations workload.Expectations
}

// Memory implements controller.Rememberer.
func (r *replicas) Memory() any { return &r.expectations }

// Reconcile implements controller.Reconciler.
func (r *replicas) Reconcile(api *controller.Client, key controller.Key) (again time.Duration, failed *status.Status) {
	w, ok := r.Of(api, key)
	if !ok {
		delete(r.expectations, key.String())
		return 0, nil
	}
	candidates := w.Candidates(workload.Pods)
	active, failed := w.Claim(workload.Pods, slices.DeleteFunc(slices.Clone(candidates), func(it *resource.Item) bool { return !workload.PodOf(it).Active() }))
	if failed != nil {
		return 0, failed
	}
	set := replicaSet{Workload: w, Expectations: &r.expectations, pods: workload.PodsOf(active)}
	for _, it := range candidates {
		if p := workload.PodOf(it); p.Deleting && !p.Finished() && p.Controller().UID == w.Object.UID() && w.Selector.Match(it.Label) {
			set.terminating++
		}
	}
	var wrong *status.Status
	if r.expectations.Fulfilled(key.String(), api.Now()) && w.Object.DeletionTimestamp() == "" {
		wrong = set.manage()
	}
	if s := set.report(wrong); s != nil {
		return 0, s
	}
	return workload.NextAvailable(set.pods, set.minReady(), api.Now()), wrong
}

// replicaSet is a ReplicaSet or a ReplicationController with its active pods.
type replicaSet struct {
	workload.Workload
	*workload.Expectations
	pods        []*workload.Pod
	terminating int64 // the number of pods that are being deleted
}

func (s *replicaSet) want() int { return int(s.Object.Int64("spec", "replicas")) }

func (s *replicaSet) minReady() time.Duration {
	return time.Duration(s.Object.Int64("spec", "minReadySeconds")) * time.Second
}

// manage creates missing pods or deletes surplus ones, at most burstReplicas at a time. It returns an error if a request fails.
func (s *replicaSet) manage() (failed *status.Status) {
	key := s.Key().String()
	switch missing := min(s.want()-len(s.pods), burstReplicas); {
	case missing > 0:
		s.Expect(key, missing, nil, s.API.Now())
		made, failed := workload.SlowStartBatch(missing, func() *status.Status {
			if failed := s.CreatePod(nil); failed != nil && !workload.Terminating(failed) {
				return failed
			}
			return nil
		})
		s.Created(key, missing-made)
		return failed
	case missing < 0:
		return s.delete(s.surplus(min(-missing, burstReplicas)))
	}
	return nil
}

// delete deletes pods and removes them from s.pods, so that the status no longer counts them as available. The Deployment reads
// that status together with the set's new size.
func (s *replicaSet) delete(going []*workload.Pod) (failed *status.Status) {
	key := s.Key().String()
	names, gone := []string(nil), map[*workload.Pod]bool{}
	for _, p := range going {
		names = append(names, p.Name)
	}
	s.Expect(key, 0, names, s.API.Now())
	for _, p := range going {
		if x := s.DeletePod(p); x != nil {
			s.Deleted(key, p.Name)
			if x.Reason != status.ReasonNotFound {
				failed = x
			}
			continue
		}
		gone[p] = true
		if s.API.Item(workload.Pods, p.Namespace, p.Name) != nil {
			s.terminating++
		}
	}
	s.pods = slices.DeleteFunc(slices.Clone(s.pods), func(p *workload.Pod) bool { return gone[p] })
	return failed
}

// surplus returns the n pods that are to be deleted first.
func (s *replicaSet) surplus(n int) []*workload.Pod {
	if n >= len(s.pods) {
		return s.pods
	}
	ranks := map[string]int{}
	for _, p := range s.related() {
		if p.Active() {
			ranks[p.Node]++
		}
	}
	sorted := slices.Clone(s.pods)
	workload.ByDeletion(sorted, ranks, s.API.Now())
	return sorted[:n]
}

// related returns the pods of all sets with the same controller, such as those of a Deployment.
func (s *replicaSet) related() []*workload.Pod {
	parent := workload.ControllerOf(s.Object)
	if parent == nil {
		return s.pods
	}
	var all []*workload.Pod
	for _, ref := range s.API.Owned(parent.String("uid")) {
		if ref.Resource != s.Resource {
			continue
		}
		sibling := s.API.Get(ref.Resource, ref.Namespace, ref.Name)
		for _, x := range s.API.Owned(sibling.UID()) {
			if it := s.API.Item(workload.Pods, x.Namespace, x.Name); x.Resource == workload.Pods && it != nil {
				all = append(all, workload.PodOf(it))
			}
		}
	}
	return all
}

// report updates the status of the set if it has changed. wrong is the error of managing the pods, or nil.
func (s *replicaSet) report(wrong *status.Status) *status.Status {
	before := object.Object(s.Object.Map("status"))
	now := before.Copy()
	if now == nil {
		now = object.Object{}
	}
	labelled, ready, available := int64(0), int64(0), int64(0)
	template := selector.FromSet(object.StringMap(s.Object.Map("spec", "template", "metadata", "labels")))
	for _, p := range s.pods {
		if template.Match(p.Label) {
			labelled++
		}
		if p.Ready {
			ready++
		}
		if p.Available(s.minReady(), s.API.Now()) {
			available++
		}
	}
	workload.SetCounts(now, map[string]int64{"fullyLabeledReplicas": labelled, "readyReplicas": ready, "availableReplicas": available})
	now["replicas"] = int64(len(s.pods))
	if !s.Plain {
		now["terminatingReplicas"] = s.terminating
	}
	s.setReplicaFailure(now, wrong)
	if object.Equal(map[string]any(now), map[string]any(before)) && s.Object.Generation() == before.Int64("observedGeneration") {
		return nil
	}
	now["observedGeneration"] = s.Object.Generation()
	return s.WriteStatus(now)
}

// setReplicaFailure sets or removes the condition ReplicaFailure, which is present while wrong, the error of creating or deleting
// pods, is not nil.
func (s *replicaSet) setReplicaFailure(now object.Object, wrong *status.Status) {
	has := object.Object{"status": map[string]any(now)}.Condition("ReplicaFailure") != nil
	switch {
	case wrong != nil && !has:
		reason := "FailedCreate"
		if len(s.pods) > s.want() {
			reason = "FailedDelete"
		}
		now["conditions"] = append(now.List("conditions"), map[string]any{"type": "ReplicaFailure", "status": "True",
			"lastTransitionTime": object.Time(s.API.Now()), "reason": reason, "message": wrong.Message})
	case wrong == nil && has:
		left := slices.DeleteFunc(now.List("conditions"), func(v any) bool { return v.(map[string]any)["type"] == "ReplicaFailure" })
		if delete(now, "conditions"); len(left) > 0 {
			now["conditions"] = left
		}
	}
}
