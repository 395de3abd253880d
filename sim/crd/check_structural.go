package crd

import (
	"regexp"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
)

// level describes where in a schema a node is.
type level int

const (
	rootLevel level = iota
	itemLevel
	fieldLevel
)

// checkStructural returns the reasons why a schema is not structural, sorted by message (KEP-1623).
func checkStructural(schema map[string]any, p field.Path) field.ErrorList {
	s := &structureChecker{}
	s.node(schema, rootLevel, p)
	s.complete(schema, schema, p, p) // validations may refer only to fields and items of the structure
	slices.SortStableFunc(s.errs, func(a, b *field.Error) int { return strings.Compare(a.Error(), b.Error()) })
	return s.errs
}

type structureChecker struct{ errs field.ErrorList }

func (s *structureChecker) add(e *field.Error) { s.errs = append(s.errs, e) }

// node checks a node of the structural part and everything below it.
func (s *structureChecker) node(node object.Object, at level, p field.Path) {
	if items := node.Map("items"); items != nil {
		s.node(items, itemLevel, p.Child("items"))
	}
	props := node.Map("properties")
	for _, name := range object.SortedKeys(props) {
		s.node(object.As(props[name]), fieldLevel, p.Child("properties").Key(name))
	}
	if more := node.Map("additionalProperties"); more != nil {
		s.node(more, fieldLevel, p.Child("additionalProperties"))
	}
	s.values(node, p, isIntOrString(node.List("anyOf")), allOfIntOrString(node))
	s.envelope(props, at, at == rootLevel || node.True("x-kubernetes-embedded-resource"), p.Child("properties"))
	s.errs = append(s.errs, itself(field.CursorOn(p, node), at)...)
}

// itself checks the fields of a node that constrain its own value, but not its child schemas.
func itself(node field.Cursor, at level) field.ErrorList {
	embedded, preserve := node.Child("x-kubernetes-embedded-resource"), node.Child("x-kubernetes-preserve-unknown-fields")
	kind, more, intOrString := node.Child("type").OrEmpty(), node.Child("additionalProperties"), node.True("x-kubernetes-int-or-string")
	preserve.InvalidIf(intOrString && preserve.True(), "must be false if x-kubernetes-int-or-string is true")
	embedded.InvalidIf(intOrString && embedded.True(), "must be false if x-kubernetes-int-or-string is true")
	switch {
	case embedded.True():
		wantType(kind, "object", "must be object if x-kubernetes-embedded-resource is true")
	case !intOrString && !preserve.True():
		kind.Required([...]string{"must not be empty at the root",
			"must not be empty for specified array items", "must not be empty for specified object fields"}[at])
	}
	kind.InvalidIf(at == rootLevel && kind.String() != "" && kind.String() != "object", "must be object at the root")
	node.Child("items").RequireIf(kind.String() == "array" && node.Object().Map("items") == nil, "must be specified")
	more.ForbidIf(at == rootLevel && more.Has(), "must not be used at the root")
	more.ForbidIf(embedded.True() && more.Has(), "must not be used if x-kubernetes-embedded-resource is set")
	node.Child("properties").RequireIf(embedded.True() && !preserve.True() && node.Len("properties") == 0,
		"must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields")
	return node.Errors()
}

// wantType checks that the type is set and equal to want.
func wantType(kind field.Cursor, want, text string) {
	kind = kind.Required(text)
	kind.InvalidIf(kind.Has() && kind.String() != want, text)
}

// envelope checks the schemas of kind, apiVersion and metadata.
func (s *structureChecker) envelope(props object.Object, at level, resource bool, p field.Path) {
	for name, want := range map[string]string{"kind": "string", "apiVersion": "string", "metadata": "object"} { // order does not matter: the errors are sorted later
		prop := props.At(name)
		if kind := prop.String("type"); resource && prop != nil && kind != want {
			s.add(field.Invalid(p.Key(name).Child("type"), kind, "must be "+want))
		}
	}
	meta := props.At("metadata")
	if at != rootLevel {
		return
	}
	for _, name := range object.SortedKeys(meta) {
		allowed := name == "type" || name == "default"
		if fields, ok := meta[name].(map[string]any); ok && name == "properties" {
			allowed = true
			for field := range fields { // order does not matter
				allowed = allowed && (field == "name" || field == "generateName")
			}
		}
		if !allowed && present(meta[name]) {
			s.add(field.Forbidden(p.Key("metadata"),
				"must not specify anything other than name and generateName, but metadata is implicitly specified"))
			return
		}
	}
}

// values checks the value validations of a node. skipAnyOf skips its anyOf, and skipFirst that in its first allOf: an
// int-or-string has such an anyOf.
func (s *structureChecker) values(node object.Object, p field.Path, skipAnyOf, skipFirst bool) {
	if !skipAnyOf {
		s.all(node, "anyOf", p, false)
	}
	s.all(node, "allOf", p, skipFirst)
	s.all(node, "oneOf", p, false)
	if not := node.Map("not"); not != nil {
		s.nested(not, p.Child("not"), false)
	}
	if pattern := node.String("pattern"); pattern != "" {
		if _, err := regexp.Compile(pattern); err != nil {
			s.add(field.Invalid(p.Child("pattern"), pattern, "must be a valid regular expression, but isn't: "+err.Error()))
		}
	}
}

func (s *structureChecker) all(node object.Object, name string, p field.Path, skipFirst bool) {
	for i, m := range node.Objects(name) {
		s.nested(m, p.Child(name).Index(i), skipFirst && i == 0)
	}
}

// forbidden are the fields that a value validation must not have, and the words by which errors describe the required value.
var forbidden = []struct{ name, word string }{
	{"type", "empty"}, {"additionalProperties", "undefined"}, {"default", "undefined"}, {"title", "empty"}, {"description", "empty"},
	{"nullable", "false"}, {"x-kubernetes-preserve-unknown-fields", "false"}, {"x-kubernetes-embedded-resource", "false"},
	{"x-kubernetes-int-or-string", "false"}, {"x-kubernetes-list-map-keys", "empty"}, {"x-kubernetes-list-type", "undefined"},
	{"x-kubernetes-map-type", "undefined"}, {"x-kubernetes-validations", "empty"},
}

// nested checks a schema below anyOf, allOf, oneOf or not, which must not define structure.
func (s *structureChecker) nested(node object.Object, p field.Path, skipAnyOf bool) {
	s.values(node, p, skipAnyOf, false)
	if items := node.Map("items"); items != nil {
		s.nested(items, p.Child("items"), false)
	}
	props := node.Map("properties")
	for _, name := range object.SortedKeys(props) {
		s.nested(object.As(props[name]), p.Child("properties").Key(name), false)
	}
	for _, f := range forbidden {
		v, ok := node[f.name]
		if f.name == "additionalProperties" && v == false {
			continue // additionalProperties: false defines no structure
		}
		if f.word == "undefined" && ok && v != nil || present(v) {
			s.add(field.Forbidden(p.Child(f.name), "must be "+f.word+" to be structural"))
		}
	}
	if _, ok := props["metadata"]; ok {
		s.add(field.Forbidden(p.Child("properties").Key("metadata"), "must not be specified in a nested context"))
	}
}

// covered checks that a structure declares all fields of a nested validation. p is the path of the nested validation, and of is the
// path of the structure.
func (s *structureChecker) covered(nested, structure object.Object, p, of field.Path) {
	part := func(nested, structure object.Object, p, of field.Path) {
		if structure != nil {
			s.covered(nested, structure, p, of)
		} else {
			s.add(field.Required(of, "because it is defined in "+p.String()))
		}
	}
	if items := nested.At("items"); items != nil {
		part(items, structure.At("items"), p.Child("items"), of.Child("items"))
	}
	props := nested.Map("properties")
	for _, name := range object.SortedKeys(props) {
		part(object.As(props[name]), structure.At("properties", name), p.Child("properties").Key(name), of.Child("properties").Key(name))
	}
	s.complete(nested, structure, p, of)
}

// complete calls covered for the nested validations of a node. p is the path of the node, and of is the path of the structure.
func (s *structureChecker) complete(node, structure object.Object, p, of field.Path) {
	for _, name := range []string{"allOf", "anyOf", "oneOf"} {
		for i, m := range node.Objects(name) {
			s.covered(m, structure, p.Child(name).Index(i), of)
		}
	}
	if not := node.Map("not"); not != nil {
		s.covered(not, structure, p.Child("not"), of)
	}
}

// isIntOrString reports whether an anyOf is exactly the one that is allowed together with x-kubernetes-int-or-string.
func isIntOrString(anyOf []any) bool {
	return len(anyOf) == 2 && isOnly(anyOf[0], "integer") && isOnly(anyOf[1], "string")
}

// isOnly reports whether a schema specifies the given type and nothing else.
func isOnly(v any, kind string) bool {
	schema := object.As(v)
	for name, x := range schema { // order does not matter
		if name != "type" && present(x) {
			return false
		}
	}
	return schema["type"] == kind
}

func allOfIntOrString(node object.Object) bool {
	list := node.Objects("allOf")
	return len(list) > 0 && isIntOrString(list[0].List("anyOf"))
}
