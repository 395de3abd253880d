package workload

import (
	"slices"
	"strconv"
	"time"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
)

// Taint keeps pods off a node that do not tolerate it.
type Taint struct {
	Key, Value, Effect string
	Added              time.Time
}

// TaintsOf returns the taints of a node.
func TaintsOf(node object.Object) (all []Taint) {
	for _, t := range node.Objects("spec", "taints") {
		all = append(all, Taint{t.String("key"), t.String("value"), t.String("effect"), TimeOf(t.String("timeAdded"))})
	}
	return all
}

// Toleration is what a pod bears of a node.
type Toleration struct {
	Key, Operator, Value, Effect string

	Limited bool          // it ends
	For     time.Duration // after this
}

// TolerationsOf returns the tolerations of the spec of a pod.
func TolerationsOf(spec object.Object) (all []Toleration) {
	for _, t := range spec.Objects("tolerations") {
		seconds, limited := t.Int("tolerationSeconds")
		all = append(all, Toleration{t.String("key"), t.String("operator"), t.String("value"), t.String("effect"), limited,
			time.Duration(max(seconds, 0)) * time.Second})
	}
	return all
}

// Tolerates reports whether the toleration is one of a taint (core/v1.Toleration.ToleratesTaint).
func (t Toleration) Tolerates(x Taint) bool {
	if t.Effect != "" && t.Effect != x.Effect || t.Key != "" && t.Key != x.Key {
		return false
	}
	switch t.Operator {
	case "", "Equal":
		return t.Value == x.Value
	case "Lt", "Gt":
		return t.compares(x)
	}
	return t.Operator == "Exists"
}

// compares reports whether the value of a taint is less, or greater, than that of the toleration. An API server lets such a toleration
// in with the gate TaintTolerationComparisonOperators only, which is taken to be on for the controllers then.
func (t Toleration) compares(x Taint) bool {
	if len(field.DecimalInteger(t.Value))+len(field.DecimalInteger(x.Value)) > 0 {
		return false
	}
	bound, err := strconv.ParseInt(t.Value, 10, 64)
	value, other := strconv.ParseInt(x.Value, 10, 64)
	if err != nil || other != nil {
		return false
	}
	return t.Operator == "Lt" && value < bound || t.Operator == "Gt" && value > bound
}

// Tolerated reports whether one of the tolerations is one of a taint.
func Tolerated(x Taint, tolerations []Toleration) bool {
	return slices.ContainsFunc(tolerations, func(t Toleration) bool { return t.Tolerates(x) })
}

// Untolerated reports whether there is a taint with one of some effects that the tolerations do not cover.
func Untolerated(taints []Taint, tolerations []Toleration, effects ...string) bool {
	return slices.ContainsFunc(taints, func(x Taint) bool {
		return slices.Contains(effects, x.Effect) && !Tolerated(x, tolerations)
	})
}
