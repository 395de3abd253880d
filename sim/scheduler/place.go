package scheduler

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/controller/claims"
	"github.com/kubesim/kubesim/sim/controller/workload"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/status"
)

// place tries to find a node for a pod and to bind it (Scheduler.ScheduleOne).
func (s *Scheduler) place(api *controller.Client, x *queued) {
	p := s.memory.pending[x.Key]
	if p == nil {
		s.memory.Queue.remove(x.Key)
		return
	}
	if p.deleting {
		s.memory.Queue.remove(x.Key)
		s.recordEvent(api, p, nil, "Warning", "FailedScheduling", "Scheduling", "skip schedule deleting pod: "+p.Key.String())
		return
	}
	s.memory.trying, s.memory.missed = true, nil
	defer func() { s.memory.trying, s.memory.missed = false, nil }()
	if s.placeGroup(api, x, p) {
		return
	}
	c := &cycle{s: s, api: api, cluster: s.memory.cluster, pod: p}
	fit, d := c.find()
	switch {
	case d.all.failed:
		s.reject(api, x, "SchedulerError", fmt.Sprintf("running %q filter plugin: %s", d.all.plugin, d.all.reasons[0]), "", nil)
	case len(fit) > 0:
		s.take(c, x, c.best(fit))
	case d.nodes == 0:
		s.reject(api, x, "Unschedulable", d.text(), "", []string{noNode})
	default:
		s.makeRoom(c, x, d)
	}
}

// makeRoom tries preemption: it looks for a node from which other pods can be evicted, and evicts them. It rejects the pod in any
// case, because its victims must terminate first.
func (s *Scheduler) makeRoom(c *cycle, x *queued, d *diagnosis) {
	best, keep := c.preempt(d)
	node := ""
	switch {
	case best != nil:
		node = best.node.name
	case keep:
		node = c.pod.nominated
	}
	s.reject(c.api, x, "Unschedulable", d.text(), node, d.plugins())
	if best != nil {
		s.evict(c.api, c.pod, best)
	}
}

// reject records that no node was found for a pod, in the queue, in an event and in the pod's condition. It sets the nominated node
// to node, and clears it if node is empty. by contains the plugins that rejected the pod.
func (s *Scheduler) reject(api *controller.Client, x *queued, reason, message, node string, by []string) {
	p := s.memory.pending[x.Key]
	s.memory.Queue.reject(x, by, api.Now())
	s.memory.Queue.nominate(x, node)
	s.recordEvent(api, p, x, "Warning", "FailedScheduling", "Scheduling", shortened(message))
	s.write(api, x.Key, func(live object.Object) {
		s.nominate(live, node)
		podScheduled(live, api.Now(), reason, message)
	})
	_ = slices.ContainsFunc(s.memory.missed, func(e *event) bool { return s.retry(api, x, e) }) // until one helps
}

// write applies a change to the status of a pod, unless it changes nothing.
func (s *Scheduler) write(api *controller.Client, key controller.Key, change func(live object.Object)) {
	now := api.Get(workload.Pods, key.Namespace, key.Name)
	then := now.Copy()
	if now == nil {
		return
	}
	if change(then); object.Equal(now.Map("status"), then.Map("status")) {
		return
	}
	_ = api.Patch(workload.Pods, "status", key, change) // fails only if the pod is gone
}

// nominate sets or clears the nominated node in the status of a pod.
func (s *Scheduler) nominate(pod object.Object, node string) {
	if node == "" {
		pod.Remove("status", "nominatedNodeName")
	} else {
		pod.Set(node, "status", "nominatedNodeName")
	}
}

// podScheduled sets the condition PodScheduled of a pod to False, with the reason and message.
func podScheduled(pod object.Object, now time.Time, reason, message string) {
	controller.SetCondition(pod, now, "PodScheduled", "False", reason, message)
	pod.Condition("PodScheduled")["observedGeneration"] = pod.Generation()
}

// shortened truncates the note of an event to the length that the API allows.
func shortened(note string) string {
	const most, end = 1024, " ..."
	if len(note) <= most {
		return note
	}
	return note[:most-len(end)] + end
}

// take assigns a pod to node n in the cache at once. If all of its volumes are bound, take binds the pod. Otherwise it starts to
// bind the volumes that the pod will use on the node.
func (s *Scheduler) take(c *cycle, x *queued, n *node) {
	m := &s.memory
	var plan plan
	if len(c.volumes.unbound) > 0 {
		plan, _ = c.planVolumes(n)
	}
	m.Queue.nominate(x, "")
	m.cluster.setPod(c.pod.on(n.name))
	if len(plan.bind)+len(plan.provision) == 0 && !c.s.usesDevices(c.api, c.pod) {
		s.bind(c.api, x, n.name)
		return
	}
	m.Queue.bind(x, n.name, c.api.Now())
	s.write(c.api, x.Key, func(live object.Object) { s.nominate(live, n.name) })
	if failed := prepare(c.api, plan, n.name); failed != nil {
		s.giveUp(c.api, x, volumeBinding, failed.Message)
	} else if why := c.bindClaims(n); why != "" {
		s.giveUp(c.api, x, dynamicResources, why)
	}
}

// prepare binds the claims of plan p to volumes, and selects the node for claims whose volumes have to be provisioned. It stops at
// the first error and returns it.
func prepare(api *controller.Client, p plan, node string) (failed *status.Status) {
	for _, pair := range p.bind {
		if volume, claim := pair[0], pair[1]; claims.Bind(volume, claim) {
			if _, failed = api.Update(claims.Volumes, "", volume); failed != nil {
				return failed
			}
		}
	}
	for _, claim := range p.provision {
		claim.Set(node, "metadata", "annotations", claims.SelectedNode)
		if _, failed = api.Update(claims.Claims, "", claim); failed != nil {
			return failed
		}
	}
	return nil
}

// finish binds a pod whose volumes are all bound (volumeBinder.checkBindings) and whose devices are ready. If binding a volume has
// failed, finish releases the node. If a volume is not bound yet, it does nothing.
func (s *Scheduler) finish(api *controller.Client, x *queued) {
	x.Changed = false
	p := s.memory.pending[x.Key]
	if p == nil {
		s.memory.Queue.remove(x.Key)
		return
	}
	plugin := volumeBinding
	done, why := s.volumesBound(api, x, p)
	if done {
		plugin = dynamicResources
		done, why = s.devicesReady(api, p)
	}
	switch {
	case why != "":
		s.giveUp(api, x, plugin, why)
	case done:
		s.bind(api, x, x.Node)
	}
}

// volumesBound reports whether all volumes of a pod are bound for its node. If that has failed, why is the reason.
func (s *Scheduler) volumesBound(api *controller.Client, x *queued, p *pod) (done bool, why string) {
	n := s.memory.cluster.nodes[x.Node]
	for _, v := range p.volumes {
		name, _ := claims.Of(p.Name, v)
		if name == "" {
			continue
		}
		claim := api.Get(claims.Claims, p.Namespace, name)
		volume := api.Get(claims.Volumes, "", claim.String("spec", "volumeName"))
		switch selected := claim.Annotations()[claims.SelectedNode]; {
		case claim == nil:
			return false, fmt.Sprintf("binding volumes: failed to check binding: could not find object \"%s/%s\"", p.Namespace, name)
		case n == nil || !n.exists:
			return false, fmt.Sprintf("binding volumes: failed to get node %q: node %q not found", x.Node, x.Node)
		case volume != nil && !claims.Reaches(volume, n.labels):
			return false, fmt.Sprintf("binding volumes: pv %q node affinity doesn't match node %q: no matching NodeSelectorTerms",
				volume.Name(), n.name)
		case claims.Bound(claim):
		case selected != "" && selected != x.Node || selected == "" && !s.hasReservedVolume(api, claim):
			return false, fmt.Sprintf("binding volumes: provisioning failed for PVC %q", name)
		default:
			return false, ""
		}
	}
	return true, ""
}

// hasReservedVolume reports whether a volume exists that is reserved for the claim.
func (s *Scheduler) hasReservedVolume(api *controller.Client, claim object.Object) bool {
	return slices.ContainsFunc(api.All(claims.Volumes, ""), func(v object.Object) bool { return claims.BoundTo(v, claim) })
}

// bind binds a pod to a node. If that fails, it releases the node.
func (s *Scheduler) bind(api *controller.Client, x *queued, node string) {
	p := s.memory.pending[x.Key]
	body := object.Object{"kind": "Binding", "apiVersion": "v1", "metadata": map[string]any{"name": p.Name, "namespace": p.Namespace, "uid": p.uid},
		"target": map[string]any{"kind": "Node", "name": node}}
	if _, failed := api.Connect(workload.Pods, "binding", x.Key, body); failed != nil {
		s.lose(api, x, fmt.Sprintf("running Bind plugin %q: %s", "DefaultBinder", failed.Message))
		return
	}
	s.recordEvent(api, p, nil, "Normal", "Scheduled", "Binding", fmt.Sprintf("Successfully assigned %s to %s", p.Key, node))
}

// giveUp releases the node of a pod that a plugin could not prepare for it. why is the reason for the event.
func (s *Scheduler) giveUp(api *controller.Client, x *queued, plugin, why string) {
	s.lose(api, x, fmt.Sprintf("running PreBind plugin %q: %s", plugin, why))
}

// giveUpLate releases the node of a pod whose volumes or devices were not ready in time.
func (s *Scheduler) giveUpLate(api *controller.Client, x *queued) {
	if p := s.memory.pending[x.Key]; p != nil {
		if ready, why := s.devicesReady(api, p); !ready {
			s.giveUp(api, x, dynamicResources, cmp.Or(why, "device binding timeout: context deadline exceeded"))
			return
		}
	}
	s.giveUp(api, x, volumeBinding, "binding volumes: context deadline exceeded")
}

// lose releases the node of a pod that could not be bound to it. The pod is tried again after a pause.
func (s *Scheduler) lose(api *controller.Client, x *queued, message string) {
	if s.memory.pending[x.Key] == nil || s.memory.Queue.get(x.Key) != x {
		return // the pod was deleted, or another client has bound it
	}
	gone := s.memory.cluster.removePod(x.Key)
	s.unreserve(api, s.memory.pending[x.Key])
	x.Node = ""
	s.reject(api, x, "SchedulerError", message, "", nil)
	if gone != nil {
		s.retryFor(api, &event{kind: podGone, pod: gone})
	}
}
