package scheduler

import (
	"maps"
	"slices"

	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/controller/claims"
	"github.com/kubesim/kubesim/sim/controller/workload"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// kind is the kind of a cluster event.
type kind int

const (
	nodeCame kind = iota
	nodeChanged
	nodeGone
	podCame    // a pod was bound to a node, or its labels changed there
	podGone    // a pod was removed from its node or its nominated node
	podShrunk  // the requests of a pod on a node became smaller
	ownLabels  // the labels of the waiting pod changed
	tolerates  // the tolerations of the waiting pod changed
	claimSeen  // a claim was created or changed
	volumeSeen // a volume was created or changed
	classCame
	storageSeen // a CSINode or CSIStorageCapacity was created or changed
	attachmentGone
	devicesSeen    // a ResourceSlice or DeviceTaintRule was created or changed
	devicesClassed // a DeviceClass was created or changed
	devicesClaimed // a ResourceClaim was created, changed or deleted
	ownClaims      // a resource claim was generated for the waiting pod
)

// event is a cluster event after which a rejected pod may fit.
type event struct {
	kind
	before, now *node
	pod         *pod
	claim       controller.Key
	item        *resource.Item
	old, new    object.Object // the ResourceClaim of devicesClaimed, or the DeviceClass of devicesClassed
}

// asked returns the names of the plugins whose rejections the event may affect.
func (e *event) asked() []string {
	switch e.kind {
	case podCame:
		return []string{topologySpread, interPodAffinity}
	case podGone:
		return []string{nodePorts, nodeResources, volumeRestrictions, volumeLimits, topologySpread, interPodAffinity}
	case podShrunk:
		return []string{nodeResources}
	case claimSeen:
		return []string{volumeRestrictions, volumeLimits, volumeBinding, volumeZone}
	case volumeSeen, classCame:
		return []string{volumeBinding, volumeZone}
	case storageSeen:
		return []string{volumeLimits, volumeBinding}
	case attachmentGone:
		return []string{volumeLimits}
	case devicesSeen, devicesClaimed:
		return []string{dynamicResources}
	case devicesClassed:
		return []string{nodeResources, dynamicResources}
	}
	return everyPlugin
}

// noNode stands for a plugin if there is no node. The real scheduler tries such pods again every ten seconds; here they wait
// for a node.
const noNode = "NoNode"

var everyPlugin = []string{noNode, nodeUnschedulable, taintToleration, nodeAffinity, nodePorts, nodeResources, volumeRestrictions, volumeLimits,
	volumeBinding, volumeZone, topologySpread, interPodAffinity, dynamicResources, declaredFeatures}

// hint reports whether an event may make the named plugin accept a pod that it rejected (its EventsToRegister and their
// QueueingHintFn).
func hint(name string, c *cycle, e *event) bool {
	if name == noNode {
		return e.kind == nodeCame
	}
	i := slices.IndexFunc(plugins, func(p plugin) bool { return p.name == name })
	return i >= 0 && plugins[i].hint(c, e)
}

// fitsNow returns the hint of a plugin whose filter depends only on the node and the pod. The hint reports whether the filter
// rejected the node before the event and accepts it now.
func fitsNow(filter func(c *cycle, n *node) verdict) func(c *cycle, e *event) bool {
	return func(c *cycle, e *event) bool {
		switch e.kind {
		case nodeCame:
			return filter(c, e.now).fits()
		case nodeChanged:
			return !filter(c, e.before).fits() && filter(c, e.now).fits()
		}
		return e.kind == tolerates
	}
}

func portsHint(c *cycle, e *event) bool {
	return e.kind == nodeCame || e.kind == podGone && sharePort(e.pod, c.pod)
}

func resourcesHint(c *cycle, e *event) bool {
	switch e.kind {
	case podGone, podShrunk:
		return true
	case nodeCame:
		return filterResources(c, e.now.empty()).fits()
	case nodeChanged:
		return filterResources(c, e.now.empty()).fits() && grown(c.pod.requests, e.before, e.now)
	case devicesClassed:
		return extendedHint(c, e)
	}
	return false
}

// grown reports whether a node has more of a requested resource than before, or more room for pods.
func grown(asked workload.Amounts, before, now *node) bool {
	more := func(asked, before, now int64) bool { return asked > 0 && now > before }
	a, b := before.allocatable, now.allocatable
	if now.room > before.room || more(asked.CPU, a.CPU, b.CPU) || more(asked.Memory, a.Memory, b.Memory) ||
		more(asked.Ephemeral, a.Ephemeral, b.Ephemeral) {
		return true
	}
	for name, n := range asked.Others { // order does not matter
		if more(n, a.Others[name], b.Others[name]) {
			return true
		}
	}
	return false
}

// uses reports whether the pod uses a claim.
func (c *cycle) uses(key controller.Key) bool {
	return key.Namespace == c.pod.Namespace && slices.ContainsFunc(c.pod.volumes, func(v object.Object) bool {
		name, _ := claims.Of(c.pod.Name, v)
		return name == key.Name
	})
}

func restrictionsHint(c *cycle, e *event) bool {
	if e.kind == claimSeen {
		return c.uses(e.claim)
	}
	if e.kind != podGone {
		return false
	}
	for key := range e.pod.claimNames() {
		if c.uses(key) {
			return true
		}
	}
	return slices.ContainsFunc(c.pod.volumes, func(v object.Object) bool {
		return slices.ContainsFunc(e.pod.volumes, func(x object.Object) bool { return sameDisk(v, x) })
	})
}

func limitsHint(c *cycle, e *event) bool {
	switch e.kind {
	case nodeCame, storageSeen, attachmentGone:
		return true
	case podGone:
		return slices.ContainsFunc(e.pod.volumes, func(v object.Object) bool { name, _ := claims.Of(e.pod.Name, v); return name != "" })
	case claimSeen:
		return c.uses(e.claim)
	}
	return false
}

func bindingHint(c *cycle, e *event) bool {
	switch e.kind {
	case nodeCame, volumeSeen, classCame, storageSeen:
		return true
	case nodeChanged:
		return !maps.Equal(e.before.labels, e.now.labels)
	case claimSeen:
		return c.uses(e.claim)
	}
	return false
}

func zoneHint(c *cycle, e *event) bool {
	switch e.kind {
	case nodeCame, volumeSeen:
		return true
	case nodeChanged:
		return !maps.Equal(e.before.labels, e.now.labels)
	case classCame:
		return e.item.Object().String("volumeBindingMode") == "WaitForFirstConsumer"
	case claimSeen:
		return c.uses(e.claim)
	}
	return false
}

func spreadHint(c *cycle, e *event) bool {
	var hard []spreadConstraint
	for _, s := range c.pod.spread {
		if s.hard {
			hard = append(hard, s)
		}
	}
	switch e.kind {
	case ownLabels, nodeCame:
		return e.kind == ownLabels || hasTopologies(e.now, hard)
	case nodeGone:
		return hasTopologies(e.before, hard)
	case nodeChanged:
		return slices.ContainsFunc(hard, func(s spreadConstraint) bool {
			return hasTopologies(e.before, hard) != hasTopologies(e.now, hard) || e.before.labels[s.topology] != e.now.labels[s.topology] ||
				s.honorTaints && s.eligible(c.pod, e.before) != s.eligible(c.pod, e.now)
		})
	case podCame, podGone:
		return slices.ContainsFunc(hard, func(s spreadConstraint) bool {
			return e.pod.Namespace == c.pod.Namespace && s.selector.Match(e.pod.label)
		})
	}
	return false
}

func termsHint(c *cycle, e *event) bool {
	selects := func(of *cycle, terms []podTerm, p *pod) bool {
		return slices.ContainsFunc(terms, func(t podTerm) bool { return t.selects(of, p) })
	}
	switch e.kind {
	case ownLabels:
		return true
	case podCame:
		return c.selectedByAll(c.pod.with, e.pod)
	case podGone:
		return selects(c, c.pod.apart, e.pod) || selects(c, e.pod.apart, c.pod)
	case nodeCame:
		return len(c.pod.apart) > 0 || slices.ContainsFunc(c.pod.with, func(t podTerm) bool { _, ok := e.now.labels[t.topology]; return ok })
	case nodeChanged:
		return slices.ContainsFunc(c.pod.with, func(t podTerm) bool {
			was, now, _, has := topologies(e, t)
			return has && was != now
		}) || slices.ContainsFunc(c.pod.apart, func(t podTerm) bool {
			was, now, had, _ := topologies(e, t)
			return had && was != now
		})
	}
	return false
}

// topologies returns the old and the new value of a term's topology label on a node that has changed, and whether the node had and
// has the label.
func topologies(e *event, t podTerm) (was, now string, had, has bool) {
	was, had = e.before.labels[t.topology]
	now, has = e.now.labels[t.topology]
	return was, now, had, has
}
