package crd

import (
	"time"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
)

// NonStructuralSchema is the type of the condition of a definition whose schemas are not structural. Clients of the API cannot create
// such a definition, but it may be in the store of a cluster that is older than v1.
const NonStructuralSchema = "NonStructuralSchema"

// Violations returns the reasons why the schemas of a definition are not structural, as the message of the condition. It returns "" if
// they are structural (apiextensions-apiserver, pkg/controller/nonstructuralschema).
func Violations(crd object.Object) string {
	var texts []string
	spec := field.Root("spec")
	if crd.True("spec", "preserveUnknownFields") {
		texts = append(texts, field.Invalid(spec.Child("preserveUnknownFields"), true, "must be false").Error())
	}
	for i, v := range crd.Objects("spec", "versions") {
		schema := v.Map("schema", "openAPIV3Schema")
		if schema == nil || unreadable(schema) {
			continue
		}
		for _, err := range checkStructural(schema, spec.Child("versions").Index(i).Child("schema", "openAPIV3Schema")) {
			texts = append(texts, err.Error())
		}
	}
	if len(texts) == 0 {
		return ""
	}
	return field.Aggregate(texts)
}

// NonStructural sets the condition NonStructuralSchema, or removes it if violations is "". It reports whether anything changed.
func NonStructural(crd object.Object, violations string, now time.Time) bool {
	c := crd.Condition(NonStructuralSchema)
	switch {
	case violations == "" && c == nil:
		return false
	case violations == "":
		var rest []any
		for _, other := range crd.Objects("status", "conditions") {
			if other.String("type") != NonStructuralSchema {
				rest = append(rest, map[string]any(other))
			}
		}
		crd.Set(rest, "status", "conditions")
		return true
	case c.String("status") == "True" && c.String("message") == violations:
		return false
	}
	SetCondition(crd, now, NonStructuralSchema, "True", "Violations", violations)
	return true
}
