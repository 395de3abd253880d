package node

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/controller/workload"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

const (
	nodes = "nodes"

	// podGCPeriod is the interval at which the real controller runs. This controller processes changes after the same delay.
	podGCPeriod = 20 * time.Second
	// quarantine is the time that a node must be missing before its pods are deleted.
	quarantine = 40 * time.Second
	// terminatedMax is the maximum number of ended pods (--terminated-pod-gc-threshold).
	terminatedMax = 12500

	outOfService = "node.kubernetes.io/out-of-service"
)

// PodGC deletes pods that no other controller deletes (pkg/controller/podgc): ended pods in excess of a limit, pods of deleted nodes, and
// terminating pods without a node or on a node that is out of service.
//
// Its keys are
//
//	NAMESPACE/NAME   a pod that is being deleted
//	left/NODE        a node that pods refer to and that does not exist; checked again after the quarantine
//	gone/NODE        such a node after the quarantine
//	ended            all pods that have ended
func PodGC() controller.Controller {
	return controller.Account("pod-garbage-collector-controller", "pod-garbage-collector", controller.Func(collect),
		controller.Watch{Resource: workload.Pods, Keys: podLeft, After: podGCPeriod},
		controller.Watch{Resource: nodes, Keys: nodeChanged, After: podGCPeriod})
}

// podLeft returns the keys that have to be processed after a write of a pod.
func podLeft(api *controller.Client, c *commit.Commit) (keys []controller.Key) {
	if c.Deleted() {
		return nil
	}
	p := workload.PodOf(c.Item())
	switch {
	case p.Node != "" && api.Item(nodes, "", p.Node) == nil:
		keys = append(keys, controller.Key{Name: "left/" + p.Node})
	case p.Deleting && (p.Node == "" || isOutOfService(api, p.Node)):
		keys = append(keys, p.Key())
	}
	if before := c.Before(); ended(c.Item()) && (before == nil || !ended(before)) {
		keys = append(keys, controller.Key{Name: "ended"})
	}
	return keys
}

// nodeChanged returns the keys that have to be processed because a node was deleted or has become out of service.
func nodeChanged(api *controller.Client, c *commit.Commit) (keys []controller.Key) {
	switch before := c.Before(); {
	case c.Deleted():
		return []controller.Key{{Name: "left/" + c.Name}}
	case !stateOf(c.Item()).outOfService || before != nil && stateOf(before).outOfService:
		return nil
	}
	eachOn(api, c.Name, func(p *workload.Pod) {
		if p.Deleting {
			keys = append(keys, p.Key())
		}
	})
	return keys
}

// state holds the fields of a node that the controller reads.
type state struct{ outOfService bool }

func stateOf(it *resource.Item) *state {
	return resource.Derived(it, func(obj object.Object) *state {
		tainted := slices.ContainsFunc(obj.Objects("spec", "taints"), func(t object.Object) bool { return t.String("key") == outOfService })
		return &state{tainted && obj.Condition("Ready").String("status") != "True"}
	})
}

func isOutOfService(api *controller.Client, name string) bool {
	it := api.Item(nodes, "", name)
	return it != nil && stateOf(it).outOfService
}

// eachOn calls yield for each pod of a node.
func eachOn(api *controller.Client, node string, yield func(*workload.Pod)) {
	for _, it := range api.Indexed(workload.Pods, node) {
		yield(workload.PodOf(it))
	}
}

// ended reports whether a pod has succeeded or failed.
func ended(it *resource.Item) bool {
	switch it.Field("status.phase") {
	case "Pending", "Running", "Unknown":
		return false
	}
	return true
}

// collect does the work for a key: a single pod, the task "ended", or a task for one node, such as gone/NAME.
func collect(api *controller.Client, key controller.Key) (time.Duration, *status.Status) {
	task, name, _ := strings.Cut(key.Name, "/")
	switch {
	case key.Namespace != "":
		it := api.Item(workload.Pods, key.Namespace, key.Name)
		if it == nil {
			return 0, nil
		}
		if p := workload.PodOf(it); p.Deleting && (p.Node == "" || isOutOfService(api, p.Node)) {
			return 0, remove(api, p, false)
		}
	case task == "ended":
		return 0, removeEnded(api)
	case task == "left" && api.Item(nodes, "", name) == nil:
		api.EnqueueAfter(controller.Key{Name: "gone/" + name}, quarantine)
	case task == "gone" && api.Live(nodes, "", name) == nil:
		var failed *status.Status
		eachOn(api, name, func(p *workload.Pod) { failed = cmp.Or(remove(api, p, true), failed) })
		return 0, failed
	}
	return 0, nil
}

// removeEnded deletes ended pods in excess of the limit: evicted pods first, then the oldest.
func removeEnded(api *controller.Client) (failed *status.Status) {
	var all []*workload.Pod
	api.Items(workload.Pods, "", func(it *resource.Item) bool {
		if ended(it) {
			all = append(all, workload.PodOf(it))
		}
		return true
	})
	if len(all) <= terminatedMax {
		return nil
	}
	evicted := map[*workload.Pod]int{}
	for _, p := range all {
		if p.Object().String("status", "reason") == "Evicted" && p.Phase == "Failed" {
			evicted[p] = -1
		}
	}
	slices.SortStableFunc(all, func(a, b *workload.Pod) int {
		return cmp.Or(cmp.Compare(evicted[a], evicted[b]), a.Created.Compare(b.Created), strings.Compare(a.Name, b.Name))
	})
	for _, p := range all[:len(all)-terminatedMax] {
		failed = cmp.Or(remove(api, p, false), failed)
	}
	return failed
}

// remove deletes a pod. If the pod has not ended, it sets the phase to Failed first. orphan reports that the pod's node no longer
// exists.
func remove(api *controller.Client, p *workload.Pod, orphan bool) *status.Status {
	if !p.Finished() {
		s := api.Patch(workload.Pods, "status", p.Key(), func(live object.Object) {
			generation := live.Generation()
			live.Set("Failed", "status", "phase")
			live.Set(generation, "status", "observedGeneration")
			if orphan {
				controller.SetCondition(live, api.Now(), "DisruptionTarget", "True", "DeletionByPodGC", "PodGC: node no longer exists")
				live.Condition("DisruptionTarget")["observedGeneration"] = generation
			}
		})
		if s != nil {
			return workload.Found(s)
		}
	}
	return workload.Found(api.Delete(workload.Pods, p.Key(), controller.Preconditions{Now: true}))
}
