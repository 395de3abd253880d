package server

import (
	"maps"
	"strings"

	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/crd"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
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
