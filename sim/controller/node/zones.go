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

// taintOf is the taint of a condition and its status.
var taintOf = map[string]string{
	"Ready False":             notReadyTaint,
	"Ready Unknown":           unreachableTaint,
	"MemoryPressure True":     "node.kubernetes.io/memory-pressure",
	"DiskPressure True":       "node.kubernetes.io/disk-pressure",
	"NetworkUnavailable True": "node.kubernetes.io/network-unavailable",
	"PIDPressure True":        "node.kubernetes.io/pid-pressure",
}

// conditional are the taints that the controller gives and takes.
var conditional = map[string]bool{notReadyTaint: true, unreachableTaint: true, unschedulable: true,
	"node.kubernetes.io/memory-pressure": true, "node.kubernetes.io/disk-pressure": true,
	"node.kubernetes.io/network-unavailable": true, "node.kubernetes.io/pid-pressure": true}

// retaint makes some taints of an effect those of the controller's that a node has. For NoExecute these are only the two for
// nodes that are not ready.
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

// retainted returns the taints of a node after retaint, and whether they are others than before.
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

// zone is nodes that may fail together: how they are decides how fast they are tainted NoExecute.
type zone struct {
	State string    `json:",omitempty"`
	Next  time.Time `json:",omitzero"` // when a node of it can be tainted

	ready, not, excluded int // how many of its nodes are ready, are not, and do not count
}

// The states of a zone (nodelifecycle.ZoneState).
const (
	normal  = "Normal"
	partial = "PartialDisruption" // more than half are not ready, and more than two
	full    = "FullDisruption"    // none is ready
)

// How fast nodes are tainted: --node-eviction-rate, --secondary-node-eviction-rate, --large-cluster-size-threshold,
// --unhealthy-zone-threshold.
const (
	taintEvery       = 10 * time.Second
	taintEveryPartly = 100 * time.Second
	largeZone        = 50
	unhealthyPercent = 55
)

// zoneOf returns the zone that a node says that it is in.
func zoneOf(node object.Object) string {
	label := func(name, old string) string {
		labels := node.Labels()
		if v, ok := labels[name]; ok {
			return v
		}
		return labels[old]
	}
	region := label("topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region")
	z := label("topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone")
	if region == "" && z == "" {
		return ""
	}
	return region + ":" + z
}

// judge finds out how the zones are. When the last node that was ready is not any more, all nodes lose their taints NoExecute;
// when one is again, all get another chance (handleDisruption).
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
				api.Enqueue(controller.Key{Name: name}) // it may be its turn now
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

// count counts a node in its zone as it is now. Before that it is taken out of the zone that it was counted in.
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

// discount takes a node out of its zone.
func (l *lifecycle) discount(h *health) {
	if h.counted != nil {
		*h.counted--
		h.counted = nil
	}
}

// Learn implements controller.Learner: it counts the nodes of a memory that was loaded.
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

// taint taints a node NoExecute that is not ready, when it is its turn, and takes the taint from one that is (processTaintBaseEviction).
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
	case len(have) > 0: // it was tainted for the other reason
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

// pace returns the pause of a zone after it has tainted a node, or 0 if it taints none.
func (l *lifecycle) pace(name string) time.Duration {
	if z := l.memory.Zones[name]; z == nil || z.State != partial {
		return taintEvery
	}
	if z := l.memory.Zones[name]; z.ready+z.not > largeZone {
		return taintEveryPartly
	}
	return 0
}

// turn is how long a node that waits for its taint has to.
func (l *lifecycle) turn(api *controller.Client, h *health) time.Duration {
	if h.Waits.IsZero() || l.pace(h.Zone) == 0 {
		return 0
	}
	return max(l.memory.Zones[h.Zone].Next.Sub(api.Now()), 1)
}
