//go:build !page

package scheduler

import (
	"cmp"
	"slices"

	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/controller/workload"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// Pods with a scheduling group are placed together (KEP-4671, schedule_one_podgroup.go and the plugin GangScheduling):
//
//	pod ─ PodGroup exists, and a gang has minCount pods? ─ no ─▶ gated, as by a scheduling gate
//	          │ yes
//	          ▼
//	active ─ the first pod of the group is next ─▶ all pods of the group are tried, each as if those before it were bound
//	                                                 enough fit ─▶ these are bound, the others rejected
//	                                                 too few    ─▶ all are rejected
//
// A pod that fits nowhere may preempt others; then all pods of the group wait until their nodes have room. The condition
// PodGroupScheduled of the group has the outcome; since 1.37 it is PodGroupInitiallyScheduled. Placements by topology
// (schedulingConstraints) and preemption by a whole group (WorkloadAwarePreemption) are not simulated.

const (
	podGroups = "podgroups.scheduling.k8s.io"
	groupGate = "PodGroup" // in pod.gates: the pod waits for its group

	textUnschedulable = "pod group is unschedulable"
	textPreempts      = textUnschedulable + ", pod group is waiting for preemption to complete"
	textWaits         = textUnschedulable + ", waiting for minCount pods from a gang to be scheduled, " +
		"one or more plugins asked to wait and no plugin rejected pod"
)

// groupWatches returns the watch of PodGroups.
func (s *Scheduler) groupWatches(watch watcher) []controller.Watch {
	return []controller.Watch{watch(podGroups, func(api *controller.Client, c *commit.Commit) {
		if c.Deleted() || !c.Created() && object.Equal(c.Item().Shared().Map("spec"), c.Before().Shared().Map("spec")) {
			return
		}
		key := controller.Key{Namespace: c.Namespace, Name: c.Name}
		s.releaseGroup(api, key)
		for _, x := range s.members(key) {
			if x.Place == waiting {
				s.memory.Queue.retry(x, api.Now())
			}
		}
	})}
}

// together reports whether the server's gates let pods be scheduled in groups.
func together(api *controller.Client) bool {
	gates := api.Profile().Gates
	return gates["GenericWorkload"] && gates["GangScheduling"]
}

// groupOf returns the key of the pod's group, and false if it has none.
func (p *pod) groupOf() (controller.Key, bool) {
	return controller.Key{Namespace: p.Namespace, Name: p.group}, p.group != ""
}

// members returns the pods of a group in the queue, in the order in which they are tried.
func (s *Scheduler) members(group controller.Key) (list []*queued) {
	for key, p := range s.memory.pending { // order does not matter: the list is sorted
		if at, ok := p.groupOf(); ok && at == group {
			if x := s.memory.Queue.get(key); x != nil {
				list = append(list, x)
			}
		}
	}
	slices.SortFunc(list, func(a, b *queued) int {
		return cmp.Or(cmp.Compare(b.Priority, a.Priority), cmp.Compare(a.Number, b.Number))
	})
	return list
}

// awaitGroup returns the pod with groupGate if it waits for its group.
func (s *Scheduler) awaitGroup(api *controller.Client, p *pod) *pod {
	if key, grouped := p.groupOf(); grouped && together(api) && !s.complete(api, key) {
		return p.withGates(append(slices.Clone(p.gates), groupGate))
	}
	return p
}

// complete reports whether a PodGroup exists and, if it is a gang, has enough pods.
func (s *Scheduler) complete(api *controller.Client, key controller.Key) bool {
	group := api.GetShared(podGroups, key.Namespace, key.Name)
	return group != nil && (leastOf(group) == 0 || s.count(api, key, false) >= leastOf(group))
}

// withGates returns a copy of the pod with other gates.
func (p *pod) withGates(gates []string) *pod {
	q, t := *p, *p.template
	t.gates, q.template = gates, &t
	return &q
}

// leastOf returns the minimum number of pods of a gang, and 0 for a group with the basic policy.
func leastOf(group object.Object) int {
	return int(group.Int64("spec", "schedulingPolicy", "gang", "minCount"))
}

// count returns the number of pods that name a group and have not ended. If bound is set, it counts only those with a node.
func (s *Scheduler) count(api *controller.Client, group controller.Key, bound bool) (n int) {
	api.Items(workload.Pods, group.Namespace, func(it *resource.Item) bool {
		if it.Shared().String("spec", "schedulingGroup", "podGroupName") == group.Name && !ended(it) && (!bound || it.Field("spec.nodeName") != "") {
			n++
		}
		return true
	})
	return n
}

// releaseGroup lets the pods of a group that no longer wait for it enter the queue.
func (s *Scheduler) releaseGroup(api *controller.Client, group controller.Key) {
	m := &s.memory
	if !together(api) || !s.complete(api, group) {
		return
	}
	for _, x := range s.members(group) {
		p := m.pending[x.Key]
		if x.Place != gated || !slices.Contains(p.gates, groupGate) {
			continue
		}
		p = p.withGates(slices.DeleteFunc(slices.Clone(p.gates), func(gate string) bool { return gate == groupGate }))
		if m.pending[x.Key] = p; len(p.gates) == 0 {
			x.Since = api.Now()
			s.enter(api, x)
		}
	}
}

// attempt is the result of the search for a node for one pod of a group.
type attempt struct {
	x    *queued
	c    *cycle
	node *node // if nil, no node fits
	d    *diagnosis
	room *candidate // the node on which preemption makes room, if no node fits
	keep bool       // keep the nominated node
}

// on returns the node on which the pods after it count the pod, or nil.
func (a *attempt) on() *node {
	if a.room != nil {
		return a.room.node
	}
	return a.node
}

// placeGroup places the group of a pod. It returns false if the pod has no group, so that it is placed alone.
func (s *Scheduler) placeGroup(api *controller.Client, first *queued, p *pod) bool {
	key, grouped := p.groupOf()
	if !grouped || !together(api) {
		return false
	}
	m := &s.memory
	if p = s.awaitGroup(api, p); len(p.gates) > 0 { // the group was deleted, or pods of the gang are gone
		m.pending[first.Key] = p
		m.Queue.move(first, gated)
		return true
	}
	m.Queue.move(first, active) // again among its members
	least, bound := leastOf(api.GetShared(podGroups, key.Namespace, key.Name)), s.count(api, key, true)
	members := s.members(key)
	for _, x := range members {
		if x.Place == binding {
			bound++
		}
	}
	tried := s.tryAll(api, members)
	placed, preempts := 0, false
	for _, a := range tried {
		if a.on() != nil {
			placed++
		}
		preempts = preempts || a.room != nil
	}
	switch enough := placed > 0 && bound+placed >= least; {
	case enough && !preempts:
		s.takeGroup(tried)
		s.groupScheduled(api, key, "True", "Scheduled", "")
	case enough:
		s.rejectGroup(tried, true)
		s.groupScheduled(api, key, "False", "Unschedulable", textPreempts)
	default:
		s.rejectGroup(tried, false)
		s.groupScheduled(api, key, "False", "Unschedulable", textUnschedulable)
	}
	return true
}

// tryAll looks for a node for each pod, as if the pods before it were bound to theirs and their victims gone. Then it restores the
// cluster.
func (s *Scheduler) tryAll(api *controller.Client, members []*queued) (tried []*attempt) {
	m := &s.memory
	var victims []*pod
	for _, x := range members {
		p := m.pending[x.Key]
		if x.Place == gated || x.Place == binding || p.deleting {
			continue
		}
		m.Queue.move(x, "")
		a := &attempt{x: x, c: &cycle{s: s, api: api, cluster: m.cluster, pod: p}}
		tried = append(tried, a)
		fit, d := a.c.find()
		switch a.d = d; {
		case len(fit) > 0:
			a.node = a.c.best(fit)
		case d.nodes > 0:
			if a.room, a.keep = a.c.preempt(d); a.room != nil {
				victims = append(victims, a.room.victims...)
				for _, v := range a.room.victims {
					m.cluster.removePod(v.Key)
				}
			}
		}
		if n := a.on(); n != nil {
			m.cluster.setPod(p.on(n.name))
		}
	}
	for _, a := range tried {
		if a.on() != nil {
			m.cluster.removePod(a.x.Key)
		}
	}
	for _, v := range victims {
		m.cluster.setPod(v)
	}
	return tried
}

// takeGroup binds the pods with a node and rejects the others.
func (s *Scheduler) takeGroup(tried []*attempt) {
	for _, a := range tried {
		if a.node != nil {
			s.take(a.c, a.x, a.node)
		} else {
			s.reject(a.c.api, a.x, "Unschedulable", a.d.text(), a.nominated(), a.rejectedBy())
		}
	}
}

// rejectGroup rejects all pods of a group, and evicts the victims of pods that preempt others. If preempts is set, the pods keep their
// nodes as nominated ones, because the group fits when the victims are gone. Each pod is retried when an event could help one of those
// without a node.
func (s *Scheduler) rejectGroup(tried []*attempt, preempts bool) {
	var by []string
	for _, a := range tried {
		if a.node == nil {
			by = append(by, a.rejectedBy()...)
		}
	}
	slices.Sort(by)
	by = slices.Compact(by)
	for _, a := range tried {
		text, nominated := a.d.text(), a.nominated()
		switch {
		case a.on() == nil:
		case !preempts:
			text, nominated = textWaits, ""
		case a.room == nil:
			text, nominated = textPreempts, a.node.name
		}
		s.reject(a.c.api, a.x, "Unschedulable", text, nominated, by)
	}
	for _, a := range tried {
		if a.room != nil {
			s.evict(a.c.api, a.c.pod, a.room)
		}
	}
}

// nominated returns the nominated node of a pod that no node fits, or "".
func (a *attempt) nominated() string {
	switch {
	case a.room != nil:
		return a.room.node.name
	case a.keep:
		return a.c.pod.nominated
	}
	return ""
}

// rejectedBy returns the plugins that rejected the pod.
func (a *attempt) rejectedBy() []string {
	if a.d.nodes == 0 {
		return []string{noNode}
	}
	return a.d.plugins()
}

// groupScheduled sets the condition of a group. A group that was scheduled once remains so.
func (s *Scheduler) groupScheduled(api *controller.Client, key controller.Key, state, reason, message string) {
	condition := "PodGroupScheduled"
	if api.Since(37) {
		condition = "PodGroupInitiallyScheduled"
	}
	group := api.GetShared(podGroups, key.Namespace, key.Name)
	if before := group.Condition(condition); group == nil || before.String("status") == "True" ||
		before.String("status") == state && before.String("reason") == reason && before.String("message") == message {
		return
	}
	_ = api.Patch(podGroups, "status", key, func(live object.Object) { // fails only if the group is gone
		controller.SetCondition(live, api.Now(), condition, state, reason, message)
	})
}
