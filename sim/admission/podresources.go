package admission

import "github.com/kubesim/kubesim/sim/object"

// containersOf returns the containers in a list of a pod.
func containersOf(pod object.Object, list string) []object.Object {
	var out []object.Object
	for _, v := range pod.List("spec", list) {
		if c, ok := v.(map[string]any); ok {
			out = append(out, c)
		}
	}
	return out
}
