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

// eviction is taint-eviction-controller.
type eviction struct{ memory evictionMemory }

// evictionMemory is the nodes with taints NoExecute, and which pods have to go when.
type evictionMemory struct {
	Tainted map[string][]workload.Taint `json:",omitempty"`
	Going   map[string]going            `json:",omitempty"` // by key of the pod
}

// going is a pod that bears the taints of its node for a while.
type going struct{ Since, At time.Time }

// TaintEviction deletes pods from nodes with taints NoExecute that they do not tolerate, or no longer
// (pkg/controller/tainteviction; Kubernetes' documents, "Taints and Tolerations").
func TaintEviction() controller.Controller {
	e := &eviction{}
	return controller.Account("taint-eviction-controller", "node-controller", e,
		controller.Watch{Resource: nodeObjects, Keys: e.nodeWritten}, controller.Watch{Resource: workload.Pods, Keys: e.podWritten})
}

// Memory implements controller.Rememberer.
func (e *eviction) Memory() any { return &e.memory }

// nodeWritten returns the pods of a node whose taints NoExecute have changed.
func (e *eviction) nodeWritten(api *controller.Client, c *commit.Commit) (keys []controller.Key) {
	var taints []workload.Taint
	if it := c.Item(); !c.Deleted() && it != nil && bytes.Contains(it.Bytes, []byte(`"`+execute+`"`)) {
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
		return nil // what becomes of its pods is not for this controller to decide
	}
	for _, it := range podsOn(api, c.Name) {
		keys = append(keys, podKey(it.Namespace, it.Name))
	}
	return keys
}

// podWritten returns a pod that has come to a node, has other tolerations or is gone.
func (e *eviction) podWritten(_ *controller.Client, c *commit.Commit) []controller.Key {
	it, key := c.Item(), podKey(c.Namespace, c.Name)
	if it == nil || len(e.memory.Tainted)+len(e.memory.Going) == 0 {
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

// Reconcile evicts a pod, or notes when it has to go.
func (e *eviction) Reconcile(api *controller.Client, key controller.Key) (time.Duration, *status.Status) {
	pod := api.Get(workload.Pods, key.Namespace, key.Name)
	if pod == nil {
		e.cancel(api, key)
		return 0, nil
	}
	now := api.Now()
	planned, waits := e.memory.Going[key.String()]
	if waits && !now.Before(planned.At) {
		return 0, e.evict(api, key)
	}
	taints := e.memory.Tainted[pod.String("spec", "nodeName")]
	if len(taints) == 0 {
		e.cancel(api, key)
		return 0, nil
	}
	bears, limited, tolerated := patience(taints, workload.TolerationsOf(pod.At("spec")))
	switch {
	case !tolerated:
		e.cancel(api, key)
		return 0, e.evict(api, key)
	case !limited:
		e.cancel(api, key)
		return 0, nil
	case bears == 0:
		e.cancel(api, key)
		return 0, e.evict(api, key)
	case waits && planned.Since.Add(bears).Before(now.Add(bears)):
		return planned.At.Sub(now), nil
	case waits:
		e.cancel(api, key)
	}
	if e.memory.Going == nil {
		e.memory.Going = map[string]going{}
	}
	e.memory.Going[key.String()] = going{now, now.Add(bears)}
	return bears, nil
}

// patience is how long a pod bears taints, if that is limited, and whether it bears them all.
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

// cancel lets a pod stay that was to go.
func (e *eviction) cancel(api *controller.Client, key controller.Key) {
	if _, waits := e.memory.Going[key.String()]; waits {
		delete(e.memory.Going, key.String())
		recordPodEvent(api, key, "Cancelling deletion of Pod "+key.String())
	}
}

// evict deletes a pod.
func (e *eviction) evict(api *controller.Client, key controller.Key) *status.Status {
	delete(e.memory.Going, key.String())
	recordPodEvent(api, key, "Marking for deletion Pod "+key.String())
	s := api.Patch(workload.Pods, "status", key, func(live object.Object) {
		if controller.SetCondition(live, api.Now(), "DisruptionTarget", "True", "DeletionByTaintManager", "Taint manager: deleting due to NoExecute taint") {
			live.Condition("DisruptionTarget")["observedGeneration"] = live.Generation()
		}
	})
	if s == nil {
		s = api.Delete(workload.Pods, key, controller.Preconditions{})
	}
	return workload.Found(s)
}

// recordPodEvent says something of a pod of which only the name is known.
func recordPodEvent(api *controller.Client, key controller.Key, message string) {
	about := object.Object{"kind": "Pod", "apiVersion": "v1", "metadata": map[string]any{"name": key.Name, "namespace": key.Namespace}}
	_ = api.Event(about, "Normal", "TaintManagerEviction", message)
}
