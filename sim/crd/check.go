package crd

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/cel"
	"github.com/kubesim/kubesim/sim/cel/expr"
	"github.com/kubesim/kubesim/sim/crd/structural"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
)

const (
	// depthMax and nodesMax limit the size of a schema. Unlike the real server, this one rejects deeper or larger
	// schemas. The largest definitions in use have tens of thousands of nodes and a depth of about thirty.
	depthMax = 300
	nodesMax = 200_000
)

// checkSchema checks the schema of a version, or of all versions. A nil schema is valid. status reports whether the status
// subresource is served. before is the stored schema of the version, or nil if the version is new.
func (v *validator) checkSchema(schema map[string]any, p field.Path, status bool, before map[string]any) field.ErrorList {
	if schema == nil {
		return nil
	}
	if nodes := 0; !small(schema, depthMax, &nodes) {
		return field.ErrorList{field.Forbidden(p, "kubesim: the schema is nested too deeply or has too many parts")}
	}
	var errs field.ErrorList
	if status {
		errs = checkRoot(schema, p)
	}
	if object.Object(schema).True("nullable") {
		errs = append(errs, field.Forbidden(p.Child("nullable"), "nullable cannot be true at the root"))
	}
	structure := v.checkStructure(schema, p)
	errs = append(errs, structure...)
	c := &checker{validator: v, wrong: map[string]bool{}}
	c.check(schema, p, place{root: true, defaults: true})
	errs = append(errs, c.errs...)
	if why := conversionError(schema); len(errs) == 0 && why != "" && (v.before == nil || v.before.structural()) {
		return field.ErrorList{field.Invalid(p, "", why)}
	}
	if len(structure) > 0 || unreadable(schema) {
		return errs
	}
	_, bad := cel.CompileVersion(expr.Environment{Minor: int(v.minor)}, schema, v.known(schema, before), p, c.wrong) // only the errors about parts in which nothing else is wrong
	return append(errs, bad...)
}

// known returns the stored rules: the expressions of any version, and whether the whole schema is unchanged (apiextensions
// validation: findPreexistingExpressions, findVersionsWithUnchangedSchemas).
func (v *validator) known(schema, before map[string]any) expr.Known {
	if v.before == nil {
		return expr.Known{}
	}
	known := expr.Known{Rules: map[string]bool{}, Messages: map[string]bool{}, Unchanged: before != nil && sameSpec(schema, before)}
	for _, schema := range v.before.schemas() {
		walk(schema, func(node object.Object) bool {
			for _, r := range node.Objects("x-kubernetes-validations") {
				known.Rules[r.String("rule")], known.Messages[r.String("messageExpression")] = true, true
			}
			return true
		})
	}
	return known
}

// checkStructure checks that the schema is structural and that its defaults are valid.
func (v *validator) checkStructure(schema map[string]any, p field.Path) field.ErrorList {
	if unreadable(schema) || v.before != nil && !v.before.structural() {
		return nil
	}
	if errs := checkStructural(schema, p); len(errs) > 0 {
		return errs
	}
	return v.checkDefaults(schema, p)
}

// structural reports whether all schemas of a definition are structural. If a schema of the stored definition is not, an update
// need not make it so.
func (s *spec) structural() bool {
	return !slices.ContainsFunc(s.schemas(), func(schema map[string]any) bool {
		return schema != nil && (unreadable(schema) || len(checkStructural(schema, field.Path{})) > 0)
	})
}

// unreadable reports whether a schema contains a field that no structural schema can contain.
func unreadable(schema map[string]any) bool { return conversionError(schema) != "" }

// unsupportedFields are fields that no structural schema can contain, with their names in messages.
var unsupportedFields = [][2]string{{"id", "id"}, {"$schema", "schema"}, {"$ref", "$ref"}, {"patternProperties", "patternProperties"},
	{"dependencies", "dependencies"}, {"additionalItems", "additionalItems"}, {"definitions", "definitions"}}

// conversionError returns the error of the conversion to a structural schema, or "" (apiextensions-apiserver/pkg/apiserver/schema,
// NewStructural). Other checks report most of these errors, too.
func conversionError(schema object.Object) string {
	if schema == nil {
		return ""
	}
	for _, f := range unsupportedFields {
		if v := schema[f[0]]; present(v) || f[0] == "additionalItems" && v != nil {
			return "OpenAPIV3Schema '" + f[1] + "' is not supported"
		}
	}
	why := conversionError(schema.Map("not"))
	for _, name := range []string{"allOf", "anyOf", "oneOf"} {
		for _, next := range schema.Objects(name) {
			why = cmp.Or(why, conversionError(next))
		}
	}
	if preserve, said := schema.Bool("x-kubernetes-preserve-unknown-fields"); said && !preserve {
		why = cmp.Or(why, "internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined")
	}
	if len(schema.List("items")) > 0 {
		why = cmp.Or(why, "OpenAPIV3Schema 'items' must be a schema, but is an array")
	}
	why = cmp.Or(why, conversionError(schema.Map("items")))
	props := schema.At("properties")
	for _, name := range object.SortedKeys(props) {
		why = cmp.Or(why, conversionError(props.Map(name)))
	}
	return cmp.Or(why, conversionError(schema.Map("additionalProperties")))
}

// present reports whether a value is set and not empty.
func present(v any) bool {
	switch v := v.(type) {
	case nil:
		return false
	case string:
		return v != ""
	case map[string]any:
		return len(v) > 0
	case []any:
		return len(v) > 0
	case bool:
		return v
	}
	return true
}

// small reports whether a value is not deeper than the given depth. It adds the number of nodes to *nodes, which must not exceed
// nodesMax.
func small(v any, depth int, nodes *int) bool {
	if *nodes++; depth == 0 || *nodes > nodesMax {
		return false
	}
	switch v := v.(type) {
	case map[string]any:
		for _, x := range v { // order does not matter
			if !small(x, depth-1, nodes) {
				return false
			}
		}
	case []any:
		for _, x := range v {
			if !small(x, depth-1, nodes) {
				return false
			}
		}
	}
	return true
}

// checkRoot checks the root of a schema. It is called only if the status subresource is served.
func checkRoot(schema map[string]any, p field.Path) field.ErrorList {
	for _, f := range schemaFields {
		if v := schema[f.json]; v == nil || f.zero != "null" && !present(v) {
			continue
		}
		if f.name == "Type" {
			if schema[f.json] != "object" {
				return field.ErrorList{field.Invalid(p.Child("type"), schema[f.json],
					`only "object" is allowed as the type at the root of the schema if the status subresource is enabled`)}
			}
			continue
		}
		if !slices.Contains(rootFields, f.name) {
			return field.ErrorList{field.Invalid(p, field.Raw(printSchema(nil, schema)),
				"only ["+strings.Join(rootFields, " ")+"] fields are allowed at the root of the schema if the status subresource is enabled")}
		}
	}
	return nil
}

// rootFields are the fields that the root of a schema may have if the status subresource is served.
var rootFields = []string{"Description", "Type", "Format", "Title", "Maximum", "ExclusiveMaximum", "Minimum", "ExclusiveMinimum",
	"MaxLength", "MinLength", "Pattern", "MaxItems", "MinItems", "UniqueItems", "MultipleOf", "Required", "Items", "Properties",
	"ExternalDocs", "Example", "XPreserveUnknownFields", "XValidations"}

// checker checks each node of one schema individually.
type checker struct {
	*validator
	errs  field.ErrorList
	wrong map[string]bool // paths of nodes with an error in them or below them
}

// place is the position of a node in a schema, with the rules that apply there.
type place struct {
	root     bool
	inMeta   bool   // the node is inside metadata, kind or apiVersion of a resource
	defaults bool   // the node may have a default
	reason   string // the reason why the node must not have a default
}

func (c *checker) add(errs ...*field.Error) { c.errs = append(c.errs, errs...) }

func (c *checker) check(node object.Object, p field.Path, at place) {
	before := len(c.errs)
	c.checkNode(node, p, at)
	if len(c.errs) > before {
		c.wrong[p.String()] = true
	}
}

func (c *checker) checkNode(node object.Object, p field.Path, at place) {
	c.add(unsupported(field.CursorOn(p, node), at)...)
	inside := at
	inside.root = false
	if schema := node.Map("additionalProperties"); schema != nil {
		below := inside
		if at.inMeta {
			below.defaults, below.reason = false, "inside additionalProperties applying to object metadata"
		}
		c.check(schema, p.Child("additionalProperties"), below)
	}
	embedded := node.True("x-kubernetes-embedded-resource")
	props := node.Map("properties")
	for _, name := range object.SortedKeys(props) {
		below := inside
		if (at.root || embedded) && (name == "metadata" || name == "kind" || name == "apiVersion") {
			below.inMeta = true
			if at.root {
				below.defaults, below.reason = false, "in top-level "+name
			}
		}
		c.check(object.As(props[name]), p.Child("properties").Key(name), below)
	}
	c.nested(node, p, inside)
	c.extensions(node, p)
	c.add(expr.CheckRules(node, p, func() bool { return !unreadable(node) })...)
}

// nested checks the schemas of not, allOf, oneOf, anyOf, definitions, items and dependencies.
func (c *checker) nested(node object.Object, p field.Path, at place) {
	if not := node.Map("not"); not != nil {
		c.check(not, p.Child("not"), at)
	}
	for _, name := range []string{"allOf", "oneOf", "anyOf"} {
		for i, m := range node.Objects(name) {
			c.check(m, p.Child(name).Index(i), at)
		}
	}
	c.named(node, "definitions", p, at)
	switch items := node["items"].(type) {
	case map[string]any:
		c.check(items, p.Child("items"), at)
	case []any:
		for i, x := range items {
			c.check(object.As(x), p.Child("items").Index(i), at)
		}
	}
	c.named(node, "dependencies", p, at)
}

// named checks the schemas in a field that maps names to schemas.
func (c *checker) named(node object.Object, name string, p field.Path, at place) {
	all := node.At(name)
	for _, key := range object.SortedKeys(all) {
		if schema := all.Map(key); schema != nil {
			c.check(schema, p.Child(name).Key(key), at)
		}
	}
}

var schemaTypes = []string{"array", "boolean", "integer", "number", "object", "string"}

// unsupported reports fields of JSON Schema that Kubernetes does not support.
func unsupported(node field.Cursor, at place) field.ErrorList {
	kind, embedded := node.Child("type").IfGiven(), node.Child("x-kubernetes-embedded-resource")
	oneOf(kind, schemaTypes...)
	node.Child("default").ForbidIf(node.Has("default") && !at.defaults, "must not be set "+at.reason)
	for _, name := range []string{"id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref"} {
		pointer := name == "additionalItems" || name == "dependencies" || name == "$ref"
		part := node.Child(name)
		part.ForbidIf(present(part.Value()) || pointer && part.Has(), name+" is not supported")
	}
	kind.ForbidIf(kind.String() == "null", "type cannot be set to null, use nullable as an alternative")
	node.Child("items").ForbidIf(len(node.List("items")) > 0, "items must be a schema object and not an array")
	embedded.ForbidIf(embedded.True() && at.inMeta, "must not be used inside of resource meta")
	node.Child("uniqueItems").ForbidIf(node.True("uniqueItems"), "uniqueItems cannot be set to true since the runtime complexity becomes quadratic")
	node.Child("additionalProperties").ForbidIf(node.Has("additionalProperties") && node.Len("properties") > 0 && !node.True("additionalProperties"),
		"additionalProperties and properties are mutual exclusive")
	return node.Errors()
}

// warnings returns the warnings about the schemas of a definition: the formats that are not validated, in order of occurrence, and
// since 1.37 the sets of objects or arrays.
func (s *spec) warnings(minor int) (out []string) {
	schemas := s.schemas()
	if s.top.schema != nil {
		schemas = schemas[:1] // all versions have the same schema
	}
	var sets []string
	for _, schema := range schemas {
		walk(schema, func(node object.Object) bool {
			if format := node.String("format"); format != "" && !structural.KnownFormat(node.String("type"), format) {
				out = append(out, "unrecognized format "+strconv.Quote(format))
			}
			items := node.String("items", "type")
			if minor >= 37 && node.String("x-kubernetes-list-type") == "set" && (items == "object" || items == "array") {
				sets = append(sets, fmt.Sprintf("x-kubernetes-list-type: set for items of type %q is not supported by server-side apply or CEL validation rules",
					items))
			}
			return true
		})
	}
	slices.Sort(sets)
	return append(out, slices.Compact(sets)...)
}
