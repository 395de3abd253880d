// Package structural applies the structural schema of a custom resource to its objects (Kubernetes documentation,
// "Specifying a structural schema"; KEP-1623, and KEP-4008 for later changes).
//
//	openAPIV3Schema ──Parse──▶ *Schema ─┬─ Prune          fields that the schema does not have
//	                                    ├─ ApplyDefaults  defaults, and nulls where null is not allowed
//	                                    ├─ Coerce         metadata of embedded resources
//	                                    ├─ Validate       types, bounds, formats, anyOf …, as kube-openapi words it
//	                                    ├─ CheckEmbedded  kind, apiVersion and metadata of embedded resources
//	                                    ├─ CheckLists     duplicates in sets and maps
//	                                    └─ TypeOf         the structure that server-side apply needs
//
// A Schema is parsed from a validated definition. Invalid parts are ignored, not reported. After parsing it is immutable
// and can be used concurrently by several Clusters.
package structural

import (
	"regexp"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
)

// Schema is a node of a structural schema, or of a value validation below allOf, anyOf, oneOf or not.
type Schema struct {
	Type       string
	Format     string // as written, known or not
	Nullable   bool
	Default    any // nil if there is none
	Properties map[string]*Schema
	Additional *Schema // if additionalProperties is a schema
	Free       bool    // additionalProperties is true
	Closed     bool    // additionalProperties is false
	Items      *Schema

	Preserve    bool // x-kubernetes-preserve-unknown-fields
	Embedded    bool // x-kubernetes-embedded-resource
	IntOrString bool // x-kubernetes-int-or-string
	ListType    string
	ListKeys    []string
	MapType     string

	names  []string // names of Properties, sorted
	values values
}

// values are the value validations of a Schema.
type values struct {
	types                          []string // the values of Type, or integer and string
	format                         string   // "" if unknown
	pattern                        string
	compiled                       *regexp.Regexp // nil if pattern is not a regular expression
	maximum, minimum, multipleOf   *float64
	exclusiveMaximum, exclusiveMin bool
	rounds                         bool // see isWhole
	maxLength, minLength           *int64
	maxItems, minItems             *int64
	maxProperties, minProperties   *int64
	required                       []string
	enum                           []any
	allOf, oneOf, anyOf            []*Schema
	not                            *Schema
}

// Parse parses an openAPIV3Schema, or a part of one, for the validation of a server of the given minor version (36 for 1.36).
func Parse(m map[string]any, minor int) *Schema { return parser{minor: minor}.parse(m) }

// ParseForDefaults is like Parse, for the validation of defaults. As in the real server, an int-or-string then accepts any value, and
// unknown formats are kept.
func ParseForDefaults(m map[string]any, minor int) *Schema {
	return parser{minor: minor, defaults: true}.parse(m)
}

type parser struct {
	minor    int
	defaults bool
}

func (p parser) parse(m map[string]any) *Schema {
	o := object.Object(m)
	s := &Schema{Type: o.String("type"), Format: o.String("format"), Default: object.Copy(m["default"]),
		ListType: o.String("x-kubernetes-list-type"), MapType: o.String("x-kubernetes-map-type"),
		ListKeys: o.Strings("x-kubernetes-list-map-keys"), Nullable: o.True("nullable"),
		Preserve: o.True("x-kubernetes-preserve-unknown-fields"), Embedded: o.True("x-kubernetes-embedded-resource"),
		IntOrString: o.True("x-kubernetes-int-or-string")}
	if props := o.Map("properties"); len(props) > 0 {
		s.names = object.SortedKeys(props)
		s.Properties = make(map[string]*Schema, len(props))
		for _, name := range s.names {
			s.Properties[name] = p.parse(object.As(props[name]))
		}
	}
	switch more := m["additionalProperties"].(type) {
	case bool:
		s.Free, s.Closed = more, !more
	case map[string]any:
		s.Additional = p.parse(more)
	}
	if items, ok := m["items"].(map[string]any); ok {
		s.Items = p.parse(items)
	}
	s.values.parse(s, o, p)
	return s
}

func (v *values) parse(s *Schema, o object.Object, p parser) {
	if s.Type != "" {
		v.types = []string{s.Type}
	}
	if s.IntOrString && !p.defaults {
		v.types = []string{"integer", "string"}
	}
	if format := o.String("format"); p.defaults || formatOf(v.types, format) {
		v.format = format
	}
	if v.pattern = o.String("pattern"); v.pattern != "" {
		v.compiled, _ = regexp.Compile(v.pattern)
	}
	v.maximum, v.minimum, v.multipleOf = number(o["maximum"]), number(o["minimum"]), number(o["multipleOf"])
	v.rounds = p.minor >= 37
	v.exclusiveMaximum, v.exclusiveMin = o.True("exclusiveMaximum"), o.True("exclusiveMinimum")
	v.maxLength, v.minLength = integer(o, "maxLength"), integer(o, "minLength")
	v.maxItems, v.minItems = integer(o, "maxItems"), integer(o, "minItems")
	v.maxProperties, v.minProperties = integer(o, "maxProperties"), integer(o, "minProperties")
	v.required, v.enum = o.Strings("required"), o.List("enum")
	v.allOf, v.oneOf, v.anyOf = p.parseAll(o.List("allOf")), p.parseAll(o.List("oneOf")), p.parseAll(o.List("anyOf"))
	if not, ok := o["not"].(map[string]any); ok {
		v.not = p.parse(not)
	}
}

func (p parser) parseAll(list []any) (out []*Schema) {
	for _, x := range list {
		out = append(out, p.parse(object.As(x)))
	}
	return out
}

func number(v any) *float64 {
	switch v := v.(type) {
	case int64:
		f := float64(v)
		return &f
	case float64:
		return &v
	}
	return nil
}

func integer(o object.Object, name string) *int64 {
	if n, ok := o.Int(name); ok {
		return &n
	}
	return nil
}

// child returns the schema of a field or key, or nil. declared reports whether the schema allows that field.
func (s *Schema) child(name string) (child *Schema, declared bool) {
	if s == nil {
		return nil, false
	}
	if p, ok := s.Properties[name]; ok {
		return p, true
	}
	return s.Additional, s.Additional != nil || s.Free || s.Closed
}

// below calls check for each field of an object, sorted by name, or for each item of a list. It returns all errors.
func (s *Schema) below(v any, p field.Path, check func(s *Schema, v any, p field.Path) field.ErrorList) (errs field.ErrorList) {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range object.SortedKeys(v) {
			if child, ok := s.Properties[name]; ok {
				errs = append(errs, check(child, v[name], p.Child(name))...)
			} else if s.Additional != nil {
				errs = append(errs, check(s.Additional, v[name], p.Key(name))...)
			}
		}
	case []any:
		for i, x := range v {
			errs = append(errs, check(s.Items, x, p.Index(i))...)
		}
	}
	return errs
}

// Root returns s as the schema of a whole resource, in which kind, apiVersion and metadata need not be declared. If s is nil,
// the result has only these fields.
func (s *Schema) Root() *Schema {
	if s == nil {
		return &Schema{Embedded: true}
	}
	if s.Embedded {
		return s
	}
	root := *s
	root.Embedded = true
	return &root
}

// envelope reports whether a field is one that every resource has.
func envelope(name string) bool { return name == "apiVersion" || name == "kind" || name == "metadata" }

// Compile parses an openAPIV3Schema for serving, and prunes its defaults.
func Compile(m map[string]any, minor int) *Schema {
	s := Parse(m, minor)
	s.pruneDefaults()
	return s
}
