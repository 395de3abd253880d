package server

import (
	"maps"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/crd"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

// outline is a definition without its schemas, which can be very large. It is kept with the item and not to be changed.
type outline object.Object

func outlineOf(obj object.Object) outline {
	versions := make([]any, 0, 1)
	for _, v := range obj.Objects("spec", "versions") {
		v = maps.Clone(v)
		delete(v, "schema")
		versions = append(versions, map[string]any(v))
	}
	out, spec := maps.Clone(obj), maps.Clone(obj.Map("spec"))
	spec["versions"], out["spec"] = versions, spec
	return outline(out)
}

// sketch returns the outline of a definition, or nil.
func sketch(api *controller.Client, name string) object.Object {
	it := api.Item(crd.Storage, "", name)
	if it == nil {
		return nil
	}
	return object.Object(resource.Derived(it, outlineOf))
}

// inGroup returns the outlines of the definitions of a group.
func inGroup(api *controller.Client, group string) []object.Object {
	var all []object.Object
	api.Items(crd.Storage, "", func(it *resource.Item) bool {
		if strings.HasSuffix(it.Name, "."+group) { // as validation has it
			if obj := object.Object(resource.Derived(it, outlineOf)); obj.String("spec", "group") == group {
				all = append(all, obj)
			}
		}
		return true
	})
	return all
}

// groupOf returns the group in the name of a definition, widgets.example.com, or of an APIService, v1.example.com.
func groupOf(name string) string {
	_, group, _ := strings.Cut(name, ".")
	return group
}

// edit writes the status of a definition, and its metadata, if change changes them. It reports whether it did.
func edit(api *controller.Client, name string, change func(object.Object) bool) bool {
	known := sketch(api, name)
	if known == nil || !change(known.Copy()) {
		return false
	}
	obj := api.Get(crd.Storage, "", name)
	if obj == nil || !change(obj) {
		return false
	}
	_, s := api.Update(crd.Storage, "status", obj)
	return s == nil
}

const (
	establishing = "EstablishingController"
	approval     = "KubernetesAPIApprovalPolicyConformantConditionController"
)

// Establishing sets the condition Established of definitions whose names are accepted (apiextensions-apiserver,
// pkg/controller/establish).
func Establishing() controller.Controller {
	return Own(establishing, conditioned(crd.Establish), definitions)
}

// Approval sets the condition KubernetesAPIApprovalPolicyConformant of definitions in a group of the Kubernetes community
// (apiextensions-apiserver, pkg/controller/apiapproval).
func Approval() controller.Controller { return Own(approval, conditioned(crd.Approval), definitions) }

// conditioned returns a reconciler that writes a definition if set changes it.
func conditioned(set func(object.Object, time.Time) bool) controller.Func {
	return func(api *controller.Client, key controller.Key) (time.Duration, *status.Status) {
		edit(api, key.Name, func(obj object.Object) bool { return set(obj, api.Now()) })
		return 0, nil
	}
}

// unsettled reports whether one of the conditions of a definition is about to change.
func unsettled(api *controller.Client, obj object.Object) bool {
	obj = obj.Copy()
	return crd.Names(obj, inGroup(api, groupOf(obj.Name())), api.Now()) || crd.Establish(obj, api.Now()) || crd.Approval(obj, api.Now())
}

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
