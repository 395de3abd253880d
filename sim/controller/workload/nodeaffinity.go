package workload

import (
	"slices"
	"strconv"

	"github.com/kubesim/kubesim/sim/object"
)

// NodeAffinity is the required node affinity of a pod: its nodeSelector, and the required terms of its nodeAffinity
// (component-helpers, nodeaffinity.GetRequiredNodeAffinity). The zero value matches all nodes.
type NodeAffinity struct {
	labels   object.Object
	required bool
	terms    NodeTerms
}

// NodeAffinityOf returns the NodeAffinity of a pod spec.
func NodeAffinityOf(spec object.Object) (a NodeAffinity) {
	a.labels = spec.Map("nodeSelector")
	const field = "requiredDuringSchedulingIgnoredDuringExecution"
	if spec.Has("affinity", "nodeAffinity", field) {
		a.required = true
		a.terms = NodeTermsOf(spec.Objects("affinity", "nodeAffinity", field, "nodeSelectorTerms"))
	}
	return a
}

// Any reports whether the affinity matches all nodes.
func (a NodeAffinity) Any() bool { return len(a.labels) == 0 && !a.required }

// Match reports whether a pod with the affinity may run on the node with the name and labels.
func (a NodeAffinity) Match(name string, labels map[string]string) bool {
	for key, value := range a.labels {
		if have, ok := labels[key]; !ok || have != value {
			return false
		}
	}
	return !a.required || a.terms.Match(name, labels)
}

// Names returns the nodes that the affinity lists by name. It returns false if the affinity can also match other nodes.
func (a NodeAffinity) Names() (names []string, only bool) {
	if !a.required || len(a.terms) == 0 {
		return nil, false
	}
	for _, t := range a.terms {
		own, named := t.names()
		if !named {
			return nil, false
		}
		names = append(names, own...)
	}
	slices.Sort(names)
	return slices.Compact(names), true
}

// NodeTerms is a list of terms. It matches a node if at least one of the terms does. An empty list matches no node.
type NodeTerms []NodeTerm

// NodeTermsOf parses the nodeSelectorTerms of a NodeSelector.
func NodeTermsOf(list []object.Object) (terms NodeTerms) {
	for _, t := range list {
		terms = append(terms, NodeTermOf(t))
	}
	return terms
}

// Match reports whether one of the terms matches a node.
func (all NodeTerms) Match(name string, labels map[string]string) bool {
	return slices.ContainsFunc(all, func(t NodeTerm) bool { return t.Match(name, labels) })
}

// NodeTerm is a NodeSelectorTerm. A node must meet all its requirements. A term without requirements matches no node.
type NodeTerm struct{ labels, fields []nodeRequirement }

type nodeRequirement struct {
	key, operator string
	values        []string
}

// NodeTermOf parses a NodeSelectorTerm.
func NodeTermOf(term object.Object) NodeTerm {
	return NodeTerm{nodeRequirements(term.Objects("matchExpressions")), nodeRequirements(term.Objects("matchFields"))}
}

func nodeRequirements(list []object.Object) (all []nodeRequirement) {
	for _, r := range list {
		all = append(all, nodeRequirement{r.String("key"), r.String("operator"), r.Strings("values")})
	}
	return all
}

// Match reports whether the term matches a node. It ignores matchFields if name is empty.
func (t NodeTerm) Match(name string, labels map[string]string) bool {
	if len(t.labels)+len(t.fields) == 0 {
		return false
	}
	for _, r := range t.labels {
		value, ok := labels[r.key]
		if !r.meets(value, ok) {
			return false
		}
	}
	for _, r := range t.fields { // metadata.name is the only supported field
		if name != "" && !r.meets(name, true) {
			return false
		}
	}
	return true
}

// names returns the nodes that all requirements on metadata.name allow. It returns false if the term has no such requirements.
func (t NodeTerm) names() (names []string, named bool) {
	for _, r := range t.fields {
		switch {
		case r.key != "metadata.name" || r.operator != "In":
		case !named:
			names, named = slices.Clone(r.values), true
		default:
			names = slices.DeleteFunc(names, func(s string) bool { return !slices.Contains(r.values, s) })
		}
	}
	return names, named
}

// meets reports whether a label's value meets the requirement. there is false if the node does not have the label.
func (r nodeRequirement) meets(value string, there bool) bool {
	switch r.operator {
	case "In":
		return there && slices.Contains(r.values, value)
	case "NotIn":
		return !there || !slices.Contains(r.values, value)
	case "Exists":
		return there
	case "DoesNotExist":
		return !there
	case "Gt", "Lt":
		if !there || len(r.values) != 1 {
			return false
		}
		n, err := strconv.ParseInt(value, 10, 64)
		limit, err2 := strconv.ParseInt(r.values[0], 10, 64)
		return err == nil && err2 == nil && (r.operator == "Gt" && n > limit || r.operator == "Lt" && n < limit)
	}
	return false
}
