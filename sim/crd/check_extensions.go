package crd

import (
	"slices"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
)

// extensions checks that the x-kubernetes-… fields of one node are consistent.
func (c *checker) extensions(node object.Object, p field.Path) {
	at := field.CursorOn(p, node)
	kind, preserve := at.Child("type"), at.Child("x-kubernetes-preserve-unknown-fields")
	mapType, listType := at.Child("x-kubernetes-map-type"), at.Child("x-kubernetes-list-type")
	preserve.InvalidIf(preserve.Value() == false, "must be true or undefined")
	if mapType.Has() {
		wantType(kind, "object", "must be object if x-kubernetes-map-type is specified")
		oneOf(mapType, "atomic", "granular")
	}
	if listType.Has() {
		wantType(kind, "array", "must be array if x-kubernetes-list-type is specified")
		if kind.String() == "array" && listType.String() == "set" && c.demands(0, atomicSets) {
			at.Report(atomicSets(node, p))
		}
		oneOf(listType, "atomic", "set", "map")
	}
	if at.Len("x-kubernetes-list-map-keys") > 0 {
		const text = "must be map if x-kubernetes-list-map-keys is non-empty"
		listType.RequireIf(!listType.Has(), text)
		listType.InvalidIf(listType.Has() && listType.String() != "map", text)
	}
	if listType.String() == "map" {
		listMap(at)
	}
	if c.demands(1, keysOfMaps) {
		at.Report(keysOfMaps(node, p))
	}
	c.add(at.Errors()...)
}

// demands reports whether a rule applies, which it does unless the stored definition already breaks it. The result is cached under
// n, the number of the rule.
func (c *checker) demands(n int, rule func(object.Object, field.Path) field.ErrorList) bool {
	if c.before == nil {
		return true
	}
	if c.kept[n] == nil {
		keeps := func(node object.Object) bool { return len(rule(node, field.Path{})) == 0 }
		breaks := func(schema map[string]any) bool { return !walk(schema, keeps) }
		kept := !slices.ContainsFunc(c.before.schemas(), breaks)
		c.kept[n] = &kept
	}
	return *c.kept[n]
}

// atomicSets checks that the items of a set are atomic.
func atomicSets(node object.Object, p field.Path) field.ErrorList {
	items := node.At("items")
	if items == nil || node.String("x-kubernetes-list-type") != "set" {
		return nil
	}
	const text = "must be atomic as item of a list with x-kubernetes-list-type=set"
	var listType any // remains nil, which is printed as null, if it is not set
	if t, ok := items["x-kubernetes-list-type"].(string); ok {
		listType = t
	}
	switch items.String("type") {
	case "array":
		if listType != nil && listType != "atomic" {
			return field.ErrorList{field.Invalid(p.Child("items", "x-kubernetes-list-type"), listType, text)}
		}
	case "object":
		if items.String("x-kubernetes-map-type") != "atomic" {
			return field.ErrorList{field.Invalid(p.Child("items", "x-kubernetes-map-type"), listType, text)}
		}
	}
	return nil
}

// listMap checks a list whose items are identified by keys.
func listMap(list field.Cursor) {
	keys, items := list.Child("x-kubernetes-list-map-keys"), list.Child("items")
	names, kind := keys.Strings(), items.Child("type").OrEmpty()
	keys.RequireIf(len(names) == 0, "must not be empty if x-kubernetes-list-type is map")
	items.RequireIf(!items.Has(), "must have a schema if x-kubernetes-list-type is map")
	if items.Object() == nil {
		return
	}
	if kind.String() != "object" {
		kind.InvalidIf(true, "must be object if parent array's x-kubernetes-list-type is map")
		return
	}
	seen := field.Seen{}
	for _, name := range names {
		switch prop := items.Child("properties").Key(name); {
		case prop.Object() == nil:
			keys.Invalid(names, "entries must all be names of item properties")
		case prop.String("type") == "array" || prop.String("type") == "object":
			prop.Child("type").Invalid("object", "must be a scalar type if parent array's x-kubernetes-list-type is map")
		}
		if seen.Again(name) {
			keys.Invalid(names, "must not contain duplicate entries")
		}
	}
}

// keysOfMaps checks that items of sets and maps are not nullable, and that the keys of maps are always present.
func keysOfMaps(node object.Object, p field.Path) field.ErrorList {
	items := node.At("items")
	listType := node.String("x-kubernetes-list-type")
	if items == nil || listType != "set" && listType != "map" {
		return nil
	}
	at := field.CursorOn(p.Child("items"), items)
	at.Child("nullable").ForbidIf(at.True("nullable"), "cannot be nullable when x-kubernetes-list-type is "+listType)
	if listType == "set" {
		return at.Errors()
	}
	required := items.Strings("required")
	for _, name := range node.Strings("x-kubernetes-list-map-keys") {
		if prop := at.Child("properties").Key(name); prop.Object() != nil {
			prop.Child("default").RequireIf(!slices.Contains(required, name) && !prop.Has("default"),
				"this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property")
			prop.Child("nullable").ForbidIf(prop.True("nullable"), "this property is in x-kubernetes-list-map-keys, so it cannot be nullable")
		}
	}
	return at.Errors()
}
