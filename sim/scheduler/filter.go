package scheduler

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/controller/workload"
	"github.com/kubesim/kubesim/sim/object"
)

// verdict is the result of filtering one node. If there are no reasons, the node fits.
type verdict struct {
	plugin  string
	reasons []string
	final   bool // removing pods from the node does not help (UnschedulableAndUnresolvable)
	failed  bool // the plugin failed, which ends the search; the reason is the error
}

func (v verdict) fits() bool { return len(v.reasons) == 0 }

func rejected(why string) verdict { return verdict{reasons: []string{why}} }
func final(why string) verdict    { return verdict{reasons: []string{why}, final: true} }

// plugin is a filter plugin with its queueing hint. skips reports whether the plugin accepts a pod on every node (status Skip
// of its PreFilter). If skips is nil, it never does.
type plugin struct {
	name   string
	filter func(c *cycle, n *node) verdict
	hint   func(c *cycle, e *event) bool
	skips  func(c *cycle) bool
}

const (
	nodeUnschedulable = "NodeUnschedulable"
	taintToleration   = "TaintToleration"
	nodeAffinity      = "NodeAffinity"
	nodePorts         = "NodePorts"
	nodeResources     = "NodeResourcesFit"
	topologySpread    = "PodTopologySpread"
	interPodAffinity  = "InterPodAffinity"
	dynamicResources  = "DynamicResources"
	declaredFeatures  = "NodeDeclaredFeatures"
)

// plugins lists the filter plugins of a default profile in order. The first plugin that rejects a node provides the reason
// (getDefaultPlugins).
var plugins = []plugin{
	{nodeUnschedulable, filterUnschedulable, fitsNow(filterUnschedulable), nil},
	{taintToleration, filterTaints, fitsNow(filterTaints), nil},
	{nodeAffinity, filterAffinity, fitsNow(filterAffinity), func(c *cycle) bool { return c.pod.affinity.Any() }},
	{nodePorts, filterPorts, portsHint, func(c *cycle) bool { return len(c.pod.ports) == 0 }},
	{nodeResources, filterResources, resourcesHint, nil},
	{volumeRestrictions, filterRestrictions, restrictionsHint, hasNoVolumes},
	{volumeLimits, filterLimits, limitsHint, hasNoVolumes},
	{volumeBinding, filterBinding, bindingHint, hasNoVolumes},
	{volumeZone, filterZone, zoneHint, hasNoVolumes},
	{topologySpread, filterSpread, spreadHint, func(c *cycle) bool { return len(c.spread.constraints) == 0 }},
	{interPodAffinity, filterTerms, termsHint, func(c *cycle) bool {
		return len(c.pod.with)+len(c.pod.apart)+len(c.terms.against) == 0
	}},
	{dynamicResources, filterClaims, claimsHint, func(c *cycle) bool { return !c.s.usesDevices(c.api, c.pod) }},
	{declaredFeatures, filterFeatures, featuresHint, needsNoFeatures},
}

func hasNoVolumes(c *cycle) bool { return len(c.pod.volumes) == 0 }

// check runs the filter plugins on a node in its current state.
func (c *cycle) check(n *node) verdict {
	for i := range plugins {
		if c.skipped[i] {
			continue
		}
		if v := plugins[i].filter(c, n); !v.fits() {
			v.plugin = plugins[i].name
			return v
		}
	}
	return verdict{}
}

func filterUnschedulable(c *cycle, n *node) verdict {
	if n.unschedulable && !workload.Tolerated(workload.Taint{Key: "node.kubernetes.io/unschedulable", Effect: "NoSchedule"}, c.pod.tolerations) {
		return final("node(s) were unschedulable")
	}
	return verdict{}
}

func filterTaints(c *cycle, n *node) verdict {
	if workload.Untolerated(n.taints, c.pod.tolerations, "NoSchedule", "NoExecute") {
		return final("node(s) had untolerated taint(s)")
	}
	return verdict{}
}

func filterAffinity(c *cycle, n *node) verdict {
	if !c.pod.affinity.Match(n.name, n.labels) {
		return final("node(s) didn't match Pod's node affinity/selector")
	}
	return verdict{}
}

func filterPorts(c *cycle, n *node) verdict {
	if len(c.pod.ports) > 0 && slices.ContainsFunc(n.pods, func(p *pod) bool { return sharePort(p, c.pod) }) {
		return rejected("node(s) didn't have free ports for the requested pod ports")
	}
	return verdict{}
}

func sharePort(a, b *pod) bool { return workload.Conflict(a.ports, b.ports) }

// filterResources accepts nodes with room for the requests of the pod (noderesources.Fit).
func filterResources(c *cycle, n *node) (v verdict) {
	if int64(len(n.pods))+1 > n.room {
		v.reasons = append(v.reasons, "Too many pods")
	}
	for _, lack := range c.pod.requests.Lacks(n.allocatable, n.used) {
		if c.s.isDelegated(c.api, lack.Resource, n) {
			continue
		}
		v.reasons = append(v.reasons, "Insufficient "+lack.Resource)
		v.final = v.final || lack.Requested > lack.Capacity
	}
	return v
}

// diagnosis explains why no node was found for a pod (framework.Diagnosis).
type diagnosis struct {
	nodes   int
	all     verdict // the verdict on all nodes, or on the nodes that are not in each
	each    map[*node]verdict
	before  bool   // the pod was rejected before any node was checked
	preempt string // the part of the message that describes the result of preemption
}

// of returns the verdict on node n.
func (d *diagnosis) of(n *node) verdict {
	if v, ok := d.each[n]; ok {
		return v
	}
	return d.all
}

// plugins returns the names of the plugins that rejected a node, sorted.
func (d *diagnosis) plugins() (names []string) {
	for _, v := range d.each { // sorted below
		names = append(names, v.plugin)
	}
	if d.all.plugin != "" {
		names = append(names, d.all.plugin)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// noNodes is the message if there are no nodes.
const noNodes = "no nodes available to schedule pods"

// text returns the diagnosis as a message (framework.FitError.Error).
func (d *diagnosis) text() string {
	if d.nodes == 0 {
		return noNodes
	}
	text := fmt.Sprintf("0/%d nodes are available:", d.nodes)
	if d.before {
		text += " " + strings.Join(d.all.reasons, ", ") + "."
	} else if why := d.histogram(); why != "" {
		text += " " + why + "."
	}
	if d.preempt != "" {
		text += " " + d.preempt
	}
	return text
}

// histogram returns each reason with the number of nodes that it rejected, as the message lists them.
func (d *diagnosis) histogram() string {
	count := map[string]int{}
	for _, v := range d.each { // order does not matter
		for _, why := range v.reasons {
			count[why]++
		}
	}
	for _, why := range d.all.reasons {
		count[why] += d.nodes - len(d.each)
	}
	var texts []string
	for _, why := range object.SortedKeys(count) {
		if count[why] > 0 {
			texts = append(texts, fmt.Sprintf("%d %s", count[why], why))
		}
	}
	slices.Sort(texts)
	return strings.Join(texts, ", ")
}
