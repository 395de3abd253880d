// Package crd serves the resources of CustomResourceDefinitions (Kubernetes documentation, "Extend the Kubernetes API
// with CustomResourceDefinitions").
//
//	CustomResourceDefinition ─┬─ Strategy   writes: validation, defaults, storedVersions
//	                          ├─ Names …    the status: accepted names, conditions, and the cleanup finalizer
//	                          └─ Server.Define ──▶ one resource.Definition per served version
//	                                                 Type, Default, Strategy, Columns   from the version's schema
//	                                                 StorageCodec   from and to the storage version: prune, default, convert
//
// The versions of a custom resource are separate resources that share a storage key. Each version has its own schema,
// subresources, columns and selectable fields. Objects are validated in the version of the request.
package crd

import "github.com/kubesim/kubesim/sim/object"

// Storage is the storage name of CustomResourceDefinitions. CleanupFinalizer is the finalizer that keeps a definition until its
// objects have been deleted.
const (
	Storage          = "customresourcedefinitions.apiextensions.k8s.io"
	CleanupFinalizer = "customresourcecleanup.apiextensions.k8s.io"
)

// The types of a definition's conditions.
const (
	NamesAccepted = "NamesAccepted"
	Established   = "Established"
	Terminating   = "Terminating"
)

// walk calls visit for a schema and every schema within it, until visit returns false. It reports whether every call
// returned true.
func walk(schema object.Object, visit func(object.Object) bool) bool {
	if schema == nil {
		return true
	}
	if !visit(schema) {
		return false
	}
	for _, name := range []string{"items", "additionalProperties", "additionalItems", "not"} {
		if !walk(schema.Map(name), visit) {
			return false
		}
	}
	for _, name := range []string{"items", "allOf", "anyOf", "oneOf"} {
		for _, next := range schema.Objects(name) {
			if !walk(next, visit) {
				return false
			}
		}
	}
	for _, field := range []string{"properties", "patternProperties", "definitions", "dependencies"} {
		all := schema.At(field)
		for _, name := range object.SortedKeys(all) {
			if !walk(all.Map(name), visit) {
				return false
			}
		}
	}
	return true
}
