package admission

import (
	"slices"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/status"
)

const (
	notReady    = "node.kubernetes.io/not-ready"
	unreachable = "node.kubernetes.io/unreachable"

	// tolerationSeconds is the number of seconds for which pods remain on a node that has become unusable.
	tolerationSeconds = int64(300)
)

// tolerateUnusableNodes adds tolerations that keep pods for five minutes on a node that is not ready or unreachable,
// unless a pod already has such tolerations.
func tolerateUnusableNodes(a *Attributes) *status.Status {
	own := a.Object.List("spec", "tolerations")
	all := own
	for _, taint := range []string{notReady, unreachable} {
		if !toleratesExecution(own, taint) {
			all = append(all, map[string]any{"key": taint, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": tolerationSeconds})
		}
	}
	if len(all) > len(own) {
		a.Object.Set(all, "spec", "tolerations")
	}
	return nil
}

// toleratesExecution reports whether one of the tolerations applies to a taint with the effect NoExecute.
func toleratesExecution(tolerations []any, taint string) bool {
	return slices.ContainsFunc(tolerations, func(v any) bool {
		t := object.As(v)
		key, effect := t.String("key"), t.String("effect")
		return (key == taint || key == "") && (effect == "NoExecute" || effect == "")
	})
}

// taintNewNode adds a taint to new nodes that keeps pods away until the node controller finds the node ready.
func taintNewNode(a *Attributes) *status.Status {
	taints := a.Object.List("spec", "taints")
	for _, v := range taints {
		if t := object.As(v); t.String("key") == notReady && t.String("effect") == "NoSchedule" {
			return nil
		}
	}
	a.Object.Set(append(taints, map[string]any{"key": notReady, "effect": "NoSchedule"}), "spec", "taints")
	return nil
}
