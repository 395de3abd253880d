package fieldmanager

import (
	"github.com/kubesim/kubesim/sim/object"
)

// Unchanged takes back new times in obj's managedFields when they are all that differs from live: a write that changes
// nothing costs no revision.
func (m *Manager) Unchanged(live, obj object.Object) {
	was, is := live.List("metadata", "managedFields"), obj.List("metadata", "managedFields")
	if len(was) != len(is) || len(is) == 0 || sameTimes(was, is) {
		return
	}
	for i := range is {
		x, _ := was[i].(map[string]any)
		y, _ := is[i].(map[string]any)
		if !object.Equal(without(x, "time"), without(y, "time")) {
			return
		}
	}
	if object.SemanticEqual(map[string]any(bare(live)), map[string]any(bare(obj))) {
		obj.Set(was, "metadata", "managedFields")
	}
}

func sameTimes(was, is []any) bool {
	for i := range is {
		x, _ := was[i].(map[string]any)
		y, _ := is[i].(map[string]any)
		if !equalValues(x["time"], y["time"]) {
			return false
		}
	}
	return true
}
