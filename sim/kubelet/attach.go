//go:build !page

package kubelet

import (
	"slices"

	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/controller"
	volumes "github.com/kubesim/kubesim/sim/controller/claims"
	"github.com/kubesim/kubesim/sim/object"
)

// attaches reports whether the controller that attaches volumes is among the controllers that run.
func attaches(controllers []string) bool {
	return (slices.Contains(controllers, "*") || slices.Contains(controllers, volumes.AttachDetach)) && !slices.Contains(controllers, "-"+volumes.AttachDetach)
}

// attachWatches returns the watch of the node, whose status says which volumes are attached.
func (k *Kubelet) attachWatches() []controller.Watch {
	return []controller.Watch{{Resource: nodes, Index: byName{}, Value: k.node, Keys: func(_ *controller.Client, c *commit.Commit) (keys []controller.Key) {
		if c.Deleted() || len(k.memory.waiting) == 0 {
			return nil
		}
		for _, namespace := range object.SortedKeys(k.memory.waiting) {
			for _, name := range object.SortedKeys(k.memory.waiting[namespace]) {
				keys = append(keys, controller.Key{Namespace: namespace, Name: name})
			}
		}
		return keys
	}}}
}

// attach reports whether the volumes of the pod are attached to the node. It first reports them as in use, so that they are not
// detached while they are mounted (volumemanager.WaitForAttachAndMount).
func (w *worker) attach() bool {
	if !w.k.nodes.attached {
		return true
	}
	w.rec.Volumes = nil
	for _, v := range w.pod.Objects("spec", "volumes") {
		name, _ := volumes.Of(w.pod.Name(), v)
		if name == "" {
			continue
		}
		claim := w.api.GetShared(claims, w.pod.Namespace(), name)
		if volume := w.api.GetShared(volumes.Volumes, "", claim.String("spec", "volumeName")); volume != nil && volumes.Attachable(w.api, volume) {
			w.rec.Volumes = append(w.rec.Volumes, volumes.UniqueName(volume))
		}
	}
	if len(w.rec.Volumes) == 0 {
		return true
	}
	w.k.reportVolumes(w.api)
	node := w.api.GetShared(nodes, "", w.k.node)
	if node.Annotations()[volumes.Managed] != "true" {
		return true // such a kubelet attaches volumes itself
	}
	attached := node.Objects("status", "volumesAttached")
	return !slices.ContainsFunc(w.rec.Volumes, func(name string) bool {
		return !slices.ContainsFunc(attached, func(v object.Object) bool { return v.String("name") == name })
	})
}

// unmount reports that the volumes of a pod that has ended are not in use any more.
func (k *Kubelet) unmount(api *controller.Client, p *pod) {
	if p != nil && len(p.Volumes) > 0 {
		p.Volumes = nil
		k.reportVolumes(api)
	}
}

// reportVolumes writes the names of the volumes in use to the status of the node.
func (k *Kubelet) reportVolumes(api *controller.Client) {
	var names []string
	for _, p := range k.memory.Pods { // order does not matter: sorted below
		names = append(names, p.Volumes...)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	node := api.LiveShared(nodes, "", k.node)
	if node == nil || slices.Equal(node.Strings("status", "volumesInUse"), names) {
		return
	}
	_ = api.Patch(nodes, "status", controller.Key{Name: k.node}, func(live object.Object) { // fails only if the node is gone
		if live.Set(object.FromStrings(names), "status", "volumesInUse"); len(names) == 0 {
			live.Remove("status", "volumesInUse")
		}
	})
}
