package node

import (
	"slices"
	"time"

	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/controller/workload"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/status"
)

const (
	notReadyTaint    = "node.kubernetes.io/not-ready"
	unreachableTaint = "node.kubernetes.io/unreachable"
	unschedulable    = "node.kubernetes.io/unschedulable"
	execute          = "NoExecute"
)

// taintOf maps each condition and status that makes a node unusable to its taint.
var taintOf = map[string]string{
	"Ready False":             notReadyTaint,
	"Ready Unknown":           unreachableTaint,
	"MemoryPressure True":     "node.kubernetes.io/memory-pressure",
	"DiskPressure True":       "node.kubernetes.io/disk-pressure",
	"NetworkUnavailable True": "node.kubernetes.io/network-unavailable",
	"PIDPressure True":        "node.kubernetes.io/pid-pressure",
}

// conditional is the set of taints that the controller manages.
var conditional = map[string]bool{notReadyTaint: true, unreachableTaint: true, unschedulable: true,
	"node.kubernetes.io/memory-pressure": true, "node.kubernetes.io/disk-pressure": true,
	"node.kubernetes.io/network-unavailable": true, "node.kubernetes.io/pid-pressure": true}

// retaint sets the controller's taints of a node for one effect to want, and keeps all other taints. For NoExecute, the
// controller only manages the two taints for nodes that are not ready.
func retaint(api *controller.Client, name string, want []string, effect string) *status.Status {
	now := api.GetShared(nodeObjects, "", name)
	if now == nil {
		return nil
	}
	if _, changed := retainted(now, want, effect, api.Now()); !changed {
		return nil
	}
	s := api.Patch(nodeObjects, "", controller.Key{Name: name}, func(live object.Object) {
		if left, _ := retainted(live, want, effect, api.Now()); len(left) > 0 {
			live.Set(left, "spec", "taints")
		} else {
			live.Remove("spec", "taints")
		}
	})
	return workload.Found(s)
}

// retainted returns the taints of a node after retaint, and whether they have changed.
func retainted(node object.Object, want []string, effect string, now time.Time) (left []any, changed bool) {
	have := map[string]bool{}
	for _, t := range node.Objects("spec", "taints") {
		key := t.String("key")
		ours := t.String("effect") == effect && conditional[key] && (effect != execute || key == notReadyTaint || key == unreachableTaint)
		if ours && !slices.Contains(want, key) {
			changed = true
			continue
		}
		if ours {
			have[key] = true
		}
		left = append(left, map[string]any(t))
	}
	for _, key := range want {
		if !have[key] {
			left = append(left, map[string]any{"key": key, "effect": effect, "timeAdded": object.Time(now)})
			have[key], changed = true, true
		}
	}
	return left, changed
}

// zone is a group of nodes that may fail together. Its state determines the rate at which its nodes are tainted NoExecute.
type zone struct {
	State string    `json:",omitempty"`
	Next  time.Time `json:",omitzero"` // earliest time for the next NoExecute taint

	ready, not, excluded int // number of nodes that are ready, not ready, and not counted
}

// The states of a zone (nodelifecycle.ZoneState).
const (
	normal  = "Normal"
	partial = "PartialDisruption" // at least 55 % of its nodes, and more than two, are not ready
	full    = "FullDisruption"    // none is ready
)

// The rate of NoExecute taints: --node-eviction-rate, --secondary-node-eviction-rate, --large-cluster-size-threshold,
// --unhealthy-zone-threshold.
const (
	taintEvery       = 10 * time.Second
	taintEveryPartly = 100 * time.Second
	largeZone        = 50
	unhealthyPercent = 55
)

// zoneOf returns the zone of a node according to its labels.
func zoneOf(node object.Object) string {
	label := func(name, old string) string {
		if node.Has("metadata", "labels", name) {
			return node.String("metadata", "labels", name)
		}
		return node.String("metadata", "labels", old)
	}
	region := label("topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region")
	z := label("topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone")
	if region == "" && z == "" {
		return ""
	}
	return region + ":" + z
}

// judge updates the states of the zones (handleDisruption). When the last ready node becomes not ready, it removes the
// NoExecute taints of all nodes. When a node becomes ready again, it restarts the grace periods of all nodes.
func (l *lifecycle) judge(api *controller.Client) (failed *status.Status) {
	m := &l.memory
	lost, mended := len(m.Nodes) > 0, map[string]bool{}
	for name, z := range m.Zones { // order does not matter
		if z.ready+z.not+z.excluded == 0 {
			continue
		}
		before := z.State
		z.State = stateOfZone(z.ready, z.not)
		lost = lost && z.State == full
		if before == partial && z.State != partial {
			mended[name] = true
		}
	}
	if len(mended) > 0 {
		for _, name := range object.SortedKeys(m.Nodes) {
			if h := m.Nodes[name]; !h.Waits.IsZero() && mended[h.Zone] {
				api.Enqueue(controller.Key{Name: name}) // the node may be tainted now
			}
		}
	}
	if lost == m.Lost {
		return nil
	}
	m.Lost = lost
	for _, name := range object.SortedKeys(m.Nodes) {
		if h := m.Nodes[name]; lost {
			h.Waits = time.Time{}
			if s := retaint(api, name, nil, execute); s != nil {
				failed = s
			}
		} else {
			h.Probe = api.Now()
			api.Enqueue(controller.Key{Name: name})
		}
	}
	return failed
}

// count adds a node to the counts of its zone. First it removes the node from the count that included it.
func (l *lifecycle) count(h *health) {
	l.discount(h)
	z := l.memory.Zones[h.Zone]
	if z == nil {
		z = &zone{}
		l.memory.Zones[h.Zone] = z
	}
	switch {
	case h.Excluded:
		h.counted = &z.excluded
	case h.Ready == "True":
		h.counted = &z.ready
	default:
		h.counted = &z.not
	}
	*h.counted++
}

// discount removes a node from the count of its zone.
func (l *lifecycle) discount(h *health) {
	if h.counted != nil {
		*h.counted--
		h.counted = nil
	}
}

// Learn implements controller.Learner. It counts the nodes of a loaded memory.
func (l *lifecycle) Learn(*controller.Client) {
	if l.memory.Zones == nil {
		l.memory.Zones = map[string]*zone{}
	}
	for _, h := range l.memory.Nodes { // order does not matter
		h.counted = nil
		l.count(h)
	}
}

func stateOfZone(ready, not int) string {
	switch {
	case ready == 0 && not > 0:
		return full
	case not > 2 && 100*not >= unhealthyPercent*(ready+not):
		return partial
	}
	return normal
}

// taint adds the NoExecute taint to a node that is not ready, as soon as the rate of its zone allows it. It removes the taint
// from a node that is ready (processTaintBaseEviction).
func (l *lifecycle) taint(api *controller.Client, node object.Object, h *health) *status.Status {
	want := taintOf["Ready "+h.Ready]
	var have []string
	for _, t := range workload.TaintsOf(node) {
		if t.Effect == execute && (t.Key == notReadyTaint || t.Key == unreachableTaint) {
			have = append(have, t.Key)
		}
	}
	switch {
	case want == "":
		h.Waits = time.Time{}
		if len(have) > 0 {
			return retaint(api, node.Name(), nil, execute)
		}
	case slices.Contains(have, want) || l.memory.Lost:
		h.Waits = time.Time{}
	case len(have) > 0: // the node has the taint for the other status of Ready
		return retaint(api, node.Name(), []string{want}, execute)
	default:
		if h.Waits.IsZero() {
			h.Waits = api.Now()
		}
		z := l.memory.Zones[h.Zone]
		every := l.pace(h.Zone)
		if every == 0 || api.Now().Before(z.Next) {
			return nil
		}
		z.Next, h.Waits = api.Now().Add(every), time.Time{}
		return retaint(api, node.Name(), []string{want}, execute)
	}
	return nil
}

// pace returns the minimum time between the NoExecute taints of two nodes in a zone, or 0 if the zone's nodes are not tainted.
func (l *lifecycle) pace(name string) time.Duration {
	if z := l.memory.Zones[name]; z == nil || z.State != partial {
		return taintEvery
	}
	if z := l.memory.Zones[name]; z.ready+z.not > largeZone {
		return taintEveryPartly
	}
	return 0
}

// turn returns the remaining time until a waiting node can be tainted. It returns 0 if the node does not wait.
func (l *lifecycle) turn(api *controller.Client, h *health) time.Duration {
	if h.Waits.IsZero() || l.pace(h.Zone) == 0 {
		return 0
	}
	return max(l.memory.Zones[h.Zone].Next.Sub(api.Now()), 1)
}
