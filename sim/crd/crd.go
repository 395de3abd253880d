// Package crd makes resources of CustomResourceDefinitions (Kubernetes documentation, "Extend the Kubernetes API with
// CustomResourceDefinitions").
//
//	CustomResourceDefinition ─┬─ Strategy   what may be written: validation, defaults, storedVersions
//	                          ├─ Names …    what the server adds: accepted names, conditions, the cleanup finalizer
//	                          └─ Server.Define ──▶ one resource.Definition per served version
//	                                                 Type, Default, Strategy, Columns   from the version's schema
//	                                                 StorageCodec   from and to the storage version: prune, default, convert
//
// The versions of a custom resource are resources of their own that share a storage key: each has its own schema,
// subresources, columns and selectable fields, and objects are validated in the version of the request.
package crd

import (
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
)

// Storage is the storage name of CustomResourceDefinitions, and CleanupFinalizer what keeps one until its objects are gone.
const (
	Storage          = "customresourcedefinitions.apiextensions.k8s.io"
	CleanupFinalizer = "customresourcecleanup.apiextensions.k8s.io"
)

// The conditions of a definition.
const (
	NamesAccepted = "NamesAccepted"
	Established   = "Established"
	Terminating   = "Terminating"
)

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
