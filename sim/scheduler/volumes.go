package scheduler

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/controller/claims"
	"github.com/kubesim/kubesim/sim/object"
)

// The plugins for volumes.
const (
	volumeRestrictions = "VolumeRestrictions"
	volumeBinding      = "VolumeBinding"
	volumeZone         = "VolumeZone"
	volumeLimits       = "NodeVolumeLimits"
)

// decisiveVolumes are the volume sources that affect where a pod can run.
var decisiveVolumes = []string{"persistentVolumeClaim", "ephemeral", "gcePersistentDisk", "awsElasticBlockStore", "iscsi", "rbd"}

// claimNames returns the names of the claims that the pod uses.
func (p *pod) claimNames() iter.Seq[controller.Key] {
	return func(yield func(controller.Key) bool) {
		for _, v := range p.volumes {
			if name := v.String("persistentVolumeClaim", "claimName"); name != "" && !yield(controller.Key{Namespace: p.Namespace, Name: name}) {
				return
			}
		}
	}
}

// volumeState describes the volumes of the pod to place.
type volumeState struct {
	shared    bool            // it has a disk that some pods on the same node may not share
	taken     int             // number of ReadWriteOncePod claims that another pod uses
	exclusive map[string]bool // the ReadWriteOncePod claims
	bound     []object.Object // claims that are bound to volumes
	unbound   []object.Object // claims that are bound once a node is chosen, the smallest first
	zones     []volumeLabel   // topology labels of the volumes

	available map[string][]object.Object // available volumes by class, for unbound claims
	volumes   map[string]object.Object   // volumes of bound claims, by name
}

// volumeLabel is a topology label of a volume.
type volumeLabel struct {
	key    string
	values []string
}

// prepareVolumes classifies the volumes of the pod. If the verdict rejects the pod, no node fits.
func (c *cycle) prepareVolumes() verdict {
	c.volumes = volumeState{exclusive: map[string]bool{}, available: map[string][]object.Object{}, volumes: map[string]object.Object{}}
	for _, check := range []struct {
		plugin string
		look   func() string
	}{{volumeRestrictions, c.findExclusive}, {volumeBinding, c.findClaims}, {volumeZone, c.findZones}} {
		if why := check.look(); why != "" {
			v := final(why)
			v.plugin = check.plugin
			return v
		}
	}
	return verdict{}
}

func (c *cycle) claim(name string) object.Object {
	return c.api.Get(claims.Claims, c.pod.Namespace, name)
}

// findExclusive finds the claims with access mode ReadWriteOncePod, and disks that may not be shareable. If a claim prevents
// scheduling, it returns the reason.
func (c *cycle) findExclusive() (why string) {
	for _, v := range c.pod.volumes {
		c.volumes.shared = c.volumes.shared || !v.Has("persistentVolumeClaim") && !v.Has("ephemeral")
	}
	for key := range c.pod.claimNames() {
		claim := c.claim(key.Name)
		if claim == nil {
			return fmt.Sprintf("persistentvolumeclaim %q not found", key.Name)
		}
		if slices.Contains(claim.Strings("spec", "accessModes"), "ReadWriteOncePod") {
			if c.volumes.exclusive[key.Name] = true; c.cluster.using[key] > 0 {
				c.volumes.taken++
			}
		}
	}
	return ""
}

// findClaims classifies the claims of the pod as bound or unbound, and collects the available volumes for the unbound ones
// (volumebinding, PreFilter). If a claim prevents scheduling, it returns the reason.
func (c *cycle) findClaims() (why string) {
	waits := false
	for _, v := range c.pod.volumes {
		name, ephemeral := claims.Of(c.pod.Name, v)
		if name == "" {
			continue
		}
		claim := c.claim(name)
		switch {
		case claim == nil:
			return fmt.Sprintf("waiting for ephemeral volume controller to create the persistentvolumeclaim %q", name)
		case claim.String("status", "phase") == "Lost":
			return fmt.Sprintf("persistentvolumeclaim %q bound to non-existent persistentvolume %q", name, claim.String("spec", "volumeName"))
		case claim.DeletionTimestamp() != "":
			return fmt.Sprintf("persistentvolumeclaim %q is being deleted", name)
		case ephemeral && !claims.OwnedBy(c.api.Item(claims.Claims, c.pod.Namespace, name), c.pod.uid):
			return fmt.Sprintf("PVC %s/%s was not created for pod %s (pod is not owner)", c.pod.Namespace, name, c.pod.Key)
		case claims.Bound(claim):
			c.volumes.bound = append(c.volumes.bound, claim)
		case claims.Delayed(c.api, claim) && claim.String("spec", "volumeName") == "":
			c.volumes.unbound = append(c.volumes.unbound, claim)
		default:
			waits = true
		}
	}
	if waits {
		return "pod has unbound immediate PersistentVolumeClaims"
	}
	slices.SortStableFunc(c.volumes.unbound, func(a, b object.Object) int { return claims.Size(a).Cmp(claims.Size(b)) })
	for _, claim := range c.volumes.unbound {
		if class := claims.ClassOf(claim); c.volumes.available[class] == nil {
			for _, v := range c.api.All(claims.Volumes, "") {
				if claims.ClassOf(v) == class {
					c.volumes.available[class] = append(c.volumes.available[class], v)
				}
			}
		}
	}
	return ""
}

// zoneLabels maps the topology labels of volumes, old and new, to the current ones.
var zoneLabels = map[string]string{"failure-domain.beta.kubernetes.io/zone": zone, "failure-domain.beta.kubernetes.io/region": region, zone: zone, region: region}

const region = "topology.kubernetes.io/region"

// findZones finds the volumes of bound claims and their topology labels (volumezone, PreFilter). If a claim prevents scheduling, it
// returns the reason.
func (c *cycle) findZones() (why string) {
	for _, claim := range c.volumes.bound {
		name := claim.String("spec", "volumeName")
		v := c.api.Get(claims.Volumes, "", name)
		if v == nil {
			if slices.ContainsFunc(c.pod.volumes, func(x object.Object) bool {
				return x.String("persistentVolumeClaim", "claimName") == claim.Name()
			}) {
				return fmt.Sprintf("persistentvolume %q not found", name)
			}
			continue
		}
		c.volumes.volumes[name] = v
		labels := v.Labels()
		for _, key := range object.SortedKeys(zoneLabels) {
			if value, ok := labels[key]; ok {
				c.volumes.zones = append(c.volumes.zones, volumeLabel{key, strings.Split(value, "__")})
			}
		}
	}
	return ""
}

// filterRestrictions rejects nodes if another pod uses a disk or claim that cannot be shared.
func filterRestrictions(c *cycle, n *node) verdict {
	if c.volumes.shared {
		for _, v := range c.pod.volumes {
			for _, p := range n.pods {
				if slices.ContainsFunc(p.volumes, func(x object.Object) bool { return sameDisk(v, x) }) {
					return rejected("node(s) had no available disk")
				}
			}
		}
	}
	if c.volumes.taken > 0 {
		return rejected("node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod")
	}
	return verdict{}
}

// sameDisk reports whether two volumes are the same disk and two pods on a node cannot both use it.
func sameDisk(v, x object.Object) bool {
	both := func(source string) (a, b object.Object, ok bool) {
		a, b = v.At(source), x.At(source)
		return a, b, a != nil && b != nil
	}
	reads := func(a, b object.Object) bool { return a.True("readOnly") && b.True("readOnly") }
	if a, b, ok := both("gcePersistentDisk"); ok && a.String("pdName") == b.String("pdName") && !reads(a, b) {
		return true
	}
	if a, b, ok := both("awsElasticBlockStore"); ok && a.String("volumeID") == b.String("volumeID") {
		return true
	}
	if a, b, ok := both("iscsi"); ok && a.String("iqn") == b.String("iqn") && !reads(a, b) {
		return true
	}
	a, b, ok := both("rbd")
	return ok && a.String("pool") == b.String("pool") && a.String("image") == b.String("image") && !reads(a, b) &&
		slices.ContainsFunc(a.Strings("monitors"), func(m string) bool { return slices.Contains(b.Strings("monitors"), m) })
}

// filterZone rejects nodes outside the zones and regions of the volumes. Nodes without topology labels pass.
func filterZone(c *cycle, n *node) verdict {
	if len(c.volumes.zones) == 0 || !slices.ContainsFunc(object.SortedKeys(zoneLabels), func(key string) bool { _, ok := n.labels[key]; return ok }) {
		return verdict{}
	}
	for _, want := range c.volumes.zones {
		value, ok := n.labels[want.key]
		if !ok {
			value, ok = n.labels[zoneLabels[want.key]]
		}
		if !ok || !slices.Contains(want.values, value) {
			return final("node(s) had no available volume zone")
		}
	}
	return verdict{}
}

// filterBinding rejects nodes on which a volume of the pod cannot be used, found or provisioned.
func filterBinding(c *cycle, n *node) verdict {
	if len(c.volumes.bound)+len(c.volumes.unbound) == 0 {
		return verdict{}
	}
	_, reasons := c.planVolumes(n)
	return verdict{reasons: reasons, final: true}
}

// plan describes how the unbound claims of a pod get their volumes on a node.
type plan struct {
	bind      [][2]object.Object // pairs of a volume and a claim to bind
	provision []object.Object    // claims whose volumes must be provisioned
}

// planVolumes returns the plan for the unbound claims of the pod on a node, or the reasons why the node does not fit
// (volumeBinder.FindPodVolumes).
func (c *cycle) planVolumes(n *node) (p plan, reasons []string) {
	for _, claim := range c.volumes.bound {
		v := c.volumes.volumes[claim.String("spec", "volumeName")]
		if v == nil {
			return p, []string{"node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"}
		}
		if !claims.Reaches(v, n.labels) {
			reasons = append(reasons, "node(s) didn't match PersistentVolume's node affinity")
			break
		}
	}
	const none = "node(s) didn't find available persistent volumes to bind"
	var search, chosen []object.Object
	for _, claim := range c.volumes.unbound {
		switch node, selected := claim.Annotations()[claims.SelectedNode]; {
		case selected && node != n.name:
			return plan{}, append(reasons, none)
		case selected:
			p.provision = append(p.provision, claim)
		default:
			search = append(search, claim)
		}
	}
	for _, claim := range search {
		left := slices.DeleteFunc(slices.Clone(c.volumes.available[claims.ClassOf(claim)]), func(v object.Object) bool {
			return slices.ContainsFunc(chosen, func(x object.Object) bool { return x.Name() == v.Name() })
		})
		if v := claims.Match(claim, left, &claims.Place{Labels: n.labels}, true); v != nil {
			chosen = append(chosen, v)
			p.bind = append(p.bind, [2]object.Object{v, claim})
		} else {
			p.provision = append(p.provision, claim)
		}
	}
	for _, claim := range p.provision {
		if why := c.provisions(claim, n); why != "" {
			return plan{}, append(reasons, why)
		}
	}
	return p, reasons
}
