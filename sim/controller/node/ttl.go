package node

import (
	"strconv"
	"time"

	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/controller/workload"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

// ttlAnnotation says how long kubelets keep Secrets and ConfigMaps, in seconds.
const ttlAnnotation = "node.alpha.kubernetes.io/ttl"

// ttl is ttl-controller. Its memory is the step that the cluster is on.
type ttl struct{ memory struct{ Step int } }

// ttlSteps are how long in clusters of which sizes. They overlap, so that one node more or less does not change all.
var ttlSteps = []struct{ least, most, seconds int }{{0, 100, 0}, {90, 500, 15}, {450, 1000, 30}, {900, 2000, 60}, {1800, 1 << 30, 300}}

// TTL annotates nodes with the time for which kubelets may cache what they read; it grows with the number of nodes (pkg/controller/ttl).
func TTL() controller.Controller {
	return controller.Account("ttl-controller", "ttl-controller", &ttl{}, controller.Watch{Resource: nodeObjects})
}

// Memory implements controller.Rememberer.
func (t *ttl) Memory() any { return &t.memory }

// Reconcile annotates a node.
func (t *ttl) Reconcile(api *controller.Client, key controller.Key) (time.Duration, *status.Status) {
	count := 0
	api.Items(nodeObjects, "", func(*resource.Item) bool { count++; return true })
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
