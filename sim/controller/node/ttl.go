package node

import (
	"strconv"
	"time"

	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/controller/workload"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

// ttlAnnotation says how long kubelets keep Secrets and ConfigMaps, in seconds.
const ttlAnnotation = "node.alpha.kubernetes.io/ttl"

// ttl is ttl-controller.
type ttl struct{ memory ttlMemory }

// ttlMemory is the step that the cluster is on, and its nodes.
type ttlMemory struct {
	Step int

	nodes map[string]bool // all nodes in the cache
}

// ttlSteps are how long in clusters of which sizes. They overlap, so that one node more or less does not change all.
var ttlSteps = []struct{ least, most, seconds int }{{0, 100, 0}, {90, 500, 15}, {450, 1000, 30}, {900, 2000, 60}, {1800, 1 << 30, 300}}

// TTL annotates nodes with the time for which kubelets may cache what they read; it grows with the number of nodes (pkg/controller/ttl).
func TTL() controller.Controller {
	t := &ttl{}
	return controller.Account("ttl-controller", "ttl-controller", t, controller.Watch{Resource: nodeObjects, Keys: t.nodeWritten})
}

// Learn implements controller.Learner.
func (t *ttl) Learn(api *controller.Client) {
	t.memory.nodes = map[string]bool{}
	api.Items(nodeObjects, "", func(it *resource.Item) bool {
		t.memory.nodes[it.Name] = true
		return true
	})
}

// nodeWritten returns the key of a node.
func (t *ttl) nodeWritten(_ *controller.Client, c *commit.Commit) []controller.Key {
	if t.memory.nodes == nil {
		t.memory.nodes = map[string]bool{}
	}
	if c.Deleted() {
		delete(t.memory.nodes, c.Name)
	} else {
		t.memory.nodes[c.Name] = true
	}
	return []controller.Key{{Name: c.Name}}
}

// Memory implements controller.Rememberer.
func (t *ttl) Memory() any { return &t.memory }

// Reconcile annotates a node.
func (t *ttl) Reconcile(api *controller.Client, key controller.Key) (time.Duration, *status.Status) {
	count := len(t.memory.nodes)
	step := &t.memory.Step
	for count > ttlSteps[*step].most {
		*step++
	}
	for count < ttlSteps[*step].least {
		*step--
	}
	seconds := strconv.Itoa(ttlSteps[*step].seconds)
	node := api.GetShared(nodeObjects, "", key.Name)
	if node == nil || node.Annotations()[ttlAnnotation] == seconds {
		return 0, nil
	}
	s := api.Patch(nodeObjects, "", key, func(live object.Object) { live.Set(seconds, "metadata", "annotations", ttlAnnotation) })
	return 0, workload.Found(s)
}
