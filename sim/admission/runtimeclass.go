package admission

import (
	"maps"
	"slices"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/quantity"
	"github.com/kubesim/kubesim/sim/status"
)

const overheadMismatch = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"

// runtimeClassOf returns the RuntimeClass of a pod, or nil if the pod has none. It returns an error if the class does not exist.
func runtimeClassOf(a *Attributes) (object.Object, *status.Status) {
	if !a.Object.Has("spec", "runtimeClassName") {
		return nil, nil
	}
	name := a.Object.String("spec", "runtimeClassName")
	if s := unaskable(name); s != nil {
		return nil, s
	}
	class := a.Objects.Get(runtimeClasses, "", name)
	if class == nil {
		return nil, a.refuse("pod rejected: RuntimeClass %q not found", name)
	}
	return class, nil
}

// unaskable returns the error for a class name that the real server's client rejects, because it is not a URL path segment. The
// real plugin uses that client to look up classes that its informer lacks (k8s.io/client-go/rest.Request.Name).
func unaskable(name string) *status.Status {
	if name == "" {
		return status.Plain("resource name may not be empty")
	}
	if problems := field.PathSegment(name); len(problems) > 0 {
		return status.Plain("invalid resource name %q: %v", name, problems)
	}
	return nil
}

// applyRuntimeClass applies the overhead and the scheduling constraints of a pod's runtime class. It rejects a pod whose own
// overhead or node selector contradicts those of the class (KEP-585, KEP-688).
func applyRuntimeClass(a *Attributes) *status.Status {
	class, s := runtimeClassOf(a)
	if s != nil || class == nil {
		return s
	}
	if overhead, ok := overheadOf(class); ok {
		if own := a.Object.Map("spec", "overhead"); len(own) > 0 && !sameQuantities(overhead, own) {
			return a.refuse(overheadMismatch)
		}
		if len(overhead) > 0 {
			a.Object.Set(object.Copy(overhead), "spec", "overhead")
		} else {
			a.Object.Remove("spec", "overhead")
		}
	}
	return applyScheduling(a, class)
}

func overheadOf(class object.Object) (podFixed map[string]any, ok bool) {
	return class.Map("overhead", "podFixed"), class.Map("overhead") != nil
}

// applyScheduling merges the node selector and the tolerations of the class into those of the pod.
func applyScheduling(a *Attributes, class object.Object) *status.Status {
	if class.Map("scheduling") == nil {
		return nil
	}
	own := a.Object.Map("spec", "nodeSelector")
	wanted := class.Map("scheduling", "nodeSelector")
	for _, key := range object.SortedKeys(wanted) {
		if v, ok := own[key]; ok && v != wanted[key] {
			return a.refuse("conflict: runtimeClass.scheduling.nodeSelector[%s] = %v; pod.spec.nodeSelector[%s] = %v", key, wanted[key], key, v)
		}
		a.Object.Set(wanted[key], "spec", "nodeSelector", key)
	}
	merged := mergeTolerations(a.Object.List("spec", "tolerations"), class.List("scheduling", "tolerations"))
	if len(merged) > 0 {
		a.Object.Set(merged, "spec", "tolerations")
	}
	return nil
}

// checkOverhead rejects a pod whose overhead differs from that of its class.
func checkOverhead(a *Attributes) *status.Status {
	class, s := runtimeClassOf(a)
	if s != nil {
		return s
	}
	overhead, defined := overheadOf(class)
	switch {
	case defined && !sameQuantities(overhead, a.Object.Map("spec", "overhead")):
		return a.refuse(overheadMismatch)
	case !defined && a.Object.Has("spec", "overhead"):
		return a.refuse("pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead")
	}
	return nil
}

// sameQuantities compares two resource lists by amount: "1000m" equals "1".
func sameQuantities(a, b map[string]any) bool {
	return maps.EqualFunc(a, b, func(x, y any) bool { return quantity.Of(x).Cmp(quantity.Of(y)) == 0 })
}

// mergeTolerations returns the tolerations of both lists, without the tolerations that others in the result include.
func mergeTolerations(first, second []any) []any {
	all := append(append([]any(nil), first...), second...)
	var merged []any
	for i, t := range all {
		covers := func(other any) bool { return includes(other, t) }
		more := func(other any) bool { return !object.SemanticEqual(t, other) && covers(other) }
		if !slices.ContainsFunc(merged, covers) && !slices.ContainsFunc(all[i+1:], more) {
			merged = append(merged, object.Copy(t))
		}
	}
	return merged
}

// includes reports whether toleration a tolerates everything that b does.
func includes(a, b any) bool {
	if object.SemanticEqual(a, b) {
		return true
	}
	wide, narrow := object.As(a), object.As(b)
	operator := wide.String("operator")
	if narrow.String("key") != wide.String("key") && (wide.String("key") != "" || operator != "Exists") {
		return false
	}
	if effect := wide.String("effect"); effect != "" && effect != narrow.String("effect") {
		return false
	}
	if limit, ok := wide.Int("tolerationSeconds"); ok && wide.String("effect") == "NoExecute" {
		if seconds, ok := narrow.Int("tolerationSeconds"); !ok || seconds > limit {
			return false
		}
	}
	switch operator {
	case "Exists":
		return true
	case "", "Equal":
		return narrow.String("operator") == "Equal" && narrow.String("value") == wide.String("value")
	}
	return false
}
