package workload

import (
	"unique"

	"github.com/kubesim/kubesim/sim/object"
)

// ControllerRef is an owner reference to a controller. The zero value is the reference of an object without a controller.
type ControllerRef struct{ APIVersion, Kind, Name, UID string }

// SharedRef is a ControllerRef that is stored with an object. Objects with the same controller share its memory, because a large
// cluster has many pods of few controllers.
type SharedRef = unique.Handle[ControllerRef]

// RefOf returns the reference to an object's controller.
func RefOf(obj object.Object) SharedRef {
	ref := ControllerOf(obj)
	return unique.Make(ControllerRef{ref.String("apiVersion"), ref.String("kind"), ref.String("name"), ref.String("uid")})
}

// ControllerOf returns the owner reference of an object to its controller, or nil.
func ControllerOf(obj object.Object) object.Object {
	for _, ref := range obj.Objects("metadata", "ownerReferences") {
		if ref.True("controller") {
			return ref
		}
	}
	return nil
}
