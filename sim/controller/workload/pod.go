package workload

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// Pod provides the fields of a pod that controllers of workloads read. They are read from its item once and cached with the item.
type Pod struct {
	*resource.Item
	*PodFacts
}

// PodFacts contains the values that are cached with a Pod's item.
type PodFacts struct {
	UID             string
	controller      SharedRef
	Phase, Node     string
	Deleting        bool
	Ready           bool
	ReadySince      time.Time
	Created         time.Time
	Restarts        int64 // highest number of restarts of any container
	SidecarRestarts int64 // highest number of restarts of any sidecar
	Cost            int   // value of controller.kubernetes.io/pod-deletion-cost

	Target string            // its node, or the node that its affinity names, as for pods of a DaemonSet
	Claims map[string]string // names of persistent volume claims by volume name

	UsesVolumeClaims   bool // it has a volume of a persistent volume claim, or an ephemeral one
	UsesResourceClaims bool // it has spec.resourceClaims, or a claim for extended resources
}

// Controller returns the reference to the pod's controller.
func (p *PodFacts) Controller() ControllerRef { return p.controller.Value() }

// IsDeleting reports whether the pod is being deleted.
func (p *PodFacts) IsDeleting() bool { return p.Deleting }

// PodOf returns the pod of an item.
func PodOf(it *resource.Item) *Pod { return &Pod{it, resource.Derived(it, ReadPod)} }

// ReadPod extracts the facts from a pod.
func ReadPod(obj object.Object) *PodFacts {
	p := &PodFacts{UID: strings.Clone(obj.UID()), controller: RefOf(obj), Phase: object.Keep(obj.String("status", "phase")),
		Node: object.Keep(obj.String("spec", "nodeName")), Deleting: obj.DeletionTimestamp() != "", Created: TimeOf(obj.String("metadata", "creationTimestamp"))}
	if c := obj.Condition("Ready"); c.String("status") == "True" {
		p.Ready, p.ReadySince = true, TimeOf(c.String("lastTransitionTime"))
	}
	for _, s := range obj.Objects("status", "containerStatuses") {
		p.Restarts = max(p.Restarts, s.Int64("restartCount"))
	}
	always := map[string]bool{}
	for _, c := range obj.Objects("spec", "initContainers") {
		always[c.String("name")] = c.String("restartPolicy") == "Always"
	}
	for _, s := range obj.Objects("status", "initContainerStatuses") {
		if always[s.String("name")] {
			p.SidecarRestarts = max(p.SidecarRestarts, s.Int64("restartCount"))
		}
	}
	if p.Target = p.Node; p.Target == "" {
		p.Target = namedNode(obj)
	}
	p.UsesResourceClaims = len(obj.List("spec", "resourceClaims")) > 0 || obj.Has("status", "extendedResourceClaimStatus")
	for _, v := range obj.Objects("spec", "volumes") {
		p.UsesVolumeClaims = p.UsesVolumeClaims || v.Has("persistentVolumeClaim") || v.Has("ephemeral")
		if claim := v.String("persistentVolumeClaim", "claimName"); claim != "" {
			if p.Claims == nil {
				p.Claims = map[string]string{}
			}
			p.Claims[object.Keep(v.String("name"))] = object.Keep(claim)
		}
	}
	cost, err := strconv.ParseInt(obj.Annotations()["controller.kubernetes.io/pod-deletion-cost"], 10, 32)
	if err == nil {
		p.Cost = int(cost)
	}
	return p
}

// namedNode returns the node that the affinity of a pod names, or "" (daemon/util.GetTargetNodeName).
func namedNode(pod object.Object) string {
	if names, only := NodeAffinityOf(pod.Map("spec")).Names(); only && len(names) == 1 {
		return object.Keep(names[0])
	}
	return ""
}

// TimeOf parses a metav1.Time. It returns the zero time if text is invalid.
func TimeOf(text string) time.Time {
	t, _ := time.Parse(time.RFC3339, text)
	return t
}

func (p *Pod) Key() controller.Key { return controller.Key{Namespace: p.Namespace, Name: p.Name} }

// Finished reports whether the pod has ended and will not run again.
func (p *Pod) Finished() bool { return p.Phase == "Succeeded" || p.Phase == "Failed" }

func (p *Pod) Active() bool { return !p.Finished() && !p.Deleting }

// AvailableIn returns the time until the pod has been ready for minReady, or 0 if it already has. The second result is false if
// the pod is not ready.
func (p *Pod) AvailableIn(minReady time.Duration, now time.Time) (time.Duration, bool) {
	if !p.Ready {
		return 0, false
	}
	return max(p.ReadySince.Add(minReady).Sub(now), 0), true
}

func (p *Pod) Available(minReady time.Duration, now time.Time) bool {
	left, ready := p.AvailableIn(minReady, now)
	return ready && left == 0
}

// NextAvailable returns the time until the next ready pod becomes available, or 0 if all ready pods are available.
func NextAvailable(pods []*Pod, minReady time.Duration, now time.Time) (soonest time.Duration) {
	for _, p := range pods {
		if left, ready := p.AvailableIn(minReady, now); ready && left > 0 && (soonest == 0 || left < soonest) {
			soonest = left
		}
	}
	return soonest
}

// ByDeletion sorts pods in the order of their deletion (controller.ActivePodsWithRanks): without a node, pending, not ready, with
// a lower deletion cost, with more related pods on their node, younger. ranks maps nodes to the numbers of related pods.
func ByDeletion(pods []*Pod, ranks map[string]int, now time.Time) {
	slices.SortStableFunc(pods, func(a, b *Pod) int {
		if n := cmp.Or(compareProgress(a, b), cmp.Compare(a.Cost, b.Cost), cmp.Compare(ranks[b.Node], ranks[a.Node])); n != 0 {
			return n
		}
		if a.Ready && !a.ReadySince.Equal(b.ReadySince) {
			return younger(a.ReadySince, b.ReadySince, a, b, now)
		}
		if n := compareRestarts(a, b); n != 0 || a.Created.Equal(b.Created) {
			return n
		}
		return younger(a.Created, b.Created, a, b, now)
	})
}

// CompareActive compares two pods by the order of their deletion, without regard to deletion cost and nodes, and with ages to the
// second (controller.ActivePods).
func CompareActive(a, b *Pod) int {
	if n := compareProgress(a, b); n != 0 {
		return n
	}
	if a.Ready && !a.ReadySince.Equal(b.ReadySince) {
		return b.ReadySince.Compare(a.ReadySince)
	}
	return cmp.Or(compareRestarts(a, b), b.Created.Compare(a.Created))
}

var phases = map[string]int{"Pending": 0, "Unknown": 1, "Running": 2}

// compareProgress compares the progress of two pods: whether they have a node, their phase, and their readiness.
func compareProgress(a, b *Pod) int {
	yes := func(a, b bool) int { // false sorts first
		if a == b {
			return 0
		}
		return map[bool]int{true: 1, false: -1}[a]
	}
	return cmp.Or(yes(a.Node != "", b.Node != ""), cmp.Compare(phases[a.Phase], phases[b.Phase]), yes(a.Ready, b.Ready))
}

func compareRestarts(a, b *Pod) int {
	return cmp.Or(cmp.Compare(b.Restarts, a.Restarts), cmp.Compare(b.SidecarRestarts, a.SidecarRestarts))
}

// younger compares two times by the logarithm of their age, so that not only the youngest pods are deleted (KEP-2185). If the
// ages have the same magnitude, it compares UIDs.
func younger(a, b time.Time, of, other *Pod, now time.Time) int {
	if a.IsZero() || b.IsZero() {
		return b.Compare(a)
	}
	return cmp.Or(cmp.Compare(magnitude(now.Sub(a)), magnitude(now.Sub(b))), cmp.Compare(of.UID, other.UID))
}

func magnitude(age time.Duration) int64 {
	if age <= 0 {
		return -1
	}
	return int64(math.Log2(float64(age)))
}

// PodsOf returns the pods of items.
func PodsOf(items []*resource.Item) (all []*Pod) {
	for _, it := range items {
		all = append(all, PodOf(it))
	}
	return all
}
