package manager

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// pod is what controllers of workloads ask of a pod, taken out of its item once.
type pod struct {
	*resource.Item
	*podFacts
}

// podFacts are those that are kept with the item.
type podFacts struct {
	uid             string
	owner           object.Object // the reference to its controller, or nil
	phase, node     string
	deleting        bool
	ready           bool
	readySince      time.Time
	created         time.Time
	restarts        int64 // the most of one container
	sidecarRestarts int64 // the most of one restartable init container
	cost            int   // controller.kubernetes.io/pod-deletion-cost
}

// podOf returns the pod that an item is.
func podOf(it *resource.Item) *pod { return &pod{it, resource.Derived(it, readPod)} }

func readPod(obj object.Object) *podFacts {
	p := &podFacts{uid: obj.UID(), owner: controllerOf(obj), phase: obj.String("status", "phase"),
		node: obj.String("spec", "nodeName"), deleting: obj.DeletionTimestamp() != "", created: timeOf(obj.String("metadata", "creationTimestamp"))}
	if c := condition(obj, "Ready"); c.String("status") == "True" {
		p.ready, p.readySince = true, timeOf(c.String("lastTransitionTime"))
	}
	for _, s := range obj.Objects("status", "containerStatuses") {
		p.restarts = max(p.restarts, s.Int64("restartCount"))
	}
	always := map[string]bool{}
	for _, c := range obj.Objects("spec", "initContainers") {
		always[c.String("name")] = c.String("restartPolicy") == "Always"
	}
	for _, s := range obj.Objects("status", "initContainerStatuses") {
		if always[s.String("name")] {
			p.sidecarRestarts = max(p.sidecarRestarts, s.Int64("restartCount"))
		}
	}
	cost, err := strconv.ParseInt(obj.Annotations()["controller.kubernetes.io/pod-deletion-cost"], 10, 32)
	if err == nil {
		p.cost = int(cost)
	}
	return p
}

// timeOf reads a metav1.Time; what is none is the zero time.
func timeOf(text string) time.Time {
	t, _ := time.Parse(time.RFC3339, text)
	return t
}

// controllerOf returns the reference of an object to its controller, or nil.
func controllerOf(obj object.Object) object.Object {
	for _, ref := range obj.Objects("metadata", "ownerReferences") {
		if ref.True("controller") {
			return ref
		}
	}
	return nil
}

func (p *pod) key() controller.Key { return controller.Key{Namespace: p.Namespace, Name: p.Name} }

// finished says that the pod will not run again.
func (p *pod) finished() bool { return p.phase == "Succeeded" || p.phase == "Failed" }

func (p *pod) active() bool { return !p.finished() && !p.deleting }

// availableIn is how long until the pod has been ready for a while; 0: it has. It is false for a pod that is not ready.
func (p *pod) availableIn(minReady time.Duration, now time.Time) (time.Duration, bool) {
	if !p.ready {
		return 0, false
	}
	return max(p.readySince.Add(minReady).Sub(now), 0), true
}

func (p *pod) available(minReady time.Duration, now time.Time) bool {
	left, ready := p.availableIn(minReady, now)
	return ready && left == 0
}

// byDeletion sorts pods by who is deleted first (controller.ActivePodsWithRanks): what has no node, has not begun, is not
// ready, costs less, is doubled up on its node, is younger. ranks say how many pods alike are on a node.
func byDeletion(pods []*pod, ranks map[string]int, now time.Time) {
	phases := map[string]int{"Pending": 0, "Unknown": 1, "Running": 2}
	yes := func(a, b bool) int { // who is not is first
		if a == b {
			return 0
		}
		return map[bool]int{true: 1, false: -1}[a]
	}
	slices.SortStableFunc(pods, func(a, b *pod) int {
		if n := cmp.Or(yes(a.node != "", b.node != ""), cmp.Compare(phases[a.phase], phases[b.phase]), yes(a.ready, b.ready),
			cmp.Compare(a.cost, b.cost), cmp.Compare(ranks[b.node], ranks[a.node])); n != 0 {
			return n
		}
		if a.ready && !a.readySince.Equal(b.readySince) {
			return younger(a.readySince, b.readySince, a, b, now)
		}
		if n := cmp.Or(cmp.Compare(b.restarts, a.restarts), cmp.Compare(b.sidecarRestarts, a.sidecarRestarts)); n != 0 || a.created.Equal(b.created) {
			return n
		}
		return younger(a.created, b.created, a, b, now)
	})
}

// younger compares two times by the logarithm of their age, so that not only the youngest go (KEP-2185). Ages of one
// magnitude are decided by uid.
func younger(a, b time.Time, of, other *pod, now time.Time) int {
	if a.IsZero() || b.IsZero() {
		return b.Compare(a)
	}
	return cmp.Or(cmp.Compare(magnitude(now.Sub(a)), magnitude(now.Sub(b))), cmp.Compare(of.uid, other.uid))
}

func magnitude(age time.Duration) int64 {
	if age <= 0 {
		return -1
	}
	return int64(math.Log2(float64(age)))
}
