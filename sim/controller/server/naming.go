package server

import (
	"time"

	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/crd"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/status"
)

const naming = "NamingConditionController"

// Naming decides on the names of definitions (apiextensions-apiserver, pkg/controller/status): each name belongs to one
// definition of a group, the first that asks for it.
func Naming() controller.Controller { return Own(naming, controller.Func(name), definitions) }

func name(api *controller.Client, key controller.Key) (time.Duration, *status.Status) {
	if sketch(api, key.Name) != nil && !accept(api, key.Name) {
		return 0, nil
	}
	for _, other := range inGroup(api, groupOf(key.Name)) { // a name that was released or taken affects them
		if other.Name() != key.Name {
			accept(api, other.Name())
		}
	}
	return 0, nil
}

// accept decides on the names of one definition, and reports whether it wrote that down.
func accept(api *controller.Client, name string) bool {
	others := inGroup(api, groupOf(name))
	return edit(api, name, func(obj object.Object) bool { return crd.Names(obj, others, api.Now()) })
}
