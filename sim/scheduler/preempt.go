package scheduler

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/controller/workload"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/selector"
)

const (
	disruptionTarget = "DisruptionTarget"
	byScheduler      = "PreemptionByScheduler"
)

// noClaims is the part of the preemption message from the plugin that could deallocate dynamic resources, for a pod without claims.
const noClaims = "no new claims to deallocate, "

// candidate is a node on which the pod fits once victims are evicted.
type candidate struct {
	node    *node
	victims []*pod // the pods to evict, the most important first
	broken  int    // number of victims whose disruption budgets would be violated
}

// preempt returns the best node on which evicting pods of lower priority makes room, or nil (DefaultPreemption). keep reports that
// the existing nomination of the pod must not be cleared.
func (c *cycle) preempt(d *diagnosis) (best *candidate, keep bool) {
	if d.before && d.all.plugin != dynamicResources {
		d.preempt = "not found" // the message of plugin DynamicResources, which has not seen the pod
		return nil, true
	}
	claims := noClaims
	if !d.before {
		claims = c.deallocate() + ", "
	}
	if c.pod.neverPreempts {
		d.preempt = claims + "preemption: not eligible due to preemptionPolicy=Never."
		return nil, true
	}
	if n := c.cluster.nodes[c.pod.nominated]; n != nil && !d.of(n).final && slices.ContainsFunc(n.pods, func(p *pod) bool {
		return p.priority < c.pod.priority && p.preempted
	}) {
		d.preempt = claims + "preemption: not eligible due to a terminating pod on the nominated node."
		return nil, true
	}
	candidates, why := c.candidates(d)
	if len(candidates) == 0 {
		d.preempt = claims + "preemption: " + why.text()
		return nil, false
	}
	best = c.choose(candidates)
	if c.api.Since(37) {
		d.preempt = fmt.Sprintf("preemption: found a potential placement for pod on node %s, preempting %d victims", best.node.name, len(best.victims))
	}
	return best, false
}

// candidates returns the nodes on which the pod fits once victims are evicted, and a diagnosis for the other nodes.
func (c *cycle) candidates(d *diagnosis) (all []candidate, why *diagnosis) {
	why = &diagnosis{nodes: d.nodes, each: map[*node]verdict{}, all: final("Preemption is not helpful for scheduling")}
	var possible []*node
	for _, n := range c.cluster.tree.all() {
		if v := d.of(n); !v.fits() && !v.final {
			possible = append(possible, n)
		}
	}
	if len(possible) == 0 {
		return nil, why
	}
	budgets := c.budgets()
	first, enough := c.api.Random(len(possible)), max(len(possible)/10, 100)
	for i := range possible {
		n := possible[(first+i)%len(possible)]
		x, v := c.victims(n, budgets)
		if !v.fits() {
			why.each[n] = v
			continue
		}
		if all = append(all, x); len(all) >= enough && slices.ContainsFunc(all, func(x candidate) bool { return x.broken == 0 }) {
			break
		}
	}
	return all, why
}

// budget holds the fields of a disruption budget that preemption needs.
type budget struct {
	namespace string
	selector  selector.Labels
	allowed   int64
	disrupted map[string]any
}

func (c *cycle) budgets() (all []budget) {
	for _, obj := range c.api.All("poddisruptionbudgets.policy", "") {
		b := budget{obj.Namespace(), selectorAt(obj.At("spec"), "selector"), obj.Int64("status", "disruptionsAllowed"), obj.Map("status", "disruptedPods")}
		if !b.selector.Empty() {
			all = append(all, b)
		}
	}
	return all
}

// victims returns the smallest set of pods that must be evicted from a node, or a verdict that rejects the node. It prefers to
// evict the least important pods (DefaultPreemption.SelectVictimsOnNode).
func (c *cycle) victims(n *node, budgets []budget) (candidate, verdict) {
	fork, then := c.fork(), n.clone()
	var lower []*pod
	for _, p := range n.pods {
		if p.priority < c.pod.priority {
			lower = append(lower, p)
		}
	}
	if len(lower) == 0 {
		return candidate{}, final("No preemption victims found for incoming pod")
	}
	for _, p := range lower {
		fork.put(p, then, -1)
	}
	if v := fork.fits(then); !v.fits() {
		return candidate{}, v
	}
	begun := c.starts(lower)
	important := func(a, b *pod) int {
		return cmp.Or(cmp.Compare(b.priority, a.priority), begun[a].Compare(begun[b]))
	}
	slices.SortStableFunc(lower, important)
	protected, others := split(lower, budgets)
	x := candidate{node: n}
	for _, p := range append(slices.Clone(protected), others...) {
		fork.put(p, then, 1)
		if fork.fits(then).fits() {
			continue
		}
		fork.put(p, then, -1)
		x.victims = append(x.victims, p)
		if slices.Contains(protected, p) {
			x.broken++
		}
	}
	slices.SortStableFunc(x.victims, important)
	return x, verdict{}
}

// starts returns the start times of pods. A pod that has not started counts as starting now (util.GetPodStartTime).
func (c *cycle) starts(pods []*pod) map[*pod]time.Time {
	begun := make(map[*pod]time.Time, len(pods))
	for _, p := range pods {
		begun[p] = c.api.Now()
		if it := c.api.Item(workload.Pods, p.Namespace, p.Name); it != nil {
			if text := it.Object().String("status", "startTime"); text != "" {
				begun[p] = workload.TimeOf(text)
			}
		}
	}
	return begun
}

// split separates the pods whose eviction would violate a disruption budget from the others (filterPodsWithPDBViolation).
func split(pods []*pod, budgets []budget) (protected, others []*pod) {
	left := make([]int64, len(budgets))
	for i, b := range budgets {
		left[i] = b.allowed
	}
	for _, p := range pods {
		broken := false
		for i, b := range budgets {
			if b.namespace != p.Namespace || len(p.labels) == 0 || !b.selector.Match(p.label) || b.disrupted[p.Name] != nil {
				continue
			}
			left[i]--
			broken = broken || left[i] < 0
		}
		if broken {
			protected = append(protected, p)
		} else {
			others = append(others, p)
		}
	}
	return protected, others
}

// choose returns the cheapest candidate: the one with the fewest violated budgets, then the lowest priority of its most
// important victim, the lowest sum of priorities, the fewest victims, and the latest start (pickOneNodeForPreemption). Ties are
// broken at random.
func (c *cycle) choose(all []candidate) *candidate {
	costs := []func(x candidate) int64{
		func(x candidate) int64 { return int64(x.broken) },
		func(x candidate) int64 { return x.victims[0].priority },
		func(x candidate) (sum int64) {
			for _, p := range x.victims {
				sum += p.priority + math.MaxInt32 + 1
			}
			return sum
		},
		func(x candidate) int64 { return int64(len(x.victims)) },
		c.begun,
	}
	for _, cost := range costs {
		var best []candidate
		least := int64(math.MaxInt64)
		for _, x := range all {
			n := cost(x)
			if n < least {
				best, least = nil, n
			}
			if n == least {
				best = append(best, x)
			}
		}
		if all = best; len(all) == 1 {
			return &all[0]
		}
	}
	return &all[c.api.Random(len(all))]
}

// begun returns the earliest start of the most important victims of a candidate, negated so that a later start costs less
// (util.GetEarliestPodStartTime).
func (c *cycle) begun(x candidate) int64 {
	earliest := time.Time{}
	for p, at := range c.starts(x.victims) { // order does not matter
		if p.priority == x.victims[0].priority && (earliest.IsZero() || at.Before(earliest)) {
			earliest = at
		}
	}
	return -earliest.UnixNano()
}

// evict deletes the victims, and clears the nominations of pods with lower priorities for the node.
func (s *Scheduler) evict(api *controller.Client, preemptor *pod, x *candidate) {
	for _, q := range slices.Clone(s.memory.Queue.nominated(x.node.name)) {
		if q.Priority < preemptor.priority && q.Place != binding {
			s.memory.Queue.nominate(q, "")
			_ = api.Patch(workload.Pods, "status", q.Key, func(live object.Object) { live.Remove("status", "nominatedNodeName") })
		}
	}
	for _, p := range x.victims {
		if p.deleting {
			continue
		}
		failed := api.Patch(workload.Pods, "status", p.Key, func(live object.Object) {
			c := live.Condition(disruptionTarget)
			controller.SetCondition(live, api.Now(), disruptionTarget, "True", byScheduler,
				preemptor.scheduler+": preempting to accommodate a higher priority pod")
			if c == nil {
				c = live.Condition(disruptionTarget)
			}
			c["observedGeneration"] = live.Generation()
		})
		if failed == nil {
			failed = api.Delete(workload.Pods, p.Key, controller.Preconditions{})
		}
		if failed == nil {
			s.recordEvent(api, p, nil, "Normal", "Preempted", "Preempting", "Preempted by pod "+preemptor.uid+" on node "+x.node.name)
		}
	}
}
