package node

import (
	"bytes"
	"slices"
	"time"

	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/controller/workload"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

// eviction implements taint-eviction-controller.
type eviction struct{ memory evictionMemory }

// evictionMemory holds the nodes with NoExecute taints, and the scheduled evictions.
type evictionMemory struct {
	Tainted map[string][]workload.Taint `json:",omitempty"`
	Planned map[string]plannedEviction  `json:"Going,omitempty"` // planned evictions by pod key
	Marked  map[string]bool             `json:",omitempty"`      // keys of pods that are marked as disrupted and deleted next
}

// plannedEviction is the planned eviction of a pod that tolerates the taints of its node for a limited time.
type plannedEviction struct{ Since, At time.Time }

// TaintEviction deletes pods from nodes with NoExecute taints that the pods do not tolerate, or no longer tolerate
// (pkg/controller/tainteviction; Kubernetes documentation, "Taints and Tolerations").
func TaintEviction() controller.Controller {
	e := &eviction{}
	return controller.Account("taint-eviction-controller", "node-controller", e,
		controller.Watch{Resource: nodeObjects, Keys: e.nodeWritten}, controller.Watch{Resource: workload.Pods, Keys: e.podWritten})
}

// Memory implements controller.Rememberer.
func (e *eviction) Memory() any { return &e.memory }

// nodeWritten returns the pods of a node whose NoExecute taints have changed.
func (e *eviction) nodeWritten(api *controller.Client, c *commit.Commit) (keys []controller.Key) {
	var taints []workload.Taint
	if it := c.Item(); !c.Deleted() && it != nil && bytes.Contains(it.Bytes(), []byte(`"`+execute+`"`)) {
		taints = slices.DeleteFunc(workload.TaintsOf(it.Object()), func(t workload.Taint) bool { return t.Effect != execute })
	}
	if slices.Equal(taints, e.memory.Tainted[c.Name]) {
		return nil
	}
	if len(taints) == 0 {
		delete(e.memory.Tainted, c.Name)
	} else {
		if e.memory.Tainted == nil {
			e.memory.Tainted = map[string][]workload.Taint{}
		}
		e.memory.Tainted[c.Name] = taints
	}
	if c.Deleted() {
		return nil // if the node was deleted, other controllers handle its pods
	}
	for _, it := range api.Indexed(workload.Pods, c.Name) {
		keys = append(keys, podKey(it.Namespace, it.Name))
	}
	return keys
}

// podWritten returns the key of a pod that was deleted or bound to a node, or whose tolerations changed.
func (e *eviction) podWritten(_ *controller.Client, c *commit.Commit) []controller.Key {
	it, key := c.Item(), podKey(c.Namespace, c.Name)
	if e.memory.Marked[key.String()] {
		return []controller.Key{key}
	}
	if it == nil || len(e.memory.Tainted)+len(e.memory.Planned) == 0 {
		return nil
	}
	before := c.Before()
	if !c.Deleted() && before != nil && before.Field("spec.nodeName") == it.Field("spec.nodeName") && sameTolerations(before, it) {
		return nil
	}
	return []controller.Key{key}
}

func sameTolerations(a, b *resource.Item) bool {
	return slices.Equal(workload.TolerationsOf(a.Object().At("spec")), workload.TolerationsOf(b.Object().At("spec")))
}

// Reconcile evicts a pod, or schedules its eviction for when it no longer tolerates the taints.
func (e *eviction) Reconcile(api *controller.Client, key controller.Key) (time.Duration, *status.Status) {
	pod := api.Get(workload.Pods, key.Namespace, key.Name)
	if pod == nil {
		delete(e.memory.Marked, key.String())
		e.cancel(api, key)
		return 0, nil
	}
	if e.memory.Marked[key.String()] {
		return 0, e.deleteMarked(api, key)
	}
	now := api.Now()
	planned, found := e.memory.Planned[key.String()]
	if found && !now.Before(planned.At) {
		return 0, e.evict(api, key)
	}
	taints := e.memory.Tainted[pod.String("spec", "nodeName")]
	if len(taints) == 0 {
		e.cancel(api, key)
		return 0, nil
	}
	delay, limited, tolerated := patience(taints, workload.TolerationsOf(pod.At("spec")))
	switch {
	case !tolerated:
		e.cancel(api, key)
		return 0, e.evict(api, key)
	case !limited:
		e.cancel(api, key)
		return 0, nil
	case delay == 0:
		e.cancel(api, key)
		return 0, e.evict(api, key)
	case found && planned.Since.Add(delay).Before(now.Add(delay)):
		return planned.At.Sub(now), nil
	case found:
		e.cancel(api, key)
	}
	if e.memory.Planned == nil {
		e.memory.Planned = map[string]plannedEviction{}
	}
	e.memory.Planned[key.String()] = plannedEviction{now, now.Add(delay)}
	return delay, nil
}

// patience returns the shortest time for which a pod tolerates the taints, and whether that time is limited. all reports whether it
// tolerates all of them.
func patience(taints []workload.Taint, tolerations []workload.Toleration) (least time.Duration, limited, all bool) {
	for _, x := range taints {
		i := slices.IndexFunc(tolerations, func(t workload.Toleration) bool { return t.Tolerates(x) })
		if i < 0 {
			return 0, false, false
		}
		if t := tolerations[i]; t.Limited && (!limited || t.For < least) {
			least, limited = t.For, true
		}
	}
	return least, limited, true
}

// cancel cancels the planned eviction of a pod.
func (e *eviction) cancel(api *controller.Client, key controller.Key) {
	if _, found := e.memory.Planned[key.String()]; found {
		delete(e.memory.Planned, key.String())
		recordPodEvent(api, key, "Cancelling deletion of Pod "+key.String())
	}
}

// evict marks a pod as disrupted. The pod is deleted in the next reconcile, because other controllers react to the taint in the
// meantime. For example, a DaemonSet deletes the pod, too.
func (e *eviction) evict(api *controller.Client, key controller.Key) *status.Status {
	delete(e.memory.Planned, key.String())
	recordPodEvent(api, key, "Marking for deletion Pod "+key.String())
	if e.memory.Marked == nil {
		e.memory.Marked = map[string]bool{}
	}
	e.memory.Marked[key.String()] = true
	changed := false
	s := api.Patch(workload.Pods, "status", key, func(live object.Object) {
		if controller.SetCondition(live, api.Now(), "DisruptionTarget", "True", "DeletionByTaintManager", "Taint manager: deleting due to NoExecute taint") {
			live.Condition("DisruptionTarget")["observedGeneration"] = live.Generation()
			changed = true
		}
	})
	if s != nil {
		delete(e.memory.Marked, key.String())
		return workload.Found(s)
	}
	if !changed {
		return e.deleteMarked(api, key)
	}
	return nil
}

// deleteMarked deletes a pod that is marked as disrupted. After a failure the pod stays marked, and the next reconcile tries again.
func (e *eviction) deleteMarked(api *controller.Client, key controller.Key) *status.Status {
	delete(e.memory.Marked, key.String()) // before the deletion, which must not cause another reconcile
	s := workload.Found(api.Delete(workload.Pods, key, controller.Preconditions{}))
	if s != nil {
		e.memory.Marked[key.String()] = true
	}
	return s
}

// recordPodEvent records an event about a pod. It only needs the pod's key, because the pod may be gone.
func recordPodEvent(api *controller.Client, key controller.Key, message string) {
	about := object.Object{"kind": "Pod", "apiVersion": "v1", "metadata": map[string]any{"name": key.Name, "namespace": key.Namespace}}
	_ = api.Event(about, "Normal", "TaintManagerEviction", message)
}
