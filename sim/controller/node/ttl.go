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

// ttlAnnotation is the annotation for the time in seconds for which kubelets cache Secrets and ConfigMaps.
const ttlAnnotation = "node.alpha.kubernetes.io/ttl"

// ttl implements ttl-controller.
type ttl struct{ memory ttlMemory }

// ttlMemory holds the index of the current step in ttlSteps, and the nodes.
type ttlMemory struct {
	Step int

	nodes map[string]bool // all nodes in the cache
}

// ttlSteps are the caching times by cluster size. They overlap, so that adding or removing a single node does not change the
// annotations of all nodes back and forth.
var ttlSteps = []struct{ least, most, seconds int }{{0, 100, 0}, {90, 500, 15}, {450, 1000, 30}, {900, 2000, 60}, {1800, 1 << 30, 300}}

// TTL annotates nodes with the time for which kubelets may cache Secrets and ConfigMaps. The time grows with the number of
// nodes (pkg/controller/ttl).
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

// nodeWritten updates the set of nodes and returns the key of the node.
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

// Reconcile updates the annotation of a node.
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
	if node == nil || node.String("metadata", "annotations", ttlAnnotation) == seconds {
		return 0, nil
	}
	s := api.Patch(nodeObjects, "", key, func(live object.Object) { live.Set(seconds, "metadata", "annotations", ttlAnnotation) })
	return 0, workload.Found(s)
}
