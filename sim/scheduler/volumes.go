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

// The plugins that look at volumes.
const (
	volumeRestrictions = "VolumeRestrictions"
	volumeBinding      = "VolumeBinding"
	volumeZone         = "VolumeZone"
	volumeLimits       = "NodeVolumeLimits"
)

// decisiveVolumes are the sources of volumes that decide where a pod can run.
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
	shared    bool            // a disk that not all pods of a node may have
	taken     int             // claims for one pod only that another has
	exclusive map[string]bool // the claims for one pod only
	bound     []object.Object // claims that have their volumes
	unbound   []object.Object // claims that get their volumes with the node, the smallest first
	zones     []volumeLabel   // of the volumes

	available map[string][]object.Object // volumes by class, for unbound claims
	volumes   map[string]object.Object   // of bound claims, by name
}

// volumeLabel is a zone or region that a volume is in.
type volumeLabel struct {
	key    string
	values []string
}

// prepareVolumes looks up the volumes of the pod. If it rejects the pod, no node can help.
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

// findExclusive finds the claims with access mode ReadWriteOncePod, and disks that are not shared.
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

// findClaims finds the claims of the pod, bound or not (volumebinding, PreFilter).
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

// The topology labels of volumes, old and new.
var zoneLabels = map[string]string{"failure-domain.beta.kubernetes.io/zone": zone, "failure-domain.beta.kubernetes.io/region": region, zone: zone, region: region}

const region = "topology.kubernetes.io/region"

// findZones finds the volumes of bound claims and where they are (volumezone, PreFilter).
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

// filterRestrictions lets pass where no other pod has a disk or a claim that only one may have.
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

// sameDisk reports whether two volumes are one disk that they cannot both have.
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

// filterZone lets pass where the node is in the zones and regions of the volumes, unless it is in none.
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

// filterBinding lets pass where the volumes of the pod can be used, found or provisioned.
func filterBinding(c *cycle, n *node) verdict {
	if len(c.volumes.bound)+len(c.volumes.unbound) == 0 {
		return verdict{}
	}
	_, reasons := c.planVolumes(n)
	return verdict{reasons: reasons, final: true}
}

// plan is how the unbound claims of a pod get their volumes on a node.
type plan struct {
	bind      [][2]object.Object // volume and claim
	provision []object.Object    // claims
}

// planVolumes finds volumes for the pod on a node (volumeBinder.FindPodVolumes).
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
