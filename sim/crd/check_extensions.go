package crd

import (
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"slices"
)

// extensions checks the x-kubernetes-… fields of one node against each other.
func (c *checker) extensions(node object.Object, p field.Path) {
	kind := node.String("type")
	if preserve, ok := node.Bool("x-kubernetes-preserve-unknown-fields"); ok && !preserve {
		c.add(field.Invalid(p.Child("x-kubernetes-preserve-unknown-fields"), false, "must be true or undefined"))
	}
	if mapType, ok := node["x-kubernetes-map-type"].(string); ok {
		c.wantsType(p, kind, "object", "must be object if x-kubernetes-map-type is specified")
		if mapType != "atomic" && mapType != "granular" {
			c.add(field.NotSupported(p.Child("x-kubernetes-map-type"), mapType, "atomic", "granular"))
		}
	}
	listType, hasList := node["x-kubernetes-list-type"].(string)
	items := node.At("items")
	if hasList {
		if kind != "array" {
			c.wantsType(p, kind, "array", "must be array if x-kubernetes-list-type is specified")
		} else if listType == "set" && items != nil && c.demands(0, atomicSets) {
			c.add(atomicSets(node, p)...)
		}
		if listType != "atomic" && listType != "set" && listType != "map" {
			c.add(field.NotSupported(p.Child("x-kubernetes-list-type"), listType, "atomic", "set", "map"))
		}
	}
	if len(node.List("x-kubernetes-list-map-keys")) > 0 {
		const text = "must be map if x-kubernetes-list-map-keys is non-empty"
		switch {
		case !hasList:
			c.add(field.Required(p.Child("x-kubernetes-list-type"), text))
		case listType != "map":
			c.add(field.Invalid(p.Child("x-kubernetes-list-type"), listType, text))
		}
	}
	if listType == "map" {
		c.listMap(node, items, p)
	}
	if c.demands(1, keysOfMaps) {
		c.add(keysOfMaps(node, p)...)
	}
}

func (c *checker) wantsType(p field.Path, have, want, text string) {
	switch have {
	case want:
	case "":
		c.add(field.Required(p.Child("type"), text))
	default:
		c.add(field.Invalid(p.Child("type"), have, text))
	}
}

// demands reports whether a rule holds: it does unless the stored definition breaks it already.
// That is found out once; n is the number of the rule.
func (c *checker) demands(n int, rule func(object.Object, field.Path) field.ErrorList) bool {
	if c.before == nil {
		return true
	}
	if c.kept[n] == nil {
		keeps := func(node object.Object, p field.Path) bool { return len(rule(node, p)) == 0 }
		breaks := func(schema map[string]any) bool { return !walk(schema, field.Path{}, keeps) }
		kept := !slices.ContainsFunc(c.before.schemas(), breaks)
		c.kept[n] = &kept
	}
	return *c.kept[n]
}

// atomicSets demands that items of a set are owned as a whole.
func atomicSets(node object.Object, p field.Path) field.ErrorList {
	items := node.At("items")
	if items == nil || node.String("x-kubernetes-list-type") != "set" {
		return nil
	}
	const text = "must be atomic as item of a list with x-kubernetes-list-type=set"
	var listType any // null unless the items have one
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

// listMap checks a list whose items are found by keys.
func (c *checker) listMap(node, items object.Object, p field.Path) {
	keys := object.Strings(node.List("x-kubernetes-list-map-keys"))
	at := p.Child("x-kubernetes-list-map-keys")
	if len(keys) == 0 {
		c.add(field.Required(at, "must not be empty if x-kubernetes-list-type is map"))
	}
	if node["items"] == nil {
		c.add(field.Required(p.Child("items"), "must have a schema if x-kubernetes-list-type is map"))
	}
	if items == nil {
		return
	}
	if kind := items.String("type"); kind != "object" {
		c.add(field.Invalid(p.Child("items", "type"), kind, "must be object if parent array's x-kubernetes-list-type is map"))
		return
	}
	seen := map[string]bool{}
	for _, name := range keys {
		prop, ok := items.Map("properties")[name].(map[string]any)
		switch kind := object.Object(prop).String("type"); {
		case !ok:
			c.add(field.Invalid(at, keys, "entries must all be names of item properties"))
		case kind == "array" || kind == "object":
			c.add(field.Invalid(p.Child("items", "properties").Key(name).Child("type"), "object",
				"must be a scalar type if parent array's x-kubernetes-list-type is map"))
		}
		if seen[name] {
			c.add(field.Invalid(at, keys, "must not contain duplicate entries"))
		}
		seen[name] = true
	}
}

// keysOfMaps demands that items of sets and maps, and the keys of the latter, are always there.
func keysOfMaps(node object.Object, p field.Path) field.ErrorList {
	items := node.At("items")
	listType := node.String("x-kubernetes-list-type")
	if items == nil || listType != "set" && listType != "map" {
		return nil
	}
	var errs field.ErrorList
	if nullable, _ := items.Bool("nullable"); nullable {
		errs = append(errs, field.Forbidden(p.Child("items", "nullable"), "cannot be nullable when x-kubernetes-list-type is "+listType))
	}
	if listType == "set" {
		return errs
	}
	required := object.Strings(items.List("required"))
	for _, name := range object.Strings(node.List("x-kubernetes-list-map-keys")) {
		m, ok := items.Map("properties")[name].(map[string]any)
		if !ok {
			continue
		}
		prop, at := object.Object(m), p.Child("items", "properties").Key(name)
		if !slices.Contains(required, name) && prop["default"] == nil {
			errs = append(errs, field.Required(at.Child("default"),
				"this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property"))
		}
		if nullable, _ := prop.Bool("nullable"); nullable {
			errs = append(errs, field.Forbidden(at.Child("nullable"), "this property is in x-kubernetes-list-map-keys, so it cannot be nullable"))
		}
	}
	return errs
}
