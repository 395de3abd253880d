package client

import (
	"fmt"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/schema"
)

// TypeOf returns the type of an object of a built-in kind, nil for others.
func TypeOf(obj object.Object) *schema.Type {
	set, err := schema.Load(schema.Default)
	if err != nil {
		return nil
	}
	return set.Kind(schema.ParseGVK(obj.APIVersion(), obj.Kind()))
}

// LabelSelector returns a label selector as a parameter of a query has it.
func LabelSelector(s map[string]any) string {
	var out []string
	labels := object.Object(s).Map("matchLabels")
	for _, k := range object.SortedKeys(labels) {
		out = append(out, k+"="+fmt.Sprint(labels[k]))
	}
	for _, e := range object.Object(s).Objects("matchExpressions") {
		key, values := e.String("key"), "("+strings.Join(e.Strings("values"), ",")+")"
		out = append(out, map[string]string{"In": key + " in " + values, "NotIn": key + " notin " + values, "Exists": key,
			"DoesNotExist": "!" + key}[e.String("operator")])
	}
	return strings.Join(out, ",")
}

// IsOwnedBy reports whether an object has another one among its owners.
func IsOwnedBy(obj, owner object.Object) bool {
	for _, ref := range obj.Objects("metadata", "ownerReferences") {
		if ref.String("uid") == owner.UID() {
			return true
		}
	}
	return false
}

// PodSpec returns the spec of the pods of an object, nil if it has none.
func PodSpec(obj object.Object) object.Object {
	switch obj.Kind() {
	case "Pod":
		return obj.At("spec")
	case "CronJob":
		return obj.At("spec", "jobTemplate", "spec", "template", "spec")
	}
	return obj.At("spec", "template", "spec")
}

// Containers returns the containers of a pod spec, the init containers first.
func Containers(spec object.Object) []object.Object {
	return append(spec.Objects("initContainers"), spec.Objects("containers")...)
}
