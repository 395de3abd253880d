package crd

import (
	"github.com/kubesim/kubesim/sim/object"
)

// spec is the spec of a definition in the server's internal form. Fields that are equal in all versions exist only at the top
// level, and errors contain the paths there.
//
//	versions: [{v1, schema: A}, {v2, schema: A}]   is   spec.validation A, versions: [{v1}, {v2}]
//	versions: [{v1, schema: A}, {v2, schema: B}]   is   versions: [{v1, schema: A}, {v2, schema: B}]
type spec struct {
	object.Object
	top      part
	versions []*version
}

// version is one version of a definition.
type version struct {
	part                             // the fields that only this version has
	whole                       part // including the top-level fields
	name                        string
	served, storage, deprecated bool
	warning                     *string // deprecationWarning
}

// part contains the fields that can be set for one version or, at the top level, for all versions. A nil field is not
// set.
type part struct {
	validation string // "schema" for a version, "validation" at the top level
	schema     map[string]any
	sub        map[string]any
	columns    []any
	fields     []any // selectableFields
}

// specOf parses the spec of a definition.
func specOf(crd object.Object) *spec {
	s := &spec{Object: crd.Map("spec"), top: part{validation: "validation"}}
	for _, m := range s.Objects("versions") {
		s.versions = append(s.versions, versionOf(m))
	}
	if len(s.versions) == 0 {
		return s
	}
	hoist(s, sameParts, func(p *part) *map[string]any { return &p.schema })
	hoist(s, sameParts, func(p *part) *map[string]any { return &p.sub })
	hoist(s, sameLists, func(p *part) *[]any { return &p.columns })
	hoist(s, sameLists, func(p *part) *[]any { return &p.fields })
	return s
}

func versionOf(m object.Object) *version {
	v := &version{name: m.String("name"), served: m.True("served"), storage: m.True("storage"), deprecated: m.True("deprecated"),
		part: part{validation: "schema", schema: m.Map("schema"), sub: m.Map("subresources"),
			columns: m.List("additionalPrinterColumns"), fields: m.List("selectableFields")}}
	v.whole = v.part
	if text, ok := m["deprecationWarning"].(string); ok {
		v.warning = &text
	}
	return v
}

// sameParts reports whether a field has the same value in two versions.
func sameParts(a, b map[string]any) bool { return (a == nil) == (b == nil) && sameSpec(a, b) }

func sameLists(a, b []any) bool { return object.SemanticEqual(a, b) }

// hoist moves a field that is equal in all versions to the top level.
func hoist[T map[string]any | []any](s *spec, same func(a, b T) bool, get func(*part) *T) {
	first := *get(&s.versions[0].part)
	for _, v := range s.versions {
		if !same(*get(&v.part), first) {
			return
		}
	}
	*get(&s.top) = first
	for _, v := range s.versions {
		*get(&v.part), *get(&v.whole) = nil, first
	}
}

// openAPI returns the openAPIV3Schema of the part, or nil if it has no schema.
func (p *part) openAPI() map[string]any { return object.Object(p.schema).Map("openAPIV3Schema") }

func (p *part) hasStatus() bool {
	_, ok := p.sub["status"].(map[string]any)
	return ok
}

// schemas returns the openAPIV3Schema of each version. It is nil for a version that has none.
func (s *spec) schemas() []map[string]any {
	out := make([]map[string]any, len(s.versions))
	for i, v := range s.versions {
		out[i] = v.whole.openAPI()
	}
	return out
}

// group returns the group of a definition.
func group(crd object.Object) string { return crd.String("spec", "group") }

// storageVersion returns the name of the storage version, or "".
func (s *spec) storageVersion() string {
	for _, v := range s.versions {
		if v.storage {
			return v.name
		}
	}
	return ""
}
