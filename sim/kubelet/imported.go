package kubelet

import (
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/object"
)

// importedIndex is the index of the first imported node. New pods of a node without a podCIDR get addresses that are unusual in real
// clusters, so that no imported pod has them.
const importedIndex = 2048

// takeOver reads the addresses of an imported node. It returns false if the node does not exist.
//
//	imported pod ─ recordOf ─▶ record ─ first status: not written ─ a container changes ─▶ status, written
//
// A kubelet writes the status of an imported pod only after something has changed. Until then the pod keeps the status that it was
// imported with.
func (k *Kubelet) takeOver(api *controller.Client) bool {
	node := api.Live(nodes, "", k.node)
	if node == nil {
		return false
	}
	for _, a := range node.Objects("status", "addresses") {
		if a.String("type") == "InternalIP" {
			k.memory.Host = a.String("address")
		}
	}
	if first, ok := strings.CutSuffix(node.String("spec", "podCIDR"), ".0/24"); ok {
		k.memory.Range = first + "."
	}
	return true
}

// keepImported prepares a pod that began in another cluster: the kubelet writes its status only after something has changed. A
// running container whose simulated program would have ended already runs until it is stopped, because the real program has not
// ended.
func (w *worker) keepImported() {
	for _, c := range w.containers {
		if r := c.run; r.State == running && c.program != nil {
			if w.findExit(c); !w.now.Before(r.Due) {
				r.Due, r.Code = time.Time{}, 0
			}
		}
	}
	if before := w.pod.At("status"); before.Has("startTime") {
		w.rec.Imported = timeless(w.status(before))
	}
}

// isAsImported reports whether the pod still has the status with which it was imported. now is the status that the kubelet would
// write.
func (w *worker) isAsImported(now object.Object) bool {
	if w.rec.Imported == nil {
		return false
	}
	if object.Equal(map[string]any(timeless(now)), map[string]any(w.rec.Imported)) {
		return true
	}
	w.rec.Imported = nil
	return false
}

// timeless returns a copy of a status without the times of its conditions.
func timeless(status object.Object) object.Object {
	status = status.Copy()
	for _, c := range status.Objects("conditions") {
		delete(c, "lastTransitionTime")
	}
	return status
}
