package apps

import (
	"cmp"
	"math"
	"slices"

	"github.com/kubesim/kubesim/sim/controller/workload"
	"github.com/kubesim/kubesim/sim/object"
)

// fenceposts returns the maximum number of surplus pods and of unavailable pods during a rolling update. At least one of them is
// not 0.
func (r *rollout) fenceposts() (surge, unavailable int64) {
	if r.Object.String("spec", "strategy", "type") != "RollingUpdate" {
		return 0, 0
	}
	rolling := object.Object(r.Object.Map("spec", "strategy", "rollingUpdate"))
	surge, unavailable = workload.Share(rolling["maxSurge"], r.want(), math.Ceil), workload.Share(rolling["maxUnavailable"], r.want(), math.Floor)
	if surge == 0 && unavailable == 0 {
		unavailable = 1
	}
	return surge, min(unavailable, r.want())
}

// room returns the number of replicas that the newest ReplicaSet may have now.
func (r *rollout) room(newest *replicaSetOf) int64 {
	if r.Object.String("spec", "strategy", "type") == "Recreate" {
		return r.want()
	}
	surge, _ := r.fenceposts()
	all := r.old
	if newest != nil {
		all = append(slices.Clone(all), newest)
	}
	free := r.want() + surge - sum(all, (*replicaSetOf).replicas)
	if free <= 0 {
		return newest.replicas()
	}
	return newest.replicas() + min(free, r.want()-newest.replicas())
}

// scale distributes the Deployment's replicas. If a single ReplicaSet has pods, it gets all replicas. During a rollout, each gets
// its share.
func (r *rollout) scale() {
	running := active(r.all())
	if only := r.activeOrLatest(running); only != nil {
		if only.replicas() != r.want() {
			r.scaleTo(only, r.want())
		}
		return
	}
	if r.saturated() {
		for _, s := range active(r.old) {
			r.scaleTo(s, 0)
		}
		return
	}
	if r.Object.String("spec", "strategy", "type") == "RollingUpdate" {
		r.scaleInProportion(running)
	}
}

// activeOrLatest returns the only ReplicaSet with replicas, or the newest if none has replicas. It returns nil if several have.
func (r *rollout) activeOrLatest(running []*replicaSetOf) *replicaSetOf {
	switch {
	case len(running) == 1:
		return running[0]
	case len(running) > 1:
		return nil
	case r.newest != nil:
		return r.newest
	case len(r.old) > 0:
		return r.old[len(r.old)-1]
	}
	return nil
}

// saturated reports whether the newest ReplicaSet has all of the Deployment's pods, and all of them are available.
func (r *rollout) saturated() bool {
	if r.newest == nil {
		return false
	}
	desired, ok := number(r.newest.Annotations()[desiredReplicas])
	return ok && desired == r.want() && r.newest.replicas() == r.want() && r.newest.count("availableReplicas") == r.want()
}

func (r *rollout) scaleInProportion(running []*replicaSetOf) {
	surge, _ := r.fenceposts()
	add := -sum(running, (*replicaSetOf).replicas)
	if r.want() > 0 {
		add += r.want() + surge
	}
	slices.SortStableFunc(running, func(a, b *replicaSetOf) int { // the largest first; of equal ones, the newest when scaling up, the oldest when scaling down
		age := workload.TimeOf(b.String("metadata", "creationTimestamp")).Compare(workload.TimeOf(a.String("metadata", "creationTimestamp")))
		if add < 0 {
			age = -age
		}
		return cmp.Or(cmp.Compare(b.replicas(), a.replicas()), age)
	})
	added := int64(0)
	sizes := make([]int64, len(running))
	for i, s := range running {
		if sizes[i] = s.replicas(); add != 0 {
			part := r.proportion(s, add, added, surge)
			sizes[i] += part
			added += part
		}
	}
	for i, s := range running {
		if i == 0 && add != 0 {
			sizes[i] = max(sizes[i]+add-added, 0)
		}
		r.scaleTo(s, sizes[i])
	}
}

// proportion returns the number of replicas by which to change a ReplicaSet during a rollout. add is the total change, which is
// negative when scaling down, and added is the part of it that has already been distributed.
func (r *rollout) proportion(s *replicaSetOf, add, added, surge int64) int64 {
	if s.replicas() == 0 || add == added {
		return 0
	}
	part := -s.replicas()
	if r.want() != 0 {
		before, ok := number(s.Annotations()[maxReplicas])
		if !ok || before == 0 {
			before = r.Object.Int64("status", "replicas")
		}
		if part = 0; before != 0 {
			part = int64(math.Round(float64(s.replicas()*(r.want()+surge))/float64(before))) - s.replicas()
		}
	}
	if add > 0 {
		return min(part, add-added)
	}
	return max(part, add-added)
}

// roll performs one step of a rolling update: it scales up the newest ReplicaSet or scales down the old ones.
func (r *rollout) roll() {
	r.revise(true)
	if r.failed != nil {
		return
	}
	if have := r.newest.replicas(); have != r.want() {
		to := r.want()
		if have < to {
			to = r.room(r.newest)
		}
		if r.scaleTo(r.newest, to); to != have {
			return
		}
	}
	if r.shrink() {
		return
	}
	if r.complete(r.Object) && r.failed == nil {
		r.cleanUp()
	}
}

// shrink scales down the old ReplicaSets, with unavailable replicas first. It reports whether it has written anything.
func (r *rollout) shrink() bool {
	old := active(r.old)
	_, unavailable := r.fenceposts()
	least := r.want() - unavailable
	lacking := r.newest.replicas() - r.newest.count("availableReplicas")
	spare := sum(r.all(), (*replicaSetOf).replicas) - least - lacking
	if len(old) == 0 || spare <= 0 {
		return false
	}
	before := sum(old, (*replicaSetOf).replicas)
	for _, s := range old {
		if sick := min(spare, s.replicas()-s.count("availableReplicas")); sick > 0 {
			spare -= sick
			r.scaleTo(s, s.replicas()-sick)
		}
	}
	free := sum(r.all(), func(s *replicaSetOf) int64 { return s.count("availableReplicas") }) - least
	for _, s := range old {
		if n := min(s.replicas(), free); n > 0 {
			free -= n
			r.scaleTo(s, s.replicas()-n)
		}
	}
	return sum(old, (*replicaSetOf).replicas) < before
}

// recreate performs one step of the strategy Recreate: it scales the old ReplicaSets to 0, and after their pods have ended it
// scales up the newest.
func (r *rollout) recreate() {
	r.revise(false)
	if r.failed != nil {
		return
	}
	if old := active(r.old); len(old) > 0 {
		for _, s := range old {
			r.scaleTo(s, 0)
		}
		return
	}
	if r.oldPods() {
		return
	}
	if r.newest == nil {
		r.revise(true)
	}
	if r.failed != nil {
		return
	}
	if r.newest.replicas() != r.want() {
		r.scaleTo(r.newest, r.want())
	}
	if r.complete(r.Object) && r.failed == nil {
		r.cleanUp()
	}
}

// oldPods reports whether old ReplicaSets still have pods that have not ended.
func (r *rollout) oldPods() bool {
	if sum(r.old, func(s *replicaSetOf) int64 { return s.count("replicas") }) > 0 {
		return true
	}
	for _, s := range r.old {
		for _, ref := range r.API.Owned(s.UID()) {
			if it := r.API.Item(ref.Resource, ref.Namespace, ref.Name); ref.Resource == workload.Pods && it != nil && !workload.PodOf(it).Finished() {
				return true
			}
		}
	}
	return false
}
