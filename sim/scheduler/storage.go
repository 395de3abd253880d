package scheduler

import (
	"slices"

	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/controller/claims"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/quantity"
)

// provisions returns the reason why a volume for a claim cannot be provisioned for a node, or "" if it can
// (volumeBinder.checkVolumeProvisions).
func (c *cycle) provisions(claim object.Object, n *node) (why string) {
	class := claims.Class(c.api, claim)
	const none = "node(s) didn't find available persistent volumes to bind"
	if p := class.String("provisioner"); p == "" || p == claims.NoProvisioner {
		return none
	}
	if topologies := class.Objects("allowedTopologies"); len(topologies) > 0 && !slices.ContainsFunc(topologies, func(t object.Object) bool {
		return topologyMatches(t, n.labels)
	}) {
		return none
	}
	if !c.enoughStorage(claim, class, n) {
		return "node(s) did not have enough free storage"
	}
	return ""
}

// topologyMatches reports whether a node's labels match a TopologySelectorTerm. An empty term matches nothing.
func topologyMatches(term object.Object, labels map[string]string) bool {
	places := term.Objects("matchLabelExpressions")
	return len(places) > 0 && !slices.ContainsFunc(places, func(e object.Object) bool {
		value, ok := labels[e.String("key")]
		return !ok || !slices.Contains(e.Strings("values"), value)
	})
}

// enoughStorage reports whether a driver has enough capacity for a claim on a node. If the driver does not publish its capacity, it
// returns true.
func (c *cycle) enoughStorage(claim, class object.Object, n *node) bool {
	if !c.api.Get("csidrivers.storage.k8s.io", "", class.String("provisioner")).True("spec", "storageCapacity") {
		return true
	}
	return slices.ContainsFunc(c.api.All("csistoragecapacities.storage.k8s.io", ""), func(s object.Object) bool {
		limit, ok := s["maximumVolumeSize"]
		if !ok {
			limit = s["capacity"]
		}
		return s.String("storageClassName") == class.Name() && limit != nil && quantity.Of(limit).Cmp(claims.Size(claim)) >= 0 &&
			selectorAt(s, "nodeTopology").Matches(n.labels)
	})
}

// filterLimits rejects nodes on which the pod would exceed a CSI driver's limit of attached volumes.
func filterLimits(c *cycle, n *node) verdict {
	if len(c.volumes.bound)+len(c.volumes.unbound) == 0 {
		return verdict{}
	}
	limits := map[string]int64{}
	for _, d := range c.api.Get("csinodes.storage.k8s.io", "", n.name).Objects("spec", "drivers") {
		if count, ok := d.Int("allocatable", "count"); ok {
			limits[d.String("name")] = count
		}
	}
	if len(limits) == 0 {
		return verdict{}
	}
	fresh, attached := c.handles(c.pod), c.attachments(n)
	for _, p := range n.pods {
		for handle, driver := range c.handles(p) { // order does not matter
			attached[handle] = driver
		}
	}
	count := map[string]int64{}
	for _, driver := range attached { // order does not matter
		count[driver]++
	}
	for handle, driver := range fresh { // order does not matter
		if _, there := attached[handle]; !there {
			count[driver]++
		}
	}
	for _, driver := range fresh { // order does not matter
		if limit, limited := limits[driver]; limited && count[driver] > limit {
			return rejected("node(s) exceed max volume count")
		}
	}
	return verdict{}
}

// handles returns the drivers of the CSI volumes that a pod uses, by volume handle.
func (c *cycle) handles(p *pod) map[string]string {
	all := map[string]string{}
	for _, v := range p.volumes {
		name, _ := claims.Of(p.Name, v)
		claim := c.api.Get(claims.Claims, p.Namespace, name)
		if name == "" || claim == nil {
			continue
		}
		if volume := c.api.Get(claims.Volumes, "", claim.String("spec", "volumeName")); volume != nil {
			if csi := volume.At("spec", "csi"); csi != nil {
				all[csi.String("driver")+"/"+csi.String("volumeHandle")] = csi.String("driver")
			}
		} else if driver := claims.Class(c.api, claim).String("provisioner"); driver != "" {
			all[driver+"/"+controller.Key{Namespace: p.Namespace, Name: name}.String()] = driver
		}
	}
	return all
}

// attachments returns the drivers of the CSI volumes that are attached to a node, by volume handle.
func (c *cycle) attachments(n *node) map[string]string {
	all := map[string]string{}
	for _, a := range c.api.All("volumeattachments.storage.k8s.io", "") {
		if a.String("spec", "nodeName") == n.name {
			csi := c.api.Get(claims.Volumes, "", a.String("spec", "source", "persistentVolumeName")).At("spec", "csi")
			if csi != nil {
				all[a.String("spec", "attacher")+"/"+csi.String("volumeHandle")] = a.String("spec", "attacher")
			}
		}
	}
	return all
}
