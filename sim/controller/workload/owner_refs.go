package workload

import (
	"slices"

	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/status"
)

// Found is a failure that is not one when it says that the object is gone.
func Found(s *status.Status) *status.Status {
	if s != nil && s.Reason == status.ReasonNotFound {
		return nil
	}
	return s
}

// Disown takes references to owners from an object.
func Disown(api *controller.Client, of string, key controller.Key, owners ...string) *status.Status {
	s := api.Patch(of, "", key, func(live object.Object) { disown(live, owners...) })
	return s
}

func disown(live object.Object, owners ...string) {
	left := slices.DeleteFunc(live.List("metadata", "ownerReferences"), func(v any) bool {
		ref, _ := v.(map[string]any)
		return slices.Contains(owners, object.Object(ref).String("uid"))
	})
	if len(left) == 0 {
		live.Remove("metadata", "ownerReferences")
	} else {
		live.Set(left, "metadata", "ownerReferences")
	}
}
