package workload

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

const (
	// Nodes is where nodes are stored.
	Nodes = "nodes"

	required = "requiredDuringSchedulingIgnoredDuringExecution"
	nodeName = "metadata.name" // the field of a node that an affinity can ask for
)

// Node is what pods ask of a node, taken out of its item once.
type Node struct {
	*resource.Item
	*NodeFacts
}

// NodeFacts are those that are kept with the item.
type NodeFacts struct {
	Labels map[string]string
	Taints []Taint
}

// Taint keeps pods away that do not tolerate it.
type Taint struct{ Key, Value, Effect string }

// NodeOf returns the node that an item is.
func NodeOf(it *resource.Item) *Node { return &Node{it, resource.Derived(it, readNode)} }

func readNode(obj object.Object) *NodeFacts {
	n := &NodeFacts{Labels: obj.Labels()}
	for _, t := range obj.Objects("spec", "taints") {
		n.Taints = append(n.Taints, Taint{t.String("key"), t.String("value"), t.String("effect")})
	}
	return n
}

// Placement is what a pod asks of its node: its name, labels, and what it tolerates
// (component-helpers/scheduling/corev1/nodeaffinity).
type Placement struct {
	name        string
	labels      []requirement // all of them
	terms       [][]requirement
	anyTerm     bool // one of the terms, which may be none
	tolerations []object.Object
}

// requirement is what a label of a node has to be, or its name.
type requirement struct {
	key, operator string
	values        []string
	field         bool
}

// PlacementOf returns what the spec of a pod asks.
func PlacementOf(spec object.Object) *Placement {
	p := &Placement{name: spec.String("nodeName"), tolerations: spec.Objects("tolerations")}
	for key, value := range object.StringMap(spec.Map("nodeSelector")) { // order does not matter: all have to match
		p.labels = append(p.labels, requirement{key: key, operator: "In", values: []string{value}})
	}
	affinity := object.Object(spec.Map("affinity", "nodeAffinity", required))
	p.anyTerm = affinity != nil
	for _, t := range affinity.Objects("nodeSelectorTerms") {
		var all []requirement
		for _, list := range []string{"matchExpressions", "matchFields"} {
			for _, r := range t.Objects(list) {
				all = append(all, requirement{r.String("key"), r.String("operator"), r.Strings("values"), list == "matchFields"})
			}
		}
		if len(all) > 0 { // an empty term selects nothing
			p.terms = append(p.terms, all)
		}
	}
	return p
}

// Fits reports whether a node has the name and the labels.
func (p *Placement) Fits(n *Node) bool {
	all := func(list []requirement) bool {
		return !slices.ContainsFunc(list, func(r requirement) bool { return !r.matches(n) })
	}
	return (p.name == "" || p.name == n.Name) && all(p.labels) && (!p.anyTerm || slices.ContainsFunc(p.terms, all))
}

func (r requirement) matches(n *Node) bool {
	value, has := n.Label(r.key)
	if r.field {
		value, has = n.Name, r.key == nodeName
	}
	switch r.operator {
	case "In":
		return has && slices.Contains(r.values, value)
	case "NotIn":
		return !has || !slices.Contains(r.values, value)
	case "Exists":
		return has
	case "DoesNotExist":
		return !has
	}
	is, err := strconv.ParseInt(value, 10, 64)
	if !has || err != nil || len(r.values) != 1 {
		return false
	}
	limit, err := strconv.ParseInt(r.values[0], 10, 64)
	return err == nil && (r.operator == "Gt" && is > limit || r.operator == "Lt" && is < limit)
}

// Tolerates reports whether a pod tolerates the taints of a node that have one of some effects.
func (p *Placement) Tolerates(n *Node, effects ...string) bool {
	return !slices.ContainsFunc(n.Taints, func(t Taint) bool {
		return slices.Contains(effects, t.Effect) && !slices.ContainsFunc(p.tolerations, func(x object.Object) bool { return t.tolerated(x) })
	})
}

// tolerated reports whether a toleration is one of the taint (v1.Toleration.ToleratesTaint).
func (t Taint) tolerated(by object.Object) bool {
	key, effect := by.String("key"), by.String("effect")
	if effect != "" && effect != t.Effect || key != "" && key != t.Key {
		return false
	}
	switch cmp.Or(by.String("operator"), "Equal") {
	case "Exists":
		return true
	case "Equal":
		return by.String("value") == t.Value
	}
	return false
}

// Share is a number, or a percentage of a whole that is rounded by math.Ceil or math.Floor (intstr.GetScaledValueFromIntOrPercent).
func Share(v any, whole int64, round func(float64) float64) int64 {
	switch v := v.(type) {
	case int64:
		return v
	case string:
		percent, _ := strconv.ParseInt(strings.TrimSuffix(v, "%"), 10, 64)
		return int64(round(float64(percent) * float64(whole) / 100))
	}
	return 0
}
