package scheduler

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/controller/workload"
	"github.com/kubesim/kubesim/sim/object"
)

// sampler is a model of how kube-scheduler v1.36 chooses the nodes that it checks. It implements the rules of nodeTree.list,
// Scheduler.numFeasibleNodesToFind and Scheduler.findNodesThatFitPod with one worker, and shares no code with the scheduler.
type sampler struct {
	zones [][]modelNode // zones and their nodes in order of creation
	next  int
}

type modelNode struct {
	name, zone string
	closed     bool // no pod fits on the node
}

// add adds a node to its zone.
func (m *sampler) add(n modelNode) {
	for i, zone := range m.zones {
		if zone[0].zone == n.zone {
			m.zones[i] = append(zone, n)
			return
		}
	}
	m.zones = append(m.zones, []modelNode{n})
}

// list returns the nodes, alternating between zones.
func (m *sampler) list() (all []modelNode) {
	for round, more := 0, true; more; round++ {
		more = false
		for _, zone := range m.zones {
			if round < len(zone) {
				all = append(all, zone[round])
				more = true
			}
		}
	}
	return all
}

// wanted returns the number of fitting nodes after which the search ends in a cluster with the given number of nodes.
func (m *sampler) wanted(nodes int) int {
	if nodes < 100 {
		return nodes
	}
	percent := 50 - nodes/125
	if percent < 5 {
		percent = 5
	}
	if n := nodes * percent / 100; n > 100 {
		return n
	}
	return 100
}

// find returns the names of the nodes that are found for a pod.
func (m *sampler) find() (fit []string) {
	all := m.list()
	checked := 0
	for ; checked < len(all) && len(fit) < m.wanted(len(all)); checked++ {
		if n := all[(m.next+checked)%len(all)]; !n.closed {
			fit = append(fit, n.name)
		}
	}
	m.next = (m.next + checked) % len(all)
	return fit
}

// TestSample compares the candidate nodes of each pod with those of the model, in clusters that grow up to 3,000 nodes while pods
// are placed.
func TestSample(t *testing.T) {
	for seed, nodes := range []int{20, 99, 150, 700, 3000} {
		is := is.New(t)
		r := rand.New(rand.NewPCG(uint64(seed), 4))
		w, m := newWorld(), &sampler{}
		zones := 1 + r.IntN(5)
		grow := func(n int) {
			for range n {
				x := modelNode{name: fmt.Sprintf("node-%d", r.IntN(1e9)), zone: fmt.Sprint("zone-", r.IntN(zones)), closed: r.IntN(4) == 0}
				m.add(x)
				c := w.s.memory.cluster
				c.setNode(nodeObject(x), uint64(c.tree.size()+1))
			}
		}
		grow(nodes)
		for i := range 20 {
			if i%5 == 4 {
				grow(1 + r.IntN(3))
			}
			p := aPod(fmt.Sprint("pod-", i), 0)
			c := &cycle{s: w.s, api: w.api, cluster: w.s.memory.cluster, pod: p}
			fit, _ := c.find()
			is.Equal(nodeNames(fit), m.find()) // for this seed
			is.Equal(w.s.memory.Next, m.next)
		}
	}
}

// nodeObject returns the Node object for a node of the model.
func nodeObject(n modelNode) object.Object {
	return object.Object{"metadata": map[string]any{"name": n.name, "labels": map[string]any{"topology.kubernetes.io/zone": n.zone, hostname: n.name}},
		"spec":   map[string]any{"unschedulable": n.closed},
		"status": map[string]any{"allocatable": map[string]any{"cpu": "8", "memory": "32Gi", "pods": "110"}}}
}

// TestCensus changes a cluster at random and compares the counts for constraints with a count of all pods on all nodes.
func TestCensus(t *testing.T) {
	for seed := range uint64(20) {
		is := is.New(t)
		r := rand.New(rand.NewPCG(seed, 5))
		w := newWorld()
		c := w.s.memory.cluster
		for i := range 200 {
			switch name := fmt.Sprint("node-", r.IntN(8)); r.IntN(6) {
			case 0:
				c.setNode(nodeObject(modelNode{name: name, zone: fmt.Sprint("zone-", r.IntN(3))}), uint64(i+1))
			case 1:
				if n := c.nodes[name]; n != nil && n.exists && r.IntN(3) == 0 {
					c.removeNode(name)
				}
			case 2:
				c.removePod(controller.Key{Namespace: "default", Name: fmt.Sprint("pod-", r.IntN(30))})
			default:
				p := aPod(fmt.Sprint("pod-", r.IntN(30)), 0)
				p.labels, p.deleting, p.node = map[string]string{"app": fmt.Sprint(r.IntN(3)), "tier": fmt.Sprint(r.IntN(2))}, r.IntN(5) == 0, name
				c.setPod(p)
			}
			compareCounts(is, r, w)
		}
	}
}

// compareCounts compares the counts for a random constraint.
func compareCounts(is *is.I, r *rand.Rand, w *world) {
	selector := []map[string]any{
		{"matchLabels": map[string]any{"app": fmt.Sprint(r.IntN(3))}},
		{"matchLabels": map[string]any{"app": fmt.Sprint(r.IntN(3)), "tier": "1"}},
		{"matchExpressions": []any{map[string]any{"key": "app", "operator": "NotIn", "values": []any{"0"}}}},
		{},
	}[r.IntN(4)]
	p := aPod("new", 0)
	if r.IntN(2) == 0 {
		p.affinity = workload.NodeAffinityOf(object.Object{"nodeSelector": map[string]any{hostname: "node-1"}})
		p.affinityText = "node-1"
	}
	s := spreadConstraintOf(object.Object{"topologyKey": zone, "maxSkew": int64(1), "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector}, "default", nil)
	p.spread = []spreadConstraint{s}
	c := &cycle{s: w.s, api: w.api, cluster: w.s.memory.cluster, pod: p}
	c.countSpread()
	want := map[string]int{}
	for _, n := range c.cluster.tree.all() {
		if !s.eligible(p, n) {
			continue
		}
		of := 0
		for _, x := range n.pods {
			if !x.deleting && s.selector.Match(x.label) && !s.selector.Empty() {
				of++
			}
		}
		want[n.labels[zone]] += of
		is.Equal(c.cluster.census.group(&s, "default").perNode[n], of)
	}
	least := 0
	for i, value := range slices.Sorted(maps.Keys(want)) {
		is.Equal(c.spread.tallies[0].in(value), want[value])
		if i == 0 || want[value] < least {
			least = want[value]
		}
	}
	is.Equal(c.spread.tallies[0].domains, len(want))
	is.Equal(c.spread.least(0), least)
}
