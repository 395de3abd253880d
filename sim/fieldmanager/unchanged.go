package fieldmanager

import (
	"slices"

	"github.com/kubesim/kubesim/sim/object"
)

// Unchanged takes back new times in obj's managedFields when they are all that differs from live: a write that changes
// nothing costs no revision.
func (m *Manager) Unchanged(live, obj object.Object) {
	was, is := live.List("metadata", "managedFields"), obj.List("metadata", "managedFields")
	sameTime := func(x, y any) bool { return timeOf(x) == timeOf(y) }
	if slices.EqualFunc(was, is, sameTime) || !slices.EqualFunc(was, is, equalButTime) {
		return
	}
	if object.SemanticEqual(map[string]any(bare(live)), map[string]any(bare(obj))) {
		obj.Set(was, "metadata", "managedFields")
	}
}

func timeOf(entry any) string {
	m, _ := entry.(map[string]any)
	return object.Object(m).String("time")
}

func equalButTime(x, y any) bool {
	a, _ := x.(map[string]any)
	b, _ := y.(map[string]any)
	return object.Equal(without(a, "time"), without(b, "time"))
}
