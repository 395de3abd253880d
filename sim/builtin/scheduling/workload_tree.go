//go:build !js

package scheduling

import (
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// checkTemplateTree checks the tree of a Workload's templates as a whole, on servers since 1.37 (ValidateWorkloadSpec): names are unique,
// there are at most four levels with that of PodGroups, all templates have the same priority, and each composite template has a child.
func checkTemplateTree(_ *resource.Context, spec field.Cursor) {
	names := field.Seen{}
	for item := range spec.Each("podGroupTemplates") {
		names.Again(item.String("name"))
	}
	checkCompositeNames(spec, names)
	for item := range spec.Each("compositePodGroupTemplates") {
		if depth(item.Object()) >= maxTemplateDepth {
			item.Invalid(goTemplates(item.Object().Objects("compositePodGroupTemplates")), "maximum template hierarchy depth is 4")
		}
	}
	checkSamePriority(spec)
	checkChildren(spec)
}

// checkNames reports the templates of PodGroups whose name is used elsewhere in the tree, and adds their names. Duplicates within a list
// are left to the declared rules.
func checkNames(parent field.Cursor, list string, names field.Seen) {
	own := field.Seen{}
	for item := range parent.Each(list) {
		name := item.Child("name").OrEmpty()
		if names[name.String()] {
			name.Duplicate(name.String())
		}
		own.Again(name.String())
	}
	for name := range own { // order does not matter
		names.Again(name)
	}
}

func checkCompositeNames(parent field.Cursor, names field.Seen) {
	const list = "compositePodGroupTemplates"
	checkNames(parent, list, names)
	for item := range parent.Each(list) {
		checkNames(item, "podGroupTemplates", names)
		checkCompositeNames(item, names)
	}
}

// depth returns the number of levels of composite templates.
func depth(template object.Object) int {
	most := 0
	for _, child := range template.Objects("compositePodGroupTemplates") {
		most = max(most, depth(child))
	}
	return most + 1
}

// checkSamePriority checks that all templates have the priority of the first one.
func checkSamePriority(spec field.Cursor) {
	all := spec.Object()
	groups := all.Objects("podGroupTemplates")
	var first object.Object
	differs := func(t object.Object) bool {
		if first == nil {
			first = t
		}
		return t.String("priorityClassName") != first.String("priorityClassName") || t["priority"] != first["priority"]
	}
	for _, group := range groups {
		if differs(group) {
			spec.Invalid(nil, "detected multiple priority configurations")
			return
		}
	}
	for _, composite := range all.Objects("compositePodGroupTemplates") {
		if anyTemplate(composite, differs) {
			spec.Invalid(nil, "all priority and priorityClassName values must be identical, detected multiple values")
			return
		}
	}
}

// anyTemplate reports whether a predicate holds for a composite template or one below it.
func anyTemplate(template object.Object, holds func(object.Object) bool) bool {
	if holds(template) {
		return true
	}
	for _, child := range template.Objects("compositePodGroupTemplates") {
		if anyTemplate(child, holds) {
			return true
		}
	}
	for _, child := range template.Objects("podGroupTemplates") {
		if holds(child) {
			return true
		}
	}
	return false
}

func checkChildren(parent field.Cursor) {
	for item := range parent.Each("compositePodGroupTemplates") {
		if item.Len("podGroupTemplates") == 0 && item.Len("compositePodGroupTemplates") == 0 {
			item.Invalid(item.String("name"), "must have at least one child PodGroupTemplate or CompositePodGroupTemplate")
		}
		checkChildren(item)
	}
}
