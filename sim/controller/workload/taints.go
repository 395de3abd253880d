package workload

import (
	"slices"
	"strconv"
	"time"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
)

// Taint is a taint of a node, which repels pods that do not tolerate it.
type Taint struct {
	Key, Value, Effect string
	Added              time.Time
}

// TaintsOf returns the taints of a node.
func TaintsOf(node object.Object) (all []Taint) {
	for _, t := range node.Objects("spec", "taints") {
		all = append(all, Taint{object.Keep(t.String("key")), object.Keep(t.String("value")), object.Keep(t.String("effect")), TimeOf(t.String("timeAdded"))})
	}
	return all
}

// Toleration is a pod's toleration of taints.
type Toleration struct {
	Key, Operator, Value, Effect string

	Limited bool          // the toleration is limited to a duration
	For     time.Duration // the duration if Limited is set
}

// TolerationsOf returns the tolerations of the spec of a pod.
func TolerationsOf(spec object.Object) (all []Toleration) {
	for _, t := range spec.Objects("tolerations") {
		seconds, limited := t.Int("tolerationSeconds")
		all = append(all, Toleration{object.Keep(t.String("key")), object.Keep(t.String("operator")), object.Keep(t.String("value")), object.Keep(t.String("effect")), limited,
			time.Duration(max(seconds, 0)) * time.Second})
	}
	return all
}

// Tolerates reports whether the toleration matches a taint (core/v1.Toleration.ToleratesTaint).
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

// compares reports whether the value of a taint is less (Lt) or greater (Gt) than that of the toleration. API servers accept such
// tolerations only with the gate TaintTolerationComparisonOperators. Controllers therefore do not check the gate.
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

// Tolerated reports whether any of the tolerations matches a taint.
func Tolerated(x Taint, tolerations []Toleration) bool {
	return slices.ContainsFunc(tolerations, func(t Toleration) bool { return t.Tolerates(x) })
}

// Untolerated reports whether there is a taint with one of the given effects that none of the tolerations matches.
func Untolerated(taints []Taint, tolerations []Toleration, effects ...string) bool {
	return slices.ContainsFunc(taints, func(x Taint) bool {
		return slices.Contains(effects, x.Effect) && !Tolerated(x, tolerations)
	})
}
