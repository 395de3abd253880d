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

// outline is a definition without its schemas, which can be very large. It is cached with the item and must not be modified.
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

// definitionOutline returns the outline of a stored definition, or nil.
func definitionOutline(api *controller.Client, name string) object.Object {
	it := api.Item(crd.Storage, "", name)
	if it == nil {
		return nil
	}
	return object.Object(resource.Derived(it, outlineOf))
}

// inGroup returns the outlines of the definitions in a group.
func inGroup(api *controller.Client, group string) []object.Object {
	var all []object.Object
	api.Items(crd.Storage, "", func(it *resource.Item) bool {
		if strings.HasSuffix(it.Name, "."+group) { // validation ensures this form of name
			if obj := object.Object(resource.Derived(it, outlineOf)); obj.String("spec", "group") == group {
				all = append(all, obj)
			}
		}
		return true
	})
	return all
}

// groupOf returns the group in the name of a definition, such as widgets.example.com, or of an APIService, such as
// v1.example.com.
func groupOf(name string) string {
	_, group, _ := strings.Cut(name, ".")
	return group
}

// edit applies change to the metadata and status of a definition, and writes the definition if change returns true. It reports
// whether the write succeeded.
func edit(api *controller.Client, name string, change func(object.Object) bool) bool {
	known := definitionOutline(api, name)
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
	schemas      = "NonStructuralSchemaConditionController"
	approval     = "KubernetesAPIApprovalPolicyConformantConditionController"
)

// Establishing sets the condition Established of definitions whose names have been accepted (apiextensions-apiserver,
// pkg/controller/establish).
func Establishing() controller.Controller {
	return Own(establishing, conditioned(crd.Establish), definitions)
}

// Approval sets the condition KubernetesAPIApprovalPolicyConformant of definitions in groups of the Kubernetes community
// (apiextensions-apiserver, pkg/controller/apiapproval).
func Approval() controller.Controller { return Own(approval, conditioned(crd.Approval), definitions) }

// NonStructural sets the condition NonStructuralSchema of definitions whose schemas are not structural (apiextensions-apiserver,
// pkg/controller/nonstructuralschema).
func NonStructural() controller.Controller {
	return Own(schemas, controller.Func(nonStructural), definitions)
}

// violations are the reasons why the schemas of a definition are not structural. They are cached with the item.
type violations string

func nonStructural(api *controller.Client, key controller.Key) (time.Duration, *status.Status) {
	it := api.Item(crd.Storage, "", key.Name)
	if it == nil {
		return 0, nil
	}
	found := resource.Derived(it, func(obj object.Object) violations { return violations(crd.Violations(obj)) })
	edit(api, key.Name, func(obj object.Object) bool { return crd.NonStructural(obj, string(found), api.Now()) })
	return 0, nil
}

// conditioned returns a Reconciler that applies set to a definition, and writes the definition if set returns true.
func conditioned(set func(object.Object, time.Time) bool) controller.Func {
	return func(api *controller.Client, key controller.Key) (time.Duration, *status.Status) {
		edit(api, key.Name, func(obj object.Object) bool { return set(obj, api.Now()) })
		return 0, nil
	}
}

// unsettled reports whether a condition of a definition is about to change.
func unsettled(api *controller.Client, obj object.Object) bool {
	obj = obj.Copy()
	return crd.Names(obj, inGroup(api, groupOf(obj.Name())), api.Now()) || crd.Establish(obj, api.Now()) || crd.Approval(obj, api.Now())
}

const naming = "NamingConditionController"

// Naming accepts or rejects the names of definitions (apiextensions-apiserver, pkg/controller/status). Each name in a group
// belongs to the first definition that requests it.
func Naming() controller.Controller { return Own(naming, controller.Func(name), definitions) }

func name(api *controller.Client, key controller.Key) (time.Duration, *status.Status) {
	if definitionOutline(api, key.Name) != nil && !accept(api, key.Name) {
		return 0, nil
	}
	for _, other := range inGroup(api, groupOf(key.Name)) { // their names may have been released or taken
		if other.Name() != key.Name {
			accept(api, other.Name())
		}
	}
	return 0, nil
}

// accept accepts or rejects the names of a definition, and reports whether it has written the result.
func accept(api *controller.Client, name string) bool {
	others := inGroup(api, groupOf(name))
	return edit(api, name, func(obj object.Object) bool { return crd.Names(obj, others, api.Now()) })
}
