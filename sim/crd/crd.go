// Package crd makes resources of CustomResourceDefinitions (Kubernetes documentation, "Extend the Kubernetes API with
// CustomResourceDefinitions").
//
//	CustomResourceDefinition ─┬─ Strategy   what may be written: validation, defaults, storedVersions
//	                          ├─ Names …    what the server adds: accepted names, conditions, the cleanup finalizer
//	                          └─ Server.Define ──▶ one resource.Definition per served version
//	                                                 Type, Default, Strategy, Columns   from the version's schema
//	                                                 Form   from and to the storage version: prune, default, convert
//
// The versions of a custom resource are resources of their own that share a storage key: each has its own schema,
// subresources, columns and selectable fields, and objects are validated in the version of the request.
package crd

import (
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
)

// Storage is the storage name of CustomResourceDefinitions, Kind their kind and CleanupFinalizer what keeps one until
// its objects are gone.
const (
	Storage          = "customresourcedefinitions.apiextensions.k8s.io"
	Kind             = "CustomResourceDefinition"
	CleanupFinalizer = "customresourcecleanup.apiextensions.k8s.io"
)

// The conditions of a definition.
const (
	NamesAccepted = "NamesAccepted"
	Established   = "Established"
	Terminating   = "Terminating"
)

// Rules are the compiled x-kubernetes-validations of one version.
type Rules interface {
	// Validate returns what obj breaks of the rules; old is nil for a create. ratcheted are broken rules of parts that
	// an update leaves as they were: they become warnings.
	Validate(obj, old map[string]any) (errs, ratcheted field.ErrorList)
	// ApplyAt is Validate for a value at path p, of the schema that steps lead to: names of properties, and 0 for items.
	// budget is what the rules may cost, and what is left of it afterwards; it is negative when nothing else is to be
	// evaluated.
	ApplyAt(steps []any, value, old any, p field.Path, budget *int64) (errs, ratcheted field.ErrorList)
}

// Compiler compiles the rules in an openAPIV3Schema, whose path in the definition is p. It returns nil for a schema
// without rules. before is the schema of the same version as it is stored, nil for a new one: what is wrong with its
// rules already is tolerated. Schemas at the paths in wrong have mistakes: their own rules are left out.
type Compiler func(schema, before map[string]any, p field.Path, wrong map[string]bool) (Rules, field.ErrorList)

// noRules stands in for a missing Compiler: rules are refused.
func noRules(schema, _ map[string]any, p field.Path, _ map[string]bool) (Rules, field.ErrorList) {
	if at, ok := findRules(schema, p); ok {
		return nil, field.ErrorList{field.Forbidden(at, "kubesim was built without CEL: validation rules are not supported")}
	}
	return nil, nil
}

// findRules returns the path of the first rules in a schema.
func findRules(schema map[string]any, p field.Path) (at field.Path, found bool) {
	walk(schema, p, func(node object.Object, p field.Path) bool {
		if len(node.List("x-kubernetes-validations")) > 0 {
			at, found = p.Child("x-kubernetes-validations"), true
		}
		return !found
	})
	return at, found
}

// walk calls visit for a schema and every schema in it until visit returns false.
func walk(schema map[string]any, p field.Path, visit func(object.Object, field.Path) bool) bool {
	if schema == nil {
		return true
	}
	if !visit(schema, p) {
		return false
	}
	for _, name := range []string{"items", "additionalProperties", "not"} {
		if next, ok := schema[name].(map[string]any); ok && !walk(next, p.Child(name), visit) {
			return false
		}
	}
	for _, name := range []string{"allOf", "anyOf", "oneOf"} {
		list, _ := schema[name].([]any)
		for i, x := range list {
			if next, ok := x.(map[string]any); ok && !walk(next, p.Child(name).Index(i), visit) {
				return false
			}
		}
	}
	props, _ := schema["properties"].(map[string]any)
	for _, name := range object.SortedKeys(props) {
		if next, ok := props[name].(map[string]any); ok && !walk(next, p.Child("properties").Key(name), visit) {
			return false
		}
	}
	return true
}
